// The update of one element by an optimizer step, for kernels of any backend, on host or device: as
// in `reference`, but in the precision of the parameters.
#pragma once

#include <ambit/api.h>
#include <ambit/params.h>

#include <cmath>

namespace ambit {

/// x: p, g. Source of all SGD: pytorch.org/docs/stable/generated/torch.optim.SGD.html.
template <class T>
struct PlainSgd {
  static constexpr int kLists = 2;
  explicit PlainSgd(const SgdParams& o)
      : lr(static_cast<T>(o.lr)), decay(static_cast<T>(o.weight_decay)) {}
  AMBIT_HOST_DEVICE void operator()(T (&x)[kLists]) const { x[0] -= lr * (x[1] + decay * x[0]); }

  T lr, decay;
};

/// x: p, buf, g.
template <class T>
struct MomentumSgd {
  static constexpr int kLists = 3;
  explicit MomentumSgd(const SgdParams& o)
      : lr(static_cast<T>(o.lr)),
        decay(static_cast<T>(o.weight_decay)),
        keep(static_cast<T>(o.momentum)),
        take(static_cast<T>(1 - o.dampening)),
        nesterov(o.nesterov),
        first_step(o.first_step) {}
  AMBIT_HOST_DEVICE void operator()(T (&x)[kLists]) const {
    const T d = x[2] + decay * x[0];
    x[1] = first_step ? d : keep * x[1] + take * d;
    x[0] -= lr * (nesterov ? d + keep * x[1] : x[1]);
  }

  T lr, decay, keep, take;
  bool nesterov, first_step;
};

/// x: p, m, v, g. Source: Kingma & Ba 2015, arXiv:1412.6980; Loshchilov & Hutter 2019,
/// arXiv:1711.05101.
template <class T>
struct AdamRule {
  static constexpr int kLists = 4;
  explicit AdamRule(const AdamParams& o)
      : shrink(static_cast<T>(o.decoupled ? 1 - o.lr * o.weight_decay : 1)),
        decay(static_cast<T>(o.decoupled ? 0 : o.weight_decay)),
        beta1(static_cast<T>(o.beta1)),
        beta2(static_cast<T>(o.beta2)),
        take1(static_cast<T>(1 - o.beta1)),
        take2(static_cast<T>(1 - o.beta2)),
        step_size(static_cast<T>(o.step_size())),
        root_scale(static_cast<T>(o.root_scale())),
        eps(static_cast<T>(o.eps)) {}
  /// Set the bias corrections o.step_size() and o.root_scale() for step t, counted on the device.
  AMBIT_HOST_DEVICE void correct(const AdamParams& o, double t) {
    step_size = static_cast<T>(o.lr / (1 - std::pow(o.beta1, t)));
    root_scale = static_cast<T>(1 / std::sqrt(1 - std::pow(o.beta2, t)));
  }
  AMBIT_HOST_DEVICE void operator()(T (&x)[kLists]) const {
    const T d = x[3] + decay * x[0];
    x[1] = beta1 * x[1] + take1 * d;
    x[2] = beta2 * x[2] + take2 * d * d;
    x[0] = shrink * x[0] - step_size * x[1] / (std::sqrt(x[2]) * root_scale + eps);
  }

  T shrink, decay, beta1, beta2, take1, take2, step_size, root_scale, eps;
};

/// Unscale a gradient that a GradScaler scaled.
template <class T>
struct Unscale {
  explicit Unscale(double by) : factor(static_cast<T>(by)) {}
  /// Return whether g was finite.
  AMBIT_HOST_DEVICE bool operator()(T& g) const {
    const T zero = g - g;  // NaN if g is not finite
    g *= factor;
    return zero == 0;
  }

  T factor;
};

}  // namespace ambit
