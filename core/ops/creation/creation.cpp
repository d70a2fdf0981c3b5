// Creation of tensors from sizes, values, sequences and external memory. Random tensors are created
// in random.cpp.
#include <ambit/backend/alias.h>
#include <ambit/ops/creation.h>

#include <ambit/backend/kernels.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/scalar_operand.h"

namespace ambit {
namespace {

// Return the options with `format`, if given.
TensorOptions formatted(const TensorOptions& options, std::optional<MemoryFormat> format) {
  return format ? options.memory_format(*format) : options;
}

Tensor filled(const char* op, IntArrayRef sizes, const Scalar& value,
              const TensorOptions& options) {
  check_fits(op, value, options.dtype());
  Tensor t = allocate(op, sizes, options.dtype(), options.device());
  kernels::fill(t, value);
  return finish(std::move(t), options);
}

TensorOptions with_dtype_of(const Scalar& value, const TensorOptions& options) {
  if (options.has_dtype() || value.is_floating_point()) return options;
  return options.dtype(value.dtype());
}

// Return the number of elements from the first to the last one. Throws for invalid geometry.
int64_t strided_extent(const char* op, IntArrayRef sizes, IntArrayRef strides) {
  if (sizes.size() != strides.size()) {
    throw ShapeError(fmt::format("{}: expected one stride for each size, got {} and {}", op,
                                 str(sizes), str(strides)));
  }
  int64_t extent = count(op, sizes) == 0 ? 0 : 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t reach = 0;
    if (strides[i] < 0 ||
        (extent > 0 && (__builtin_mul_overflow(sizes[i] - 1, strides[i], &reach) ||
                        __builtin_add_overflow(extent, reach, &extent)))) {
      throw ShapeError(
          fmt::format("{}: expected strides >= 0 that span fewer than 2^63 elements, got {}", op,
                      str(strides)));
    }
  }
  return extent;
}

// Return a 1-dim tensor of n elements value(i), computed on the host: sequences are bitwise
// identical on every device.
template <class F>
Tensor sequence(const char* op, int64_t n, const TensorOptions& options, F value) {
  if (options.device().is_meta()) {
    return finish(allocate(op, {n}, options.dtype(), kMeta), options);
  }
  const Tensor host = allocate(op, {n}, options.dtype(), kCPU);
  visit<dtypes::kStored>(host.dtype(), [&]<class T>() {
    T* p = host.data_ptr<T>();
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        p[i] = static_cast<T>(
            static_cast<int64_t>(value(i)));  // int64 to T wraps; double to T would be undefined
      } else {
        p[i] = static_cast<T>(value(i));
      }
    }
  });
  return finish(to(host, options.device(), host.dtype()), options);
}

int64_t arange_length(const Scalar& start, const Scalar& end, const Scalar& step) {
  const double first = start.to<double>(), last = end.to<double>(), by = step.to<double>();
  if (by == 0 || !std::isfinite(first) || !std::isfinite(last) || !std::isfinite(by)) {
    throw Error(
        fmt::format("arange: expected finite numbers and a step that is not 0, got {}, {}, {}",
                    first, last, by));
  }
  if ((by > 0 && first > last) || (by < 0 && first < last)) {
    throw Error(
        fmt::format("arange: expected a step that leads from {} to {}, got {}", first, last, by));
  }
  if (!start.is_floating_point() && !end.is_floating_point() && !step.is_floating_point()) {
    // Unsigned, because the difference of two int64 may overflow int64.
    const bool up = by > 0;
    const auto low = static_cast<uint64_t>((up ? start : end).to<int64_t>());
    const auto high = static_cast<uint64_t>((up ? end : start).to<int64_t>());
    const auto s = static_cast<uint64_t>(step.to<int64_t>()), stride = up ? s : -s;
    const uint64_t n = (high - low) / stride + ((high - low) % stride != 0);
    if (n < uint64_t{1} << 62) return static_cast<int64_t>(n);
  } else if (const double n = std::ceil((last - first) / by); n < 0x1p62) {
    return static_cast<int64_t>(n);
  }
  throw ShapeError(fmt::format("arange: expected fewer than 2^62 elements, got {} to {} by {}",
                               first, last, by));
}

