// Tensor: a reference-counted handle to an n-dimensional array on one device; copies share the
// array. The class is long because its methods are the functions of the headers in ops/, documented
// there.
#pragma once

#include <ambit/array_ref.h>
#include <ambit/detail/lacking.h>
#include <ambit/detail/tensor_impl.h>
#include <ambit/function_table.h>
#include <ambit/layout.h>
#include <ambit/random.h>
#include <ambit/scalar.h>
#include <ambit/tensor_options.h>

#include <concepts>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace ambit {

/// libtorch's names of the standard library's.
/// @{
using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::optional;
/// @}

class DeprecatedTypeProperties;
class Node;
class Tensor;
template <class T>
struct DefaultPtrTraits;
template <class T, size_t N, template <class> class PtrTraits, class Index>
class TensorAccessor;
template <class T, size_t N, template <class> class PtrTraits, class Index>
class PackedTensorAccessor;
namespace indexing {
class TensorIndex;
}

/// A non-owning list of tensors: use it for parameters, never store it.
class TensorList : public ArrayRef<Tensor> {
 public:
  /// A view of the tensors, which must outlive it; a list in braces lives until the end of the full
  /// expression.
  /// @{
  TensorList(const Tensor* data, size_t size) : ArrayRef(data, size) {}
  TensorList(const std::vector<Tensor>& v);
  TensorList(std::initializer_list<Tensor> l);
  TensorList(const Tensor& one);
  TensorList(ArrayRef<Tensor> list) : ArrayRef(list) {}
  /// @}
};

/// A handle to an n-dimensional array on one device; copies share the array. Methods with `_` at
/// the end write into it. Errors of all methods but a few: Error for an undefined tensor.
class AMBIT_API Tensor : public detail::LackingMethods {
 public:
  /// An undefined tensor: no elements, no device; most functions throw for it.
  Tensor() = default;
  /// For backends: make a handle to this array.
  explicit Tensor(intrusive_ptr<TensorImpl> impl) : impl_(std::move(impl)) {}
  /// nullopt gives an undefined tensor, which functions accept for an optional tensor.
  template <std::same_as<std::optional<Tensor>> Optional>
  Tensor(const Optional& t) {
    if (t) impl_ = t->impl_;
  }

  /// Copy or rebind the handle. Assignment to an rvalue, as in `t[3] = x`, writes elements instead.
  /// @{
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  /// @}
  /// Write as copy_() and fill_(): `y[0][1] = 7`, `x.index({Slice(), 1}) = t`, `p.data() = g / n`.
  /// Errors: Error if the write would have no effect, as in `x[mask] = 0`, whose left side is a
  /// temporary copy; use index_put_() or masked_fill_().
  /// @{
  Tensor& operator=(const Tensor& values) && { return seen().copy_(values); }
  Tensor& operator=(Tensor&& values) && { return seen().copy_(values); }
  Tensor& operator=(const Scalar& value) && { return seen().fill_(value); }
  /// @}

  bool defined() const { return static_cast<bool>(impl_); }         ///< false for Tensor()
  TensorImpl* impl() const { return impl_.get(); }                  ///< null if undefined
  TensorImpl* unsafeGetTensorImpl() const { return impl(); }        ///< libtorch's name
  bool is_same(const Tensor& o) const { return impl_ == o.impl_; }  ///< both have the same impl()
  void reset() { impl_.reset(); }                                   ///< become undefined

  // --- geometry and type; errors of all: Error when undefined
  int64_t dim() const { return static_cast<int64_t>(get()->sizes.size()); }  ///< number of dims
  int64_t ndimension() const { return dim(); }                               ///< same as dim()
  IntArrayRef sizes() const { return get()->sizes; }      ///< valid while the tensor is unchanged
  IntArrayRef strides() const { return get()->strides; }  ///< in elements
  int64_t size(int64_t dim) const;                        ///< dim in [-n, n). Errors: IndexError.
  int64_t stride(int64_t dim) const;  ///< in elements, dim in [-n, n). Errors: IndexError.
  int64_t numel() const { return get()->numel; }  ///< number of elements
  /// Return the offset of the first element in the storage, in elements.
  int64_t storage_offset() const { return get()->offset; }
  /// Return numel() times the bytes of an element, whatever the strides.
  size_t nbytes() const { return static_cast<size_t>(numel()) * ambit::element_size(dtype()); }
  /// Return the bytes of an element.
  /// @{
  int64_t element_size() const { return static_cast<int64_t>(ambit::element_size(dtype())); }
  size_t itemsize() const { return ambit::element_size(dtype()); }
  /// @}
  bool is_contiguous() const { return get()->contiguous; }  ///< row-major without gaps
  /// True if the strides are those of contiguous(format); for Preserve too.
  bool is_contiguous(MemoryFormat format) const;
  /// Return ChannelsLast or ChannelsLast3d if the strides are unambiguously of that format, else
  /// Contiguous.
  MemoryFormat suggest_memory_format() const;
  Layout layout() const { return get(), kStrided; }                          ///< always kStrided
  bool is_same_size(const Tensor& o) const { return sizes() == o.sizes(); }  ///< equal shapes
  /// True if the single element is not 0, like `if (t)` in Python. Errors: ShapeError unless it has
  /// one element.
  bool is_nonzero() const;
  DType dtype() const { return get()->dtype; }     ///< dtype of the elements
  DType scalar_type() const { return dtype(); }    ///< same as dtype()
  Device device() const { return get()->device; }  ///< device of the memory
  /// Return dtype and device, to create tensors like this one.
  TensorOptions options() const { return TensorOptions(dtype()).device(device()); }
  /// Return the device's index, -1 on cpu.
  int64_t get_device() const { return is_cpu() ? -1 : device().index(); }
  /// Compare device() or dtype().
  /// @{
  bool is_cpu() const { return device().is_cpu(); }
  bool is_cuda() const { return device().is_cuda(); }
  bool is_meta() const { return device().is_meta(); }
  bool is_floating_point() const { return ambit::is_floating_point(dtype()); }
  bool is_signed() const { return ambit::is_signed(dtype()); }
  bool is_complex() const { return ambit::is_complex(dtype()); }
  /// @}
  bool is_variable() const noexcept { return true; }  ///< as in libtorch, for old programs
  /// False: such tensors do not exist in ambit. conj() conjugates at once.
  /// @{
  bool is_conj() const { return get(), false; }
  bool is_neg() const { return get(), false; }
  bool is_sparse() const { return get(), false; }
  bool is_sparse_csr() const { return get(), false; }
  bool is_mkldnn() const { return get(), false; }
  bool is_quantized() const { return get(), false; }
  bool is_nested() const { return get(), false; }
  bool has_names() const { return get(), false; }
  /// @}
  const Storage& storage() const { return get()->storage; }  ///< the memory, shared with views
  bool has_storage() const { return defined(); }             ///< same as defined()
  /// True if the memory was made in the scope of an InferenceMode; false for a view of other
  /// memory.
  bool is_inference() const { return get()->storage->is_inference(); }
  /// Return true if both are on one storage, even without common elements.
  bool is_alias_of(const Tensor& o) const { return storage() == o.storage(); }
  /// libtorch's deprecated function, defined by <torch/torch.h>. New code calls scalar_type(),
  /// device() or options().
  DeprecatedTypeProperties type() const;
  /// Return libtorch's name of device and dtype, "CPUFloatType"; "UndefinedType" if undefined.
  std::string toString() const;
  /// Print "[CPUFloatType [2, 3]]" and a newline to std::cerr; "[UndefinedTensor]" if undefined.
  void print() const;
  /// Return the number of handles to the array, those of the graph included; 0 if undefined.
  size_t use_count() const { return impl_ ? impl_->use_count() : 0; }

