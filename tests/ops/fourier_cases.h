// Checks of Fourier transforms that their tests share.
#pragma once

#include <ambit/ambit.h>
#include <ambit/ops/complex.h>

#include <complex>
#include <vector>

#include "tests/expected.h"

namespace fourier {

using namespace ambit;

inline Tensor parts(const Tensor& t) { return t.is_complex() ? view_as_real(t) : t; }
inline Tensor made_of(const Tensor& re, const Tensor& im) {
  return view_as_complex(stack({re, im}, -1));
}

// Check values; complex numbers are given as pairs.
inline void check_parts(const Tensor& got, IntArrayRef sizes, const std::vector<double>& values) {
  check_values(parts(got), sizes, values);
}

// Check the gradient gx for grad_output = wave(k=0.2), and the gradient of sum(gx * wave(k=0.9))
// with respect to grad_output.
template <class F>
void check_gradients(F f, const Tensor& operand, const std::vector<double>& first,
                     const std::vector<double>& second) {
  const auto wave_like = [](const Tensor& t, double k) {
    const Tensor values = wave(t.device(), parts(t).sizes(), k);
    return t.is_complex() ? view_as_complex(values) : values;
  };
  const Tensor x = operand.clone().requires_grad_(), y = f(x);
  const Tensor g = wave_like(y.detach(), 0.2).clone().requires_grad_();
  const Tensor gx = autograd::grad({y}, {x}, {g}, true, true)[0];
  check_values(parts(gx.detach()), parts(x.detach()).sizes(), first);
  const Tensor gg = autograd::grad({gx}, {g}, {wave_like(x.detach(), 0.9)})[0];
  check_values(parts(gg), parts(y.detach()).sizes(), second);
}

}  // namespace fourier