// Return n integers start, start + step, ....
Tensor arange_of(int64_t n, const Scalar& start, const Scalar& step, const TensorOptions& options) {
  // Unsigned, because s * i may overflow int64 even if a + s * i does not.
  const auto value = [a = start.to<uint64_t>(), s = step.to<uint64_t>()](int64_t i) {
    return static_cast<int64_t>(a + s * static_cast<uint64_t>(i));
  };
  if (n > 0) {
    check_fits("arange", start, options.dtype());
    check_fits("arange", value(n - 1), options.dtype());
  }
  return sequence("arange", n, options, value);
}

// Integer arange of fractional numbers, as in PyTorch: the length is computed with the fractions,
// then start and step are truncated. A step below 1 repeats start.
Tensor truncated_arange(const Scalar& start, const Scalar& end, const Scalar& step,
                        const TensorOptions& options) {
  for (const Scalar& s : {start, end, step}) check_fits("arange", s, kInt64);
  return arange_of(arange_length(start, end, step), start.to<int64_t>(), step.to<int64_t>(),
                   options);
}

}  // namespace

Tensor empty(IntArrayRef sizes, const TensorOptions& options, std::optional<MemoryFormat> format) {
  return finish(allocate("empty", sizes, options.dtype(), options.device()),
                formatted(options, format));
}

Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options) {
  const int64_t extent = strided_extent("empty_strided", sizes, strides);
  const Tensor block = allocate("empty_strided", {extent}, options.dtype(), options.device());
  return finish(alias(block, sizes, strides), options);
}

Tensor empty_permuted(IntArrayRef sizes, IntArrayRef physical_layout,
                      const TensorOptions& options) {
  count("empty_permuted", sizes);
  const size_t n = sizes.size();
  Dims ordered, order_of(n, -1), strides(n, 0);
  bool good = physical_layout.size() == n;
  for (size_t i = 0; good && i < n; ++i) {
    const auto d = static_cast<size_t>(physical_layout[i]);
    if (d >= n) {  // as in PyTorch, negative dims are refused, too
      throw IndexError(fmt::format("empty_permuted: expected dims from 0 to {}, got {}", n - 1,
                                   str(physical_layout)));
    }
    good = order_of[d] < 0;
    order_of[d] = static_cast<int64_t>(i);
    ordered.push_back(sizes[d]);
  }
  if (!good) {
    throw ShapeError(fmt::format("empty_permuted: expected each of {} dims once, got {}", n,
                                 str(physical_layout)));
  }
  const Dims packed = contiguous_strides(ordered);
  for (size_t d = 0; d < n; ++d) strides[d] = packed[static_cast<size_t>(order_of[d])];
  const Tensor block = allocate("empty_permuted", ordered, options.dtype(), options.device());
  return finish(alias(block, sizes, strides), options);
}

Tensor zeros(IntArrayRef sizes, const TensorOptions& options) {
  return filled("zeros", sizes, 0, options);
}
Tensor ones(IntArrayRef sizes, const TensorOptions& options) {
  return filled("ones", sizes, 1, options);
}
Tensor full(IntArrayRef sizes, const Scalar& value, const TensorOptions& options) {
  return filled("full", sizes, value, with_dtype_of(value, options));
}
Tensor empty_like(const Tensor& self, const TensorOptions& options,
                  std::optional<MemoryFormat> format) {
  expect_defined("empty_like", "self", self);
  return empty(self.sizes(), options_like(self, options), format);
}
Tensor zeros_like(const Tensor& self, const TensorOptions& options,
                  std::optional<MemoryFormat> format) {
  expect_defined("zeros_like", "self", self);
  return filled("zeros_like", self.sizes(), 0, options_like(self, formatted(options, format)));
}
Tensor ones_like(const Tensor& self, const TensorOptions& options,
                 std::optional<MemoryFormat> format) {
  expect_defined("ones_like", "self", self);
  return filled("ones_like", self.sizes(), 1, options_like(self, formatted(options, format)));
}
Tensor full_like(const Tensor& self, const Scalar& value, const TensorOptions& options,
                 std::optional<MemoryFormat> format) {
  expect_defined("full_like", "self", self);
  return filled("full_like", self.sizes(), value, options_like(self, formatted(options, format)));
}

Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
              const TensorOptions& options) {
  const bool floats =
      start.is_floating_point() || end.is_floating_point() || step.is_floating_point();
  const DType dtype = options.has_dtype() ? options.dtype() : floats ? get_default_dtype() : kInt64;
  if (floats && is_integral(dtype)) return truncated_arange(start, end, step, options.dtype(dtype));
  const int64_t n = arange_length(start, end, step);
  if (floats) {
    check_fits("arange", start, dtype);
    check_fits("arange", end, dtype);
    return sequence("arange", n, options.dtype(dtype),
                    [a = start.to<double>(), s = step.to<double>()](int64_t i) {
                      return a + s * static_cast<double>(i);
                    });
  }
  return arange_of(n, start, step, options.dtype(dtype));
}

Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& options) {
  return arange(start, end, 1, options);
}