  // --- memory
  /// Return the address of the first element in the device's address space: host code may
  /// dereference it on cpu and reference only. Null on meta.
  void* data_ptr() const {
    TensorImpl* t = get();
    return static_cast<char*>(t->storage->data()) +
           t->offset * static_cast<int64_t>(ambit::element_size(t->dtype));
  }
  /// As above, with the type of the elements. Errors: DTypeError when T is not the dtype.
  template <class T>
  T* data_ptr() const {
    if (dtype() != dtype_of<std::remove_const_t<T>>) throw_dtype(dtype_of<std::remove_const_t<T>>);
    return static_cast<T*>(data_ptr());
  }
  /// As data_ptr(): const_data_ptr() for elements that are only read, mutable_data_ptr() for
  /// others.
  /// @{
  const void* const_data_ptr() const { return data_ptr(); }
  template <class T>
  const std::remove_const_t<T>* const_data_ptr() const {
    return data_ptr<std::remove_const_t<T>>();
  }
  void* mutable_data_ptr() const { return data_ptr(); }
  template <class T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  /// @}
  /// libtorch's old name of data_ptr<T>().
  template <class T>
  T* data() const {
    return data_ptr<T>();
  }
  /// Return an accessor for host code: `a[i][j]` (accessor.h). The tensor must outlive it. Errors:
  /// DTypeError when T is not the dtype; ShapeError unless it has N dims; BackendError unless on
  /// cpu.
  template <class T, size_t N>
  TensorAccessor<T, N, DefaultPtrTraits, int64_t> accessor() const&;
  template <class T, size_t N>
  TensorAccessor<T, N, DefaultPtrTraits, int64_t> accessor() && = delete;  // would dangle
  /// As accessor(), with copies of the sizes and strides, of 32 bits. Errors: also ShapeError for
  /// 2^31 elements or more.
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor<T, N, PtrTraits, int32_t> packed_accessor32() const&;
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor<T, N, PtrTraits, int32_t> packed_accessor32() && = delete;
  /// As packed_accessor32(), with 64 bits, for any number of elements.
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor<T, N, PtrTraits, int64_t> packed_accessor64() const&;
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor<T, N, PtrTraits, int64_t> packed_accessor64() && = delete;
  /// libtorch's old name of packed_accessor64().
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor<T, N, PtrTraits, int64_t> packed_accessor() const& {
    return packed_accessor64<T, N, PtrTraits>();
  }
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor<T, N, PtrTraits, int64_t> packed_accessor() && = delete;
  /// Return the value of a one-element tensor; waits for the device. Errors: ShapeError; with T
  /// also DTypeError if an integer type cannot hold the value. A Scalar is real: a complex number
  /// with an imaginary part is a DTypeError unless T is std::complex<float> or <double> (include
  /// <complex>).
  /// @{
  Scalar item() const;
  template <class T>
  T item() const {
    if constexpr (std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>) {
      // A type that depends on T: compilers check other calls while std::complex is incomplete.
      using Self = std::conditional_t<std::is_void_v<T>, T, Tensor>;
      return T(static_cast<const Self*>(this)->complex_item());
    } else {
      return item().to<T>();
    }
  }
  /// @}

