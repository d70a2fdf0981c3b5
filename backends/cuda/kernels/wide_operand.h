// Operands that need more precision than a reduced floating-point type, such as statistics or sums
// to which many threads add: kernels get them as float32.
#pragma once

#include <ambit/ops/creation.h>

#include "backends/cuda/kernels.h"

namespace ambit::cuda {

/// A tensor, or its copy in float32 if it has a reduced floating-point type.
class WideOperand {
 public:
  /// For an operand that a kernel reads, or adds to; may be undefined.
  explicit WideOperand(const Tensor& given) : given_(given), wide_(given) {
    if (given.defined() && is_reduced(given.dtype())) copy(make_wide(), given);
  }
  /// For an operand that the kernel only writes.
  static WideOperand made(const Tensor& given) {
    WideOperand operand;
    operand.given_ = operand.wide_ = given;
    if (is_reduced(given.dtype())) operand.make_wide();
    return operand;
  }
  template <class T>
  T* data() const {
    return wide_.defined() ? wide_.data_ptr<T>() : nullptr;
  }
  /// Return the operand for the kernel.
  Tensor& tensor() { return wide_; }
  int64_t stride(int64_t dim) const { return wide_.stride(dim); }
  /// Convert the kernel's results to the given dtype.
  void written() {
    if (!wide_.is_same(given_)) copy(given_, wide_);
  }

 private:
  WideOperand() = default;
  Tensor& make_wide() { return wide_ = empty(given_.sizes(), given_.options().dtype(kFloat32)); }

  Tensor given_, wide_;
};

}  // namespace ambit::cuda
