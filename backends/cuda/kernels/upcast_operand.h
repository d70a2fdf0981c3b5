// Operands that need more precision than a reduced floating-point type, such as statistics or sums
// to which many threads add: kernels get them as float32.
#pragma once

#include <ambit/ops/creation.h>

#include "backends/cuda/kernels.h"

namespace ambit::cuda {

/// A tensor, or its copy in float32 if it has a reduced floating-point type.
class UpcastOperand {
 public:
  /// For an operand that a kernel reads, or adds to; may be undefined.
  explicit UpcastOperand(const Tensor& given) : given_(given), upcast_(given) {
    if (given.defined() && is_reduced_floating(given.dtype())) copy(make_upcast(), given);
  }
  /// For an operand that the kernel only writes.
  static UpcastOperand for_output(const Tensor& given) {
    UpcastOperand operand;
    operand.given_ = operand.upcast_ = given;
    if (is_reduced_floating(given.dtype())) operand.make_upcast();
    return operand;
  }
  template <class T>
  T* data() const {
    return upcast_.defined() ? upcast_.data_ptr<T>() : nullptr;
  }
  /// Return the operand for the kernel.
  Tensor& tensor() { return upcast_; }
  int64_t stride(int64_t dim) const { return upcast_.stride(dim); }
  /// Convert the kernel's results to the given dtype.
  void write_back() {
    if (!upcast_.is_same(given_)) copy(given_, upcast_);
  }

 private:
  UpcastOperand() = default;
  Tensor& make_upcast() {
    return upcast_ = empty(given_.sizes(), given_.options().dtype(kFloat32));
  }

  Tensor given_, upcast_;
};

}  // namespace ambit::cuda
