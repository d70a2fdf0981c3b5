// Tensor: a counted handle on an n-dimensional array on one device. Copying it copies the handle.
// The methods are the functions of ops/*.h under libtorch's names; those pages document them.
#pragma once

#include <ambit/detail/tensor_impl.h>
#include <ambit/function_table.h>
#include <ambit/random.h>
#include <ambit/scalar.h>
#include <ambit/tensor_options.h>

#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace ambit {

class Node;
class Tensor;
namespace indexing {
class TensorIndex;
}

/// A borrowed list of tensors: take it as a parameter, never keep it.
class TensorList {
 public:
  TensorList(const Tensor* data, size_t size) : data_(data), size_(size) {}
  TensorList(const std::vector<Tensor>& v);
  TensorList(std::initializer_list<Tensor> l);
  const Tensor* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Tensor* begin() const { return data_; }
  const Tensor* end() const;
  const Tensor& operator[](size_t i) const;

 private:
  const Tensor* data_;
  size_t size_;
};

class AMBIT_API Tensor {
 public:
  /// Undefined: no elements, no device; most functions refuse it.
  Tensor() = default;
  explicit Tensor(intrusive_ptr<TensorImpl> impl) : impl_(std::move(impl)) {}

  // A handle is assigned where it has a name; `t[3] = x` writes into what a function returned.
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  /// copy_() and fill_(): `y[0][1] = 7`, `x.index({Slice(), 1}) = t`, `p.grad().data() = g / n`.
  /// Errors: Error where what is written would be seen by nobody, as in `x[mask] = 0`, whose left
  /// side is a copy; index_put_() and masked_fill_() write there.
  Tensor& operator=(const Tensor& values) && { return seen().copy_(values); }
  Tensor& operator=(Tensor&& values) && { return seen().copy_(values); }
  Tensor& operator=(const Scalar& value) && { return seen().fill_(value); }

  bool defined() const { return static_cast<bool>(impl_); }
  TensorImpl* impl() const { return impl_.get(); }
  bool is_same(const Tensor& o) const { return impl_ == o.impl_; }
  void reset() { impl_.reset(); }

  // --- geometry and type; Errors of all: Error when undefined
  int64_t dim() const { return static_cast<int64_t>(get()->sizes.size()); }
  int64_t ndimension() const { return dim(); }
  IntArrayRef sizes() const { return get()->sizes; }
  IntArrayRef strides() const { return get()->strides; }  ///< in elements
  int64_t size(int64_t dim) const;
  int64_t stride(int64_t dim) const;
  int64_t numel() const { return get()->numel; }
  int64_t storage_offset() const { return get()->offset; }
  size_t nbytes() const { return static_cast<size_t>(numel()) * element_size(dtype()); }
  bool is_contiguous() const { return get()->contiguous; }
  DType dtype() const { return get()->dtype; }
  DType scalar_type() const { return dtype(); }
  Device device() const { return get()->device; }
  TensorOptions options() const { return TensorOptions(dtype()).device(device()); }
  bool is_cpu() const { return device().is_cpu(); }
  bool is_cuda() const { return device().is_cuda(); }
  bool is_meta() const { return device().is_meta(); }
  bool is_floating_point() const { return ambit::is_floating_point(dtype()); }
  const Storage& storage() const { return get()->storage; }

  // --- memory
  /// Return the address of the first element, on the tensor's device: host code may follow it on
  /// cpu and reference only. Null on meta.
  void* data_ptr() const {
    TensorImpl* t = get();
    return static_cast<char*>(t->storage->data()) +
           t->offset * static_cast<int64_t>(element_size(t->dtype));
  }
  /// The same, typed. Errors: DTypeError when T is not the dtype.
  template <class T>
  T* data_ptr() const {
    if (dtype() != dtype_of<std::remove_const_t<T>>) throw_dtype(dtype_of<std::remove_const_t<T>>);
    return static_cast<T*>(data_ptr());
  }
  /// Return the value of a one-element tensor; waits for the device. Errors: ShapeError.
  Scalar item() const;
  template <class T>
  T item() const {
    return item().to<T>();
  }

