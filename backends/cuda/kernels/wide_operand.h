// Operands beside elements of 16 bits that say too little in as many, such as statistics, or sums
// to which many threads add: kernels take them as float32.
#pragma once

#include <ambit/ops/creation.h>

#include "backends/cuda/kernels.h"

namespace ambit::cuda {

/// The elements of a tensor, or where they are of 16 bits a copy in float32.
class WideOperand {
 public:
  /// Of what a kernel reads, or adds to; may be undefined.
  explicit WideOperand(const Tensor& given) : given_(given), wide_(given) {
    if (given.defined() && is_reduced(given.dtype())) copy(make_wide(), given);
  }
  /// Of what it only writes.
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
  /// What the kernel works on.
  Tensor& tensor() { return wide_; }
  int64_t stride(int64_t dim) const { return wide_.stride(dim); }
  /// Round what the kernel has written to the given dtype.
  void written() {
    if (!wide_.is_same(given_)) copy(given_, wide_);
  }

 private:
  WideOperand() = default;
  Tensor& make_wide() { return wide_ = empty(given_.sizes(), given_.options().dtype(kFloat32)); }

  Tensor given_, wide_;
};

}  // namespace ambit::cuda
