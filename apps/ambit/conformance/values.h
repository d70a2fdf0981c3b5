// Values of the operands.
#pragma once

#include <ambit/dtype.h>

#include <cstdint>
#include <functional>
#include <type_traits>

#include "bound.h"

namespace conformance {

/// SplitMix64 (Steele, Lea and Flood 2014): the generators and distributions of the standard
/// library would take longer than the kernels.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t operator()() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

/// Writes n elements of a dtype in row-major order: the i-th to to[i].
using Values = std::function<void(Random&, ambit::DType, void* to, int64_t n)>;

/// Values f.operator()<T>(random, i).
template <class F>
Values each(F f) {
  return [f](Random& random, ambit::DType dtype, void* to, int64_t n) {
    ambit::visit<ambit::dtypes::kEvery>(dtype, [&]<class T>() {
      for (int64_t i = 0; i < n; ++i) static_cast<T*>(to)[i] = f.template operator()<T>(random, i);
    });
  };
}

/// Return one of 2^53 equally likely numbers in [low, high).
inline double uniform(Random& random, double low, double high) {
  return low + (high - low) * (static_cast<double>(random() >> 11) * 0x1p-53);
}

/// Floats: uniform in [-3, 3]. Integers: all bits random. bool: random.
template <class T>
T any_value(Random& random) {
  if constexpr (std::is_same_v<T, bool>) {
    return random() % 2 == 0;
  } else if constexpr (kIsFloat<T>) {
    return static_cast<T>(uniform(random, -3, 3));
  } else {
    return static_cast<T>(random());
  }
}

Values any();
/// Uniform in [low, high): numbers or indices.
Values between(double low, double high);
/// Special floats: zeros, infinities, NaN, denormals, and all magnitudes up to 2^12.
Values special();
inline constexpr int64_t kSpecialCount = 24;
/// The special numbers along the rows and along the columns of a square matrix.
Values special_rows();
Values special_columns();
/// Integers from -4 to 4, many of them equal; with_nan: some floats are NaN.
Values few(bool with_nan);

}  // namespace conformance
