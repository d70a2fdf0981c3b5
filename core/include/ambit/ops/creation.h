// Making tensors. Options not given: default dtype, cpu, no gradient; in the *_like: self's dtype
// and device. No gradient flows to the arguments.
// Errors of all: ShapeError (a negative size, 2^63 bytes or more), OutOfMemoryError, DTypeError (a
// number that does not fit the dtype; requires_grad of what is not floating point), BackendError (a
// device that does not exist).
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Allocate without initialising: the elements are whatever was there. `format` is another way to
/// say options.memory_format(), which all factories obey; outputs of the *_like are contiguous
/// where nobody says it.
AMBIT_API Tensor empty(IntArrayRef sizes, const TensorOptions& options = {},
                       std::optional<MemoryFormat> format = {});
/// Do as empty with given strides, one a size, in elements; the others here are row-major.
/// Errors also: ShapeError for strides < 0 or of another number.
AMBIT_API Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides,
                               const TensorOptions& options = {});
/// Fill with 0 (false).
AMBIT_API Tensor zeros(IntArrayRef sizes, const TensorOptions& options = {});
/// Fill with 1 (true).
AMBIT_API Tensor ones(IntArrayRef sizes, const TensorOptions& options = {});
/// Fill with `value`; where options say no dtype it is value's: bool, int64 or the default float.
AMBIT_API Tensor full(IntArrayRef sizes, const Scalar& value, const TensorOptions& options = {});
/// Do as empty, of self's sizes.
AMBIT_API Tensor empty_like(const Tensor& self, const TensorOptions& options = {},
                            std::optional<MemoryFormat> format = {});
/// Do as zeros, of self's sizes.
AMBIT_API Tensor zeros_like(const Tensor& self, const TensorOptions& options = {},
                            std::optional<MemoryFormat> format = {});
/// Do as ones, of self's sizes.
AMBIT_API Tensor ones_like(const Tensor& self, const TensorOptions& options = {},
                           std::optional<MemoryFormat> format = {});
/// Do as full, of self's sizes and, unless options say, self's dtype.
AMBIT_API Tensor full_like(const Tensor& self, const Scalar& value,
                           const TensorOptions& options = {},
                           std::optional<MemoryFormat> format = {});
/// Count: start, start + step, ... up to `end`, which is excluded.
///   out[i] = start + i step, i < ceil((end - start) / step)
/// int64 where all three are integers, else the default float, unless options say: where they ask
/// for integers, start and step lose their fractions, as in PyTorch, after the elements are
/// counted: a step below 1 repeats start. Errors also: Error where step is 0 or leads away from
/// end, and for numbers that are not finite.
AMBIT_API Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
                        const TensorOptions& options = {});
AMBIT_API Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& options = {});
/// Count 0, 1, ... up to `end`, which is excluded.
AMBIT_API Tensor arange(const Scalar& end, const TensorOptions& options = {});
/// Space `steps` values evenly from start to end, both included: out[i] = start + i (end - start) /
/// (steps - 1); the last is `end` exactly, a single one start. Default float, unless options say;
/// integers truncate. Errors also: ShapeError for steps < 0; DTypeError for bool.
AMBIT_API Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps,
                          const TensorOptions& options = {});
/// Space `steps` powers of base evenly on a logarithmic scale: base to the powers of
/// linspace(start, end, steps). Errors as linspace.
AMBIT_API Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base = 10,
                          const TensorOptions& options = {});
/// Count as arange, but with `end`, where a whole number of steps leads there; default float,
/// unless options say. Errors as arange.
AMBIT_API Tensor range(const Scalar& start, const Scalar& end, const Scalar& step = 1,
                       const TensorOptions& options = {});
AMBIT_API Tensor range(const Scalar& start, const Scalar& end, const TensorOptions& options);
/// Return the row and column of each element of a [row, col] matrix on or below the diagonal
/// `offset`, in row-major order: [2, n]. Errors also: ShapeError for negative sizes; DTypeError but
/// for int64 and int32.
AMBIT_API Tensor tril_indices(int64_t row, int64_t col, int64_t offset = 0,
                              const TensorOptions& options = kInt64);
/// The same of those on or above it.
AMBIT_API Tensor triu_indices(int64_t row, int64_t col, int64_t offset = 0,
                              const TensorOptions& options = kInt64);
/// Make the [n, m] matrix (m is n where it is left out) with 1 on its diagonal, else 0.
AMBIT_API Tensor eye(int64_t n, const TensorOptions& options = {});
AMBIT_API Tensor eye(int64_t n, int64_t m, const TensorOptions& options = {});

/// Nested braces of numbers, as tensor() takes them: tensor({{1, 2}, {3, 4}}).
class AMBIT_API TensorData {
 public:
  /// One number, shape [].
  TensorData(const Scalar& value) : values_{value}, dtype_(value.dtype()) {}
  template <class T>
  requires(std::is_arithmetic_v<T> || Reduced16<T>) TensorData(T value)
      : values_{Scalar(value)}, dtype_(dtype_of_number<T>()) {}
  /// Rows of one shape [...], shape [n, ...]; none: [0]. Errors: ShapeError where they differ.
  TensorData(std::initializer_list<TensorData> rows);
  /// A list of numbers, shape [n].
  template <class T>
  requires(std::is_arithmetic_v<T> || Reduced16<T>) TensorData(const std::vector<T>& v)
      : TensorData(v.begin(), v.end(), dtype_of_number<T>()) {}
  template <class T>
  requires(std::is_arithmetic_v<T> || Reduced16<T>) TensorData(ArrayRef<T> list)
      : TensorData(list.begin(), list.end(), dtype_of_number<T>()) {}

 private:
  friend AMBIT_API Tensor tensor(const TensorData&, const TensorOptions&);
  template <class Iterator>
  TensorData(Iterator begin, Iterator end, DType dtype) : sizes_{end - begin}, dtype_(dtype) {
    for (; begin != end; ++begin) values_.push_back(Scalar(*begin));
  }
  /// Those of literals, int and double, stand for int64 and the default float, as in libtorch.
  template <class T>
  static constexpr DType dtype_of_number() {
    if constexpr (Reduced16<T> || std::same_as<T, bool>) {
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
/// Make a tensor of the given numbers, in row-major order: a number gives [], {1, 2} [2], {{1, 2}}
/// [1, 2]. Unless options say, of the numbers' own dtype, of which int and long are int64, float
/// and double the default float; where they differ, of what they promote to.
AMBIT_API Tensor tensor(const TensorData& data, const TensorOptions& options = {});
inline Tensor tensor(std::initializer_list<TensorData> rows, const TensorOptions& options = {}) {
  return tensor(TensorData(rows), options);
}
/// Make a 0-dim tensor, of the default float where options say no dtype, as in PyTorch.
AMBIT_API Tensor scalar_tensor(const Scalar& value, const TensorOptions& options = {});
/// Use memory of the caller on the CPU, row-major, without a copy. It must outlive the tensor and
/// all its views; `deleter`, if any, is called with `data` after the last of them.
/// strides: one a size, >= 0, in elements; left out, those of a contiguous tensor.
/// Errors also: Error for another device than cpu, and for a null pointer; ShapeError for strides.
/// The memory is still the caller's where it throws.
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

}  // namespace ambit
