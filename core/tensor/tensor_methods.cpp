// Tensor methods that call functions of ops/*.h; headers with many functions have files in
// methods/.
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>

#include "core/tensor/methods/written.h"

namespace ambit {

// --- device and dtype
Tensor Tensor::to(Device device, bool non_blocking, bool copy) const {
  return ambit::to(*this, device, dtype(), non_blocking, copy);
}
Tensor Tensor::to(DType dtype, bool non_blocking, bool copy) const {
  return ambit::to(*this, device(), dtype, non_blocking, copy);
}
Tensor Tensor::to(Device device, DType dtype, bool non_blocking, bool copy,
                  std::optional<MemoryFormat> format) const {
  const Tensor out = ambit::to(*this, device, dtype, non_blocking, copy);
  return format.value_or(MemoryFormat::Preserve) == MemoryFormat::Preserve
             ? out
             : out.contiguous(*format);
}
Tensor Tensor::to(const TensorOptions& options, bool non_blocking, bool copy,
                  std::optional<MemoryFormat> format) const {
  if (options.requires_grad()) {
    throw Error("to: expected options without requires_grad, which requires_grad_() sets");
  }
  Tensor out = ambit::to(*this, options.has_device() ? options.device() : device(),
                         options.has_dtype() ? options.dtype() : dtype(), non_blocking, copy);
  if (options.pinned_memory()) out = out.pin_memory();
  const MemoryFormat asked =
      format.value_or(options.memory_format_opt().value_or(MemoryFormat::Preserve));
  return asked == MemoryFormat::Preserve ? out : out.contiguous(asked);
}
Tensor Tensor::contiguous() const { return ambit::contiguous(*this); }
Tensor Tensor::clone() const { return ambit::clone(*this); }
Tensor& Tensor::copy_(const Tensor& src, bool non_blocking) const {
  return written(ambit::copy_(*this, src, non_blocking));
}

// --- creation.h
Tensor& Tensor::fill_(const Scalar& value) const { return written(ambit::fill_(*this, value)); }
Tensor& Tensor::fill_(const Tensor& value) const { return written(ambit::fill_(*this, value)); }

// --- norm.h
Tensor Tensor::softmax(int64_t dim, std::optional<DType> dtype) const {
  return ambit::softmax(*this, dim, dtype);
}
Tensor Tensor::log_softmax(int64_t dim, std::optional<DType> dtype) const {
  return ambit::log_softmax(*this, dim, dtype);
}

}  // namespace ambit
