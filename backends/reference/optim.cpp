// One step of an optimizer for a list of parameters.
#include <ambit/backend/reference.h>

#include <cmath>

#include "runs.h"

namespace ambit::reference {
namespace {

template <class T>
struct Sgd {
  const SgdParams& o;

  /// d = g + weight_decay p;  buf = momentum buf + (1 - dampening) d (d in the first step);
  /// p -= lr (nesterov ? d + momentum buf : buf), or lr d without momentum (buf null).
  /// Source: pytorch.org/docs/stable/generated/torch.optim.SGD.html.
  void operator()(T& p, T* buf, T g) const {
    const auto value = static_cast<double>(p);
    double d = static_cast<double>(g) + o.weight_decay * value;
    if (buf) {
      const double b =
          o.first_step ? d : o.momentum * static_cast<double>(*buf) + (1 - o.dampening) * d;
      *buf = static_cast<T>(b);
      d = o.nesterov ? d + o.momentum * b : b;
    }
    p = static_cast<T>(value - o.lr * d);
  }
};

template <class T>
struct Adam {
  explicit Adam(const AdamParams& params)
      : o(params), step_size(o.step_size()), root_scale(o.root_scale()) {}
  const AdamParams& o;
  double step_size, root_scale;

  /// decoupled: p -= lr weight_decay p, else g += weight_decay p;
  /// m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2;
  /// p -= lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps).
  /// Source: Kingma & Ba 2015, arXiv:1412.6980; Loshchilov & Hutter 2019, arXiv:1711.05101.
  void operator()(T& p, T& m, T& v, T g) const {
    auto value = static_cast<double>(p), d = static_cast<double>(g);
    if (o.decoupled) {
      value *= 1 - o.lr * o.weight_decay;
    } else {
      d += o.weight_decay * value;
    }
    const double mean = o.beta1 * static_cast<double>(m) + (1 - o.beta1) * d;
    const double square = o.beta2 * static_cast<double>(v) + (1 - o.beta2) * d * d;
    m = static_cast<T>(mean);
    v = static_cast<T>(square);
    p = static_cast<T>(value - step_size * mean / (std::sqrt(square) * root_scale + o.eps));
  }
};

}  // namespace

void sgd_step(TensorList p, TensorList buf, TensorList g, const SgdParams& params) {
  count_run();
  visit(p[0].dtype(), [&]<class T>() {
    const Sgd<T> update{params};
    for (size_t i = 0; i < p.size(); ++i) {
      T *to = p[i].data_ptr<T>(), *slope = g[i].data_ptr<T>();
      T* b = buf.empty() ? nullptr : buf[i].data_ptr<T>();
      for (int64_t n = 0; n < p[i].numel(); ++n) update(to[n], b ? b + n : nullptr, slope[n]);
    }
  });
}

void adam_step(TensorList p, TensorList m, TensorList v, TensorList t, TensorList g,
               const AdamParams& params) {
  count_run();
  visit(p[0].dtype(), [&]<class T>() {
    AdamParams own = params;
    for (size_t i = 0; i < p.size(); ++i) {
      if (!t.empty()) own.step = 1 + static_cast<int64_t>(*t[i].data_ptr<float>());
      const Adam<T> update(own);
      T *to = p[i].data_ptr<T>(), *slope = g[i].data_ptr<T>();
      T *mean = m[i].data_ptr<T>(), *square = v[i].data_ptr<T>();
      for (int64_t n = 0; n < p[i].numel(); ++n) update(to[n], mean[n], square[n], slope[n]);
    }
  });
}

void unscale(TensorList g, Tensor& found, double factor) {
  count_run();
  visit<dtypes::kFloating>(g[0].dtype(), [&]<class T>() {
    const T by = static_cast<T>(factor);
    for (const Tensor& t : g) {
      T* const x = t.data_ptr<T>();
      for (int64_t n = 0; n < t.numel(); ++n) {
        if (!std::isfinite(static_cast<double>(x[n]))) *found.data_ptr<float>() = 1;
        x[n] *= by;
      }
    }
  });
}

}  // namespace ambit::reference
