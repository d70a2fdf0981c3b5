// Creation of tensors. Defaults of options: default dtype, default device, no gradient; for *_like
// functions self's dtype and device. No gradient flows to the arguments. Errors of all: ShapeError
// (a negative size, 2^63 bytes or more), OutOfMemoryError, DTypeError (a number that does not fit
// the dtype; requires_grad for a dtype that is not floating point), BackendError (a device that
// does not exist).
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Allocate an uninitialised tensor. `format` is the same as options.memory_format(), which all
/// factories support; outputs of *_like functions are contiguous by default.
AMBIT_API Tensor empty(IntArrayRef sizes, const TensorOptions& options = {},
                       std::optional<MemoryFormat> format = {});
/// Allocate an uninitialised tensor with given strides, one for each size, in elements. Errors:
/// also ShapeError for strides < 0 or a wrong number of them.
AMBIT_API Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides,
                               const TensorOptions& options = {});
/// Allocate an uninitialised tensor whose dims lie in memory in the order of physical_layout, a
/// permutation of them, outermost first: {0, 2, 3, 1} is ChannelsLast. Errors: also ShapeError for
/// another list, IndexError.
AMBIT_API Tensor empty_permuted(IntArrayRef sizes, IntArrayRef physical_layout,
                                const TensorOptions& options = {});
/// Return a tensor filled with 0 (false).
AMBIT_API Tensor zeros(IntArrayRef sizes, const TensorOptions& options = {});
/// Return a tensor filled with 1 (true).
AMBIT_API Tensor ones(IntArrayRef sizes, const TensorOptions& options = {});
/// Return a tensor filled with `value`; default dtype: bool, int64 or the default float, by value's
/// type.
AMBIT_API Tensor full(IntArrayRef sizes, const Scalar& value, const TensorOptions& options = {});
/// Same as empty, with self's sizes.
AMBIT_API Tensor empty_like(const Tensor& self, const TensorOptions& options = {},
                            std::optional<MemoryFormat> format = {});
/// Same as zeros, with self's sizes.
AMBIT_API Tensor zeros_like(const Tensor& self, const TensorOptions& options = {},
                            std::optional<MemoryFormat> format = {});
/// Same as ones, with self's sizes.
AMBIT_API Tensor ones_like(const Tensor& self, const TensorOptions& options = {},
                           std::optional<MemoryFormat> format = {});
/// Same as full, with self's sizes and by default self's dtype.
AMBIT_API Tensor full_like(const Tensor& self, const Scalar& value,
                           const TensorOptions& options = {},
                           std::optional<MemoryFormat> format = {});
/// Return start, start + step, ... up to `end`, excluded.
///   out[i] = start + i step, i < ceil((end - start) / step)
/// Default dtype: int64 if all three are integers, else the default float. With an integer dtype,
/// start and step are truncated after the elements are counted, as in PyTorch: a step below 1
/// repeats start. Errors: also Error if step is 0 or leads away from end, and for numbers that are
/// not finite.
/// @{
AMBIT_API Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
                        const TensorOptions& options = {});
AMBIT_API Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& options = {});
/// @}
/// Return 0, 1, ... up to `end`, excluded.
AMBIT_API Tensor arange(const Scalar& end, const TensorOptions& options = {});
/// Return `steps` evenly spaced values from start to end, both included: out[i] = start + i (end -
/// start) / (steps - 1); the last one is exactly `end`, a single one is start. Default dtype: the
/// default float; integers truncate. Errors: also ShapeError for steps < 0; DTypeError for bool.
AMBIT_API Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps,
                          const TensorOptions& options = {});
/// Return base to the powers linspace(start, end, steps). Errors as linspace.
AMBIT_API Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base = 10,
                          const TensorOptions& options = {});
// linspace() and logspace() between 0-dim tensors, or a tensor and a number. They wait for the
// tensors' device, but the result is on the default device unless options name one. Errors: also
// ShapeError if dim > 0.
#define AMBIT_BETWEEN(Start, End)                                                                \
  /** Same as linspace between numbers, for 0-dim tensors; waits for their device. */            \
  AMBIT_API Tensor linspace(const Start& start, const End& end, int64_t steps,                   \
                            const TensorOptions& options = {});                                  \
  /** Same as logspace between numbers, for 0-dim tensors; waits for their device. */            \
  AMBIT_API Tensor logspace(const Start& start, const End& end, int64_t steps, double base = 10, \
                            const TensorOptions& options = {});
AMBIT_BETWEEN(Tensor, Tensor)
AMBIT_BETWEEN(Tensor, Scalar)
AMBIT_BETWEEN(Scalar, Tensor)
#undef AMBIT_BETWEEN
/// Same as arange, but including `end` if a whole number of steps reaches it; default dtype: the
/// default float. Errors as arange.
/// @{
AMBIT_API Tensor range(const Scalar& start, const Scalar& end, const Scalar& step = 1,
                       const TensorOptions& options = {});
