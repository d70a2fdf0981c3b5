// Names, promotion and the default dtype; printing of Scalar.
#include <ambit/dtype.h>
#include <ambit/error.h>
#include <ambit/scalar.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <ostream>
#include <string>

namespace ambit {

namespace {
std::atomic<DType> default_dtype{kFloat32};  // relaxed: independent of other data
}

const char* name(DType d) {
  static constexpr const char* kNames[kDTypeCount] = {
      "bool",    "uint8",   "int8",   "int16",  "int32",  "int64",     "float16",   "bfloat16",
      "float32", "float64", "uint16", "uint32", "uint64", "complex64", "complex128"};
  return kNames[static_cast<int>(d)];
}

std::ostream& operator<<(std::ostream& os, DType d) { return os << name(d); }

DType promote_types(DType a, DType b) {
  if (a == b) return a;
  const DType low = std::min(a, b), high = std::max(a, b);
  if (is_wide_unsigned(low) || is_wide_unsigned(high)) {
    if (is_floating_point(low)) return low;
    const bool is_low = is_wide_unsigned(low) && is_complex(high);
    throw DTypeError(
        fmt::format("promote_types: expected {} with a floating-point dtype or itself, got {}",
                    name(is_low ? low : high), name(is_low ? high : low)));
  }
  if (is_complex(high)) return low == kFloat64 ? kComplexDouble : high;
  // The enum's order decides, except here: int8 cannot hold all values of uint8.
  if (low == kUInt8 && high == kInt8) return kInt16;
  if (low == kFloat16 && high == kBFloat16) return kFloat32;
  return high;
}

DType get_default_dtype() { return default_dtype.load(std::memory_order_relaxed); }

void set_default_dtype(DType d) {
  if (!is_floating_point(d)) {
    throw DTypeError(
        fmt::format("set_default_dtype: expected a floating-point dtype, got {}", name(d)));
  }
  default_dtype.store(d, std::memory_order_relaxed);
}

void throw_dtype_outside(DTypeSet set, DType got) {
  std::string names;
  for (const DType d : set) names += (names.empty() ? "" : ", ") + std::string(name(d));
  throw DTypeError(fmt::format("expected one of {}, got {}", names, name(got)));
}

std::ostream& operator<<(std::ostream& os, const Scalar& s) {
  if (s.dtype() == kBool) return os << (s.to<bool>() ? "true" : "false");
  if (s.is_floating_point()) return os << s.to<double>();
  if (s.dtype() == kUInt64) return os << s.to<uint64_t>();
  return os << s.to<int64_t>();
}

}  // namespace ambit
