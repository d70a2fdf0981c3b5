// Making tensors, and copying them between dtypes and devices.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Allocate without initialising. Errors: ShapeError (negative size), OutOfMemoryError.
AMBIT_API Tensor empty(IntArrayRef sizes, const TensorOptions& options = {});
/// Allocate with given strides (in elements, >= 0). Errors: ShapeError, OutOfMemoryError.
AMBIT_API Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides,
                               const TensorOptions& options = {});
AMBIT_API Tensor zeros(IntArrayRef sizes, const TensorOptions& options = {});
AMBIT_API Tensor ones(IntArrayRef sizes, const TensorOptions& options = {});
/// Fill with `value`; where options say no dtype it is value's: bool, int64 or the default float.
AMBIT_API Tensor full(IntArrayRef sizes, const Scalar& value, const TensorOptions& options = {});
AMBIT_API Tensor empty_like(const Tensor& self, const TensorOptions& options = {});
AMBIT_API Tensor zeros_like(const Tensor& self, const TensorOptions& options = {});
AMBIT_API Tensor ones_like(const Tensor& self, const TensorOptions& options = {});
AMBIT_API Tensor full_like(const Tensor& self, const Scalar& value,
                           const TensorOptions& options = {});
/// [start, start + step, ...) up to `end`, which is excluded; int64 where all are integers.
/// Errors: Error when step is 0 or leads away from end.
AMBIT_API Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step = 1,
                        const TensorOptions& options = {});
AMBIT_API Tensor arange(const Scalar& end, const TensorOptions& options = {});
/// `steps` values from start to end, both included.
AMBIT_API Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps,
                          const TensorOptions& options = {});
/// The [n, m] matrix with ones on its diagonal.
AMBIT_API Tensor eye(int64_t n, const TensorOptions& options = {});
AMBIT_API Tensor eye(int64_t n, int64_t m, const TensorOptions& options = {});

/// Nested braces of numbers: tensor({{1, 2}, {3, 4}}). The leaf type gives the dtype.
class AMBIT_API TensorData {
 public:
  TensorData(const Scalar& value) : values_{value} {}
  template <class T>
  requires std::is_arithmetic_v<T> TensorData(T value) : TensorData(Scalar(value)) {}
  TensorData(std::initializer_list<TensorData> rows);
  template <class T>
  requires std::is_arithmetic_v<T> TensorData(const std::vector<T>& v)
      : sizes_{static_cast<int64_t>(v.size())} {
    for (T x : v) values_.push_back(Scalar(x));
    if (v.empty()) empty_dtype_ = Scalar(T{}).dtype();
  }

 private:
  friend AMBIT_API Tensor tensor(const TensorData&, const TensorOptions&);
  Dims sizes_;
  std::vector<Scalar> values_;  // row-major
  DType empty_dtype_ = kFloat64;
};
/// Make a tensor of the given numbers. bool, int64 and (default) float by what the numbers are,
/// unless options say. Errors: ShapeError when rows differ in length.
AMBIT_API Tensor tensor(const TensorData& data, const TensorOptions& options = {});
inline Tensor tensor(std::initializer_list<TensorData> rows, const TensorOptions& options = {}) {
  return tensor(TensorData(rows), options);
}
/// A 0-dim tensor. No dtype in options: the number's own.
AMBIT_API Tensor scalar_tensor(const Scalar& value, const TensorOptions& options = {});
/// Use memory of the caller on the CPU, which must outlive the tensor (`deleter` tells when it
/// ends).
AMBIT_API Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options = {},
                           std::function<void(void*)> deleter = {});

}  // namespace ambit
