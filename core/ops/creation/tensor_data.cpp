// tensor({{1, 2}, {3, 4}}): conversion of nested braces to a tensor.
#include <ambit/detail/memory_errors.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>
#include <complex>

#include "core/ops/operands/allocate.h"
#include "core/ops/operands/scalar_operand.h"

namespace ambit {
TensorData::TensorData(std::initializer_list<TensorData> rows) try {
  sizes_.push_back(static_cast<int64_t>(rows.size()));
  if (rows.size() == 0) return;
  const TensorData& first = *rows.begin();
  for (const int64_t s : first.sizes_) sizes_.push_back(s);
  dtype_ = first.dtype_;
  values_.reserve(rows.size() * first.values_.size());
  for (const TensorData& row : rows) {
    if (row.sizes_ != first.sizes_) {
      throw ShapeError(fmt::format("tensor: expected rows of one shape, got {} and {}",
                                   str(first.sizes_), str(row.sizes_)));
    }
    dtype_ = promote_types(dtype_, row.dtype_);
    values_.insert(values_.end(), row.values_.begin(), row.values_.end());
  }
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("tensor");
}

Tensor tensor(const TensorData& data, const TensorOptions& options) {
  DType dtype = data.dtype_;
  if (options.has_dtype() || dtype == kFloat64) dtype = options.dtype();
  for (const Scalar& v : data.values_) check_fits("tensor", v, dtype);
  const Tensor host = allocate("tensor", data.sizes_, dtype, kCPU);
  visit<dtypes::kStored>(dtype, [&]<class T>() {
    std::transform(data.values_.begin(), data.values_.end(), host.data_ptr<T>(),
                   [](const Scalar& v) { return v.cast<T>(); });
  });
  return finish(to(host, options.device(), dtype), options);
}

}  // namespace ambit
