#include "measure.h"

#include <ambit/ops/creation.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <thread>
#include <vector>

namespace accuracy {

namespace {

using namespace ambit;

constexpr int64_t kChunk =
    1 << 18;  // magnitudes per call; their negatives are computed by a second call

struct Format {
  int digits, least_exponent;  // the exponent of the smallest normal number
  double largest;
};

Format format_of(DType dtype) {
  if (dtype == kFloat16) return {11, -14, 65504};
  if (dtype == kBFloat16) return {8, -126, 0x1.fep127};
  if (dtype == kFloat32) return {24, -126, std::numeric_limits<float>::max()};
  return {53, -1022, std::numeric_limits<double>::max()};
}

/// Gives the magnitude of each index among the inputs.
class Magnitudes {
 public:
  Magnitudes(DType dtype, int64_t every) : dtype_(dtype), every_(every) {}
  int64_t count() const {
    if (dtype_ == kFloat64) return (int64_t(1) << 23) / every_;
    const int64_t infinity = dtype_ == kFloat16    ? 0x7c00
                             : dtype_ == kBFloat16 ? 0x7f80
                                                   : 0x7f800000;
    return infinity / step() + 1;
  }
  Tensor chunk(int64_t first, int64_t n) const {
    std::vector<double> x(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) x[static_cast<size_t>(i)] = at(first + i);
    if (dtype_ == kFloat64) std::sort(x.begin(), x.end());
    return tensor(x, TensorOptions(kFloat64)).to(dtype_);
  }

 private:
  int64_t step() const { return dtype_ == kFloat32 ? every_ : 1; }
  double at(int64_t i) const {
    const auto bits = static_cast<uint32_t>(i * step());
    if (dtype_ == kFloat32) return std::bit_cast<float>(bits);
    if (dtype_ == kBFloat16) return std::bit_cast<float>(bits << 16);
    if (dtype_ == kFloat16) {
      const int exponent = static_cast<int>(bits >> 10);
      const double mantissa = bits & 1023;
      if (exponent == 31) return INFINITY;
      return exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
    }
    // Half of the inputs have any exponent, half are from 2^-32 to 2^10.
    std::mt19937_64 random(static_cast<uint64_t>(i));
    random.discard(1);
    const uint64_t r = random();
    const uint64_t exponent = i % 2 == 0 ? r % 2047 : 991 + r % 42;
    return std::bit_cast<double>(exponent << 52 | random() >> 12);
  }

  DType dtype_;
  int64_t every_;
};

/// Counts the results of inputs in ascending order.
template <class W>
class Counter {
 public:
  Counter(const Map& map, bool derivative, DType dtype, W (*exact)(W))
      : map_(map), derivative_(derivative), format_(format_of(dtype)), exact_(exact) {}

  void add(double x, double y) {
    const W exact = exact_(static_cast<W>(x));
    ++figures.inputs;
    if (std::isnan(y) || std::isnan(exact)) {
      if (std::isnan(y) != std::isnan(exact)) ++figures.nans, keep(INFINITY, x, y, exact);
      return;
    }
    compare_sizes(x, y, exact);
    if (y != 0 && exact != 0 && std::signbit(y) != std::signbit(exact)) ++figures.signs;
    // The sign of 0 is checked only at x = 0; elsewhere an exact value of 0 has been rounded.
    if (x == 0 && y == 0 && exact == 0 && std::signbit(y) != std::signbit(exact)) ++figures.signs;
    if (derivative_) return;
    const auto value = static_cast<double>(exact);  // rsqrt(-0) is not in its range
    const bool lies_within = value >= map_.low && value <= map_.high;
    if (lies_within && (y < low() || y > high())) ++figures.out_of_range;
    if (map_.is_monotone && has_last_ &&
        (y - last_) * static_cast<double>(exact - exact_last_) < 0) {
      ++figures.disorders;
    }
    has_last_ = true, last_ = y, exact_last_ = exact;
  }

  Figures figures;

