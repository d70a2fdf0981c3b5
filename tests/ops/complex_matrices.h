// Tables of functions of complex matrices: values and gradients of PyTorch 2.15.0+cu132, with
// L = torch.linalg, and
//   A = torch.complex(wave(2,3,3) + 2*torch.eye(3), wave(2,3,3,k=.4))
//   B = torch.complex(wave(2,3,2,k=.4), wave(2,3,2,k=.9))
// and gradients of the first operand for the loss (parts * wave(parts.numel())).sum(), where parts
// are those of the result, or the result if it is real.
#pragma once

#include <ambit/ambit.h>

#include <string>
#include <vector>

#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"

namespace complex_matrices {

using namespace ambit;

using Tensors = std::vector<Tensor>;

struct Row {
  const char* text;
  Tensor (*f)(const Tensors&);
  std::string operands;
  Dims sizes;
  std::vector<double> values, gradient;
};
#define CALL_OF(...) #__VA_ARGS__, [](const Tensors& in) -> Tensor { return __VA_ARGS__; }

inline Tensor mT(const Tensor& x) { return x.transpose(-2, -1); }
inline Tensor hermitian(const Tensor& x) { return x + adjoint(x); }
inline Tensor gram(const Tensor& x) { return matmul(x, adjoint(x)) + eye(x.size(-1), x.options()); }
inline Tensor parts_of(const Tensor& x) { return x.is_complex() ? view_as_real(x) : x; }

inline Tensors operands_of(const std::string& operands, Device d) {
  Tensors in;
  for (const char c : operands) {
    in.push_back(c == 'A'
                     ? complex(wave(d, {2, 3, 3}) + 2 * eye(3, TensorOptions(kFloat64).device(d)),
                               wave(d, {2, 3, 3}, 0.4))
                     : complex(wave(d, {2, 3, 2}, 0.4), wave(d, {2, 3, 2}, 0.9)));
  }
  return in;
}

inline void check_values_and_gradients(const std::vector<Row>& rows) {
  for_each_device([&](Device d) {
    for (const Row& row : rows) {
      INFO(std::string(row.text));
      const Tensors in = operands_of(row.operands, d);
      in[0].requires_grad_();
      const Tensor y = row.f(in), parts = parts_of(y).reshape({-1});
      REQUIRE(y.sizes() == IntArrayRef(row.sizes));
      // Condition numbers of up to 10 multiply the roundings.
      check_values(parts.detach(), parts.sizes(), row.values, 6e-11);
      (parts * wave(d, parts.sizes())).sum().backward();
      const Tensor gradient = view_as_real(in[0].grad()).reshape({-1});
      check_values(gradient, gradient.sizes(), row.gradient, 6e-11);
    }
  });
}

/// Check first and second gradients by differences.
inline void check_gradients(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    INFO(std::string(row.text));
    Tensors parts;
    for (const Tensor& x : operands_of(row.operands, "cpu")) {
      parts.push_back(view_as_real(x).clone());
    }
    const auto of_parts = [f = row.f](const Tensors& in) {
      Tensors numbers;
      for (const Tensor& x : in) numbers.push_back(view_as_complex(x));
      return parts_of(f(numbers));
    };
    gradcheck(of_parts, parts);
    gradgradcheck(of_parts, parts);
  }
}

}  // namespace complex_matrices
