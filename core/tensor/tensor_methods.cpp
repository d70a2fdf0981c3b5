// The methods of Tensor that are the functions of ops/*.h under another spelling.
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>

namespace ambit {
namespace {

// In-place functions return what they are given. A Tensor is a handle: const leaves its elements
// writable, and methods that write return it as libtorch's do.
Tensor& written(const Tensor& self) { return const_cast<Tensor&>(self); }

}  // namespace

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

// --- elementwise.h
Tensor Tensor::add(const Tensor& o, const Scalar& alpha) const {
  return ambit::add(*this, o, alpha);
}
Tensor Tensor::add(const Scalar& o, const Scalar& alpha) const {
  return ambit::add(*this, o, alpha);
}
Tensor Tensor::sub(const Tensor& o, const Scalar& alpha) const {
  return ambit::sub(*this, o, alpha);
}
Tensor Tensor::sub(const Scalar& o, const Scalar& alpha) const {
  return ambit::sub(*this, o, alpha);
}
Tensor& Tensor::add_(const Tensor& o, const Scalar& alpha) const {
  return written(ambit::add_(*this, o, alpha));
}
Tensor& Tensor::add_(const Scalar& o, const Scalar& alpha) const {
  return written(ambit::add_(*this, o, alpha));
}
Tensor& Tensor::sub_(const Tensor& o, const Scalar& alpha) const {
  return written(ambit::sub_(*this, o, alpha));
}
Tensor& Tensor::sub_(const Scalar& o, const Scalar& alpha) const {
  return written(ambit::sub_(*this, o, alpha));
}

#define AMBIT_TENSOR_METHOD(name)                                              \
  Tensor Tensor::name(const Tensor& o) const { return ambit::name(*this, o); } \
  Tensor& Tensor::name##_(const Tensor& o) const { return written(ambit::name##_(*this, o)); }
#define AMBIT_BINARY_METHOD(name)                                              \
  AMBIT_TENSOR_METHOD(name)                                                    \
  Tensor Tensor::name(const Scalar& o) const { return ambit::name(*this, o); } \
  Tensor& Tensor::name##_(const Scalar& o) const { return written(ambit::name##_(*this, o)); }
AMBIT_BINARY_METHOD(mul)
AMBIT_BINARY_METHOD(div)
AMBIT_BINARY_METHOD(floor_divide)
AMBIT_BINARY_METHOD(remainder)
AMBIT_BINARY_METHOD(fmod)
AMBIT_BINARY_METHOD(pow)
AMBIT_BINARY_METHOD(eq)
AMBIT_BINARY_METHOD(ne)
AMBIT_BINARY_METHOD(lt)
AMBIT_BINARY_METHOD(le)
AMBIT_BINARY_METHOD(gt)
AMBIT_BINARY_METHOD(ge)
AMBIT_BINARY_METHOD(bitwise_and)
AMBIT_BINARY_METHOD(bitwise_or)
AMBIT_BINARY_METHOD(bitwise_xor)
AMBIT_TENSOR_METHOD(logical_and)
AMBIT_TENSOR_METHOD(logical_or)
AMBIT_TENSOR_METHOD(logical_xor)
AMBIT_TENSOR_METHOD(atan2)
#undef AMBIT_BINARY_METHOD
#undef AMBIT_TENSOR_METHOD
Tensor Tensor::div(const Tensor& o, const char* rounding_mode) const {
  return ambit::div(*this, o, rounding_mode);
}
Tensor Tensor::maximum(const Tensor& o) const { return ambit::maximum(*this, o); }
Tensor Tensor::minimum(const Tensor& o) const { return ambit::minimum(*this, o); }

#define AMBIT_METHOD(name, ...)                              \
  Tensor Tensor::name() const { return ambit::name(*this); } \
  Tensor& Tensor::name##_() const { return written(ambit::name##_(*this)); }
AMBIT_UNARY_MAPS(AMBIT_METHOD)
#undef AMBIT_METHOD
Tensor Tensor::isnan() const { return ambit::isnan(*this); }
Tensor Tensor::isinf() const { return ambit::isinf(*this); }
Tensor Tensor::isfinite() const { return ambit::isfinite(*this); }
Tensor Tensor::clamp(std::optional<Scalar> min, std::optional<Scalar> max) const {
  return ambit::clamp(*this, min, max);
}
Tensor& Tensor::clamp_(std::optional<Scalar> min, std::optional<Scalar> max) const {
  return written(ambit::clamp_(*this, min, max));
}
Tensor Tensor::where(const Tensor& condition, const Tensor& other) const {
  return ambit::where(condition, *this, other);
}
bool Tensor::equal(const Tensor& o) const { return ambit::equal(*this, o); }
bool Tensor::allclose(const Tensor& o, double rtol, double atol, bool equal_nan) const {
  return ambit::allclose(*this, o, rtol, atol, equal_nan);
}

// --- creation.h, random.h
Tensor& Tensor::fill_(const Scalar& value) const { return written(ambit::fill_(*this, value)); }
Tensor& Tensor::uniform_(double from, double to) const {
  return written(ambit::uniform_(*this, from, to));
}
Tensor& Tensor::normal_(double mean, double std) const {
  return written(ambit::normal_(*this, mean, std));
}
Tensor& Tensor::random_(int64_t from, int64_t to) const {
  return written(ambit::random_(*this, from, to));
}
Tensor& Tensor::bernoulli_(double p) const { return written(ambit::bernoulli_(*this, p)); }

// --- reduce.h
Tensor Tensor::sum(std::optional<DType> dtype) const { return ambit::sum(*this, dtype); }
Tensor Tensor::sum(IntArrayRef dims, bool keepdim, std::optional<DType> dtype) const {
  return ambit::sum(*this, dims, keepdim, dtype);
}
Tensor Tensor::sum(int64_t dim, bool keepdim) const {
  return ambit::sum(*this, IntArrayRef({dim}), keepdim);
}
Tensor Tensor::mean() const { return ambit::mean(*this); }
Tensor Tensor::mean(IntArrayRef dims, bool keepdim) const {
  return ambit::mean(*this, dims, keepdim);
}
Tensor Tensor::mean(int64_t dim, bool keepdim) const {
  return ambit::mean(*this, IntArrayRef({dim}), keepdim);
}
Tensor Tensor::prod() const { return ambit::prod(*this); }
Tensor Tensor::prod(int64_t dim, bool keepdim) const { return ambit::prod(*this, dim, keepdim); }
Tensor Tensor::var(bool unbiased) const { return ambit::var(*this, unbiased); }
Tensor Tensor::var(IntArrayRef dims, bool unbiased, bool keepdim) const {
  return ambit::var(*this, dims, unbiased, keepdim);
}
Tensor Tensor::std(bool unbiased) const { return ambit::std(*this, unbiased); }
Tensor Tensor::std(IntArrayRef dims, bool unbiased, bool keepdim) const {
  return ambit::std(*this, dims, unbiased, keepdim);
}
Tensor Tensor::max() const { return ambit::max(*this); }
Tensor Tensor::min() const { return ambit::min(*this); }
std::tuple<Tensor, Tensor> Tensor::max(int64_t dim, bool keepdim) const {
  return ambit::max(*this, dim, keepdim);
}
std::tuple<Tensor, Tensor> Tensor::min(int64_t dim, bool keepdim) const {
  return ambit::min(*this, dim, keepdim);
}
Tensor Tensor::argmax(std::optional<int64_t> dim, bool keepdim) const {
  return ambit::argmax(*this, dim, keepdim);
}
Tensor Tensor::argmin(std::optional<int64_t> dim, bool keepdim) const {
  return ambit::argmin(*this, dim, keepdim);
}
Tensor Tensor::any() const { return ambit::any(*this); }
Tensor Tensor::any(int64_t dim, bool keepdim) const { return ambit::any(*this, dim, keepdim); }
Tensor Tensor::all() const { return ambit::all(*this); }
Tensor Tensor::all(int64_t dim, bool keepdim) const { return ambit::all(*this, dim, keepdim); }
Tensor Tensor::norm(const Scalar& p) const { return ambit::norm(*this, p); }
Tensor Tensor::norm(const Scalar& p, IntArrayRef dims, bool keepdim) const {
  return ambit::norm(*this, p, dims, keepdim);
}
Tensor Tensor::logsumexp(IntArrayRef dims, bool keepdim) const {
  return ambit::logsumexp(*this, dims, keepdim);
}

// --- matmul.h, norm.h
Tensor Tensor::matmul(const Tensor& o) const { return ambit::matmul(*this, o); }
Tensor Tensor::mm(const Tensor& o) const { return ambit::mm(*this, o); }
Tensor Tensor::bmm(const Tensor& o) const { return ambit::bmm(*this, o); }
Tensor Tensor::mv(const Tensor& o) const { return ambit::mv(*this, o); }
Tensor Tensor::dot(const Tensor& o) const { return ambit::dot(*this, o); }
Tensor Tensor::softmax(int64_t dim) const { return ambit::softmax(*this, dim); }
Tensor Tensor::log_softmax(int64_t dim) const { return ambit::log_softmax(*this, dim); }

}  // namespace ambit
