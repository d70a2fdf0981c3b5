// find_device_mismatches: every kind of tensor; the list is empty if all are on one device.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <sstream>

#include "tests/devices.h"

using namespace ambit;

namespace {

struct NetImpl : nn::Module {
  nn::Linear fc{register_module("fc", nn::Linear(3, 2))};
  nn::BatchNorm2d norm{register_module("norm", nn::BatchNorm2d(3))};
};
AMBIT_MODULE(Net);

template <class T>
std::string printed(const T& value) {
  std::ostringstream os;
  os << value;
  return os.str();
}

void give_gradients(const Net& net) {
  for (const Tensor& p : net->parameters()) p.mutable_grad() = zeros_like(p);
}

void move_data(const Tensor& t, Device device) { t.set_data(t.detach().to(device)); }

}  // namespace

TEST_CASE("a module whose tensors are on one device has no mismatches") {
  for_each_device([](Device device) {
    Net net;
    CHECK(nn::find_device_mismatches(net).empty());
    net->to(device);
    give_gradients(net);
    optim::Adam adam(net->parameters(), 0.1);
    adam.step();
    CHECK(nn::find_device_mismatches(net, adam)
              .empty());  // although Adam's step counts are on the cpu
  });
  CHECK(nn::find_device_mismatches(nn::ReLU()).empty());
}

TEST_CASE("mismatches are listed by kind, name and device, in the module's order") {
  for_each_device([](Device device) {
    if (device.is_cpu()) return;
    Net net;
    give_gradients(net);
    const auto all = net->named_parameters();
    move_data(all["fc.bias"], device);
    move_data(all["norm.weight"].grad(), device);
    move_data(net->norm->running_var, device);
    const std::vector<nn::DeviceMismatch> mismatches = nn::find_device_mismatches(net);
    REQUIRE(mismatches.size() == 3);
    CHECK(mismatches[0].kind == nn::DeviceMismatch::Kind::parameter);
    CHECK(mismatches[0].name == "fc.bias");
    CHECK(mismatches[0].device == device);
    CHECK(mismatches[0].expected == kCPU);
    const std::string where = ": on " + device.str() + ", expected cpu";
    CHECK(printed(mismatches[0]) == "parameter fc.bias" + where);
    CHECK(printed(mismatches) == "parameter fc.bias" + where + "\ngradient of norm.weight" + where +
                                     "\nbuffer norm.running_var" + where + "\n");
    net->to(kCPU);
    CHECK(nn::find_device_mismatches(net).empty());
  });
}

TEST_CASE("the first parameter determines the expected device") {
  for_each_device([](Device device) {
    if (device.is_cpu()) return;
    nn::Linear fc(2, 2);
    move_data(fc->weight, device);
    CHECK(printed(nn::find_device_mismatches(fc)) ==
          "parameter bias: on cpu, expected " + device.str() + "\n");
  });
}

TEST_CASE("an optimizer's state on its module's old device is a mismatch until the next step") {
  for_each_device([](Device device) {
    if (device.is_cpu()) return;
    nn::Linear fc(nn::LinearOptions(2, 2).bias(false));
    fc->weight.mutable_grad() = ones({2, 2});
    const auto check = [&](auto& optimizer, const std::string& lines) {
      fc->to(kCPU);
      optimizer.step();
      fc->to(device);
      CHECK(printed(nn::find_device_mismatches(fc, optimizer)) == lines);
      optimizer.step();
      CHECK(nn::find_device_mismatches(fc, optimizer).empty());
    };
    const std::string where = " of weight: on cpu, expected " + device.str() + "\n";
    optim::SGD sgd(fc->parameters(), optim::SGDOptions(0.1).momentum(0.9));
    check(sgd, "momentum_buffer" + where);
    optim::Adam adam(fc->parameters(), 0.1);
    check(adam, "exp_avg" + where + "exp_avg_sq" + where);
  });
}

TEST_CASE("parameters of the optimizer outside of the module are checked, too") {
  for_each_device([](Device device) {
    if (device.is_cpu()) return;
    nn::Linear fc(2, 2);
    std::vector<Tensor> trained = fc->parameters();
    trained.push_back(ones({2}, device).requires_grad_());
    trained.back().mutable_grad() = ones({2}, device);
    optim::SGD sgd(trained, optim::SGDOptions(0.1).momentum(0.9));
    sgd.step();
    const std::string what = "optimizer.2: on " + device.str() + ", expected cpu\n";
    CHECK(printed(nn::find_device_mismatches(fc, sgd)) ==
          "parameter " + what + "gradient of " + what + "momentum_buffer of " + what);
    CHECK(nn::find_device_mismatches(fc).empty());
  });
}
