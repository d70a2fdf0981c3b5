// Operators: reductions, scans and products.
#include <ambit/error.h>
#include <ambit/nn/functional/aten.h>
#include <ambit/ops/arrange.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/linalg.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/products.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/scan.h>
#include <ambit/ops/shape.h>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>

#include "operators.h"

namespace ambit::graph::onnx {
namespace {

using Reduce = Tensor (*)(const Tensor&, IntArrayRef, bool);

// Parameters: data axes=None keepdims=1 noop_with_empty_axes=0.

Tensor reduced(const Call& c, Reduce reduce) {
  const Tensor& x = c.tensor(0);
  Dims dims = axes(host_integers(c, 1), x.dim());
  if (dims.empty()) {
    if (c.flag(3)) {  // no-op: reduce over an added dim of size 1
      return reduce(x.unsqueeze(-1), {x.dim()}, false);
    }
    for (int64_t i = 0; i < x.dim(); ++i) dims.push_back(i);
  }
  if (x.dim() == 0) return reduce(x.unsqueeze(0), {0}, false);
  return reduce(x, dims, c.flag(2));
}

Tensor summed(const Tensor& x, IntArrayRef dims, bool keep) {
  return sum(x, dims, keep, x.dtype());
}

// Return the mean; for integers the quotient of the exact sum is rounded to zero.
Tensor averaged(const Tensor& x, IntArrayRef dims, bool keep) {
  if (x.is_floating_point()) return mean(x, dims, keep);
  int64_t n = 1;
  for (const int64_t d : dims) n *= x.size(d);
  return div(sum(x, dims, keep), Scalar(n), "trunc").to(x.dtype());
}

Tensor multiplied(const Tensor& x, IntArrayRef dims, bool keep) {
  Tensor out = x;
  Dims sorted(dims);
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  for (const int64_t d : sorted) out = prod(out, d, keep, x.dtype());
  return out;
}

// Empty dims give the identity: the lowest value for a maximum.
Tensor extreme(const Tensor& x, IntArrayRef dims, bool keep, bool is_max) {
  if (x.dtype() == kBool) return is_max ? ambit::any(x, dims, keep) : all(x, dims, keep);
  if (x.numel() > 0) return is_max ? amax(x, dims, keep) : amin(x, dims, keep);
  const double infinity = std::numeric_limits<double>::infinity();
  const auto limits = [&]() -> Scalar {
    switch (x.dtype()) {
      case kUInt8:
        return is_max ? 0 : 255;
      case kInt8:
        return is_max ? INT8_MIN : INT8_MAX;
      case kInt16:
        return is_max ? INT16_MIN : INT16_MAX;
      case kInt32:
        return is_max ? INT32_MIN : INT32_MAX;
      case kInt64:
        return is_max ? INT64_MIN : INT64_MAX;
      default:
        return is_max ? -infinity : infinity;
    }
  };
  return full_like(sum(x, dims, keep, x.dtype()), limits());
}

Tensor log_sum_exp(const Tensor& x, IntArrayRef dims, bool keep) {
  if (x.numel() == 0) return log(sum(x, dims, keep, x.dtype()));
  return logsumexp(x, dims, keep);
}

// Return the first or the last position of the extreme value.
Tensor position(const Call& c, bool is_max) {
  const Tensor& x = c.tensor(0);
  const int64_t dim = axis(c.integer(1), x.dim());
  const auto find = [&](const Tensor& t) {
    return is_max ? argmax(t, dim, c.flag(2)) : argmin(t, dim, c.flag(2));
  };
  if (!c.flag(3)) return find(x);
  return rsub(find(flip(x, {dim})), Scalar(x.size(dim) - 1));
}

using Scan = Tensor (*)(const Tensor&, int64_t, std::optional<DType>);
Tensor scanned(const Call& c, Scan scan, double identity) {
  Tensor x = c.tensor(0);
  const int64_t dim = axis(host_integer(c, 1), x.dim());
  if (c.flag(3)) x = flip(x, {dim});
  Tensor out = scan(x, dim, x.dtype());
  if (c.flag(2) && x.size(dim) > 0) {  // exclusive
    const Tensor head = full_like(out.narrow(dim, 0, 1), identity);
    out = cat({head, out.narrow(dim, 0, x.size(dim) - 1)}, dim);
  }
  return c.flag(3) ? flip(out, {dim}) : out;
}

// Return the matrix product, also of integers.
Tensor product(const Tensor& a, const Tensor& b) {
  expect_same_dtype(a, b);
  return matmul(a, b);
}

Tensor gemm(const Call& c) {
  const Tensor a = c.flag(5) ? c.tensor(0).t() : c.tensor(0);
  const Tensor b = c.flag(6) ? c.tensor(1).t() : c.tensor(1);
  expect_same_dtype(a, b);
  const double alpha = c.real(3), beta = c.real(4);
  const bool is_linear = c.flag(6) && alpha == 1 && beta == 1 && c.has(2) &&
                         c.tensor(2).dim() == 1 && c.tensor(2).size(0) == b.size(1);
  if (is_linear) return linear(a, c.tensor(1), c.tensor(2));
  Tensor out = mm(a, b);
  if (alpha != 1) out = a.is_floating_point() ? out * alpha : (out * alpha).to(a.dtype());
  if (!c.has(2)) return out;
  expect_same_dtype(a, c.tensor(2));
  const Tensor added = beta == 1 ? c.tensor(2) : (c.tensor(2) * beta).to(a.dtype());
  return out + added;
}

Tensor einstein(const Call& c) {
  std::string equation;
  for (const char letter : c.text(1)) {
    if (letter != ' ') equation += letter;
  }
  return einsum(equation, c.tensors(0));
}

#define ONNX_REDUCE(name, f)                                                                       \
  {{name, "data axes=None keepdims=1 noop_with_empty_axes=0", one([](Call& c) {                    \
      return reduced(c, [](const Tensor& x, IntArrayRef dims, bool keep) -> Tensor { return f; }); \
    })},                                                                                           \
   2,                                                                                              \
   0b10},

constexpr Operator kRows[] = {
    ONNX_REDUCE("ReduceSum", summed(x, dims, keep)) ONNX_REDUCE(
        "ReduceMean", averaged(x, dims, keep)) ONNX_REDUCE("ReduceProd", multiplied(x, dims, keep))
        ONNX_REDUCE("ReduceMax", extreme(x, dims, keep, true))
            ONNX_REDUCE("ReduceMin", extreme(x, dims, keep, false))
                ONNX_REDUCE("ReduceL1", summed(abs(x), dims, keep))
                    ONNX_REDUCE("ReduceL2", sqrt(summed(square(x), dims, keep)).to(x.dtype()))
                        ONNX_REDUCE("ReduceSumSquare", summed(square(x), dims, keep))
                            ONNX_REDUCE("ReduceLogSum", log(summed(x, dims, keep)).to(x.dtype()))
                                ONNX_REDUCE("ReduceLogSumExp", log_sum_exp(x, dims, keep))
    // clang-format off
    {{"ArgMax", "data axis=0 keepdims=1 select_last_index=0", one([](Call& c) {
       return position(c, true); })}, 1},
    {{"ArgMin", "data axis=0 keepdims=1 select_last_index=0", one([](Call& c) {
       return position(c, false); })}, 1},
    {{"CumSum", "x axis exclusive=0 reverse=0", one([](Call& c) { return scanned(c, cumsum, 0); })},
     2, 0b10},
    {{"CumProd", "x axis exclusive=0 reverse=0", one([](Call& c) {
       return scanned(c, cumprod, 1); })}, 2, 0b10},
    {{"MatMul", "A B", one([](Call& c) { return product(c.tensor(0), c.tensor(1)); })}, 2},
    {{"Gemm", "A B C=None alpha=1.0 beta=1.0 transA=0 transB=0", one([](Call& c) {
       return gemm(c); })}, 3},
    {{"Einsum", "Inputs equation", one([](Call& c) { return einstein(c); })}, Operator::kList},
    {{"Det", "X", one([](Call& c) { return det(c.tensor(0)); })}, 1},
    // clang-format on
};

}  // namespace

constinit const std::span<const Operator> kReduceOperators = kRows;

}  // namespace ambit::graph::onnx