AMBIT_API Tensor range(const Scalar& start, const Scalar& end, const TensorOptions& options);
/// @}
/// Return the row and column of each element of a [row, col] matrix on or below the diagonal
/// `offset`, in row-major order: [2, n]. Errors: also ShapeError for negative sizes; DTypeError
/// except for int64 and int32.
AMBIT_API Tensor tril_indices(int64_t row, int64_t col, int64_t offset = 0,
                              const TensorOptions& options = kInt64);
/// As tril_indices(), for elements on or above the diagonal.
AMBIT_API Tensor triu_indices(int64_t row, int64_t col, int64_t offset = 0,
                              const TensorOptions& options = kInt64);
/// Return the [n, m] matrix (default m: n) with 1 on its diagonal and 0 elsewhere.
/// @{
AMBIT_API Tensor eye(int64_t n, const TensorOptions& options = {});
AMBIT_API Tensor eye(int64_t n, int64_t m, const TensorOptions& options = {});
/// @}

/// Nested braces of numbers, the argument of tensor(): tensor({{1, 2}, {3, 4}}).
class AMBIT_API TensorData {
 public:
  /// One number, shape [].
  TensorData(const Scalar& value) : values_{value}, dtype_(value.dtype()) {}
  /// One number of type T. int and long count as int64, float and double as the default float.
  template <class T>
  requires(std::is_arithmetic_v<T> || ReducedFloat<T>) TensorData(T value)
      : values_{Scalar(value)}, dtype_(dtype_of_number<T>()) {}
  /// Rows of equal shape [...], shape [n, ...]; no rows: [0]. Errors: ShapeError for different
  /// shapes.
  TensorData(std::initializer_list<TensorData> rows);
  /// A list of numbers, shape [n].
  /// @{
  template <class T>
  requires(std::is_arithmetic_v<T> || ReducedFloat<T>) TensorData(const std::vector<T>& v)
      : TensorData(v.begin(), v.end(), dtype_of_number<T>()) {}
  template <class T>
  requires(std::is_arithmetic_v<T> || ReducedFloat<T>) TensorData(ArrayRef<T> list)
      : TensorData(list.begin(), list.end(), dtype_of_number<T>()) {}
  /// @}

 private:
  friend AMBIT_API Tensor tensor(const TensorData&, const TensorOptions&);
  template <class Iterator>
  TensorData(Iterator begin, Iterator end, DType dtype) : sizes_{end - begin}, dtype_(dtype) {
    for (; begin != end; ++begin) values_.push_back(Scalar(*begin));
  }
  /// The dtypes of literals, int and double, become int64 and the default float, as in libtorch.
  template <class T>
  static constexpr DType dtype_of_number() {
    if constexpr (ReducedFloat<T> || std::same_as<T, bool>) {
      return dtype_of<T>;
    } else if constexpr (std::floating_point<T>) {
      return kFloat64;
    } else if constexpr (sizeof(T) == 1) {
      return std::signed_integral<T> ? kInt8 : kUInt8;
    } else {
      return sizeof(T) == 2 && std::signed_integral<T> ? kInt16 : kInt64;
    }
  }

  Dims sizes_;
  std::vector<Scalar> values_;  // row-major
  DType dtype_ = kFloat64;      // float64: the default float
};
/// Return a tensor of the given numbers, in row-major order: a number gives [], {1, 2} [2], {{1,
/// 2}} [1, 2]. Default dtype: the numbers' own, where int and long give int64, float and double the
/// default float; different ones promote.
/// @{
AMBIT_API Tensor tensor(const TensorData& data, const TensorOptions& options = {});
inline Tensor tensor(std::initializer_list<TensorData> rows, const TensorOptions& options = {}) {
  return tensor(TensorData(rows), options);
}
/// @}
/// Return a 0-dim tensor; default dtype: the default float, as in PyTorch.
AMBIT_API Tensor scalar_tensor(const Scalar& value, const TensorOptions& options = {});
/// Wrap the caller's row-major CPU memory without a copy. It must outlive the tensor and all its
/// views; `deleter`, if any, is called with `data` after the last of them is gone. strides: one for
/// each size, >= 0, in elements; default: those of a contiguous tensor. Errors: also Error for a
/// device other than cpu, and for a null pointer; ShapeError for strides. If it throws, the caller
/// still owns the memory.
/// @{
AMBIT_API Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options = {});
AMBIT_API Tensor from_blob(void* data, IntArrayRef sizes, const std::function<void(void*)>& deleter,
                           const TensorOptions& options = {});
AMBIT_API Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                           const TensorOptions& options = {});
AMBIT_API Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                           const std::function<void(void*)>& deleter,
                           const TensorOptions& options = {});
inline Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options,
                        const std::function<void(void*)>& deleter) {
  return from_blob(data, sizes, deleter, options);
}
/// @}

}  // namespace ambit