 private:
  double step() const { return std::ldexp(1, -format_.digits); }
  // The bounds may be rounded outwards.
  double low() const { return map_.low - std::fabs(map_.low) * step() * not_whole(map_.low); }
  double high() const { return map_.high + std::fabs(map_.high) * step() * not_whole(map_.high); }
  static double not_whole(double bound) { return bound == std::trunc(bound) ? 0 : 1; }

  void compare_sizes(double x, double y, W exact) {
    const W size = std::fabs(exact), largest = format_.largest;
    const W unit = std::ldexp(
        W(1), std::max(exact == 0 || std::isinf(exact) ? format_.least_exponent
                                                       : std::ilogb(std::min(size, largest)),
                       format_.least_exponent) -
                  format_.digits + 1);
    const bool overflows = size > largest + unit / 2;
    if (std::isinf(y)) {
      if (size < largest || std::signbit(y) != std::signbit(exact)) {
        ++figures.infinities, keep(INFINITY, x, y, exact);
      }
      return;
    }
    if (overflows && size > largest + 4 * unit) {
      ++figures.infinities, keep(INFINITY, x, y, exact);
      return;
    }
    keep(static_cast<double>(std::fabs(static_cast<W>(y) - exact) / unit), x, y, exact);
  }
  void keep(double error, double x, double y, W exact) {
    if (error <= figures.error) return;
    figures.error = error, figures.input = x, figures.got = y;
    figures.exact = static_cast<double>(exact);
  }

  const Map& map_;
  bool derivative_;
  Format format_;
  W (*exact_)(W);
  bool has_last_ = false;
  double last_ = 0;
  W exact_last_ = 0;
};

void join(Figures& all, const Figures& part) {
  const int64_t inputs = all.inputs + part.inputs;
  Figures sum = part.error > all.error ? part : all;
  sum.inputs = inputs;
  sum.infinities = all.infinities + part.infinities;
  sum.nans = all.nans + part.nans;
  sum.signs = all.signs + part.signs;
  sum.out_of_range = all.out_of_range + part.out_of_range;
  sum.disorders = all.disorders + part.disorders;
  sum.not_odd = all.not_odd + part.not_odd;
  all = sum;
}

template <class W>
Figures measure_as(const Map& map, bool derivative, DType dtype, int64_t every, W (*exact)(W),
                   const Results& results) {
  const Magnitudes magnitudes(dtype, every);
  const int64_t count = magnitudes.count();
  Figures all;
  for (int64_t first = 0; first < count; first += kChunk) {
    const int64_t n = std::min(kChunk, count - first);
    const Tensor x = magnitudes.chunk(first, n), wide = x.to(kFloat64);
    const Tensor above = results(x, first).to(kFloat64).contiguous();
    const Tensor below = results(-x, count + first).to(kFloat64).contiguous();
    const double *px = wide.data_ptr<double>(), *up = above.data_ptr<double>();
    const double* down = below.data_ptr<double>();
    const auto parts = static_cast<int64_t>(std::max(1U, std::thread::hardware_concurrency()));
    std::vector<Figures> found(static_cast<size_t>(parts));
    std::vector<std::jthread> threads;
    for (int64_t p = 0; p < parts; ++p) {
      threads.emplace_back([&, p] {
        Counter<W> rising(map, derivative, dtype, exact), falling(map, derivative, dtype, exact);
        for (int64_t i = n * p / parts; i < n * (p + 1) / parts; ++i) {
          rising.add(px[i], up[i]);
          falling.add(-px[i], down[i]);
          if (map.is_odd && !derivative && down[i] != -up[i] && !std::isnan(up[i])) {
            ++falling.figures.not_odd;
          }
        }
        join(rising.figures, falling.figures);
        found[static_cast<size_t>(p)] = rising.figures;
      });
    }
    threads.clear();
    for (const Figures& f : found) join(all, f);
  }
  return all;
}

}  // namespace

Figures measure(const Map& map, bool derivative, DType dtype, int64_t every,
                const Results& results) {
  if (dtype != kFloat64) {
    return measure_as<double>(map, derivative, dtype, every,
                              derivative ? map.derivative : map.exact, results);
  }
  return measure_as<long double>(map, derivative, dtype, every,
                                 derivative ? map.derivative_long : map.exact_long, results);
}

}  // namespace accuracy
