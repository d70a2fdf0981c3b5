#include "allocate.h"

#include <ambit/error.h>
#include <fmt/format.h>

#include <limits>
#include <utility>

namespace ambit {

Tensor allocate(const char* op, IntArrayRef sizes, DType dtype, Device device) {
  const int64_t numel = count(op, sizes);
  const auto n = static_cast<size_t>(numel);
  const size_t size = element_size(dtype);
  if (n > std::numeric_limits<int64_t>::max() / size) [[unlikely]] {
    throw ShapeError(fmt::format("{}: expected less than 2^63 bytes, got {} elements of {}", op, n,
                                 name(dtype)));
  }
  Storage storage(new StorageImpl(device, n * size));
  return Tensor(intrusive_ptr<TensorImpl>(new TensorImpl(std::move(storage), sizes, numel, dtype)));
}

Tensor blank_like(const Tensor& t, DType dtype) {
  return allocate("empty", t.sizes(), dtype, t.device());
}

TensorOptions options_like(const Tensor& self, const TensorOptions& options) {
  return options.dtype(options.has_dtype() ? options.dtype() : self.dtype())
      .device(options.has_device() ? options.device() : self.device());
}

Tensor finish(Tensor t, const TensorOptions& options) {
  const auto format = options.memory_format_opt();
  if (format && *format != MemoryFormat::Preserve) t = t.contiguous(*format);
  if (options.pinned_memory()) t = t.pin_memory();
  if (options.requires_grad()) t.requires_grad_();
  return t;
}

}  // namespace ambit
