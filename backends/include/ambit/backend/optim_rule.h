// The update of one element by an optimizer step, for kernels of any backend, on host or device: as
// in `reference`, but in the precision of the parameters.
#pragma once

#include <ambit/api.h>
#include <ambit/params.h>

#include <cmath>

namespace ambit {

/// SGD without a momentum buffer. x: p, g. Source of all SGD:
/// pytorch.org/docs/stable/generated/torch.optim.SGD.html.
template <class T>
struct PlainSgd {
  static constexpr int kLists = 2;  ///< number of tensors of a parameter
  /// The step's numbers, converted to T.
  explicit PlainSgd(const SgdParams& o)
      : lr(static_cast<T>(o.lr)), decay(static_cast<T>(o.weight_decay)) {}
  /// Update the elements of one position.
  AMBIT_HOST_DEVICE void operator()(T (&x)[kLists]) const { x[0] -= lr * (x[1] + decay * x[0]); }

  T lr;     ///< factor of the update
  T decay;  ///< weight decay: factor of p in the gradient
};

/// SGD with a momentum buffer. x: p, buf, g.
template <class T>
struct MomentumSgd {
  static constexpr int kLists = 3;  ///< number of tensors of a parameter
  /// The step's numbers, converted to T.
  explicit MomentumSgd(const SgdParams& o)
      : lr(static_cast<T>(o.lr)),
        decay(static_cast<T>(o.weight_decay)),
        keep(static_cast<T>(o.momentum)),
        take(static_cast<T>(1 - o.dampening)),
        nesterov(o.nesterov),
        first_step(o.first_step) {}
  /// Update the elements of one position.
  AMBIT_HOST_DEVICE void operator()(T (&x)[kLists]) const {
    const T d = x[2] + decay * x[0];
    x[1] = first_step ? d : keep * x[1] + take * d;
    x[0] -= lr * (nesterov ? d + keep * x[1] : x[1]);
  }

  T lr;             ///< factor of the update
  T decay;          ///< weight decay: factor of p in the gradient
  T keep;           ///< momentum: factor of the buffer
  T take;           ///< 1 - dampening: factor of the gradient
  bool nesterov;    ///< as SgdParams::nesterov
  bool first_step;  ///< the buffer is uninitialised
};

/// Adam and AdamW. x: p, m, v, g. Source: Kingma & Ba 2015, arXiv:1412.6980; Loshchilov & Hutter
/// 2019, arXiv:1711.05101.
template <class T>
struct AdamRule {
  static constexpr int kLists = 4;  ///< number of tensors of a parameter
  /// The step's numbers, converted to T.
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
  /// Update the elements of one position.
  AMBIT_HOST_DEVICE void operator()(T (&x)[kLists]) const {
    const T d = x[3] + decay * x[0];
    x[1] = beta1 * x[1] + take1 * d;
    x[2] = beta2 * x[2] + take2 * d * d;
    x[0] = shrink * x[0] - step_size * x[1] / (std::sqrt(x[2]) * root_scale + eps);
  }

  T shrink;      ///< factor of p: 1 - lr weight_decay if the decay is decoupled
  T decay;       ///< factor of p in the gradient, otherwise
  T beta1;       ///< factor of m
  T beta2;       ///< factor of v
  T take1;       ///< 1 - beta1
  T take2;       ///< 1 - beta2
  T step_size;   ///< AdamParams::step_size()
  T root_scale;  ///< AdamParams::root_scale()
  T eps;         ///< added to the square root
};

/// Unscale a gradient that a GradScaler scaled.
template <class T>
struct Unscale {
  /// by: the factor, 1 / scale.
  explicit Unscale(double by) : factor(static_cast<T>(by)) {}
  /// Multiply g by the factor; return true if g was finite.
  AMBIT_HOST_DEVICE bool operator()(T& g) const {
    const T zero = g - g;  // NaN if g is not finite
    g *= factor;
    return zero == 0;
  }

  T factor;  ///< 1 / scale
};

}  // namespace ambit