  // --- device and dtype
  Tensor to(Device device, bool non_blocking = false, bool copy = false) const;
  Tensor to(DType dtype, bool non_blocking = false, bool copy = false) const;
  Tensor to(Device device, DType dtype, bool non_blocking = false, bool copy = false) const;
  Tensor to(const TensorOptions& options, bool non_blocking = false, bool copy = false) const;
  Tensor to(const char* device) const { return to(Device(device)); }
  Tensor to(DeviceType device, bool non_blocking = false, bool copy = false) const {
    return to(Device(device), non_blocking, copy);
  }
  /// As `other`, device and dtype.
  Tensor to(const Tensor& other, bool non_blocking = false, bool copy = false) const {
    return to(other.device(), other.dtype(), non_blocking, copy);
  }
  Tensor cpu() const { return to(Device()); }
  Tensor cuda() const { return to(Device("cuda")); }
  Tensor type_as(const Tensor& o) const { return to(o); }
  Tensor contiguous() const;
  Tensor clone() const;
  Tensor& copy_(const Tensor& src, bool non_blocking = false) const;
  /// Return the tensor in pinned memory, which copies between host and `device` need if they are to
  /// go on beside other work: `to(device, /*non_blocking=*/true)` then returns at once, and the
  /// memory is not reused before the copy is done. Itself where it is pinned already. On cpu there
  /// is no such memory, and plain memory serves. Errors: BackendError for a tensor not on the cpu.
  Tensor pin_memory(Device device = best_device()) const;
  bool is_pinned(Device device = best_device()) const;

  // --- autograd
  bool requires_grad() const {
    if (!impl_) return false;
    if (impl_->base) sync_view();
    return impl_->requires_grad;
  }
  Tensor& requires_grad_(bool on = true) const;
  Tensor& set_requires_grad(bool on) {
    requires_grad_(on);
    return *this;
  }
  bool is_leaf() const;
  /// Return the accumulated gradient, undefined if there is none.
  const Tensor& grad() const;
  Tensor& mutable_grad() const;
  intrusive_ptr<Node> grad_fn() const;
  /// Add to `.grad` of every leaf below the gradient of this tensor, weighted by `gradient` (of its
  /// shape and dtype; left out: 1, for one element only). retain_graph keeps the graph for another
  /// backward; create_graph makes the gradients differentiable, and keeps it too. Errors and more:
  /// autograd::backward().
  void backward(const Tensor& gradient = {}, bool retain_graph = false,
                bool create_graph = false) const;
  Tensor detach() const;
  Tensor& detach_() const;
  /// An alias outside the graph, with a version of its own to in-place checks; as detach().
  Tensor data() const { return detach(); }
  /// Keep `.grad` of a tensor that is not a leaf.
  void retain_grad() const;
  /// Call `hook` with each gradient of this tensor; what it returns, if defined, replaces it.
  /// Return an id for remove_hook.
  unsigned register_hook(std::function<Tensor(const Tensor&)> hook) const;
  void remove_hook(unsigned id) const;
  /// Return the dotted path of a module's parameter or buffer, empty for others.
  std::string name() const;
  void set_name(std::string path) const;
  void bump_version() const { get()->storage->bump_version(); }
  uint32_t version() const { return get()->storage->version(); }
  /// Take over geometry, dtype and storage of `src`, keeping identity: what module.to() does. What
  /// was recorded before stays as it was: a backward that would need this tensor as it was saved,
  /// or hand a gradient of other sizes to the op that made it, throws. A view is no view any more.
  /// Errors: DTypeError where this tensor requires grad and src is not floating point.
  void set_data(const Tensor& src) const;

  // --- shape.h
  Tensor view(IntArrayRef sizes) const;
  Tensor reshape(IntArrayRef sizes) const;
  Tensor view_as(const Tensor& o) const { return view(o.sizes()); }
  Tensor reshape_as(const Tensor& o) const { return reshape(o.sizes()); }
  Tensor transpose(int64_t dim0, int64_t dim1) const;
  Tensor permute(IntArrayRef dims) const;
  Tensor t() const;
  Tensor squeeze() const;
  Tensor squeeze(int64_t dim) const;
  Tensor unsqueeze(int64_t dim) const;
  Tensor expand(IntArrayRef sizes) const;
  Tensor expand_as(const Tensor& o) const { return expand(o.sizes()); }
  Tensor repeat(IntArrayRef repeats) const;
  Tensor select(int64_t dim, int64_t index) const;
  Tensor slice(int64_t dim, std::optional<int64_t> start = {}, std::optional<int64_t> end = {},
               int64_t step = 1) const;
  Tensor narrow(int64_t dim, int64_t start, int64_t length) const;
  Tensor flatten(int64_t start_dim = 0, int64_t end_dim = -1) const;
  Tensor as_strided(IntArrayRef sizes, IntArrayRef strides,
                    std::optional<int64_t> storage_offset = {}) const;
  Tensor flip(IntArrayRef dims) const;
  std::vector<Tensor> unbind(int64_t dim = 0) const;
  std::vector<Tensor> split(int64_t split_size, int64_t dim = 0) const;
  std::vector<Tensor> split(IntArrayRef split_sizes, int64_t dim) const;
  std::vector<Tensor> chunk(int64_t chunks, int64_t dim = 0) const;

