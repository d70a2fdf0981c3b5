// Ops of optimizer steps that write into a given tensor, in one pass. All tensors of a call have
// one shape, dtype and device; y may be an input. Private to optim.
#pragma once

#include <ambit/params.h>
#include <ambit/tensor.h>

namespace ambit::optim {

void compute(const Tensor& y, UnaryOp op, const Tensor& x);
void compute(const Tensor& y, BinaryOp op, const Tensor& a, const Tensor& b);
/// y = op(x, number)
void compute(const Tensor& y, BinaryOp op, const Tensor& x, double number);
/// y = a + factor b
void add_scaled(const Tensor& y, const Tensor& a, const Tensor& b, double factor);
/// y = a + weight (b - a)
void lerp_into(const Tensor& y, const Tensor& a, const Tensor& b, double weight);
void lerp_into(const Tensor& y, const Tensor& a, const Tensor& b, const Tensor& weight);

/// Add the weight decay to the gradient, or, if decoupled, apply it to the parameter. `One` is
/// ComposedOptimizer's type, which is protected.
template <class One, class Options>
void decay_weights(One& one, const Options& o) {
  if (!o.decoupled_weight_decay()) return one.decay(o.weight_decay());
  compute(one.param(), BinaryOp::mul, one.param(), 1 - o.lr() * o.weight_decay());
}

}  // namespace ambit::optim
