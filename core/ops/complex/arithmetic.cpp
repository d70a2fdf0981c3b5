// Sums, products, comparisons and reductions of complex numbers, computed by kernels that run on
// the real and the imaginary parts.
#include <ambit/backend/alias.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include "core/ops/complex/kernels.h"
#include "core/ops/complex/on_host.h"
#include "core/ops/complex/parts.h"
#include "core/ops/operands/allocate.h"

namespace ambit {
namespace {

Tensor blank_part(const Tensor& t) { return blank_like(t, real_dtype(t.dtype())); }

// Run op(y, a, b) on the real and on the imaginary parts.
void on_each_part(Tensor& y, const Tensor& a, const Tensor& b, BinaryOp op) {
  Tensor y_re = re(y), y_im = im(y);
  kernels::binary(y_re, re(a), re(b), op);
  kernels::binary(y_im, im(a), im(b), op);
}

Tensor product(const Tensor& a, const Tensor& b) {
  Tensor y = blank_like(a, a.dtype());
  kernels::binary(y, a, b, BinaryOp::mul);
  return y;
}

// y may be a or b.
void multiply(Tensor& y, const Tensor& a, const Tensor& b) {
  Tensor first = blank_part(y), second = blank_part(y), cross = blank_part(y), y_re = re(y),
         y_im = im(y);
  kernels::binary(first, re(a), im(b), BinaryOp::mul);
  kernels::binary(second, im(a), re(b), BinaryOp::mul);
  kernels::binary(cross, first, second, BinaryOp::add);
  kernels::binary(first, re(a), re(b), BinaryOp::mul);
  kernels::binary(second, im(a), im(b), BinaryOp::mul);
  kernels::binary(y_re, first, second, BinaryOp::sub);
  kernels::copy(y_im, cross);
}

Tensor nonzero_as_bool(const Tensor& x) {
  Tensor y = blank_like(x, kBool);
  kernels::copy(y, x);
  return y;
}

// y = join(op(real parts), op(imaginary parts)); y is bool.
void test_parts(Tensor& y, const Tensor& x, UnaryOp op, BinaryOp join) {
  Tensor second = blank_like(x, kBool);
  kernels::unary(y, re(x), op);
  kernels::unary(second, im(x), op);
  kernels::binary(y, y, second, join);
}

// Return the product along one dim, in log2(n) steps. The dim remains, with size 1.
Tensor product_along(Tensor x, int64_t dim) {
  if (x.size(dim) == 0) {
    Dims one(x.sizes());
    one[static_cast<size_t>(dim)] = 1;
    return ones(one, x.options());
  }
  while (x.size(dim) > 1) {
    const int64_t n = x.size(dim), half = n / 2;
    const Tensor pairs = product(narrow(x, dim, 0, half), narrow(x, dim, half, half));
    x = n % 2 == 0 ? pairs : cat({pairs, narrow(x, dim, n - 1, 1)}, dim);
  }
  return x;
}

// Running products along a dim in log2(n) steps.
Tensor running_product(Tensor x, const ScanParams& p) {
  if (p.reverse) x = flip(x, {p.dim});
  const int64_t n = x.size(p.dim);
  const auto part = [&](int64_t start, int64_t length) { return narrow(x, p.dim, start, length); };
  for (int64_t step = 1; step < n; step *= 2) {
    x = cat({part(0, step), product(part(step, n - step), part(0, n - step))}, p.dim);
  }
  if (p.exclusive && n > 0) x = cat({ones_like(part(0, 1)), part(0, n - 1)}, p.dim);
  return p.reverse ? flip(x, {p.dim}) : x;
}

// Return b [B,K,N] as real numbers [B,2K,2N]: row 2 k has the parts of row k, row 2 k + 1 those of
// i times it.
Tensor with_imaginary_rows(const Tensor& b) {
  const bool is_one = b.size(0) > 1 && b.strides()[0] == 0;  // the same matrix for all of a batch
  const Tensor x = is_one ? narrow(b, 0, 0, 1) : b;
  const int64_t batch = x.size(0), rows = x.size(1), columns = x.size(2);
  const Tensor all =
      allocate("complex", {batch, rows, 2, columns, 2}, real_dtype(b.dtype()), b.device());
  Tensor parts = select(all, 2, 0), turned = select(all, 2, 1);
  Tensor turned_re = select(turned, 3, 0), turned_im = select(turned, 3, 1);
  kernels::copy(parts, pairs(x));
  kernels::unary(turned_re, im(x), UnaryOp::neg);
  kernels::copy(turned_im, re(x));
  const int64_t step = is_one ? 0 : 4 * rows * columns;
  return alias(all, {b.size(0), 2 * rows, 2 * columns}, {step, 2 * columns, 1});
}

}  // namespace

void by_parts::unary(Tensor& y, const Tensor& x, const UnaryOp& op) {
  switch (op) {
    case UnaryOp::neg: {
      Tensor to = pairs(y);
      return kernels::unary(to, pairs(x), op);
    }
    case UnaryOp::square:
      return multiply(y, x, x);
    case UnaryOp::abs: {
      Tensor length = y.is_complex() ? re(y) : y;
      kernels::binary(length, re(x), im(x), BinaryOp::hypot);
      if (!y.is_complex()) return;
      Tensor rest = im(y);
      return kernels::fill(rest, 0);
    }
    case UnaryOp::isnan:
    case UnaryOp::isinf:
      return test_parts(y, x, op, BinaryOp::bitwise_or);
    case UnaryOp::isfinite:
    case UnaryOp::logical_not:
      return test_parts(y, x, op, BinaryOp::bitwise_and);
    default:
      break;
  }
  if (!map_on_host(y, x, op)) kernels::unary.throw_dtype(static_cast<int>(op), x.dtype());
}

void by_parts::binary(Tensor& y, const Tensor& a, const Tensor& b, const BinaryOp& op) {
  switch (op) {
    case BinaryOp::add:
    case BinaryOp::sub:
      return on_each_part(y, a, b, op);
    case BinaryOp::mul:
      return multiply(y, a, b);
    default:
      break;
  }
  if (!map_on_host(y, a, b, op)) kernels::binary.throw_dtype(static_cast<int>(op), a.dtype());
}

void by_parts::compare(Tensor& y, const Tensor& a, const Tensor& b, const CompareOp& op) {
  switch (op) {
    case CompareOp::eq:
    case CompareOp::ne: {
      Tensor second = blank_like(y, kBool);
      kernels::compare(y, re(a), re(b), op);
      kernels::compare(second, im(a), im(b), op);
      const bool is_eq = op == CompareOp::eq;
      return kernels::binary(y, y, second, is_eq ? BinaryOp::bitwise_and : BinaryOp::bitwise_or);
    }
    case CompareOp::logical_and:
    case CompareOp::logical_or:
    case CompareOp::logical_xor:
      return kernels::compare(y, nonzero_as_bool(a), nonzero_as_bool(b), op);
    default:
      throw DTypeError(
          fmt::format("{}: expected numbers with an order, got {}; compare abs() or real()",
                      ambit::name(op), ambit::name(a.dtype())));
  }
}

void by_parts::reduce(Tensor& y, const Tensor& x, const ReduceOp& op) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::mean: {
      Tensor part = blank_part(y), y_re = re(y), y_im = im(y);
      kernels::reduce(part, re(x), op);
      kernels::copy(y_re, part);
      kernels::reduce(part, im(x), op);
      return kernels::copy(y_im, part);
    }
    case ReduceOp::prod: {
      Tensor all = x;
      for (int64_t d = 0; d < x.dim(); ++d) {
        if (y.size(d) != x.size(d)) all = product_along(all, d);
      }
      return kernels::copy(y, all);
    }
    case ReduceOp::any:
    case ReduceOp::all:
      return kernels::reduce(y, nonzero_as_bool(x), op);
    default:
      kernels::reduce.throw_dtype(static_cast<int>(op), x.dtype());
  }
}

void by_parts::scan(Tensor& y, const Tensor& x, const ScanParams& p, const ScanOp& op) {
  if (op == ScanOp::prod) return kernels::copy(y, running_product(x, p));
  if (op != ScanOp::sum) kernels::scan.throw_dtype(static_cast<int>(op), x.dtype());
  Tensor part = blank_part(y), y_re = re(y), y_im = im(y);
  kernels::scan(part, re(x), p, op);
  kernels::copy(y_re, part);
  kernels::scan(part, im(x), p, op);
  kernels::copy(y_im, part);
}

// One product of real numbers: the memory of A is a real matrix [M,2K], that of the result [M,2N].
void by_parts::matmul(Tensor& y, const Tensor& a, const Tensor& b) {
  const Tensor left = a.size(2) == 1 || a.strides()[2] == 1 ? a : contiguous(a);
  const int64_t rows = a.size(1), inner = a.size(2), columns = b.size(2);
  const Dims steps = doubled(left.strides());
  Tensor out = alias(pairs(y), {y.size(0), rows, 2 * columns});
  kernels::matmul(out, alias(pairs(left), {a.size(0), rows, 2 * inner}, {steps[0], steps[1], 1}),
                  with_imaginary_rows(b));
}

}  // namespace ambit
