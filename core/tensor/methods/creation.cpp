// Tensor's new_*() methods: functions of ops/creation.h with its dtype and device as defaults.
#include <ambit/ops/creation.h>

namespace ambit {
namespace {

TensorOptions like(const Tensor& self, TensorOptions options) {
  if (!options.has_dtype()) options = options.dtype(self.dtype());
  if (!options.has_device()) options = options.device(self.device());
  return options;
}

}  // namespace

Tensor Tensor::new_empty(IntArrayRef sizes, const TensorOptions& options) const {
  return empty(sizes, like(*this, options));
}
Tensor Tensor::new_empty_strided(IntArrayRef sizes, IntArrayRef strides,
                                 const TensorOptions& options) const {
  return empty_strided(sizes, strides, like(*this, options));
}
Tensor Tensor::new_full(IntArrayRef sizes, const Scalar& value,
                        const TensorOptions& options) const {
  return full(sizes, value, like(*this, options));
}
Tensor Tensor::new_zeros(IntArrayRef sizes, const TensorOptions& options) const {
  return zeros(sizes, like(*this, options));
}
Tensor Tensor::new_ones(IntArrayRef sizes, const TensorOptions& options) const {
  return ones(sizes, like(*this, options));
}

}  // namespace ambit
