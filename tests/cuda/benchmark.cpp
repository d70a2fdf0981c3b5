// Times of training steps and kernels on cuda:0, one line each: a name and microseconds.
// benchmark.py prints the same lines for PyTorch; tests/gpu.sh compares them. Every figure is the
// median of 30 rounds; a round is several steps and one wait for the GPU. The exit code is 1 if a
// step after the first rounds allocated memory from the driver or made the host wait.
#include <ambit/ambit.h>
#include <ambit/cuda_counters.h>
#include <ambit/cuda_graph.h>
#include <ambit/memory.h>
#include <ambit/settings.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "benchmark_cublaslt.h"

using namespace ambit;

namespace {

const Device kGpu("cuda");
bool all_steps_run_free = true;

void report(const char* name, int steps, const std::function<void()>& step) {
  constexpr int kWarmUp = 5, kRounds = 30;
  for (int i = 0; i < kWarmUp; ++i) step();
  synchronize(kGpu);
  const cuda::Counters before = cuda::counters();
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < steps; ++i) step();
    synchronize(kGpu);
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    times.push_back(time.count() / steps);
  }
  const cuda::Counters after = cuda::counters();
  std::nth_element(times.begin(), times.begin() + kRounds / 2, times.end());
  std::printf("%s %.2f\n", name, times[kRounds / 2]);
  std::fflush(stdout);
  const auto allocations =
      static_cast<long long>(after.system_allocations - before.system_allocations);
  const auto waits = static_cast<long long>(after.host_waits - before.host_waits) - kRounds;
  if (allocations == 0 && waits == 0) return;
  all_steps_run_free = false;
  std::fprintf(stderr, "%s: expected no allocation and one wait a round, got %lld and %lld more\n",
               name, allocations, waits);
}

nn::Sequential net() {
  return nn::Sequential(nn::Conv2d(3, 6, 5), nn::ReLU(), nn::MaxPool2d(2), nn::Conv2d(6, 16, 5),
                        nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(), nn::Linear(400, 120),
                        nn::ReLU(), nn::Linear(120, 84), nn::ReLU(), nn::Linear(84, 10));
}

nn::Sequential tudui() {
  return nn::Sequential(nn::Conv2d(3, 32, 5, 1, 2), nn::MaxPool2d(2), nn::Conv2d(32, 32, 5, 1, 2),
                        nn::MaxPool2d(2), nn::Conv2d(32, 64, 5, 1, 2), nn::MaxPool2d(2),
                        nn::Flatten(), nn::Linear(1024, 64), nn::Linear(64, 10));
}

/// A training step, run several times.
struct Training {
  Training(nn::Sequential of, int64_t batch)
      : model(of.to(kGpu)),
        sgd(model->parameters(), optim::SGDOptions(0.01).momentum(0.9)),
        x(randn({batch, 3, 32, 32}, kGpu)),
        target(zeros({batch}, TensorOptions(kGpu).dtype(kInt64))) {}
  void operator()() {
    sgd.zero_grad();
    cross_entropy(model->forward(x), target).backward();
    sgd.step();
  }

  nn::Sequential model;
  optim::SGD sgd;
  Tensor x, target;
};

void report_training(const char* name, nn::Sequential model, int64_t batch) {
  Training step(std::move(model), batch);
  report(name, 10, [&] { step(); });
}

void report_replay(const char* name, nn::Sequential model, int64_t batch) {
  Training step(std::move(model), batch);
  for (int i = 0; i < 3; ++i) step();
  cuda::CUDAGraph graph;
  graph.capture_begin();
  step();
  graph.capture_end();
  report(name, 10, [&] { graph.replay(); });
}