  // --- device and dtype
  /// As to() of ops/shape.h: return self if it has the device and dtype already, unless `copy`.
  /// Options that are not given do not change. format: the strides of the result.
  /// @{
  Tensor to(Device device, bool non_blocking = false, bool copy = false) const;
  Tensor to(DType dtype, bool non_blocking = false, bool copy = false) const;
  Tensor to(Device device, DType dtype, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> format = {}) const;
  /// Convert as the options say; unset options do not change. Errors: also Error for requires_grad.
  Tensor to(const TensorOptions& options, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> format = {}) const;
  Tensor to(const char* device) const { return to(Device(device)); }
  template <std::same_as<std::string> String>
  Tensor to(const String& device) const {
    return to(Device(device));
  }
  Tensor to(DeviceType device, bool non_blocking = false, bool copy = false) const {
    return to(Device(device), non_blocking, copy);
  }
  /// Return self with the device and dtype of `other`.
  Tensor to(const Tensor& other, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> format = {}) const {
    return to(other.device(), other.dtype(), non_blocking, copy, format);
  }
  /// @}
  /// to() this dtype or device; cuda is Device("cuda"). Errors: those of to().
  /// @{
  Tensor toType(DType dtype) const { return to(dtype); }
  Tensor half() const { return to(kHalf); }
  Tensor bfloat16() const { return to(kBFloat16); }
  Tensor meta() const { return to(kMeta); }
  Tensor cpu() const { return to(Device()); }
  Tensor cuda() const { return to(Device("cuda")); }
  /// @}
  Tensor type_as(const Tensor& o) const { return to(o); }  ///< to o's dtype and device
  Tensor contiguous() const;  ///< self if row-major, else a row-major copy
  /// Return a tensor with the strides of this format: itself if it has them. Errors: ShapeError for
  /// a wrong number of dims; Error for Preserve.
  Tensor contiguous(MemoryFormat format) const;
  Tensor clone() const;  ///< a contiguous copy
  /// Return a copy with this format's strides; Preserve: self's if without gaps and overlaps.
  Tensor clone(std::optional<MemoryFormat> format) const;
  /// Write src, as copy_() of ops/elementwise.h.
  Tensor& copy_(const Tensor& src, bool non_blocking = false) const;
  /// Return the tensor in pinned memory, or itself if it is pinned already. Copies between pinned
  /// host memory and `device` can overlap with other work: `to(device, /*non_blocking=*/true)`
  /// returns at once, and the memory is not reused before the copy is done. A cpu `device` has no
  /// pinned memory; plain memory is used. Errors: BackendError for a tensor not on the cpu.
  Tensor pin_memory(std::optional<Device> device = {}) const;
  /// Return true if `device` (default: best_device()) allocated the memory as pinned.
  bool is_pinned(std::optional<Device> device = {}) const;

  // --- autograd
  /// Return true if ops record gradients to this tensor; false if undefined.
  bool requires_grad() const {
    if (!impl_) return false;
    if (impl_->base) sync_view();
    return impl_->requires_grad;
  }
  /// Set requires_grad(). Errors: DTypeError unless floating point; AutogradError for false if this
  /// is not a leaf.
  /// @{
  Tensor& requires_grad_(bool on = true) const;
  Tensor& set_requires_grad(bool on) {
    requires_grad_(on);
    return *this;
  }
  /// @}
  bool is_leaf() const;  ///< true if grad_fn() is null
  /// Return the accumulated gradient, undefined if there is none.
  const Tensor& grad() const;
  Tensor& mutable_grad() const;         ///< grad(), to write or replace
  intrusive_ptr<Node> grad_fn() const;  ///< the op that made this tensor; null for a leaf
  /// Add the gradient of this tensor, weighted by `gradient` (of its shape and dtype; default: 1,
  /// for one-element tensors only), to `.grad` of every leaf of its graph. retain_graph keeps the
  /// graph for another backward (default: create_graph); create_graph makes the gradients
  /// differentiable; with `inputs` only their `.grad` changes. Errors and details:
  /// autograd::backward().
  void backward(const Tensor& gradient = {}, std::optional<bool> retain_graph = {},
                bool create_graph = false, std::optional<TensorList> inputs = {}) const;
  Tensor detach() const;  ///< an alias outside the graph
  /// Leave the graph and become a leaf that does not require grad. Errors: AutogradError for a
  /// view.
  Tensor& detach_() const;
  /// Return an alias outside the graph whose writes do not bump the version: a backward that saved
  /// this tensor does not detect them and computes with the new values. Writes through detach() do.
  Tensor data() const;
  Tensor tensor_data() const { return detach(); }  ///< libtorch's name of detach()
  Tensor variable_data() const { return data(); }  ///< libtorch's name of data()
  /// Keep `.grad` of a tensor that is not a leaf. Errors: AutogradError unless requires_grad().
  void retain_grad() const;
  /// Return true for a non-leaf tensor with retain_grad().
  bool retains_grad() const;
  /// Return the index of this tensor among the outputs of grad_fn(); 0 for a leaf.
  uint32_t output_nr() const;
  /// Call `hook` with each gradient of this tensor; a defined result replaces the gradient. Return
  /// an id for remove_hook. Errors: AutogradError unless requires_grad().
  unsigned register_hook(std::function<Tensor(const Tensor&)> hook) const;
  /// As above, with a hook that returns nothing.
  template <class Hook>
  requires std::is_void_v<std::invoke_result_t<Hook&, const Tensor&>>
  unsigned register_hook(Hook hook) const {
    return register_hook(
        std::function<Tensor(const Tensor&)>([hook = std::move(hook)](const Tensor& g) mutable {
          hook(g);
          return Tensor();
        }));
  }
  void remove_hook(unsigned id) const;  ///< Errors: IndexError for any other id.
  /// Return the dotted path if this is a module's parameter or buffer, else "".
  std::string name() const;
  void set_name(std::string path) const;                 ///< set name(), as modules do
  void bump_version() const { get()->bump_version(); }   ///< declare a write through data_ptr()
  uint32_t version() const { return get()->version(); }  ///< number of writes to the memory
  /// Same as version(). Errors: AutogradError for a tensor made in InferenceMode, whose writes
  /// PyTorch does not count.
  int64_t _version() const;
  /// Take the geometry, dtype and storage of `src` but keep identity; module.to() uses it. Earlier
  /// graph records keep the old data: a backward that saved this tensor, or would pass a gradient
  /// of other sizes to the op that produced it, throws. A view stops being one. Errors: DTypeError
  /// if this tensor requires grad and src is not floating point.
  void set_data(const Tensor& src) const;
  /// Same as set_data().
  Tensor& set_(const Tensor& source) {
    set_data(source);
    return *this;
  }
  /// Take the storage and dtype of `source` with this geometry; default strides: row-major. Errors:
  /// also ShapeError if the geometry exceeds the storage.
  Tensor& set_(const Tensor& source, int64_t storage_offset, IntArrayRef size,
               IntArrayRef stride = {});
  /// Become an empty tensor of shape [0].
  Tensor& set_();
  /// Return true if both are views of the same elements with the same geometry.
  bool is_set_to(const Tensor& o) const {
    return get()->storage == o.get()->storage && storage_offset() == o.storage_offset() &&
           sizes() == o.sizes() && strides() == o.strides();
  }
  /// As the function of this name in ops/complex.h.
  /// @{
  Tensor conj() const;
  Tensor conj_physical() const;
  Tensor& conj_physical_() const;
  Tensor resolve_conj() const { return get(), *this; }
  Tensor resolve_neg() const { return get(), *this; }
  /// @}

