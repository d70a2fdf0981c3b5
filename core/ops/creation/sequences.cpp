// Sequences other than those of creation.cpp, and indices of triangles. All are computed on the
// host: they are bitwise identical on every device.
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/scalar_operand.h"

namespace ambit {
namespace {

// Return a tensor of value(i), a double or an int64, converted by static_cast.
template <class F>
Tensor sequence(const char* op, int64_t n, DType dtype, const TensorOptions& options, F value) {
  if (options.device().is_meta()) {
    return finish(allocate(op, {n}, dtype, options.device()), options);
  }
  const Tensor host = allocate(op, {n}, dtype, kCPU);
  visit<dtypes::kEvery>(dtype, [&]<class T>() {
    T* p = host.data_ptr<T>();
    for (int64_t i = 0; i < n; ++i) p[i] = static_cast<T>(value(i));
  });
  return finish(to(host, options.device(), host.dtype()), options);
}

// Return the length of range: the steps from start to end, plus one.
int64_t range_length(double start, double end, double step) {
  if (step == 0 || !std::isfinite(start) || !std::isfinite(end) || !std::isfinite(step)) {
    throw Error(
        fmt::format("range: expected finite numbers and a step that is not 0, got {}, {}, {}",
                    start, end, step));
  }
  if ((step > 0 && start > end) || (step < 0 && start < end)) {
    throw Error(
        fmt::format("range: expected a step that leads from {} to {}, got {}", start, end, step));
  }
  const double n = std::floor((end - start) / step) + 1;
  if (n < 0x1p62) return static_cast<int64_t>(n);
  throw ShapeError(fmt::format("range: expected fewer than 2^62 elements, got {} to {} by {}",
                               start, end, step));
}

/// The elements on and below a diagonal of a matrix: row i contains columns 0 to i + reach - 1.
struct LowerTriangle {
  int64_t rows, columns, reach;

  int64_t first_row() const { return std::clamp<int64_t>(1 - reach, 0, rows); }
  int64_t first_full_row() const { return std::clamp<int64_t>(columns - reach, first_row(), rows); }
  int64_t width(int64_t i) const { return std::clamp<int64_t>(i + reach, 0, columns); }
  int64_t count() const {
    const int64_t first = first_row(), full = first_full_row();
    const int64_t growing = (full - first) * (first + full - 1 + 2 * reach) / 2;
    return growing + (rows - full) * columns;
  }
};

/// Columns `from` to `to` - 1.
struct Span {
  int64_t from, to;
};

void check_matrix(const char* op, int64_t row, int64_t col, const TensorOptions& options) {
  if (row < 0 || col < 0) {
    throw ShapeError(fmt::format("{}: expected sizes >= 0, got {} and {}", op, row, col));
  }
  if (options.dtype() != kInt64 && options.dtype() != kInt32) {
    throw DTypeError(fmt::format("{}: expected int64 or int32, got {}", op, name(options.dtype())));
  }
  count(op, {2, row, col});
}

// Return n positions: columns span(i) of rows [first, past), each non-empty.
template <class F>
Tensor places(const char* op, int64_t n, int64_t first, int64_t past, const TensorOptions& options,
              F span) {
  if (options.device().is_meta()) {
    return finish(allocate(op, {2, n}, options.dtype(), options.device()), options);
  }
  const Tensor host = allocate(op, {2, n}, options.dtype(), kCPU);
  if (n == 0) past = first;  // a matrix without columns may have any number of rows
  visit(host.dtype(), [&]<class T>() {
    T *rows = host.data_ptr<T>(), *columns = rows + n;
    for (int64_t i = first; i < past; ++i) {
      const Span in_row = span(i);
      for (int64_t j = in_row.from; j < in_row.to; ++j) {
        *rows++ = static_cast<T>(i);
        *columns++ = static_cast<T>(j);
      }
    }
  });
  return finish(to(host, options.device(), host.dtype()), options);
}

}  // namespace

Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base,
                const TensorOptions& options) {
  const DType dtype = options.dtype();
  if (steps < 0) throw ShapeError(fmt::format("logspace: expected steps >= 0, got {}", steps));
  if (is_complex(dtype)) {
    const TensorOptions of_parts = TensorOptions(real_dtype(dtype)).device(options.device());
    return finish(to(logspace(start, end, steps, base, of_parts), options.device(), dtype),
                  options);
  }
  if (dtype == kBool) throw DTypeError("logspace: expected a dtype of numbers, got bool");
  if (base < 0 && is_integral(dtype)) {
    throw Error(fmt::format("logspace: expected a base >= 0 for integers, got {}", base));
  }
  check_fits("logspace", start, dtype);
  check_fits("logspace", end, dtype);
  const double a = start.to<double>(), b = end.to<double>();
  const double step = steps > 1 ? (b - a) / static_cast<double>(steps - 1) : 0;
  const int64_t half = steps / 2 + steps % 2;
  const auto value = [=](int64_t i) {
    return std::pow(base, i < half ? a + step * static_cast<double>(i)
                                   : b - step * static_cast<double>(steps - 1 - i));
  };
  if (steps > 0) {
    check_fits("logspace", value(0), dtype);
    check_fits("logspace", value(steps - 1), dtype);
  }
  return sequence("logspace", steps, dtype, options, value);
}

