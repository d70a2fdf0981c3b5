// CHECK_DEVICE_MISMATCH accepts correct device mismatch errors, and nothing else.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <ambit/testing.h>  // after the framework

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ambit;

namespace {

struct NetImpl : nn::Module {
  nn::Linear fc1 = register_module("fc1", nn::Linear(3, 4));
  nn::Linear fc2 = register_module("fc2", nn::Linear(4, 2));
  Tensor table = register_buffer("table", ones({4}));
  Tensor forward(const Tensor& x) { return fc2(fc1(x) * table); }
};
AMBIT_MODULE(Net);

std::string report(const std::function<void()>& call, const std::vector<Tensor>& watched = {}) {
  return test::device_mismatch("call", call, "cpu", "reference", watched);
}

bool has(const std::string& text, const char* part) { return text.find(part) != text.npos; }

void refuse() { ones({2}) + ones({2}, "reference"); }

}  // namespace

TEST_CASE("CHECK_DEVICE_MISMATCH watches an op, a module, tensors and lists") {
  const Tensor x = ones({2}), y = ones({2}, "reference");
  CHECK_DEVICE_MISMATCH(x + y, "cpu", "reference");
  CHECK_DEVICE_MISMATCH(y.add_(x), "reference:0", "cpu", x, y);
  const Net net = Net().to("sim");
  CHECK_DEVICE_MISMATCH(net->forward(ones({5, 3})), "cpu", "sim:0", net, *net, x,
                        std::vector<Tensor>{y});
  // The first layer runs, the second is on another device: no memory remains allocated.
  net->fc2->to(kCPU);
  CHECK_DEVICE_MISMATCH(net->forward(ones({5, 3}, "sim")), "sim", "cpu", net);
}

TEST_CASE("other devices, other errors and no error are reported") {
  CHECK(report(refuse) == "");
  CHECK(
      has(report([] { ones({2}, "reference") + ones({2}); }),
          "expected \"expected device cpu but got device reference:0\", got \"add: expected device "
          "reference:0 but got device cpu"));
  CHECK(has(report([] { ones({2}) + ones({3}); }), "got another error: add: expected"));
  CHECK(has(report([] { throw std::runtime_error("else"); }), "got another error: else"));
  CHECK(has(report([] { throw 1; }), "got an exception of another type"));
  CHECK(has(report([] {}), "got no error"));
}

TEST_CASE("memory that remains allocated is reported, but not a cache that is filled once") {
  std::vector<Tensor> kept;
  const auto leak = [&] {
    kept.push_back(ones({1000}));
    refuse();
  };
  CHECK(has(report(leak), "expected no memory to be kept, got "));
  CHECK(has(report(leak), " bytes on cpu"));
  Tensor cache;
  CHECK(report([&] {
          if (!cache.defined()) cache = ones({1000}, "sim");
          refuse();
        }) == "");
}

TEST_CASE("a changed tensor that is watched is reported, with its name") {
  const Tensor x = ones({2});
  x.set_name("fc1.weight");
  CHECK(has(report(
                [&] {
                  x.add_(1);
                  refuse();
                },
                {ones({1}), x}),
            "but of watched tensor 1 (fc1.weight) its version is "));
  // Write the memory directly, so that the version does not change.
  CHECK(has(report(
                [&] {
                  *x.data_ptr<float>() += 1;
                  refuse();
                },
                {x}),
            "its values differ"));
  CHECK(has(report(
                [&] {
                  x.set_data(ones({3}));
                  refuse();
                },
                {x}),
            "its sizes differ"));
  CHECK(has(report(
                [&] {
                  x.set_data(ones({3}, "sim"));
                  refuse();
                },
                {x}),
            "it is on sim:0, was on cpu"));
  const Tensor w = ones({2}).requires_grad_();
  CHECK(has(report(
                [&] {
                  w.sum().backward();
                  refuse();
                },
                {w}),
            "its gradient was added or removed"));
}

TEST_CASE("a wrong device fails the test case" * doctest::should_fail()) {
  CHECK_DEVICE_MISMATCH(ones({2}) + ones({2}, "reference"), "reference", "cpu");
}