  /// As the function of this name in ops/fft.h; this tensor is its first tensor.
  /// @{
  Tensor stft(int64_t n_fft, std::optional<int64_t> hop_length = {},
              std::optional<int64_t> win_length = {}, const std::optional<Tensor>& window = {},
              bool center = true, std::string_view pad_mode = "reflect", bool normalized = false,
              std::optional<bool> onesided = {}, std::optional<bool> return_complex = {},
              std::optional<bool> align_to_window = {}) const;
  Tensor stft(int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length,
              const std::optional<Tensor>& window, bool normalized,
              std::optional<bool> onesided = {}, std::optional<bool> return_complex = {},
              std::optional<bool> align_to_window = {}) const;
  Tensor istft(int64_t n_fft, std::optional<int64_t> hop_length = {},
               std::optional<int64_t> win_length = {}, const std::optional<Tensor>& window = {},
               bool center = true, bool normalized = false, std::optional<bool> onesided = {},
               std::optional<int64_t> length = {}, bool return_complex = false) const;
  /// @}

  /// @name ops/shape.h
  /// @{

  /// As the function of this name in ops/shape.h; this tensor is its first tensor.
  Tensor view(IntArrayRef sizes) const;
  Tensor reshape(IntArrayRef sizes) const;
  Tensor view_as(const Tensor& o) const { return view(o.sizes()); }  ///< view() with o's sizes
  Tensor reshape_as(const Tensor& o) const { return reshape(o.sizes()); }  ///< with o's sizes
  Tensor transpose(int64_t dim0, int64_t dim1) const;
  Tensor permute(IntArrayRef dims) const;
  Tensor t() const;
  Tensor squeeze() const;
  Tensor squeeze(int64_t dim) const;
  Tensor squeeze(IntArrayRef dims) const;
  Tensor unsqueeze(int64_t dim) const;
  Tensor expand(IntArrayRef sizes, bool implicit = false) const;
  Tensor expand_as(const Tensor& o) const { return expand(o.sizes()); }  ///< expand() to o's sizes
  Tensor repeat(IntArrayRef repeats) const;
  Tensor select(int64_t dim, int64_t index) const;
  Tensor slice(int64_t dim = 0, std::optional<int64_t> start = {}, std::optional<int64_t> end = {},
               int64_t step = 1) const;
  Tensor narrow(int64_t dim, int64_t start, int64_t length) const;
  Tensor flatten(int64_t start_dim = 0, int64_t end_dim = -1) const;
  Tensor as_strided(IntArrayRef sizes, IntArrayRef strides,
                    std::optional<int64_t> storage_offset = {}) const;
  Tensor flip(IntArrayRef dims) const;
  std::vector<Tensor> unbind(int64_t dim = 0) const;
  std::vector<Tensor> split(int64_t split_size, int64_t dim = 0) const;
  std::vector<Tensor> split(IntArrayRef split_sizes, int64_t dim = 0) const;
  std::vector<Tensor> chunk(int64_t chunks, int64_t dim = 0) const;
  Tensor view(DType dtype) const;
  Tensor& transpose_(int64_t dim0, int64_t dim1) const;
  Tensor swapaxes(int64_t axis0, int64_t axis1) const { return transpose(axis0, axis1); }
  Tensor& swapaxes_(int64_t axis0, int64_t axis1) const { return transpose_(axis0, axis1); }
  Tensor swapdims(int64_t dim0, int64_t dim1) const { return transpose(dim0, dim1); }
  Tensor& swapdims_(int64_t dim0, int64_t dim1) const { return transpose_(dim0, dim1); }
  Tensor movedim(IntArrayRef source, IntArrayRef destination) const;
  Tensor movedim(int64_t source, int64_t destination) const;
  Tensor moveaxis(IntArrayRef source, IntArrayRef destination) const {
    return movedim(source, destination);
  }
  Tensor moveaxis(int64_t source, int64_t destination) const {
    return movedim(source, destination);
  }
  Tensor adjoint() const;
  /// numpy's adjoint() and t(): [...,M,N] -> [...,N,M]. Errors: ShapeError for a vector.
  Tensor mT() const;
  Tensor mH() const;  ///< same as mT()
  /// Return the transpose of a matrix; a 0-dim tensor is unchanged. Errors: ShapeError for other
  /// dims.
  Tensor matrix_H() const;
  /// Return the tensor with all dims reversed.
  Tensor numpy_T() const;
  Tensor& t_() const;
  Tensor& squeeze_() const;
  Tensor& squeeze_(int64_t dim) const;
  Tensor& squeeze_(IntArrayRef dims) const;
  Tensor& unsqueeze_(int64_t dim) const;
  Tensor& as_strided_(IntArrayRef sizes, IntArrayRef strides,
                      std::optional<int64_t> storage_offset = {}) const;
  Tensor& resize_(IntArrayRef sizes, std::optional<MemoryFormat> format = {}) const;
  Tensor& resize_as_(const Tensor& the_template, std::optional<MemoryFormat> format = {}) const;
  Tensor broadcast_to(IntArrayRef sizes) const { return expand(sizes); }
  Tensor narrow(int64_t dim, const Tensor& start, int64_t length) const;
  Tensor unfold(int64_t dim, int64_t size, int64_t step) const;
  Tensor diagonal(int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1) const;
  Tensor ravel() const;
  Tensor unflatten(int64_t dim, IntArrayRef sizes) const;
  std::vector<Tensor> split_with_sizes(IntArrayRef split_sizes, int64_t dim = 0) const;
  std::vector<Tensor> unsafe_split(int64_t split_size, int64_t dim = 0) const;
  std::vector<Tensor> unsafe_split_with_sizes(IntArrayRef split_sizes, int64_t dim = 0) const;
  std::vector<Tensor> unsafe_chunk(int64_t chunks, int64_t dim = 0) const;
  std::vector<Tensor> tensor_split(int64_t sections, int64_t dim = 0) const;
  std::vector<Tensor> tensor_split(IntArrayRef indices, int64_t dim = 0) const;
  std::vector<Tensor> tensor_split(const Tensor& tensor_indices_or_sections, int64_t dim = 0) const;
  std::vector<Tensor> hsplit(int64_t sections) const;
  std::vector<Tensor> hsplit(IntArrayRef indices) const;
  std::vector<Tensor> vsplit(int64_t sections) const;
  std::vector<Tensor> vsplit(IntArrayRef indices) const;
  std::vector<Tensor> dsplit(int64_t sections) const;
  std::vector<Tensor> dsplit(IntArrayRef indices) const;
  /// @}