namespace {

const Scalar& end_of(const char*, const Scalar& end) { return end; }

Scalar end_of(const char* op, const Tensor& end) {
  expect_dim(op, "an end", end, 0, "a 0-dim tensor");
  return end.item();
}

}  // namespace

#define AMBIT_BETWEEN(Start, End)                                                   \
  Tensor linspace(const Start& start, const End& end, int64_t steps,                \
                  const TensorOptions& options) {                                   \
    const Scalar first = end_of("linspace", start), last = end_of("linspace", end); \
    return linspace(first, last, steps, options);                                   \
  }                                                                                 \
  Tensor logspace(const Start& start, const End& end, int64_t steps, double base,   \
                  const TensorOptions& options) {                                   \
    const Scalar first = end_of("logspace", start), last = end_of("logspace", end); \
    return logspace(first, last, steps, base, options);                             \
  }
AMBIT_BETWEEN(Tensor, Tensor)
AMBIT_BETWEEN(Tensor, Scalar)
AMBIT_BETWEEN(Scalar, Tensor)
#undef AMBIT_BETWEEN

Tensor range(const Scalar& start, const Scalar& end, const Scalar& step,
             const TensorOptions& options) {
  const DType dtype = options.dtype();
  const int64_t n = range_length(start.to<double>(), end.to<double>(), step.to<double>());
  check_fits("range", start, dtype);
  check_fits("range", end, dtype);
  if (is_integral(dtype)) {
    check_fits("range", start, kInt64);
    check_fits("range", step, kInt64);
    const auto a = start.to<int64_t>(), s = step.to<int64_t>();
    return sequence("range", n, dtype, options, [=](int64_t i) {
      return static_cast<int64_t>(static_cast<uint64_t>(a) +
                                  static_cast<uint64_t>(s) * static_cast<uint64_t>(i));
    });
  }
  const double a = start.to<double>(), s = step.to<double>();
  return sequence("range", n, dtype, options,
                  [=](int64_t i) { return a + s * static_cast<double>(i); });
}

Tensor range(const Scalar& start, const Scalar& end, const TensorOptions& options) {
  return range(start, end, 1, options);
}

Tensor tril_indices(int64_t row, int64_t col, int64_t offset, const TensorOptions& options) {
  check_matrix("tril_indices", row, col, options);
  const LowerTriangle lower{row, col, std::clamp(offset, -row, col) + 1};
  return places("tril_indices", lower.count(), lower.first_row(), row, options, [&](int64_t i) {
    return Span{0, lower.width(i)};
  });
}

Tensor triu_indices(int64_t row, int64_t col, int64_t offset, const TensorOptions& options) {
  check_matrix("triu_indices", row, col, options);
  // The upper triangle consists of all elements except those below the diagonal.
  const LowerTriangle below{row, col, std::clamp(offset, -row, col)};
  return places("triu_indices", row * col - below.count(), 0, below.first_full_row(), options,
                [&](int64_t i) {
                  return Span{below.width(i), col};
                });
}

}  // namespace ambit
