// One step of stochastic gradient descent for one parameter.
#include <ambit/reference.h>

#include "runs.h"
#include "strided_loop.h"

namespace ambit::reference {

// d = g + weight_decay p;  buf = momentum buf + (1 - dampening) d (at first: d);
// p -= lr (nesterov ? d + momentum buf : buf), or lr d without momentum.
// Source: pytorch.org/docs/stable/generated/torch.optim.SGD.html.
void sgd_step(Tensor& p, Tensor& buf, const Tensor& g, const SgdParams& params) {
  count_run();
  const Tensor& b = buf.defined() ? buf : p;
  visit(p.dtype(), [&]<class T>() {
    T* pp = p.data_ptr<T>();
    T* pb = buf.defined() ? buf.data_ptr<T>() : nullptr;
    const T* pg = g.data_ptr<T>();
    strided_loop(
        p.sizes(), {p.strides(), b.strides(), g.strides()}, [&](int64_t i, int64_t j, int64_t k) {
          const auto value = static_cast<double>(pp[i]);
          double d = static_cast<double>(pg[k]) + params.weight_decay * value;
          if (pb) {
            const double v = params.first_step ? d
                                               : params.momentum * static_cast<double>(pb[j]) +
                                                     (1 - params.dampening) * d;
            pb[j] = static_cast<T>(v);
            d = params.nesterov ? d + params.momentum * v : v;
          }
          pp[i] = static_cast<T>(value - params.lr * d);
        });
  });
}

}  // namespace ambit::reference
