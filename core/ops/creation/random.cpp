// Random tensors. Every number comes from the Philox stream of the device's generator, by the
// random kernel or on the host, so that a seed gives the same ones everywhere.
#include <ambit/ops/random.h>

#include <ambit/backend/kernels.h>
#include <ambit/backend/philox.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/scalar_operand.h"

namespace ambit {
namespace {

using Kind = RandomParams::Kind;

// Fill a contiguous tensor with the next numbers of its device's stream.
void draw(Tensor& y, RandomParams p) {
  if (y.numel() == 0) return;
  Generator& generator = default_generator(y.device());
  p.seed = generator.seed();
  p.offset = generator.advance(philox::blocks(static_cast<uint64_t>(y.numel())));
  kernels::random(y, p);
}

Tensor drawn(const char* op, IntArrayRef sizes, const TensorOptions& options,
             const RandomParams& p) {
  Tensor out = allocate(op, sizes, options.dtype(), options.device());
  draw(out, p);
  return finish(std::move(out), options);
}

const Tensor& drawn_in_place(const char* op, const char* name, const Tensor& self,
                             const RandomParams& p) {
  check_in_place(op, self);
  Tensor y = self.is_contiguous() ? self : allocate(op, self.sizes(), self.dtype(), self.device());
  draw(y, p);
  if (!y.is_same(self)) {
    Tensor strided = self;
    kernels::copy(strided, y);
  }
  record_in_place(name, self, wrt(self, ZerosLike(self)));
  return self;
}

void check_floats(const char* op, DType dtype) {
  if (!is_floating_point(dtype)) throw_not_floating(op, dtype);
}

void check_probability(const char* op, double p) {
  if (p >= 0 && p <= 1) return;
  throw Error(fmt::format("{}: expected a probability in [0, 1], got {}", op, p));
}

RandomParams integers(const char* op, int64_t low, int64_t high, DType dtype) {
  if (low >= high)
    throw Error(fmt::format("{}: expected low < high, got {} and {}", op, low, high));
  constexpr int64_t kExact = int64_t{1} << 53;  // the parameters are doubles
  const bool fits_dtype = dtype == kBool ? low >= 0 && high <= 2 : dtype != kUInt8 || low >= 0;
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

Tensor rand(IntArrayRef sizes, const TensorOptions& options) {
  check_floats("rand", options.dtype());
  return drawn("rand", sizes, options, {.kind = Kind::uniform});
}
Tensor randn(IntArrayRef sizes, const TensorOptions& options) {
  check_floats("randn", options.dtype());
  return drawn("randn", sizes, options, {.kind = Kind::normal});
}
Tensor randint(int64_t low, int64_t high, IntArrayRef sizes, const TensorOptions& options) {
  const TensorOptions o = int64_unless_said(options);
  return drawn("randint", sizes, o, integers("randint", low, high, o.dtype()));
}
Tensor randint(int64_t high, IntArrayRef sizes, const TensorOptions& options) {
  return randint(0, high, sizes, options);
}
Tensor rand_like(const Tensor& self, const TensorOptions& options) {
  expect_defined("rand_like", "self", self);
  return rand(self.sizes(), options_like(self, options));
}
Tensor randn_like(const Tensor& self, const TensorOptions& options) {
  expect_defined("randn_like", "self", self);
  return randn(self.sizes(), options_like(self, options));
}
Tensor randint_like(const Tensor& self, int64_t low, int64_t high, const TensorOptions& options) {
  expect_defined("randint_like", "self", self);
  return randint(low, high, self.sizes(), options_like(self, options));
}

Tensor randperm(int64_t n, const TensorOptions& options) {
  const TensorOptions o = int64_unless_said(options);
  if (n < 0) throw ShapeError(fmt::format("randperm: expected n >= 0, got {}", n));
  if (n > 0) check_fits("randperm", n - 1, o.dtype());
  if (o.device().is_meta()) return empty({n}, o);
  // Fisher-Yates takes one number after the other, so the host does it for all devices.
  Generator& generator = default_generator(o.device());
  const auto count = static_cast<uint64_t>(n);
  const uint64_t seed = generator.seed(), offset = generator.advance(philox::blocks(count));
  const Tensor order = allocate("randperm", {n}, kInt64, kCPU);
  auto* p = order.data_ptr<int64_t>();
  std::iota(p, p + n, 0);
  for (uint64_t i = count; i > 1; --i)
    std::swap(p[i - 1], p[philox::below(seed, offset, i - 1, i)]);
  Tensor out = to(order, o.device(), o.dtype());
  if (o.requires_grad()) out.requires_grad_();
  return out;
}

Tensor bernoulli(const Tensor& self) {
  expect_defined("bernoulli", "self", self);
  check_floats("bernoulli", self.dtype());
  const NoGradGuard no_grad;
  if (!self.is_meta() && !all(logical_and(self >= 0, self <= 1)).item<bool>()) {
    throw Error("bernoulli: expected probabilities in [0, 1], got others");
  }
  return (rand_like(self) < self).to(self.dtype());
}

const Tensor& uniform_(const Tensor& self, double from, double to) {
  expect_defined("uniform_", "self", self);
  check_floats("uniform_", self.dtype());
  if (!(from <= to)) {
    throw Error(fmt::format("uniform_: expected from <= to, got {} and {}", from, to));
  }
  return drawn_in_place("uniform_", "uniform", self,
                        {.kind = Kind::uniform, .low = from, .high = to});
}
const Tensor& normal_(const Tensor& self, double mean, double std) {
  expect_defined("normal_", "self", self);
  check_floats("normal_", self.dtype());
  if (!(std >= 0)) throw Error(fmt::format("normal_: expected std >= 0, got {}", std));
  return drawn_in_place("normal_", "normal", self,
                        {.kind = Kind::normal, .low = mean, .high = std});
}
const Tensor& random_(const Tensor& self, int64_t from, int64_t to) {
  expect_defined("random_", "self", self);
  return drawn_in_place("random_", "random", self, integers("random_", from, to, self.dtype()));
}
const Tensor& bernoulli_(const Tensor& self, double p) {
  expect_defined("bernoulli_", "self", self);
  check_probability("bernoulli_", p);
  return drawn_in_place("bernoulli_", "bernoulli", self, {.kind = Kind::bernoulli, .low = p});
}

Tensor dropout(const Tensor& input, double p, bool training) {
  expect_floating("dropout", input);
  check_probability("dropout", p);
  if (!training) return input;
  Tensor scale =
      drawn("dropout", input.sizes(), input.options(), {.kind = Kind::bernoulli, .low = 1 - p});
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

}  // namespace ambit