Tensor arange(const Scalar& end, const TensorOptions& options) {
  return arange(0, end, 1, options);
}

Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps,
                const TensorOptions& options) {
  if (steps < 0) {
    throw ShapeError(fmt::format("linspace: expected steps >= 0, got {}", steps));
  }
  if (options.dtype() == kBool) {
    throw DTypeError("linspace: expected a dtype of numbers, got bool");
  }
  check_fits("linspace", start, options.dtype());
  check_fits("linspace", end, options.dtype());
  const double a = start.to<double>(), b = end.to<double>();
  const double step = steps > 1 ? (b - a) / static_cast<double>(steps - 1) : 0;
  const int64_t half = steps / 2 + steps % 2;
  // From both ends towards the middle, so that the last value is exactly `end`.
  return sequence("linspace", steps, options, [=](int64_t i) {
    return i < half ? a + step * static_cast<double>(i)
                    : b - step * static_cast<double>(steps - 1 - i);
  });
}

Tensor eye(int64_t n, const TensorOptions& options) { return eye(n, n, options); }

Tensor eye(int64_t n, int64_t m, const TensorOptions& options) {
  Tensor out = filled("eye", {n, m}, 0, options.requires_grad(false));
  if (out.numel() > 0) as_strided(out, {std::min(n, m)}, {m + 1}).fill_(1);
  return finish(std::move(out), options);
}

Tensor scalar_tensor(const Scalar& value, const TensorOptions& options) {
  check_fits("scalar_tensor", value, options.dtype());
  return finish(scalar_on(value, options.dtype(), options.device()), options);
}

Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                 const std::function<void(void*)>& deleter, const TensorOptions& options) try {
  if (options.has_device() && !options.device().is_cpu()) {
    throw Error(fmt::format("from_blob: expected device cpu, got {}", options.device().str()));
  }
  if (options.pinned_memory()) {
    throw Error(
        "from_blob: expected options without pinned_memory, got pinned_memory for existing memory");
  }
  const int64_t extent = strided_extent("from_blob", sizes, strides);
  const size_t size = element_size(options.dtype());
  if (static_cast<size_t>(extent) > static_cast<size_t>(INT64_MAX) / size) {
    throw ShapeError(fmt::format("from_blob: expected less than 2^63 bytes, got {} elements of {}",
                                 extent, name(options.dtype())));
  }
  if (!data && extent > 0) throw Error("from_blob: expected memory, got a null pointer");
  Storage storage(new StorageImpl(data, static_cast<size_t>(extent) * size, nullptr));
  const Tensor out(
      intrusive_ptr<TensorImpl>(new TensorImpl(storage, sizes, strides, 0, options.dtype())));
  std::function<void(void*)> own = deleter;
  if (options.requires_grad()) out.requires_grad_();
  storage->set_deleter(std::move(own));  // nothing fails from here on: the tensor owns the memory
  return out;
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("from_blob");
}

Tensor from_blob(void* data, IntArrayRef sizes, const std::function<void(void*)>& deleter,
                 const TensorOptions& options) {
  count("from_blob", sizes);  // refuses sizes < 0 before strides are computed
  return from_blob(data, sizes, contiguous_strides(sizes), deleter, options);
}

Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options) {
  return from_blob(data, sizes, strides, nullptr, options);
}

Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options) {
  return from_blob(data, sizes, nullptr, options);
}

const Tensor& fill_(const Tensor& self, const Scalar& value) {
  expect_defined("fill_", "self", self);
  check_fits("fill_", value, self.dtype());
  check_in_place("fill_", self);
  Tensor y = self;
  kernels::fill(y, value);
  record_in_place("fill", self, wrt(self, ZerosLike(self)));
  return self;
}

const Tensor& zero_(const Tensor& self) {
  expect_defined("zero_", "self", self);
  return fill_(self, 0);
}

Tensor fill(const Tensor& self, const Scalar& value) {
  expect_defined("fill", "self", self);
  Tensor out = filled("fill", self.sizes(), value, self.options());
  return record("fill", std::move(out), wrt(self, ZerosLike(self)));
}

Tensor zero(const Tensor& self) {
  expect_defined("zero", "self", self);
  return fill(self, 0);
}

}  // namespace ambit
