#include "sgd.h"

#include <omp.h>

#include <algorithm>

namespace bench::floor {
namespace {

// The compiler makes one version per instruction set; the machine's is taken.
#define EACH_SIMD __attribute__((target_clones("avx512f", "avx2", "default")))

EACH_SIMD void descend(float* __restrict value, const float* __restrict grad, size_t begin,
                       size_t end, float lr) {
  for (size_t i = begin; i < end; ++i) value[i] -= lr * grad[i];
}

EACH_SIMD void descend(float* __restrict value, const float* __restrict grad,
                       float* __restrict buffer, size_t begin, size_t end, float lr,
                       float momentum) {
  for (size_t i = begin; i < end; ++i) {
    buffer[i] = momentum * buffer[i] + grad[i];
    value[i] -= lr * buffer[i];
  }
}

}  // namespace

Sgd::Sgd(const std::vector<Parameter>& parameters, float lr, float momentum)
    : lr_(lr), momentum_(momentum) {
  for (const Parameter& p : parameters) {
    const size_t size = p.value.get_desc().get_size() / sizeof(float);
    tensors_.push_back({static_cast<float*>(p.value.get_data_handle()),
                        static_cast<const float*>(p.grad.get_data_handle()),
                        std::vector<float>(momentum == 0 ? 0 : size), size});
    size_ += size;
  }
}

void Sgd::step() {
  constexpr size_t kWorthThreads = 1 << 14;
#pragma omp parallel if (size_ >= kWorthThreads)
  {
    const size_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
    for (Tensor& t : tensors_) {
      // Whole cache lines each.
      const size_t share = (t.size / threads + 15) / 16 * 16;
      const size_t begin = std::min(t.size, thread * share);
      const size_t end = thread + 1 == threads ? t.size : std::min(t.size, begin + share);
      if (momentum_ == 0) {
        descend(t.value, t.grad, begin, end, lr_);
      } else {
        descend(t.value, t.grad, t.buffer.data(), begin, end, lr_, momentum_);
      }
    }
  }
}

}  // namespace bench::floor