void report_attention() {
  const TensorOptions options = TensorOptions(kGpu).dtype(kBFloat16);
  const auto heads = [&] { return randn({4, 16, 2048, 64}, options).requires_grad_(); };
  const Tensor q = heads(), k = heads(), v = heads(), dy = heads().detach();
  for (const bool causal : {false, true}) {
    const auto attend = [&] { return scaled_dot_product_attention(q, k, v, {}, 0, causal); };
    const std::string name =
        std::string("attention_4x16x2048x64_bfloat16") + (causal ? "_causal" : "");
    {
      const NoGradGuard no_grad;
      report(name.c_str(), 5, attend);
    }
    report((name + "_trained").c_str(), 5, [&] { autograd::grad({attend()}, {q, k, v}, {dy}); });
  }
}

// Each network runs in float32, TF32 and bfloat16; the first one also in benchmark mode.
void report_convolutions() {
  const Tensor x = randn({256, 64, 56, 56}, kGpu), w = randn({64, 64, 3, 3}, kGpu);
  const Tensor b = randn({64}, kGpu);
  const ConvParams p{.padding = {1, 1}};
  const std::string name = "conv_256x64x56x56_3x3";
  report(name.c_str(), 5, [&] { conv2d(x, w, Tensor(), p); });
  set_benchmark(true);
  report((name + "_benchmark").c_str(), 5, [&] { conv2d(x, w, Tensor(), p); });
  set_benchmark(false);
  for (const DType dtype : {kFloat32, kBFloat16}) {
    allow_tf32(dtype == kFloat32);
    const Tensor image = x.to(dtype), filter = w.to(dtype), bias = b.to(dtype);
    const std::string typed = name + (dtype == kFloat32 ? "_tf32" : "_bfloat16");
    report(typed.c_str(), 5, [&] { conv2d(image, filter, Tensor(), p); });
    report((typed + "_relu").c_str(), 5,
           [&] { convolution_map(image, filter, bias, p, UnaryOp::relu); });
    report((typed + "_weight_grad").c_str(), 5,
           [&] { convolution_weight_grad(image, image, filter.sizes(), p); });
  }
  allow_tf32(false);
}

// A product with its activation in one call.
void report_map() {
  const TensorOptions options = TensorOptions(kGpu).dtype(kBFloat16);
  const Tensor x = randn({4096, 4096}, options), w = randn({4096, 4096}, options);
  const Tensor b = randn({4096}, options);
  report("linear_4096_bfloat16_gelu", 5, [&] { linear_map(x, w, b, UnaryOp::gelu_tanh); });
}

}  // namespace

int main() {
  if (!is_available("cuda")) {
    std::fprintf(stderr, "benchmark: expected a GPU, got none\n");
    return 1;
  }
  report_training("net_batch_4", net(), 4);
  report_training("tudui_batch_64", tudui(), 64);
  report_training("tudui_batch_1024", tudui(), 1024);
  report_replay("net_batch_4_replayed", net(), 4);
  report_attention();

  const NoGradGuard no_grad;
  {
    const Tensor a = randn({4096, 4096}, kGpu), b = randn({4096, 4096}, kGpu), y = empty_like(a);
    for (const bool tf32 : {false, true}) {
      allow_tf32(tf32);
      report(tf32 ? "matmul_4096_tf32" : "matmul_4096_float32", 5, [&] { matmul(a, b); });
      std::printf("%s %.2f\n", tf32 ? "cublaslt_4096_tf32" : "cublaslt_4096_float32",
                  best_cublaslt_us(a.data_ptr(), b.data_ptr(), y.data_ptr(), 4096, tf32));
    }
    allow_tf32(false);
  }
  report_convolutions();
  report_map();
  const Tensor a = randn({64 << 20}, kGpu), b = randn({64 << 20}, kGpu);
  report("add_256_mib", 10, [&] { a + b; });
  report("copy_256_mib", 10, [&] { a.clone(); });
  report("sum_256_mib", 10, [&] { a.sum(); });
  report("softmax_64x1048576", 10, [&] { softmax(a.view({64, 1 << 20}), 1); });
  report("batch_norm_262144x256", 10, [&] {
    batch_norm(a.view({1 << 18, 256}), {}, {}, {}, {}, {.training = true});
  });
  return all_steps_run_free ? 0 : 1;
}
