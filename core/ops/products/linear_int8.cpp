// Products with int8 weights. The kernel quantises the input's rows, identically on all devices:
// integer sums are then exact, and only scaling rounds.
#include <ambit/backend/kernels.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/quantized.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <limits>

#include "core/ops/composite.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/unrecorded.h"
#include "rows.h"

namespace ambit {
namespace {

constexpr int64_t kLongestRow = int64_t{1} << 17;  // 2^17 * 128 * 127 < 2^31
// For smaller x, 127 / x may overflow.
constexpr double kSmallest = 1e-36;

void expect_single(const char* op, const char* argument, const Tensor& t) {
  expect_defined(op, argument, t);
  if (!t.is_floating_point() || t.dtype() == kFloat64) {
    throw DTypeError(fmt::format("{}: expected {} of float32, float16 or bfloat16, got {}", op,
                                 argument, name(t.dtype())));
  }
}

void expect_short(const char* op, int64_t k) {
  if (k > kLongestRow) {
    throw ShapeError(
        fmt::format("{}: expected rows of at most {} elements, got {}", op, kLongestRow, k));
  }
}

void check_operands(const Tensor& input, const Tensor& weight, const Tensor& scale,
                    const Tensor& bias) {
  constexpr const char* kOp = "linear_int8";
  expect_single(kOp, "input", input);
  expect_dtype(kOp, "weight", weight, kInt8);
  expect_single(kOp, "scale", scale);
  if (bias.defined()) expect_single(kOp, "bias", bias);
  if (bias.defined() && bias.dtype() != kFloat32) expect_input_dtype(kOp, input, "bias", bias);
  expect_dim(kOp, "weight", weight, 2, "a matrix");
  const int64_t n = weight.size(0), k = weight.size(1);
  if (input.dim() == 0 || input.sizes().back() != k) {
    throw ShapeError(
        fmt::format("{}: expected input of shape [..., {}], got {}", kOp, k, str(input.sizes())));
  }
  expect_short(kOp, k);
  expect_sizes(kOp, "scale", scale, {n});
  expect_sizes(kOp, "bias", bias, {n});
}

}  // namespace

std::tuple<Tensor, Tensor> quantize_rows(const Tensor& input) {
  constexpr const char* kOp = "quantize_rows";
  check_devices(kOp, {{"input", input}});
  expect_single(kOp, "input", input);
  expect_dim(kOp, "input", input, 2, "a matrix");
  expect_short(kOp, input.size(1));
  const NoGradGuard no_grad;
  if (input.size(1) == 0) {
    return {zeros(input.sizes(), input.options().dtype(kInt8)),
            zeros({input.size(0)}, input.options().dtype(kFloat32))};
  }
  const Tensor x = input.to(kFloat32), largest = abs(x).amax({1}, true);
  // The comparison is also false for NaN.
  const Tensor counts =
      (largest >= kSmallest).logical_and(largest <= std::numeric_limits<float>::max());
  // Divide by a tensor: division by a number may be computed as a product with its reciprocal.
  const Tensor factor = where(counts, full_like(largest, 127) / largest, 0.0);
  const Tensor q = round(where(counts, x, 0.0) * factor).to(kInt8);
  return {q, (largest / 127).squeeze(1)};
}

Tensor linear_int8(const Tensor& input, const Tensor& weight, const Tensor& scale,
                   const Tensor& bias) {
  constexpr const char* kOp = "linear_int8";
  check_devices(kOp, {{"input", input}, {"weight", weight}, {"scale", scale}, {"bias", bias}});
  naming("weight", weight, [&] { check_operands(input, weight, scale, bias); });
  Tensor out = by_rows(kOp, input, weight, [&](Tensor& y, const Tensor& x) {
    kernels::linear_int8(y, dense(x), dense(weight), dense(scale), dense(bias));
  });
  const auto refuse = [](const Tensor&) -> Tensor {
    throw NotImplementedError(
        "linear_int8: expected no backward through int8 weights, which have no gradient, got one");
  };
  return record(kOp, std::move(out), wrt(input, refuse), wrt(scale, refuse), wrt(bias, refuse));
}

void composite::linear_int8(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& scale,
                            const Tensor& b) {
  const auto [q, s] = quantize_rows(x);
  const Tensor sums = matmul(q.to(kInt32), w.to(kInt32).t());  // exact, unlike float sums
  y.copy_(sums.to(kFloat32) * (s.unsqueeze(1) * scale));
  if (b.defined()) y.add_(b);
}

}  // namespace ambit