  // --- index.h
  Tensor operator[](int64_t i) const { return select(0, i); }
  Tensor operator[](const Tensor& index) const;
  Tensor index(std::initializer_list<indexing::TensorIndex> indices) const;
  Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices,
                     const Tensor& value) const;
  Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices,
                     const Scalar& value) const;
  Tensor index_select(int64_t dim, const Tensor& index) const;
  Tensor gather(int64_t dim, const Tensor& index) const;
  Tensor scatter(int64_t dim, const Tensor& index, const Tensor& src) const;
  Tensor scatter_add(int64_t dim, const Tensor& index, const Tensor& src) const;
  Tensor& scatter_(int64_t dim, const Tensor& index, const Tensor& src) const;
  Tensor& scatter_add_(int64_t dim, const Tensor& index, const Tensor& src) const;
  Tensor masked_select(const Tensor& mask) const;
  Tensor masked_fill(const Tensor& mask, const Scalar& value) const;
  Tensor& masked_fill_(const Tensor& mask, const Scalar& value) const;
  Tensor nonzero() const;

  // --- elementwise.h
  Tensor add(const Tensor& o, const Scalar& alpha = 1) const;
  Tensor add(const Scalar& o, const Scalar& alpha = 1) const;
  Tensor sub(const Tensor& o, const Scalar& alpha = 1) const;
  Tensor sub(const Scalar& o, const Scalar& alpha = 1) const;
  Tensor& add_(const Tensor& o, const Scalar& alpha = 1) const;
  Tensor& add_(const Scalar& o, const Scalar& alpha = 1) const;
  Tensor& sub_(const Tensor& o, const Scalar& alpha = 1) const;
  Tensor& sub_(const Scalar& o, const Scalar& alpha = 1) const;
#define AMBIT_BINARY(name)                \
  Tensor name(const Tensor& o) const;     \
  Tensor name(const Scalar& o) const;     \
  Tensor& name##_(const Tensor& o) const; \
  Tensor& name##_(const Scalar& o) const;
  AMBIT_BINARY(mul)
  AMBIT_BINARY(div)
  AMBIT_BINARY(floor_divide)
  AMBIT_BINARY(remainder)
  AMBIT_BINARY(fmod)
  AMBIT_BINARY(pow)
  AMBIT_BINARY(eq)
  AMBIT_BINARY(ne)
  AMBIT_BINARY(lt)
  AMBIT_BINARY(le)
  AMBIT_BINARY(gt)
  AMBIT_BINARY(ge)
  AMBIT_BINARY(bitwise_and)
  AMBIT_BINARY(bitwise_or)
  AMBIT_BINARY(bitwise_xor)
  AMBIT_BINARY(bitwise_left_shift)
  AMBIT_BINARY(bitwise_right_shift)
  AMBIT_BINARY(copysign)
  AMBIT_BINARY(xlogy)
  AMBIT_BINARY(float_power)
  AMBIT_BINARY(multiply)
  AMBIT_BINARY(divide)
  AMBIT_BINARY(true_divide)
  AMBIT_BINARY(not_equal)
  AMBIT_BINARY(greater)
  AMBIT_BINARY(greater_equal)
  AMBIT_BINARY(less)
  AMBIT_BINARY(less_equal)
#undef AMBIT_BINARY
#define AMBIT_BINARY(name)            \
  Tensor name(const Tensor& o) const; \
  Tensor& name##_(const Tensor& o) const;
  AMBIT_BINARY(logical_and)
  AMBIT_BINARY(logical_or)
  AMBIT_BINARY(logical_xor)
  AMBIT_BINARY(atan2)
  AMBIT_BINARY(arctan2)
  AMBIT_BINARY(hypot)
  AMBIT_BINARY(nextafter)
  AMBIT_BINARY(heaviside)
  AMBIT_BINARY(ldexp)
  AMBIT_BINARY(gcd)
  AMBIT_BINARY(lcm)