  /// @name ops/arrange.h, ops/samples.h
  /// @{

  /// As the function of this name in ops/arrange.h or samples.h; this tensor is its first tensor.
  Tensor roll(IntArrayRef shifts, IntArrayRef dims = {}) const;
  Tensor rot90(int64_t k = 1, IntArrayRef dims = {0, 1}) const;
  Tensor fliplr() const;
  Tensor flipud() const;
  Tensor repeat_interleave(const Tensor& repeats, std::optional<int64_t> dim = {},
                           std::optional<int64_t> output_size = {}) const;
  Tensor repeat_interleave(int64_t repeats, std::optional<int64_t> dim = {},
                           std::optional<int64_t> output_size = {}) const;
  Tensor tile(IntArrayRef dims) const;
  Tensor narrow_copy(int64_t dim, int64_t start, int64_t length) const;
  Tensor diag(int64_t diagonal = 0) const;
  Tensor diag_embed(int64_t offset = 0, int64_t dim1 = -2, int64_t dim2 = -1) const;
  Tensor diagflat(int64_t offset = 0) const;
  Tensor tril(int64_t diagonal = 0) const;
  Tensor& tril_(int64_t diagonal = 0) const;
  Tensor triu(int64_t diagonal = 0) const;
  Tensor& triu_(int64_t diagonal = 0) const;
  Tensor diff(int64_t n = 1, int64_t dim = -1, const Tensor& prepend = {},
              const Tensor& append = {}) const;
  Tensor cov(int64_t correction = 1, const Tensor& fweights = {},
             const Tensor& aweights = {}) const;
  Tensor corrcoef() const;
  /// @}

  Tensor operator[](int64_t i) const { return select(0, i); }  ///< view of index i of dim 0
  Tensor operator[](const Tensor& index) const;                ///< same as index({index})
  /// @name ops/index.h
  /// @{

