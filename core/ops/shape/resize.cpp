// Resizing of a tensor in place, in its memory or in larger memory.
#include <ambit/backend/alias.h>
#include <ambit/backend/kernels.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/autograd/autograd_meta.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"

namespace ambit {
namespace {

void check_resizable(const char* op, const Tensor& self) {
  expect_defined(op, "self", self);
  if (self.requires_grad()) {
    throw AutogradError(fmt::format(
        "{}: expected a tensor that does not require grad, got one that does; use reshape()", op));
  }
}

// Return row-major strides, or those of a format.
Dims strides_for(IntArrayRef sizes, std::optional<MemoryFormat> format, DType dtype) {
  const Tensor shape = empty(sizes, TensorOptions(dtype).device(kMeta));
  return Dims(shape.contiguous(format.value_or(MemoryFormat::Contiguous)).strides());
}

const Tensor& resize(const char* op, const Tensor& self, IntArrayRef sizes,
                     std::optional<MemoryFormat> format) {
  check_resizable(op, self);
  check_not_inference(op, self);
  const Dims strides = strides_for(sizes, format, self.dtype());
  if (self.sizes() == sizes && (!format || self.strides() == IntArrayRef(strides))) return self;
  const auto bytes = static_cast<int64_t>(element_size(self.dtype()));
  const auto there = static_cast<int64_t>(self.storage()->size_bytes()) / bytes;
  const int64_t needed = self.storage_offset() + Tensor(empty(sizes, kMeta)).numel();
  Tensor memory = self;
  if (needed > there) {
    memory = allocate(op, {needed}, self.dtype(), self.device());
    Tensor kept = alias(memory, {there});
    if (there > 0) kernels::copy(kept, alias(self, {there}, {1}, 0));
  }
  self.set_data(alias(memory, sizes, strides, self.storage_offset()));
  self.bump_version();
  return self;
}

}  // namespace

const Tensor& resize_(const Tensor& self, IntArrayRef sizes, std::optional<MemoryFormat> format) {
  return resize("resize_", self, sizes, format);
}

const Tensor& resize_as_(const Tensor& self, const Tensor& the_template,
                         std::optional<MemoryFormat> format) {
  check_resizable("resize_as_", self);
  expect_defined("resize_as_", "the_template", the_template);
  if (format == MemoryFormat::Preserve) format = the_template.suggest_memory_format();
  return resize("resize_as_", self, the_template.sizes(), format);
}

}  // namespace ambit
