// Modules on meta: an error names a parameter, and modules can be moved to a device.
#include <ambit/ambit.h>
#include <ambit/nn/to_empty.h>
#include <doctest/doctest.h>

#include <string>

#include "tests/devices.h"

using namespace ambit;

namespace {

nn::Sequential network() {
  return nn::Sequential(nn::Linear(3, 4), nn::ReLU(), nn::BatchNorm1d(4), nn::Linear(4, 2));
}

nn::Sequential network_on_meta() {
  const DefaultDeviceGuard meta("meta");
  return network();
}

// explain() of the call's error; what() is the documented sentence, to the letter.
template <class F>
std::string refusal(const F& call, Device input) {
  try {
    call();
  } catch (const DeviceMismatchError& e) {
    CHECK(std::string(e.what()) == "expected device " + input.str() + " but got device meta");
    return e.explain();
  }
  FAIL_CHECK("no error");
  return "";
}

}  // namespace

TEST_CASE("a module on meta refuses an input with the name of its first parameter and a hint") {
  for_each_device([](Device device) {
    const nn::Sequential net = network_on_meta();
    const std::string text = refusal([&] { net->forward(ones({5, 3}, device)); }, device);
    INFO(text);
    CHECK(text.find("  #1 weight  float32[4, 3]  meta") != std::string::npos);
    CHECK(text.find("differs; parameter 0.weight\n") != std::string::npos);
    CHECK(text.ends_with("\n  try: load_state_dict() of the module, or nn::to_empty(module, \"" +
                         device.str() + "\"): 0.weight is on meta, without values"));
  });
}

TEST_CASE("if the parameter determines the expected device, the hint is the same") {
  const DefaultDeviceGuard meta("meta");
  nn::Sequential net{nn::Embedding(4, 2)};
  const Tensor places = zeros({2}, TensorOptions(kInt64).device(kCPU));
  try {
    net->forward(places);
    FAIL_CHECK("no error");
  } catch (const DeviceMismatchError& e) {
    CHECK(std::string(e.what()) == "expected device meta but got device cpu");
    CHECK(e.explain().find("try: load_state_dict() of the module, or nn::to_empty(module, "
                           "\"cpu\"): 0.weight is on meta") != std::string::npos);
  }
}

TEST_CASE("to_empty gives a module memory on a device and keeps its tensors' identity") {
  for_each_device([](Device device) {
    nn::Sequential net = network_on_meta();
    const std::vector<Tensor> before = net->parameters();
    nn::to_empty(net, device);
    const std::vector<Tensor> after = net->parameters();
    REQUIRE(after.size() == before.size());
    for (size_t i = 0; i < after.size(); ++i) {
      CHECK(after[i].is_same(before[i]));
      CHECK(after[i].device() == device);
      CHECK(after[i].requires_grad());
    }
    for (const Tensor& t : net->buffers()) CHECK(t.device() == device);
    const nn::Sequential source = network();
    net->load_state_dict(source->state_dict());
    CHECK(net->parameters()[0].cpu().equal(source->parameters()[0]));
    net->forward(ones({5, 3}, device)).sum().backward();
    CHECK(after[0].grad().device() == device);
  });
  nn::Linear fc(2, 3);
  fc->weight.mutable_grad() = ones({3, 2});
  nn::to_empty(fc, "reference");
  CHECK_FALSE(fc->weight.grad().defined());
  CHECK_THROWS_AS(nn::to_empty(fc, Device("reference:7")), BackendError);
  CHECK(fc->weight.device() == Device("reference"));
}

TEST_CASE("load_state_dict replaces tensors on meta by copies of the values, on their device") {
  for_each_device([](Device device) {
    nn::Sequential net = network_on_meta();
    const nn::Sequential source = network().to(device);
    const std::vector<Tensor> parameters = net->parameters();
    net->load_state_dict(source->state_dict());
    for (size_t i = 0; i < parameters.size(); ++i) {
      CHECK(parameters[i].device() == device);
      CHECK(parameters[i].requires_grad());
      CHECK(parameters[i].equal(source->parameters()[i]));
      CHECK(parameters[i].data_ptr() != source->parameters()[i].data_ptr());
    }
    net->eval(), source->eval();
    const Tensor x = ones({5, 3}, device);
    CHECK(net->forward(x).equal(source->forward(x)));
  });
}

TEST_CASE("tensors that are missing in a dict stay on meta, and are then refused by name") {
  nn::Sequential net = network_on_meta();
  StateDict dict = network()->state_dict();
  std::erase_if(dict, [](const auto& entry) { return entry.first == "3.weight"; });
  CHECK_THROWS_AS(net->load_state_dict(dict), Error);
  CHECK(net->parameters()[0].is_meta());  // nothing changed
  const auto keys = net->load_state_dict(dict, /*strict=*/false);
  CHECK(keys.missing_keys == std::vector<std::string>{"3.weight"});
  const std::string text = refusal([&] { net->forward(ones({5, 3})); }, kCPU);
  CHECK(text.find("3.weight is on meta, without values") != std::string::npos);
}

TEST_CASE("a parameter on meta with two names is loaded, and stays one tensor") {
  const DefaultDeviceGuard meta("meta");
  nn::Linear shared(2, 2);
  nn::Sequential net(shared, shared);
  const Tensor w = tensor({{1., 2.}, {3., 4.}}, TensorOptions(kFloat32).device(kCPU));
  const Tensor b = zeros({2}, TensorOptions(kFloat32).device(kCPU));
  net->load_state_dict({{"0.weight", w}, {"0.bias", b}, {"1.weight", w}, {"1.bias", b}});
  CHECK(shared->weight.equal(w));
  CHECK(net->parameters().size() == 2);
}