  /// As the function of this name in ops/index.h; this tensor is its first tensor.
  Tensor index(std::initializer_list<indexing::TensorIndex> indices) const;
  Tensor index(const std::vector<indexing::TensorIndex>& indices) const;
  Tensor index(const std::vector<std::optional<Tensor>>& indices) const;
  Tensor index(ArrayRef<indexing::TensorIndex> indices) const;
  Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices, const Tensor& value,
                     bool accumulate = false) const;
  Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices,
                     const Scalar& value) const;
  Tensor& index_put_(const std::vector<indexing::TensorIndex>& indices, const Tensor& value,
                     bool accumulate = false) const;
  Tensor& index_put_(const std::vector<indexing::TensorIndex>& indices, const Scalar& value) const;
  Tensor& index_put_(const std::vector<std::optional<Tensor>>& indices, const Tensor& value,
                     bool accumulate = false) const;
  Tensor index_put(const std::vector<std::optional<Tensor>>& indices, const Tensor& value,
                   bool accumulate = false) const;
  Tensor index_select(int64_t dim, const Tensor& index) const;
  Tensor gather(int64_t dim, const Tensor& index, bool sparse_grad = false) const;
  Tensor scatter(int64_t dim, const Tensor& index, const Tensor& src) const;
  Tensor scatter(int64_t dim, const Tensor& index, const Scalar& value) const;
  Tensor scatter(int64_t dim, const Tensor& index, const Tensor& src,
                 std::string_view reduce) const;
  Tensor scatter(int64_t dim, const Tensor& index, const Scalar& value,
                 std::string_view reduce) const;
  Tensor scatter_add(int64_t dim, const Tensor& index, const Tensor& src) const;
  Tensor scatter_reduce(int64_t dim, const Tensor& index, const Tensor& src,
                        std::string_view reduce, bool include_self = true) const;
  Tensor& scatter_(int64_t dim, const Tensor& index, const Tensor& src) const;
  Tensor& scatter_(int64_t dim, const Tensor& index, const Scalar& value) const;
  Tensor& scatter_(int64_t dim, const Tensor& index, const Tensor& src,
                   std::string_view reduce) const;
  Tensor& scatter_(int64_t dim, const Tensor& index, const Scalar& value,
                   std::string_view reduce) const;
  Tensor& scatter_add_(int64_t dim, const Tensor& index, const Tensor& src) const;
  Tensor& scatter_reduce_(int64_t dim, const Tensor& index, const Tensor& src,
                          std::string_view reduce, bool include_self = true) const;
  Tensor index_add(int64_t dim, const Tensor& index, const Tensor& source,
                   const Scalar& alpha = 1) const;
  Tensor& index_add_(int64_t dim, const Tensor& index, const Tensor& source,
                     const Scalar& alpha = 1) const;
  Tensor index_copy(int64_t dim, const Tensor& index, const Tensor& source) const;
  Tensor& index_copy_(int64_t dim, const Tensor& index, const Tensor& source) const;
  Tensor index_fill(int64_t dim, const Tensor& index, const Scalar& value) const;
  Tensor index_fill(int64_t dim, const Tensor& index, const Tensor& value) const;
  Tensor& index_fill_(int64_t dim, const Tensor& index, const Scalar& value) const;
  Tensor& index_fill_(int64_t dim, const Tensor& index, const Tensor& value) const;
  Tensor index_reduce(int64_t dim, const Tensor& index, const Tensor& source,
                      std::string_view reduce, bool include_self = true) const;
  Tensor& index_reduce_(int64_t dim, const Tensor& index, const Tensor& source,
                        std::string_view reduce, bool include_self = true) const;
  Tensor take(const Tensor& index) const;
  Tensor take_along_dim(const Tensor& indices, std::optional<int64_t> dim = {}) const;
  Tensor put(const Tensor& index, const Tensor& source, bool accumulate = false) const;
  Tensor& put_(const Tensor& index, const Tensor& source, bool accumulate = false) const;
  Tensor masked_scatter(const Tensor& mask, const Tensor& source) const;
  Tensor& masked_scatter_(const Tensor& mask, const Tensor& source) const;
  Tensor argwhere() const;
  std::vector<Tensor> nonzero_numpy() const;
  Tensor& fill_diagonal_(const Scalar& fill_value, bool wrap = false) const;
  Tensor select_scatter(const Tensor& src, int64_t dim, int64_t index) const;
  Tensor slice_scatter(const Tensor& src, int64_t dim = 0, std::optional<int64_t> start = {},
                       std::optional<int64_t> end = {}, int64_t step = 1) const;
  Tensor diagonal_scatter(const Tensor& src, int64_t offset = 0, int64_t dim1 = 0,
                          int64_t dim2 = 1) const;
  Tensor as_strided_scatter(const Tensor& src, IntArrayRef size, IntArrayRef stride,
                            std::optional<int64_t> storage_offset = {}) const;
  Tensor masked_select(const Tensor& mask) const;
  Tensor masked_fill(const Tensor& mask, const Scalar& value) const;
  Tensor masked_fill(const Tensor& mask, const Tensor& value) const;
  Tensor& masked_fill_(const Tensor& mask, const Scalar& value) const;
  Tensor& masked_fill_(const Tensor& mask, const Tensor& value) const;
  Tensor nonzero() const;
  Tensor nonzero_static(int64_t size, int64_t fill_value = -1) const;
  /// @}

  /// @name ops/elementwise.h, ops/special.h
  /// @{

  /// As the function of this name in ops/elementwise.h, special.h or aliases.h; this tensor is its
  /// first tensor. `name_` writes the result into this tensor and returns it.
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
  Tensor igamma(const Tensor& other) const;
  Tensor& igamma_(const Tensor& other) const;
  Tensor igammac(const Tensor& other) const;
  Tensor& igammac_(const Tensor& other) const;
  std::tuple<Tensor, Tensor> frexp() const;
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
  Tensor angle() const;
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
  /// Return where(condition, *this, other).
  Tensor where(const Tensor& condition, const Tensor& other) const;
  Tensor where(const Tensor& condition, const Scalar& other) const;
  bool equal(const Tensor& o) const;
  bool allclose(const Tensor& o, double rtol = 1e-5, double atol = 1e-8,
                bool equal_nan = false) const;
  Tensor isclose(const Tensor& o, double rtol = 1e-5, double atol = 1e-8,
                 bool equal_nan = false) const;
  /// @}
  Tensor operator-() const { return neg(); }          ///< neg()
  Tensor operator~() const { return bitwise_not(); }  ///< bitwise_not()
  /// The function of the operator, in place: add_() for +=.
  /// @{
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
  /// @}

  /// As the function without new_ in ops/creation.h; default dtype and device are this tensor's.
  /// @{
  Tensor new_empty(IntArrayRef sizes, const TensorOptions& options = {}) const;
  Tensor new_empty_strided(IntArrayRef sizes, IntArrayRef strides,
                           const TensorOptions& options = {}) const;
  Tensor new_full(IntArrayRef sizes, const Scalar& value, const TensorOptions& options = {}) const;
  Tensor new_zeros(IntArrayRef sizes, const TensorOptions& options = {}) const;
  Tensor new_ones(IntArrayRef sizes, const TensorOptions& options = {}) const;
  /// @}
  /// @name ops/random.h, and fill_()
  /// @{

  /// As the function of this name in ops/random.h or elementwise.h; this tensor is its first
  /// tensor.
  Tensor& fill_(const Scalar& value) const;
  Tensor& fill_(const Tensor& value) const;
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
  Tensor multinomial(int64_t num_samples, bool replacement = false,
                     const std::optional<Generator>& generator = {}) const;
  /// @}

  /// @name ops/reduce.h
  /// @{

  /// As the function of this name in ops/reduce.h; this tensor is its first tensor.
  Tensor sum(std::optional<DType> dtype = {}) const;
  Tensor sum(IntArrayRef dims, bool keepdim = false, std::optional<DType> dtype = {}) const;
  Tensor sum(int64_t dim, bool keepdim = false, std::optional<DType> dtype = {}) const;
  Tensor nansum(IntArrayRef dims = {}, bool keepdim = false, std::optional<DType> dtype = {}) const;
  Tensor sum_to_size(IntArrayRef sizes) const;
  Tensor count_nonzero(IntArrayRef dims) const;
  Tensor count_nonzero(std::optional<int64_t> dim = {}) const;
  template <std::integral I>
  Tensor count_nonzero(I dim) const {
    return count_nonzero(std::optional<int64_t>(dim));
  }
  Tensor mean(std::optional<DType> dtype = {}) const;
  Tensor mean(IntArrayRef dims, bool keepdim = false, std::optional<DType> dtype = {}) const;
  Tensor mean(int64_t dim, bool keepdim = false, std::optional<DType> dtype = {}) const;
  Tensor nanmean(IntArrayRef dims = {}, bool keepdim = false,
                 std::optional<DType> dtype = {}) const;
  Tensor prod(std::optional<DType> dtype = {}) const;
  Tensor prod(int64_t dim, bool keepdim = false, std::optional<DType> dtype = {}) const;
  Tensor var(bool unbiased = true) const;
  template <std::integral I>
  requires(!std::same_as<I, bool>) Tensor var(I dim)
  const { return var(IntArrayRef{static_cast<int64_t>(dim)}); }
  Tensor var(IntArrayRef dims, bool unbiased = true, bool keepdim = false) const;
  Tensor var(IntArrayRef dims, const std::optional<Scalar>& correction, bool keepdim = false) const;
  Tensor std(bool unbiased = true) const;
  template <std::integral I>
  requires(!std::same_as<I, bool>) Tensor std(I dim)
  const { return std(IntArrayRef{static_cast<int64_t>(dim)}); }
  Tensor std(IntArrayRef dims, bool unbiased = true, bool keepdim = false) const;
  Tensor std(IntArrayRef dims, const std::optional<Scalar>& correction, bool keepdim = false) const;
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
  Tensor any(OptionalIntArrayRef dims, bool keepdim = false) const;
  Tensor all() const;
  Tensor all(int64_t dim, bool keepdim = false) const;
  Tensor all(OptionalIntArrayRef dims, bool keepdim = false) const;
  Tensor hash_tensor(IntArrayRef dims = {}, bool keepdim = false, int64_t mode = 0) const;
  Tensor norm(const Scalar& p = 2) const;
  Tensor norm(const std::optional<Scalar>& p, DType dtype) const;
  Tensor norm(const std::optional<Scalar>& p, IntArrayRef dims, bool keepdim = false) const;
  Tensor norm(const std::optional<Scalar>& p, IntArrayRef dims, bool keepdim, DType dtype) const;
  Tensor dist(const Tensor& o, const Scalar& p = 2) const;
  Tensor renorm(const Scalar& p, int64_t dim, const Scalar& maxnorm) const;
  Tensor& renorm_(const Scalar& p, int64_t dim, const Scalar& maxnorm) const;
  Tensor logsumexp(IntArrayRef dims, bool keepdim = false) const;
  /// @}

  /// @name ops/scan.h, ops/sort.h
  /// @{

  /// As the function of this name in ops/scan.h or sort.h; this tensor is its first tensor.
  Tensor cumsum(int64_t dim, std::optional<DType> dtype = {}) const;
  Tensor& cumsum_(int64_t dim, std::optional<DType> dtype = {}) const;
  Tensor cumprod(int64_t dim, std::optional<DType> dtype = {}) const;
  Tensor& cumprod_(int64_t dim, std::optional<DType> dtype = {}) const;
  Tensor logcumsumexp(int64_t dim) const;
  std::tuple<Tensor, Tensor> cummax(int64_t dim) const;
  std::tuple<Tensor, Tensor> cummin(int64_t dim) const;
  std::tuple<Tensor, Tensor> sort(int64_t dim = -1, bool descending = false) const;
  std::tuple<Tensor, Tensor> sort(std::optional<bool> stable, int64_t dim = -1,
                                  bool descending = false) const;
  Tensor argsort(int64_t dim = -1, bool descending = false) const;
  Tensor argsort(std::same_as<bool> auto /*stable*/, int64_t dim = -1,
                 bool descending = false) const {
    return argsort(dim, descending);
  }
  Tensor msort() const;
  std::tuple<Tensor, Tensor> topk(int64_t k, int64_t dim = -1, bool largest = true,
                                  bool sorted = true) const;
  std::tuple<Tensor, Tensor> kthvalue(int64_t k, int64_t dim = -1, bool keepdim = false) const;
  Tensor median() const;
  std::tuple<Tensor, Tensor> median(int64_t dim, bool keepdim = false) const;
  Tensor nanmedian() const;
  std::tuple<Tensor, Tensor> nanmedian(int64_t dim, bool keepdim = false) const;
  std::tuple<Tensor, Tensor> mode(int64_t dim = -1, bool keepdim = false) const;
  Tensor bincount(const Tensor& weights = {}, int64_t minlength = 0) const;
  Tensor histc(int64_t bins = 100, const Scalar& min = 0, const Scalar& max = 0) const;
  std::tuple<Tensor, Tensor> histogram(const Tensor& bins, const Tensor& weight = {},
                                       bool density = false) const;
  std::tuple<Tensor, Tensor> histogram(int64_t bins = 100,
                                       std::optional<ArrayRef<double>> range = {},
                                       const Tensor& weight = {}, bool density = false) const;
  Tensor quantile(const Tensor& q, std::optional<int64_t> dim = {}, bool keepdim = false,
                  std::string_view interpolation = "linear") const;
  Tensor quantile(double q, std::optional<int64_t> dim = {}, bool keepdim = false,
                  std::string_view interpolation = "linear") const;
  Tensor nanquantile(const Tensor& q, std::optional<int64_t> dim = {}, bool keepdim = false,
                     std::string_view interpolation = "linear") const;
  Tensor nanquantile(double q, std::optional<int64_t> dim = {}, bool keepdim = false,
                     std::string_view interpolation = "linear") const;
  /// @}

  /// @name ops/linalg.h, ops/matmul.h, ops/products.h, ops/norm.h
  /// @{

  /// As the function of this name in ops/linalg.h, matmul.h, products.h or norm.h; this tensor is
  /// its first tensor.
  Tensor inverse() const;
  Tensor det() const;
  Tensor logdet() const;
  std::tuple<Tensor, Tensor> slogdet() const;
  Tensor cholesky(bool upper = false) const;
  Tensor cholesky_inverse(bool upper = false) const;
  Tensor cholesky_solve(const Tensor& input2, bool upper = false) const;
  std::tuple<Tensor, Tensor> qr(bool some = true) const;
  std::tuple<Tensor, Tensor> geqrf() const;
  Tensor orgqr(const Tensor& input2) const;
  Tensor ormqr(const Tensor& input2, const Tensor& input3, bool left = true,
               bool transpose = false) const;
  std::tuple<Tensor, Tensor, Tensor> svd(bool some = true, bool compute_uv = true) const;
  Tensor pinverse(double rcond = 1e-15) const;
  std::tuple<Tensor, Tensor> triangular_solve(const Tensor& A, bool upper = true,
                                              bool transpose = false,
                                              bool unitriangular = false) const;
  std::tuple<Tensor, Tensor> symeig(bool eigenvectors = false, bool upper = true) const;
  Tensor lu_solve(const Tensor& LU_data, const Tensor& LU_pivots) const;
  Tensor matmul(const Tensor& o) const;
  Tensor mm(const Tensor& o) const;
  Tensor bmm(const Tensor& o) const;
  Tensor mv(const Tensor& o) const;
  Tensor dot(const Tensor& o) const;
  Tensor vdot(const Tensor& o) const;
  Tensor outer(const Tensor& vec2) const;
  Tensor ger(const Tensor& vec2) const;
  Tensor inner(const Tensor& o) const;
  Tensor addmm(const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1,
               const Scalar& alpha = 1) const;
  Tensor& addmm_(const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1,
                 const Scalar& alpha = 1) const;
  Tensor addmv(const Tensor& mat, const Tensor& vec, const Scalar& beta = 1,
               const Scalar& alpha = 1) const;
  Tensor& addmv_(const Tensor& mat, const Tensor& vec, const Scalar& beta = 1,
                 const Scalar& alpha = 1) const;
  Tensor addr(const Tensor& vec1, const Tensor& vec2, const Scalar& beta = 1,
              const Scalar& alpha = 1) const;
  Tensor& addr_(const Tensor& vec1, const Tensor& vec2, const Scalar& beta = 1,
                const Scalar& alpha = 1) const;
  Tensor baddbmm(const Tensor& batch1, const Tensor& batch2, const Scalar& beta = 1,
                 const Scalar& alpha = 1) const;
  Tensor& baddbmm_(const Tensor& batch1, const Tensor& batch2, const Scalar& beta = 1,
                   const Scalar& alpha = 1) const;
  Tensor addbmm(const Tensor& batch1, const Tensor& batch2, const Scalar& beta = 1,
                const Scalar& alpha = 1) const;
  Tensor& addbmm_(const Tensor& batch1, const Tensor& batch2, const Scalar& beta = 1,
                  const Scalar& alpha = 1) const;
  Tensor softmax(int64_t dim, std::optional<DType> dtype = {}) const;
  Tensor log_softmax(int64_t dim, std::optional<DType> dtype = {}) const;
  Tensor kron(const Tensor& o) const;
  Tensor cross(const Tensor& o, std::optional<int64_t> dim = {}) const;
  Tensor matrix_power(int64_t n) const;
  Tensor matrix_exp() const;
  Tensor trace() const;
  /// @}

 private:
  TensorImpl* get() const {
    if (!impl_) [[unlikely]]
      throw_undefined();
    return impl_.get();
  }
  const Tensor& seen() const;
  std::complex<double> complex_item() const;  // the single element
  void sync_view() const;
  void check_accessor(const char* op, size_t dims, int64_t max_numel) const;
  [[noreturn]] static void throw_undefined();
  [[noreturn]] void throw_dtype(DType asked) const;

  intrusive_ptr<TensorImpl> impl_;
};

inline TensorList::TensorList(const std::vector<Tensor>& v) : ArrayRef(v.data(), v.size()) {}
inline TensorList::TensorList(const Tensor& one) : ArrayRef(&one, 1) {}
#pragma GCC diagnostic push
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
inline TensorList::TensorList(std::initializer_list<Tensor> l) : ArrayRef(l.begin(), l.size()) {}
#pragma GCC diagnostic pop

/// Print as PyTorch does: "tensor([[1., 2.],\n        [3., 4.]], device='cuda:0')".
AMBIT_API std::ostream& operator<<(std::ostream& os, const Tensor& t);
/// Allow or forbid scientific notation in printed tensors, for the whole process. Allowed is the
/// default: each tensor is printed in the notation that suits its elements.
AMBIT_API void set_printoption_sci_mode(bool enabled);
/// Return as a string what operator<< prints.
AMBIT_API std::string str(const Tensor& t);

}  // namespace ambit