#undef AMBIT_BINARY
#define AMBIT_BINARY(name)                                                               \
  Tensor name(const Tensor& o, std::optional<std::string_view> rounding_mode) const;     \
  Tensor name(const Scalar& o, std::optional<std::string_view> rounding_mode) const;     \
  Tensor& name##_(const Tensor& o, std::optional<std::string_view> rounding_mode) const; \
  Tensor& name##_(const Scalar& o, std::optional<std::string_view> rounding_mode) const;
  AMBIT_BINARY(div)
  AMBIT_BINARY(divide)
#undef AMBIT_BINARY
  Tensor subtract(const Tensor& o, const Scalar& alpha = 1) const;
  Tensor subtract(const Scalar& o, const Scalar& alpha = 1) const;
  Tensor& subtract_(const Tensor& o, const Scalar& alpha = 1) const;
  Tensor& subtract_(const Scalar& o, const Scalar& alpha = 1) const;
  Tensor maximum(const Tensor& o) const;
  Tensor minimum(const Tensor& o) const;
  Tensor fmax(const Tensor& o) const;
  Tensor fmin(const Tensor& o) const;
  Tensor logaddexp(const Tensor& o) const;
  Tensor logaddexp2(const Tensor& o) const;
  Tensor addcmul(const Tensor& a, const Tensor& b, const Scalar& value = 1) const;
  Tensor& addcmul_(const Tensor& a, const Tensor& b, const Scalar& value = 1) const;
  Tensor addcdiv(const Tensor& a, const Tensor& b, const Scalar& value = 1) const;
  Tensor& addcdiv_(const Tensor& a, const Tensor& b, const Scalar& value = 1) const;
  Tensor lerp(const Tensor& end, const Scalar& weight) const;
  Tensor lerp(const Tensor& end, const Tensor& weight) const;
  Tensor& lerp_(const Tensor& end, const Scalar& weight) const;
  Tensor& lerp_(const Tensor& end, const Tensor& weight) const;
#define AMBIT_METHOD(name, ...) \
  Tensor name() const;          \
  Tensor& name##_() const;
  AMBIT_UNARY_MAPS(AMBIT_METHOD)
#undef AMBIT_METHOD
#define AMBIT_METHOD(name) \
  Tensor name() const;     \
  Tensor& name##_() const;
  AMBIT_METHOD(absolute)
  AMBIT_METHOD(negative)
  AMBIT_METHOD(sgn)
  AMBIT_METHOD(fix)
  AMBIT_METHOD(arcsin)
  AMBIT_METHOD(arccos)
  AMBIT_METHOD(arctan)
  AMBIT_METHOD(arcsinh)
  AMBIT_METHOD(arccosh)
  AMBIT_METHOD(arctanh)
  AMBIT_METHOD(deg2rad)
  AMBIT_METHOD(rad2deg)
