// The methods of Tensor that are the functions of ops/*.h under another spelling; those of many
// functions are in methods/.
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/matmul.h>
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
Tensor Tensor::to(Device device, DType dtype, bool non_blocking, bool copy) const {
  return ambit::to(*this, device, dtype, non_blocking, copy);
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

// --- shape.h
Tensor Tensor::view(IntArrayRef sizes) const { return ambit::view(*this, sizes); }
Tensor Tensor::reshape(IntArrayRef sizes) const { return ambit::reshape(*this, sizes); }
Tensor Tensor::transpose(int64_t dim0, int64_t dim1) const {
  return ambit::transpose(*this, dim0, dim1);
}
Tensor Tensor::permute(IntArrayRef dims) const { return ambit::permute(*this, dims); }
Tensor Tensor::t() const { return ambit::t(*this); }
Tensor Tensor::squeeze() const { return ambit::squeeze(*this); }
Tensor Tensor::squeeze(int64_t dim) const { return ambit::squeeze(*this, dim); }
Tensor Tensor::unsqueeze(int64_t dim) const { return ambit::unsqueeze(*this, dim); }
Tensor Tensor::expand(IntArrayRef sizes) const { return ambit::expand(*this, sizes); }
Tensor Tensor::repeat(IntArrayRef repeats) const { return ambit::repeat(*this, repeats); }
Tensor Tensor::select(int64_t dim, int64_t index) const { return ambit::select(*this, dim, index); }
Tensor Tensor::slice(int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                     int64_t step) const {
  return ambit::slice(*this, dim, start, end, step);
}
Tensor Tensor::narrow(int64_t dim, int64_t start, int64_t length) const {
  return ambit::narrow(*this, dim, start, length);
}
Tensor Tensor::flatten(int64_t start_dim, int64_t end_dim) const {
  return ambit::flatten(*this, start_dim, end_dim);
}
Tensor Tensor::as_strided(IntArrayRef sizes, IntArrayRef strides,
                          std::optional<int64_t> storage_offset) const {
  return ambit::as_strided(*this, sizes, strides, storage_offset);
}
Tensor Tensor::flip(IntArrayRef dims) const { return ambit::flip(*this, dims); }
std::vector<Tensor> Tensor::unbind(int64_t dim) const { return ambit::unbind(*this, dim); }
std::vector<Tensor> Tensor::split(int64_t split_size, int64_t dim) const {
  return ambit::split(*this, split_size, dim);
}
std::vector<Tensor> Tensor::split(IntArrayRef split_sizes, int64_t dim) const {
  return ambit::split(*this, split_sizes, dim);
}
std::vector<Tensor> Tensor::chunk(int64_t chunks, int64_t dim) const {
  return ambit::chunk(*this, chunks, dim);
}

// --- creation.h
Tensor& Tensor::fill_(const Scalar& value) const { return written(ambit::fill_(*this, value)); }

// --- matmul.h, norm.h
Tensor Tensor::matmul(const Tensor& o) const { return ambit::matmul(*this, o); }
Tensor Tensor::mm(const Tensor& o) const { return ambit::mm(*this, o); }
Tensor Tensor::bmm(const Tensor& o) const { return ambit::bmm(*this, o); }
Tensor Tensor::mv(const Tensor& o) const { return ambit::mv(*this, o); }
Tensor Tensor::dot(const Tensor& o) const { return ambit::dot(*this, o); }
Tensor Tensor::softmax(int64_t dim, std::optional<DType> dtype) const {
  return ambit::softmax(*this, dim, dtype);
}
Tensor Tensor::log_softmax(int64_t dim, std::optional<DType> dtype) const {
  return ambit::log_softmax(*this, dim, dtype);
}

}  // namespace ambit
