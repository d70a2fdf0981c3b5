// One step of stochastic gradient descent.
// Source: pytorch.org/docs/stable/generated/torch.optim.SGD.html.
#include "kernels.h"
#include "launch.h"

namespace ambit::cuda {
namespace {

// SgdParams in the precision of the parameters.
template <class T>
struct Rule {
  explicit Rule(const SgdParams& p)
      : lr(static_cast<T>(p.lr)),
        momentum(static_cast<T>(p.momentum)),
        fresh(static_cast<T>(1 - p.dampening)),
        weight_decay(static_cast<T>(p.weight_decay)),
        nesterov(p.nesterov),
        first_step(p.first_step) {}
  T lr, momentum, fresh, weight_decay;
  bool nesterov, first_step;
};

// p, buf, g [n]; buf is null without momentum
template <class T>
__global__ void step(int64_t n, Rule<T> rule, T* p, T* buf, const T* g) {
  for (int64_t i = thread_index(); i < n; i += thread_count()) {
    T d = g[i] + rule.weight_decay * p[i];
    if (buf) {
      const T v = rule.first_step ? d : rule.momentum * buf[i] + rule.fresh * d;
      buf[i] = v;
      d = rule.nesterov ? d + rule.momentum * v : v;
    }
    p[i] -= rule.lr * d;
  }
}

}  // namespace

void sgd_step(Tensor& p, Tensor& buf, const Tensor& g, const SgdParams& params) {
  const int64_t n = p.numel();
  if (n == 0) return;
  visit(p.dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) {
      T* const b = buf.defined() ? buf.data_ptr<T>() : nullptr;
      launch(step<T>, grid_for(n), n, Rule<T>(params), p.data_ptr<T>(), b,
             static_cast<const T*>(g.data_ptr<T>()));
    }
  });
}

}  // namespace ambit::cuda
