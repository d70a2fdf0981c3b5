// Random tensors. All numbers come from the Philox stream of the device's generator, by the random
// kernel or on the host, so that a seed gives the same numbers on all devices.
#include <ambit/ops/random.h>

#include <ambit/backend/alias.h>
#include <ambit/backend/kernels.h>
#include <ambit/backend/philox.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "core/dispatch/parts.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/scalar_operand.h"
#include "stream.h"

namespace ambit {
namespace {

using Kind = RandomParams::Kind;
using Stream = std::optional<Generator>;

// Return the largest number of a reduced floating-point type below x.
double below(double x, DType dtype) {
  return visit<dtypes::kReducedFloating>(dtype, [x]<class T>() -> double {
    T t(static_cast<float>(x));
    if (t < x) return t;
    t.x = t == 0 ? 0x8001 : static_cast<uint16_t>(t > 0 ? t.x - 1 : t.x + 1);
    return t;
  });
}

// Call use(wide, part) for parts of a contiguous reduced floating-point tensor; `wide` is filled
// with float32 numbers for the part.
template <class Use>
void for_wide_parts(const Tensor& y, RandomParams p, const Use& use) {
  if (y.device().is_meta()) return;
  const int64_t n = y.numel(), most = part_elements(y.device());
  const auto blocks = static_cast<uint64_t>(most) / philox::elements_per_block<float>(p.kind);
  for (int64_t first = 0; first < n; first += most, p.offset += blocks) {
    Tensor part = alias(y, {std::min(most, n - first)}, {1}, y.storage_offset() + first);
    Tensor wide = empty(part.sizes(), y.options().dtype(kFloat32));
    kernels::random(wide, p);
    use(wide, part);
  }
}

// Reduced floating-point numbers are rounded from float32, but never up to the end of the range.
void run_random(Tensor& y, const RandomParams& p) {
  if (!is_reduced_floating(y.dtype()) || p.kind != Kind::uniform || p.low == p.high) {
    return kernels::random(y, p);
  }
  const Scalar most = below(p.high, y.dtype());
  for_wide_parts(y, p, [&](Tensor& wide, Tensor& part) {
    kernels::clamp(wide, wide, std::nullopt, most);
    kernels::copy(part, wide);
  });
}

// Claim the numbers for n elements from the given stream, by default the device's.
RandomParams next(const char* op, Device device, int64_t n, RandomParams p, const Stream& given) {
  const Generator generator = stream_for(op, device, given);
  if (n == 0) return p;
  p.seed = generator.seed();
  p.offset = generator.advance(philox::blocks(static_cast<uint64_t>(n)));
  return p;
}

// Fill a contiguous tensor with random numbers.
void draw(const char* op, Tensor& y, RandomParams p, const Stream& given) {
  p = next(op, y.device(), y.numel(), p, given);
  if (y.numel() > 0) run_random(y, p);
}

Tensor drawn(const char* op, IntArrayRef sizes, const TensorOptions& options, const RandomParams& p,
             const Stream& generator = {}) {
  Tensor out = allocate(op, sizes, options.dtype(), options.device());
  draw(op, out, p, generator);
  return finish(std::move(out), options);
}

const Tensor& drawn_in_place(const char* op, const char* name, const Tensor& self,
                             const RandomParams& p, const Stream& generator) {
  check_in_place(op, self);
  Tensor y = self.is_contiguous() ? self : allocate(op, self.sizes(), self.dtype(), self.device());
  draw(op, y, p, generator);
  if (!y.is_same(self)) {
    Tensor strided = self;
    kernels::copy(strided, y);
  }
  record_in_place(name, self, wrt(self, ZerosLike(self)));
  return self;
}

// Complex numbers whose parts are drawn like real numbers; options name a complex dtype.
Tensor drawn_in_pairs(const char* op, IntArrayRef sizes, const TensorOptions& options,
                      const RandomParams& p, const Stream& generator) {
  Dims twice(sizes);
  twice.push_back(2);
  const Tensor parts = drawn(
      op, twice, TensorOptions(real_dtype(options.dtype())).device(options.device()), p, generator);
  return finish(view_as_complex(parts).detach(), options);
}

void check_floats(const char* op, DType dtype) {
  if (!is_floating_point(dtype)) throw_not_floating(op, dtype);
}

void check_probability(const char* op, double p) {
  if (p >= 0 && p <= 1) return;
  throw Error(fmt::format("{}: expected a probability in [0, 1], got {}", op, p));
}

void check_deviation(const char* op, double std) {
  if (!(std >= 0)) throw Error(fmt::format("{}: expected std >= 0, got {}", op, std));
}

// Check that all are in [0, 1]. This waits for the device.
void expect_probabilities(const char* op, const Tensor& p) {
  expect_defined(op, "p", p);
  check_floats(op, p.dtype());
  const NoGradGuard no_grad;
  if (p.is_meta() || p.numel() == 0) return;
  if (!(min(p).item<double>() >= 0 && max(p).item<double>() <= 1)) {
    throw Error(fmt::format("{}: expected probabilities in [0, 1], got one outside", op));
  }
}

// Return one above the largest n such that the dtype represents all of 0 .. n, limited by the
// precision of random's parameters (doubles).
int64_t end_of_integers(DType dtype) {
  return visit<dtypes::kEvery>(dtype, []<class T>() -> int64_t {
    constexpr int kDigits = std::numeric_limits<T>::digits;
    const int64_t end = int64_t{1} << std::min(kDigits, 53);
    return std::numeric_limits<T>::is_integer ? end : end + (kDigits < 53);
  });
}

RandomParams integers(const char* op, int64_t low, int64_t high, DType dtype) {
  if (low >= high)
    throw Error(fmt::format("{}: expected low < high, got {} and {}", op, low, high));
  constexpr int64_t kExact = int64_t{1} << 53;  // the parameters are doubles
  const bool is_unsigned = is_integral(dtype) && !is_signed(dtype);
  const bool fits_dtype = dtype == kBool ? low >= 0 && high <= 2 : !is_unsigned || low >= 0;
  if (low < -kExact || high > kExact || !fits_dtype) {
    throw DTypeError(fmt::format("{}: expected bounds that fit {} and 53 bits, got {} and {}", op,
                                 name(dtype), low, high));
  }
  check_fits(op, low, dtype);
  check_fits(op, high - 1, dtype);
  return {
      .kind = Kind::integer, .low = static_cast<double>(low), .high = static_cast<double>(high)};
}

TensorOptions int64_unless_said(const TensorOptions& options) {
  return options.has_dtype() ? options : options.dtype(kInt64);
}

}  // namespace

Generator stream_for(const char* op, Device device, const Stream& given) {
  if (!given || !given->defined()) return default_generator(device);
  if (given->device() != device && !device.is_meta()) {
    throw Error(fmt::format("{}: expected a generator of {}, got one of {}", op, device.str(),
                            given->device().str()));
  }
  return *given;
}

Tensor rand(IntArrayRef sizes, const TensorOptions& options) {
  return rand(sizes, Stream(), options);
}
Tensor rand(IntArrayRef sizes, const Stream& generator, const TensorOptions& options) {
  if (is_complex(options.dtype())) {
    return drawn_in_pairs("rand", sizes, options, {.kind = Kind::uniform}, generator);
  }
  check_floats("rand", options.dtype());
  return drawn("rand", sizes, options, {.kind = Kind::uniform}, generator);
}
Tensor randn(IntArrayRef sizes, const TensorOptions& options) {
  return randn(sizes, Stream(), options);
}
Tensor randn(IntArrayRef sizes, const Stream& generator, const TensorOptions& options) {
  if (is_complex(options.dtype())) {  // the variance of a number is the sum of its parts'
    const RandomParams halved{.kind = Kind::normal, .low = 0, .high = std::numbers::sqrt2 / 2};
    return drawn_in_pairs("randn", sizes, options, halved, generator);
  }
  check_floats("randn", options.dtype());
  return drawn("randn", sizes, options, {.kind = Kind::normal}, generator);
}
Tensor randint(int64_t low, int64_t high, IntArrayRef sizes, const TensorOptions& options) {
  return randint(low, high, sizes, Stream(), options);
}
Tensor randint(int64_t high, IntArrayRef sizes, const TensorOptions& options) {
  return randint(0, high, sizes, Stream(), options);
}
Tensor randint(int64_t low, int64_t high, IntArrayRef sizes, const Stream& generator,
               const TensorOptions& options) {
  const TensorOptions o = int64_unless_said(options);
  return drawn("randint", sizes, o, integers("randint", low, high, o.dtype()), generator);
}
Tensor randint(int64_t high, IntArrayRef sizes, const Stream& generator,
               const TensorOptions& options) {
  return randint(0, high, sizes, generator, options);
}
namespace {

// Return self's options, overridden by `options` and by `format`, if given.
TensorOptions options_for(const Tensor& self, const TensorOptions& options,
                          std::optional<MemoryFormat> format) {
  return options_like(self, format ? options.memory_format(*format) : options);
}

}  // namespace

Tensor rand_like(const Tensor& self, const Stream& generator, const TensorOptions& options,
                 std::optional<MemoryFormat> format) {
  expect_defined("rand_like", "self", self);
  return rand(self.sizes(), generator, options_for(self, options, format));
}
Tensor randn_like(const Tensor& self, const Stream& generator, const TensorOptions& options,
                  std::optional<MemoryFormat> format) {
  expect_defined("randn_like", "self", self);
  return randn(self.sizes(), generator, options_for(self, options, format));
}
Tensor randint_like(const Tensor& self, int64_t low, int64_t high, const Stream& generator,
                    const TensorOptions& options, std::optional<MemoryFormat> format) {
  expect_defined("randint_like", "self", self);
  return randint(low, high, self.sizes(), generator, options_for(self, options, format));
}
Tensor randint_like(const Tensor& self, int64_t high, const Stream& generator,
                    const TensorOptions& options, std::optional<MemoryFormat> format) {
  return randint_like(self, 0, high, generator, options, format);
}
Tensor randint_like(const Tensor& self, const Tensor& high, const Stream& generator,
                    const TensorOptions& options, std::optional<MemoryFormat> format) {
  check_devices("randint_like", {{"self", self}, {"high", high}}, DeviceRule::elementwise);
  expect_defined("randint_like", "self", self);
  expect_dim("randint_like", "high", high, 0, "a 0-dim tensor");
  return randint_like(self, 0, high.item<int64_t>(), generator, options, format);
}

#define AMBIT_FROM_DEVICE(name, Parameters, ...) \
  Tensor name Parameters { return name(__VA_ARGS__, Stream(), options, format); }
using Format = std::optional<MemoryFormat>;
AMBIT_FROM_DEVICE(rand_like, (const Tensor& self, const TensorOptions& options, Format format),
                  self)
AMBIT_FROM_DEVICE(randn_like, (const Tensor& self, const TensorOptions& options, Format format),
                  self)
AMBIT_FROM_DEVICE(randint_like,
                  (const Tensor& self, int64_t low, int64_t high, const TensorOptions& options,
                   Format format),
                  self, low, high)
AMBIT_FROM_DEVICE(randint_like,
                  (const Tensor& self, int64_t high, const TensorOptions& options, Format format),
                  self, high)
AMBIT_FROM_DEVICE(randint_like,
                  (const Tensor& self, const Tensor& high, const TensorOptions& options,
                   Format format),
                  self, high)
#undef AMBIT_FROM_DEVICE

Tensor randperm(int64_t n, const TensorOptions& options) { return randperm(n, Stream(), options); }

Tensor randperm(int64_t n, const Stream& given, const TensorOptions& options) {
  const TensorOptions o = int64_unless_said(options);
  if (n < 0) throw ShapeError(fmt::format("randperm: expected n >= 0, got {}", n));
  if (n > 0) check_fits("randperm", n - 1, o.dtype());
  // Fisher-Yates is sequential, so it runs on the host for all devices.
  const Tensor order = allocate("randperm", {n}, kInt64, o.device().is_meta() ? kMeta : kCPU);
  if (order.is_meta()) return empty({n}, o);
  const Generator generator = stream_for("randperm", o.device(), given);
  const auto count = static_cast<uint64_t>(n);
  const uint64_t seed = generator.seed(), offset = generator.advance(philox::blocks(count));
  auto* p = order.data_ptr<int64_t>();
  std::iota(p, p + n, 0);
  for (uint64_t i = count; i > 1; --i)
    std::swap(p[i - 1], p[philox::below(seed, offset, i - 1, i)]);
  Tensor out = to(order, o.device(), o.dtype());
  if (o.requires_grad()) out.requires_grad_();
  return out;
}

Tensor bernoulli(const Tensor& self, const Stream& generator) {
  expect_probabilities("bernoulli", self);
  const NoGradGuard no_grad;
  if (!is_reduced_floating(self.dtype())) {
    return (rand(self.sizes(), generator, self.options()) < self).to(self.dtype());
  }
  // Compare in float32 with unrounded numbers, in parts; the copy holds p until overwritten.
  const Tensor out = self.clone(MemoryFormat::Contiguous);
  const RandomParams uniform =
      next("bernoulli", out.device(), out.numel(), {.kind = Kind::uniform}, generator);
  for_wide_parts(out, uniform,
                 [](Tensor& wide, Tensor& part) { kernels::copy(part, wide < part.to(kFloat32)); });
  return out;
}
Tensor bernoulli(const Tensor& self, double p, const Stream& generator) {
  expect_defined("bernoulli", "self", self);
  check_probability("bernoulli", p);
  return drawn("bernoulli", self.sizes(), self.options(), {.kind = Kind::bernoulli, .low = p},
               generator);
}

const Tensor& uniform_(const Tensor& self, double from, double to, const Stream& generator) {
  expect_defined("uniform_", "self", self);
  if (self.is_complex()) return uniform_(view_as_real(self), from, to, generator), self;
  check_floats("uniform_", self.dtype());
  if (!(from <= to)) {
    throw Error(fmt::format("uniform_: expected from <= to, got {} and {}", from, to));
  }
  return drawn_in_place("uniform_", "uniform", self,
                        {.kind = Kind::uniform, .low = from, .high = to}, generator);
}
const Tensor& normal_(const Tensor& self, double mean, double std, const Stream& generator) {
  expect_defined("normal_", "self", self);
  if (self.is_complex()) {  // the variance is that of both parts
    normal_(view_as_real(self), mean, std / std::numbers::sqrt2, generator);
    return self;
  }
  check_floats("normal_", self.dtype());
  check_deviation("normal_", std);
  return drawn_in_place("normal_", "normal", self, {.kind = Kind::normal, .low = mean, .high = std},
                        generator);
}
const Tensor& random_(const Tensor& self, int64_t from, std::optional<int64_t> to,
                      const Stream& generator) {
  expect_defined("random_", "self", self);
  const int64_t end = to ? *to : end_of_integers(self.dtype());
  return drawn_in_place("random_", "random", self, integers("random_", from, end, self.dtype()),
                        generator);
}
const Tensor& random_(const Tensor& self, int64_t to, const Stream& generator) {
  return random_(self, 0, to, generator);
}
const Tensor& random_(const Tensor& self, const Stream& generator) {
  return random_(self, 0, std::nullopt, generator);
}
const Tensor& bernoulli_(const Tensor& self, double p, const Stream& generator) {
  expect_defined("bernoulli_", "self", self);
  check_probability("bernoulli_", p);
  return drawn_in_place("bernoulli_", "bernoulli", self, {.kind = Kind::bernoulli, .low = p},
                        generator);
}

Tensor dropout(const Tensor& input, double p, bool training) {
  expect_defined("dropout", "input", input);
  check_probability("dropout", p);
  if (!training) return input;
  expect_inexact("dropout", input);
  Tensor scale = drawn("dropout", input.sizes(), input.options().dtype(real_dtype(input.dtype())),
                       {.kind = Kind::bernoulli, .low = 1 - p});
  Tensor out;
  {
    const NoGradGuard no_grad;
    if (p > 0 && p < 1) scale.mul_(1 / (1 - p));
    out = input * scale;
  }
  if (!needs_gradient(input)) return out;
  return record("dropout", std::move(out),
                wrt(input, [scale = saved(scale)](const Tensor& g) { return g * scale(); }));
}

std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p,
                                          std::optional<bool> train) {
  constexpr const char* kOp = "native_dropout";
  expect_defined(kOp, "input", input);
  check_probability(kOp, p);
  if (!train.value_or(true)) return {clone(input), ones_like(input, kBool)};
  expect_inexact(kOp, input);
  const Tensor kept = drawn(kOp, input.sizes(), input.options().dtype(kBool),
                            {.kind = Kind::bernoulli, .low = 1 - p});
  return {input * kept * (p < 1 ? 1 / (1 - p) : 0), kept};
}

const Tensor& dropout_(const Tensor& self, double p, bool training) {
  expect_defined("dropout_", "input", self);
  check_probability("dropout_", p);
  if (training) expect_inexact("dropout_", self);
  check_in_place("dropout_", self);
  return training ? mul_(self, dropout(ones_like(self), p)) : self;
}

}  // namespace ambit
