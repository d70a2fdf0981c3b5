// Gradients, custom functions and their modes.
#pragma once

#include <ambit/autograd.h>
#include <torch/types.h>

#include <ostream>
#include <vector>

namespace torch {
using Variable = ambit::Tensor;
}  // namespace torch

namespace ambit {

/// Print the address, as for other pointers: `std::cout << y.grad_fn()`.
template <class T>
std::ostream& operator<<(std::ostream& os, const intrusive_ptr<T>& pointer) {
  return os << static_cast<const void*>(pointer.get());
}

}  // namespace ambit

namespace ambit::autograd {
using ambit::AutoGradMode;
using ambit::GradMode;
using Variable = Tensor;
using tensor_list = std::vector<Tensor>;
}  // namespace ambit::autograd
