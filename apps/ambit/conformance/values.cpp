#include "values.h"

#include <cmath>
#include <limits>

namespace conformance {
namespace {

template <class T>
T special_value(Random& random, int64_t i) {
  if constexpr (!kIsFloat<T>) return any_value<T>(random);
  using Limits = std::numeric_limits<T>;
  const T values[] = {T(0),
                      -T(0),
                      Limits::infinity(),
                      -Limits::infinity(),
                      Limits::quiet_NaN(),
                      Limits::denorm_min(),
                      -Limits::denorm_min(),
                      Limits::min(),
                      Limits::max(),
                      Limits::lowest(),
                      T(1),
                      T(-1),
                      T(0.5),
                      T(2),
                      T(-0.999),
                      T(88.8),
                      T(-87.4),
                      T(-103.5),
                      T(710),
                      T(-745.2),
                      T(1e5),
                      T(2.5),
                      T(-3.5),
                      T(8)};
  static_assert(sizeof(values) == kSpecialCount * sizeof(T));
  if (i < kSpecialCount) return values[i];
  return static_cast<T>((i % 2 == 0 ? 1 : -1) * std::exp2(uniform(random, -60, 12)));
}

}  // namespace

Values any() {
  return each([]<class T>(Random& random, int64_t) { return any_value<T>(random); });
}

Values between(double low, double high) {
  return each([=]<class T>(Random& random, int64_t) {
    const double x = uniform(random, low, high);
    return static_cast<T>(kIsFloat<T> ? x : std::floor(x));
  });
}

Values special() {
  return each([]<class T>(Random& random, int64_t i) { return special_value<T>(random, i); });
}
Values special_rows() {
  return each([]<class T>(Random& random, int64_t i) {
    return special_value<T>(random, i / kSpecialCount);
  });
}
Values special_columns() {
  return each([]<class T>(Random& random, int64_t i) {
    return special_value<T>(random, i % kSpecialCount);
  });
}

Values few(bool with_nan) {
  return each([=]<class T>(Random& random, int64_t i) {
    const auto x = static_cast<T>(static_cast<int64_t>(random() % 9) - 4);
    if (!kIsFloat<T> || !with_nan || i % 97 != 5) return x;
    return std::numeric_limits<T>::quiet_NaN();
  });
}

}  // namespace conformance
