// Times of training steps and kernels on cuda:0, one line each: a name and microseconds.
// benchmark.py prints the same lines for PyTorch; tests/gpu.sh puts them side by side. Every figure
// is the median of 30 rounds; a round is some steps and one wait for the GPU. The exit code is 1
// where a step after the first rounds asked the driver for memory or made the host wait.
#include <ambit/ambit.h>
#include <ambit/cuda_counters.h>
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

bool all_steps_run_free = true;

void report(const char* name, int steps, const std::function<void()>& step) {
  const Device gpu("cuda");
  constexpr int kWarmUp = 5, kRounds = 30;
  for (int i = 0; i < kWarmUp; ++i) step();
  synchronize(gpu);
  const cuda::Counters before = cuda::counters();
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < steps; ++i) step();
    synchronize(gpu);
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

void report_training(const char* name, nn::Sequential model, int64_t batch) {
  const Device gpu("cuda");
  model->to(gpu);
  optim::SGD sgd(model->parameters(), optim::SGDOptions(0.01).momentum(0.9));
  const Tensor x = randn({batch, 3, 32, 32}, gpu);
  const Tensor target = zeros({batch}, TensorOptions(gpu).dtype(kInt64));
  report(name, 10, [&] {
    sgd.zero_grad();
    cross_entropy(model->forward(x), target).backward();
    sgd.step();
  });
}

void report_attention() {
  const TensorOptions options = TensorOptions(Device("cuda")).dtype(kBFloat16);
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

}  // namespace

int main() {
  if (!is_available("cuda")) {
    std::fprintf(stderr, "benchmark: expected a GPU, got none\n");
    return 1;
  }
  const Device gpu("cuda");
  report_training("net_batch_4", net(), 4);
  report_training("tudui_batch_64", tudui(), 64);
  report_training("tudui_batch_1024", tudui(), 1024);
  report_attention();

  const NoGradGuard no_grad;
  {
    const Tensor a = randn({4096, 4096}, gpu), b = randn({4096, 4096}, gpu), y = empty_like(a);
    for (const bool tf32 : {false, true}) {
      allow_tf32(tf32);
      report(tf32 ? "matmul_4096_tf32" : "matmul_4096_float32", 5, [&] { matmul(a, b); });
      std::printf("%s %.2f\n", tf32 ? "cublaslt_4096_tf32" : "cublaslt_4096_float32",
                  best_cublaslt_us(a.data_ptr(), b.data_ptr(), y.data_ptr(), 4096, tf32));
    }
    allow_tf32(false);
  }
  {
    const Tensor x = randn({256, 56, 56, 64}, gpu).reshape({256, 64, 56, 56});
    const Tensor w = randn({64, 64, 3, 3}, gpu);
    ConvParams p;
    p.padding = {1, 1};
    report("conv_256x64x56x56_3x3", 5, [&] { conv2d(x, w, Tensor(), p); });
    set_benchmark(true);
    report("conv_256x64x56x56_3x3_benchmark", 5, [&] { conv2d(x, w, Tensor(), p); });
    set_benchmark(false);
  }
  const Tensor a = randn({64 << 20}, gpu), b = randn({64 << 20}, gpu);
  report("add_256_mib", 10, [&] { a + b; });
  report("copy_256_mib", 10, [&] { a.clone(); });
  return all_steps_run_free ? 0 : 1;
}
