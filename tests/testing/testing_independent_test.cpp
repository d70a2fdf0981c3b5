// expect_device_independent accepts device-independent functions and finds others.
#include <doctest/doctest.h>

#include <ambit/ambit.h>
#include <ambit/testing.h>

#include <limits>
#include <string>
#include <vector>

using namespace ambit;
using test::expect_device_independent;

namespace {

struct NetImpl : nn::Module {
  nn::Conv2d conv = register_module("conv", nn::Conv2d(3, 8, 3));
  nn::BatchNorm2d norm = register_module("norm", nn::BatchNorm2d(8));
  nn::Linear fc = register_module("fc", nn::Linear(8 * 6 * 6, 10));
  Tensor forward(const Tensor& x) { return fc(relu(norm(conv(x))).flatten(1)); }
};
AMBIT_MODULE(Net);

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("a network's forward, backward and step are device-independent") {
  CHECK_DEVICE_INDEPENDENT([](Device device) {
    const Net net = Net().to(device);
    const Tensor x = randn({4, 3, 8, 8}, device);
    const Tensor y = randint(10, {4}, TensorOptions(kInt64).device(device));
    return [=] {
      optim::SGD sgd(net->parameters(), 0.1);
      const Tensor loss = nn::functional::cross_entropy(net->forward(x), y);
      loss.backward();
      sgd.step();
      return std::vector<Tensor>{loss, net->forward(x), net->conv->weight.grad()};
    };
  });
}

TEST_CASE("results may be integers, bools, NaN, infinity, empty and undefined") {
  CHECK_DEVICE_INDEPENDENT([](Device device) {
    const Tensor x = arange(4, TensorOptions(kFloat32).device(device)) - 1;
    return [=] {
      return std::vector<Tensor>{x / x * x,
                                 1 / x,
                                 x > 0,
                                 x.argmax(),
                                 zeros({0, 3}, x.options()),
                                 Tensor(),
                                 x.to(kFloat16),
                                 x.to(kBFloat16).exp()};
    };
  });
}

TEST_CASE("random numbers are equal on every device, also after some on the cpu") {
  CHECK_DEVICE_INDEPENDENT([](Device device) { return randn({100}, device); });
  CHECK_DEVICE_INDEPENDENT([](Device device) {
    const Tensor first = rand({7});
    return [=] { return rand({100}, device); };
  });
  // Afterwards each device has its own generator.
  manual_seed(1);
  const Tensor x = rand({4}), y = rand({4}, "reference");
  CHECK(y.cpu().equal(x));
}

TEST_CASE("different values on one device are reported, even small differences") {
  for (const double error : {1e-4, 1.0, std::numeric_limits<double>::quiet_NaN()}) {
    const std::string report = expect_device_independent([=](Device device) {
      const Tensor x = ones({3, 2}, device);
      const Tensor y = matmul(x, x.t());
      return device == Device("sim") ? y + error : y;
    });
    CHECK(has(report,
              "expected the same on every device, got\n  sim:0: result 0: 9 of 9 elements "
              "differ; element 0 is "));
    CHECK_FALSE(has(report, "cuda"));
  }
  CHECK(has(expect_device_independent(
                [](Device device) {
                  return device == Device("sim") ? tensor(1).to(device) : tensor(0).to(device);
                },
                {.copies = 1}),
            "sim:0: result 0: 1 of 1 elements differ; element 0 is 1, on cpu 0"));
  CHECK(has(expect_device_independent(
                [](Device device) { return ones({device == Device("sim") ? 2 : 3}, device); }),
            "sim:0: result 0: expected float32[3], got float32[2]"));
}

TEST_CASE("a copy, an op on another device and a tensor on another device are reported") {
  const auto of = [](auto function) {
    return expect_device_independent([=](Device device) {
      const Tensor x = ones({8}, device);
      return [=] { return function(x); };
    });
  };
  const std::string constant = of([](const Tensor& x) { return x * tensor({2.f}).to(x.device()); });
  CHECK(has(constant, "sim:0: it copied between devices: copy_from_host; allowed: 0"));
  CHECK(has(constant, "it made tensors of "));
  CHECK(has(constant, " bytes on cpu"));
  CHECK_FALSE(has(constant, "\n  cpu: "));
  const std::string item = of([](const Tensor& x) { return x * x.sum().item<float>(); });
  CHECK(has(item, "sim:0: it copied between devices: item; allowed: 0"));
  const std::string zeros_on_cpu = of([](const Tensor& x) {
    ones({4}).add_(1);
    return x + 1;
  });
  CHECK(has(zeros_on_cpu, "sim:0: it ran add"));
  CHECK(has(zeros_on_cpu, " on cpu"));
  CHECK(has(of([](const Tensor&) { return ones({2}); }), "result 0 is on cpu"));
}

TEST_CASE("permitted copies are not reported") {
  CHECK_DEVICE_INDEPENDENT(
      [](Device device) {
        const Tensor x = ones({8}, device);
        return [=] { return x * x.sum().item<float>(); };
      },
      {.copies = 1});
}

TEST_CASE("a function that amplifies rounding too much for a comparison is reported as such") {
  const std::string report = expect_device_independent([](Device device) {
    // A sum of 1,000 products has an error of about 1e-5. Multiplied by 1e6 the error is larger
    // than several periods of sin.
    return sin(matmul(randn({8, 1000}, device), randn({1000, 8}, device)) * 1e6);
  });
  CHECK(has(report, "the function amplifies rounding errors too much to compare devices"));
}

TEST_CASE("an exception of the function is reported, with the operands of a mismatch") {
  const std::string report = expect_device_independent([](Device device) {
    return linear(ones({2, 3}, device), ones({4, 3}));
  });
  CHECK(has(report,
            "\n  reference:0: it threw linear: expected device reference:0 but got device cpu"));
  CHECK(has(report, "\n  sim:0: it threw linear: expected device sim:0 but got device cpu"));
  CHECK(has(report, "try: weight.to(\"sim:0\")"));
  CHECK_FALSE(has(report, "\n  cpu: "));
}