#undef AMBIT_METHOD
  Tensor round(int64_t decimals) const;
  Tensor& round_(int64_t decimals) const;
  Tensor logit(std::optional<double> eps = {}) const;
  Tensor& logit_(std::optional<double> eps = {}) const;
  Tensor mvlgamma(int64_t p) const;
  Tensor& mvlgamma_(int64_t p) const;
  Tensor polygamma(int64_t n) const;
  Tensor& polygamma_(int64_t n) const;
  Tensor nan_to_num(std::optional<double> nan = {}, std::optional<double> posinf = {},
                    std::optional<double> neginf = {}) const;
  Tensor& nan_to_num_(std::optional<double> nan = {}, std::optional<double> posinf = {},
                      std::optional<double> neginf = {}) const;
  Tensor positive() const;
  Tensor signbit() const;
  Tensor isnan() const;
  Tensor isinf() const;
  Tensor isposinf() const;
  Tensor isneginf() const;
  Tensor isfinite() const;
  Tensor isreal() const;
  Tensor clamp(std::optional<Scalar> min, std::optional<Scalar> max = {}) const;
  Tensor clamp(const std::optional<Tensor>& min, const std::optional<Tensor>& max = {}) const;
  Tensor clamp_min(const Scalar& min) const { return clamp(min); }
  Tensor clamp_min(const Tensor& min) const;
  Tensor clamp_max(const Scalar& max) const { return clamp(std::nullopt, max); }
  Tensor clamp_max(const Tensor& max) const;
  Tensor& clamp_(std::optional<Scalar> min, std::optional<Scalar> max = {}) const;
  Tensor& clamp_(const std::optional<Tensor>& min, const std::optional<Tensor>& max = {}) const;
  Tensor& clamp_min_(const Scalar& min) const { return clamp_(min); }
  Tensor& clamp_min_(const Tensor& min) const;
  Tensor& clamp_max_(const Scalar& max) const { return clamp_(std::nullopt, max); }
  Tensor& clamp_max_(const Tensor& max) const;
  Tensor clip(std::optional<Scalar> min, std::optional<Scalar> max = {}) const;
  Tensor clip(const std::optional<Tensor>& min, const std::optional<Tensor>& max = {}) const;
  Tensor& clip_(std::optional<Scalar> min, std::optional<Scalar> max = {}) const;
  Tensor& clip_(const std::optional<Tensor>& min, const std::optional<Tensor>& max = {}) const;
  /// where(condition, *this, other).
  Tensor where(const Tensor& condition, const Tensor& other) const;
  bool equal(const Tensor& o) const;
  bool allclose(const Tensor& o, double rtol = 1e-5, double atol = 1e-8,
                bool equal_nan = false) const;
  Tensor isclose(const Tensor& o, double rtol = 1e-5, double atol = 1e-8,
                 bool equal_nan = false) const;
  Tensor operator-() const { return neg(); }
  Tensor operator~() const { return bitwise_not(); }
  Tensor& operator+=(const Tensor& o) const { return add_(o); }
  Tensor& operator-=(const Tensor& o) const { return sub_(o); }
  Tensor& operator*=(const Tensor& o) const { return mul_(o); }
  Tensor& operator/=(const Tensor& o) const { return div_(o); }
  Tensor& operator+=(const Scalar& o) const { return add_(o); }
  Tensor& operator-=(const Scalar& o) const { return sub_(o); }
  Tensor& operator*=(const Scalar& o) const { return mul_(o); }
  Tensor& operator/=(const Scalar& o) const { return div_(o); }
  Tensor& operator&=(const Tensor& o) const { return bitwise_and_(o); }
  Tensor& operator|=(const Tensor& o) const { return bitwise_or_(o); }
  Tensor& operator^=(const Tensor& o) const { return bitwise_xor_(o); }

  // --- creation.h, random.h
  Tensor& fill_(const Scalar& value) const;
  Tensor& zero_() const { return fill_(0); }
  Tensor& uniform_(double from = 0, double to = 1,
                   const std::optional<Generator>& generator = {}) const;
  Tensor& normal_(double mean = 0, double std = 1,
                  const std::optional<Generator>& generator = {}) const;
  Tensor& random_(int64_t from, std::optional<int64_t> to,
                  const std::optional<Generator>& generator = {}) const;
  Tensor& random_(int64_t to, const std::optional<Generator>& generator = {}) const;
  Tensor& random_(const std::optional<Generator>& generator = {}) const;
  Tensor bernoulli(const std::optional<Generator>& generator = {}) const;
  Tensor bernoulli(double p, const std::optional<Generator>& generator = {}) const;
  Tensor& bernoulli_(double p = 0.5, const std::optional<Generator>& generator = {}) const;
  Tensor& bernoulli_(const Tensor& p, const std::optional<Generator>& generator = {}) const;
  Tensor& exponential_(double lambd = 1, const std::optional<Generator>& generator = {}) const;
  Tensor& geometric_(double p, const std::optional<Generator>& generator = {}) const;
  Tensor& cauchy_(double median = 0, double sigma = 1,
                  const std::optional<Generator>& generator = {}) const;
  Tensor& log_normal_(double mean = 1, double std = 2,
                      const std::optional<Generator>& generator = {}) const;

  // --- reduce.h
  Tensor sum(std::optional<DType> dtype = {}) const;
  Tensor sum(IntArrayRef dims, bool keepdim = false, std::optional<DType> dtype = {}) const;
  Tensor sum(int64_t dim, bool keepdim = false, std::optional<DType> dtype = {}) const;
  Tensor nansum(IntArrayRef dims = {}, bool keepdim = false, std::optional<DType> dtype = {}) const;
  Tensor sum_to_size(IntArrayRef sizes) const;
  Tensor count_nonzero(IntArrayRef dims) const;
  Tensor count_nonzero(std::optional<int64_t> dim = {}) const;
  Tensor mean(std::optional<DType> dtype = {}) const;
  Tensor mean(IntArrayRef dims, bool keepdim = false, std::optional<DType> dtype = {}) const;
  Tensor mean(int64_t dim, bool keepdim = false, std::optional<DType> dtype = {}) const;
  Tensor nanmean(IntArrayRef dims = {}, bool keepdim = false,
                 std::optional<DType> dtype = {}) const;
  Tensor prod(std::optional<DType> dtype = {}) const;
  Tensor prod(int64_t dim, bool keepdim = false, std::optional<DType> dtype = {}) const;
  Tensor var(bool unbiased = true) const;
  Tensor var(int dim) const { return var(IntArrayRef{dim}); }
  Tensor var(IntArrayRef dims, bool unbiased = true, bool keepdim = false) const;
  Tensor var(IntArrayRef dims, std::optional<int64_t> correction, bool keepdim = false) const;
  Tensor std(bool unbiased = true) const;
  Tensor std(int dim) const { return std(IntArrayRef{dim}); }
  Tensor std(IntArrayRef dims, bool unbiased = true, bool keepdim = false) const;
  Tensor std(IntArrayRef dims, std::optional<int64_t> correction, bool keepdim = false) const;
  Tensor max() const;
  Tensor min() const;
  Tensor max(const Tensor& o) const { return maximum(o); }
  Tensor min(const Tensor& o) const { return minimum(o); }
  std::tuple<Tensor, Tensor> max(int64_t dim, bool keepdim = false) const;
  std::tuple<Tensor, Tensor> min(int64_t dim, bool keepdim = false) const;
  Tensor amax(IntArrayRef dims = {}, bool keepdim = false) const;
  Tensor amin(IntArrayRef dims = {}, bool keepdim = false) const;
  std::tuple<Tensor, Tensor> aminmax(std::optional<int64_t> dim = {}, bool keepdim = false) const;
  Tensor argmax(std::optional<int64_t> dim = {}, bool keepdim = false) const;
  Tensor argmin(std::optional<int64_t> dim = {}, bool keepdim = false) const;
  Tensor any() const;
  Tensor any(int64_t dim, bool keepdim = false) const;
  Tensor all() const;
  Tensor all(int64_t dim, bool keepdim = false) const;
  Tensor norm(const Scalar& p = 2) const;
  Tensor norm(const std::optional<Scalar>& p, DType dtype) const;
  Tensor norm(const std::optional<Scalar>& p, IntArrayRef dims, bool keepdim = false) const;
  Tensor norm(const std::optional<Scalar>& p, IntArrayRef dims, bool keepdim, DType dtype) const;
  Tensor dist(const Tensor& o, const Scalar& p = 2) const;
  Tensor renorm(const Scalar& p, int64_t dim, const Scalar& maxnorm) const;
  Tensor& renorm_(const Scalar& p, int64_t dim, const Scalar& maxnorm) const;
  Tensor logsumexp(IntArrayRef dims, bool keepdim = false) const;
  Tensor cumsum(int64_t dim) const;

  // --- matmul.h, norm.h
  Tensor matmul(const Tensor& o) const;
  Tensor mm(const Tensor& o) const;
  Tensor bmm(const Tensor& o) const;
  Tensor mv(const Tensor& o) const;
  Tensor dot(const Tensor& o) const;
  Tensor softmax(int64_t dim, std::optional<DType> dtype = {}) const;
  Tensor log_softmax(int64_t dim, std::optional<DType> dtype = {}) const;

 private:
  TensorImpl* get() const {
    if (!impl_) [[unlikely]]
      throw_undefined();
    return impl_.get();
  }
  const Tensor& seen() const;
  void sync_view() const;
  [[noreturn]] static void throw_undefined();
  [[noreturn]] void throw_dtype(DType asked) const;

  intrusive_ptr<TensorImpl> impl_;
};

inline TensorList::TensorList(const std::vector<Tensor>& v) : data_(v.data()), size_(v.size()) {}
#pragma GCC diagnostic push
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
inline TensorList::TensorList(std::initializer_list<Tensor> l)
    : data_(l.begin()), size_(l.size()) {}
#pragma GCC diagnostic pop
inline const Tensor* TensorList::end() const { return data_ + size_; }
inline const Tensor& TensorList::operator[](size_t i) const { return data_[i]; }

/// Print as PyTorch does: "tensor([[1., 2.],\n        [3., 4.]], device='cuda:0')".
AMBIT_API std::ostream& operator<<(std::ostream& os, const Tensor& t);
/// The same as a string.
AMBIT_API std::string str(const Tensor& t);

}  // namespace ambit
