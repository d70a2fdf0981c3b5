#include "scalar_operand.h"

#include <ambit/backend/kernels.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <limits>
#include <utility>

namespace ambit {

Tensor scalar_on(const Scalar& value, DType dtype, Device device, IntArrayRef sizes) {
  Storage storage(new StorageImpl(device, element_size(dtype)));
  const auto with_sizes = [&](IntArrayRef s) {
    return Tensor(
        intrusive_ptr<TensorImpl>(new TensorImpl(storage, s, Dims(s.size(), 0), 0, dtype)));
  };
  if (device.is_cpu()) {  // write directly, without a kernel
    visit<dtypes::kStored>(dtype,
                           [&]<class T>() { *static_cast<T*>(storage->data()) = value.cast<T>(); });
    return with_sizes(sizes);
  }
  Tensor one = with_sizes({});
  kernels::fill(one, value);
  return sizes.empty() ? one : with_sizes(sizes);
}

namespace {

template <class T>
bool fits(const Scalar& value) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, double>) {
    return true;
  } else if constexpr (requires(T z) { z.real(); }) {
    return fits<typename T::value_type>(value);
  } else if constexpr (std::is_same_v<T, float> || ReducedFloat<T>) {
    const double x = value.to<double>();
    return !std::isfinite(x) || std::abs(x) <= Limits::max();
  } else if (value.is_floating_point()) {
    // True if the truncated number is in the range. NaN fails both comparisons. 2^63 is out of
    // range for int64.
    const double x = value.to<double>();
    return x > static_cast<double>(Limits::min()) - 1 && x < static_cast<double>(Limits::max()) + 1;
  } else if (value.dtype() == kUInt64 || std::is_same_v<T, uint64_t>) {
    return std::is_same_v<T, uint64_t>;  // negative numbers wrap
  } else {
    const auto x = value.to<int64_t>();
    const auto max = static_cast<int64_t>(Limits::max());
    return x <= max && x >= (Limits::is_signed ? static_cast<int64_t>(Limits::min()) : -max);
  }
}

}  // namespace

void check_fits(const char* op, const Scalar& value, DType dtype) {
  if (visit<dtypes::kStored>(dtype, [&]<class T>() { return fits<T>(value); })) [[likely]]
    return;
  throw DTypeError(
      fmt::format("{}: expected a number that fits {}, got {}", op, name(dtype), text_of(value)));
}

std::string text_of(const Scalar& number) {
  if (number.is_floating_point()) return fmt::format("{}", number.to<double>());
  if (number.dtype() == kUInt64) return fmt::format("{}", number.to<uint64_t>());
  return fmt::format("{}", number.to<int64_t>());
}

int side_of_range(const Scalar& number, DType dtype) {
  return visit<dtypes::kStored>(dtype, [&]<class T>() {
    if constexpr (!std::is_integral_v<T> || std::is_same_v<T, bool>) {
      return 0;
    } else {
      if (number.dtype() == kUInt64) return std::is_same_v<T, uint64_t> ? 0 : 1;
      const auto x = number.to<int64_t>();
      if (std::cmp_less(x, std::numeric_limits<T>::lowest())) return -1;
      return std::cmp_greater(x, std::numeric_limits<T>::max()) ? 1 : 0;
    }
  });
}

}  // namespace ambit
