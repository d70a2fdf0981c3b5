// Networks under autocast: they learn as in float32, and every kind of layer runs.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <functional>
#include <optional>
#include <vector>

#include "tests/devices.h"

using namespace ambit;
namespace F = nn::functional;

namespace {

// Images [N,1,8,8] of noise with a bright quarter, which is the class.
struct Quarters {
  Tensor x, y;
  explicit Quarters(int64_t n) : x(randn({n, 1, 8, 8})), y(randint(0, 4, {n}).to(kInt64)) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t c = y[i].item<int64_t>();
      x[i][0].slice(0, c / 2 * 4, c / 2 * 4 + 4).slice(1, c % 2 * 4, c % 2 * 4 + 4).add_(0.7);
    }
  }
};

double accuracy_of_training(bool amp, uint64_t seed) {
  manual_seed(seed);
  const Quarters train(256), test(512);
  nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(1, 8, 3).padding(1)), nn::BatchNorm2d(8),
                     nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(), nn::Linear(8 * 16, 32),
                     nn::LayerNorm(nn::LayerNormOptions({32})), nn::GELU(), nn::Linear(32, 4));
  optim::AdamW optimizer(net->parameters(), optim::AdamWOptions(3e-3));
  for (int step = 0; step < 120; ++step) {
    const int64_t from = step % 4 * 64;
    optimizer.zero_grad();
    Tensor loss;
    {
      const AutocastGuard guard(kCPU, kBFloat16, amp);
      const Tensor y = net->forward(train.x.slice(0, from, from + 64));
      CHECK(y.dtype() == (amp ? kBFloat16 : kFloat32));
      loss = F::cross_entropy(y, train.y.slice(0, from, from + 64));
      CHECK(loss.dtype() == kFloat32);
    }
    loss.backward();
    for (const Tensor& p : net->parameters()) REQUIRE(p.grad().dtype() == kFloat32);
    optimizer.step();
  }
  net->eval();
  const NoGradGuard no_grad;
  const AutocastGuard guard(kCPU, kBFloat16, amp);
  return (net->forward(test.x).argmax(1) == test.y).to(kFloat32).mean().item<double>();
}

}  // namespace

TEST_CASE("a network under autocast learns as in float32") {
  double wide = 0, amp = 0;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    wide += accuracy_of_training(false, seed) / 3;
    amp += accuracy_of_training(true, seed) / 3;
  }
  CHECK(wide > 0.8);
  // Some of the 1536 answers may differ: if all were independent, the standard deviation of the
  // accuracy would be sqrt(0.85 * 0.15 / 1536) = 0.009.
  CHECK(amp > wide - 0.02);
}

TEST_CASE("every kind of layer runs under autocast, forward and backward") {
  for_each_device([](Device device) {
    manual_seed(1);
    const auto tensor_of = [](auto out) {
      if constexpr (std::is_same_v<decltype(out), Tensor>) {
        return out;
      } else {
        return std::get<0>(out);
      }
    };
    const auto run = [&](const char* name, auto module, IntArrayRef sizes,
                         bool is_lower_precision) {
      INFO(name);
      module->to(device);
      const Tensor x = randn(sizes).to(device).requires_grad_();
      Tensor y;
      {
        const AutocastGuard guard(device, kBFloat16);
        y = tensor_of(module->forward(x));
        CHECK((y.dtype() == kBFloat16) == is_lower_precision);
        // The loss accepts the dtype of the layer's output.
        mse_loss(y, zeros_like(y)).backward();
      }
      CHECK(x.grad().dtype() == kFloat32);
      CHECK(isfinite(x.grad()).all().template item<bool>());
      for (const Tensor& p : module->parameters()) {
        REQUIRE(p.grad().defined());
        CHECK(p.grad().dtype() == kFloat32);
        CHECK(isfinite(p.grad()).all().template item<bool>());
      }
    };
    run("Linear", nn::Linear(6, 4), {3, 6}, true);
    run("Conv1d", nn::Conv1d(2, 4, 3), {2, 2, 8}, true);
    run("Conv2d, same", nn::Conv2d(nn::Conv2dOptions(2, 4, 3).padding(kSame)), {2, 2, 6, 6}, true);
    run("ConvTranspose2d", nn::ConvTranspose2d(2, 4, 3), {2, 2, 4, 4}, true);
    run("RNN", nn::RNN(6, 4), {5, 3, 6}, true);
    run("LSTM", nn::LSTM(nn::LSTMOptions(6, 4).num_layers(2).bidirectional(true)), {5, 3, 6}, true);
    run("GRU", nn::GRU(nn::GRUOptions(6, 4).num_layers(2)), {5, 3, 6}, true);
    run("BatchNorm1d", nn::BatchNorm1d(4), {6, 4}, false);
    run("LayerNorm", nn::LayerNorm(nn::LayerNormOptions({4})), {6, 4}, false);
    run("GroupNorm", nn::GroupNorm(nn::GroupNormOptions(2, 4)), {3, 4, 5}, false);
    run("InstanceNorm1d", nn::InstanceNorm1d(nn::InstanceNorm1dOptions(4).affine(true)), {3, 4, 5},
        false);
    run("PReLU", nn::PReLU(), {3, 4}, true);
    run("TransformerEncoderLayer",
        nn::TransformerEncoderLayer(nn::TransformerEncoderLayerOptions(8, 2).dropout(0)), {4, 2, 8},
        false);
    run("Sequential",
        nn::Sequential(nn::Conv2d(2, 4, 3), nn::BatchNorm2d(4), nn::ReLU(),
                       nn::AdaptiveAvgPool2d(2), nn::Flatten(), nn::Linear(16, 3)),
        {4, 2, 6, 6}, true);
  });
}

TEST_CASE("float16 with a GradScaler learns, too") {
  manual_seed(1);
  nn::Sequential net(nn::Linear(8, 32), nn::Tanh(), nn::Linear(32, 1));
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(1e-2));
  GradScaler scaler;
  const Tensor x = randn({128, 8}), y = x.narrow(1, 0, 1) * x.narrow(1, 1, 1);
  double first = 0, last = 0;
  int skipped = 0;
  for (int step = 0; step < 150; ++step) {
    optimizer.zero_grad();
    Tensor loss;
    {
      const AutocastGuard guard(kCPU, kFloat16);
      loss = mse_loss(net->forward(x), y);
    }
    scaler.scale(loss).backward();
    skipped += !scaler.step(optimizer);
    scaler.update();
    (step == 0 ? first : last) = loss.item<double>();
  }
  CHECK(last < first / 4);
  CHECK(skipped < 10);
}
