// Matrices of complex128 in host memory, for factorisations of complex matrices.
#pragma once

#include <ambit/ops/creation.h>
#include <ambit/ops/shape.h>
#include <ambit/tensor.h>

#include <complex>
#include <cstdint>

#include "core/ops/on_host.h"
#include "core/ops/operands/allocate.h"

namespace ambit {

using Complex = std::complex<double>;

/// A row-major matrix in the memory of a tensor.
struct HostMatrix {
  Complex& operator()(int64_t i, int64_t j) const { return data[i * columns + j]; }
  Complex* row(int64_t i) const { return data + i * columns; }
  Complex* data;
  int64_t rows, columns;
};

/// A batch [B,M,N] of row-major matrices, which owns their memory.
class HostMatrices {
 public:
  /// Copy t.
  static HostMatrices of(const Tensor& t) {
    Tensor copy = allocate("complex", t.sizes(), kComplexDouble, kCPU);
    copy.copy_(t);
    return HostMatrices(copy);
  }
  static HostMatrices zeros(int64_t batch, int64_t rows, int64_t columns) {
    return HostMatrices(
        ambit::zeros({batch, rows, columns}, TensorOptions(kComplexDouble).device(kCPU)));
  }
  HostMatrix operator[](int64_t b) const {
    const int64_t rows = all_.size(1), columns = all_.size(2);
    return {all_.data_ptr<Complex>() + b * rows * columns, rows, columns};
  }
  int64_t count() const { return all_.size(0); }
  const Tensor& tensor() const { return all_; }
  /// Write the matrices to y, rounded to its dtype.
  void write_to(const Tensor& y) const { write_back(y, all_.to(y.dtype())); }

 private:
  explicit HostMatrices(Tensor t) : all_(std::move(t)) {}
  Tensor all_;
};

/// Return a * b. Unlike the operator, it calls no function that checks for the infinities and NaN
/// of C99, Annex G.
inline Complex product(const Complex& a, const Complex& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
/// y[i] += a * x[i] for n numbers.
inline void add_scaled(Complex* y, const Complex& a, const Complex* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] += product(a, x[i]);
}

}  // namespace ambit
