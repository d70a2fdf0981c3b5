#include "sgd.h"

#include <omp.h>

#include <algorithm>

namespace bench::floor {
namespace {

void descend(float* __restrict value, const float* __restrict grad, size_t begin, size_t end,
             float lr) {
  for (size_t i = begin; i < end; ++i) value[i] -= lr * grad[i];
}

void descend(float* __restrict value, const float* __restrict grad, float* __restrict buffer,
             size_t begin, size_t end, float lr, float momentum) {
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
  }
}

// One parallel region for all parameters; each thread updates a part of each parameter.
void Sgd::step() {
#pragma omp parallel
  {
    const size_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
    for (Tensor& t : tensors_) {
      const size_t share = (t.size / (16 * threads) + 1) * 16;  // whole cache lines
      const size_t begin = std::min(t.size, thread * share);
      const size_t end = std::min(t.size, begin + share);
      if (momentum_ == 0) {
        descend(t.value, t.grad, begin, end, lr_);
      } else {
        descend(t.value, t.grad, t.buffer.data(), begin, end, lr_, momentum_);
      }
    }
  }
}

}  // namespace bench::floor
