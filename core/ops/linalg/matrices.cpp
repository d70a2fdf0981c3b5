#include "matrices.h"

#include <ambit/backend/alias.h>
#include <ambit/error.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "core/ops/operands/expect.h"
#include "core/ops/operands/unrecorded.h"

namespace ambit {

TensorOptions real_options(const Tensor& t) { return t.options().dtype(real_dtype(t.dtype())); }

IntArrayRef batch_of(const Tensor& t) {
  return {t.sizes().data(), static_cast<size_t>(t.dim()) - 2};
}

Dims batch_and(IntArrayRef batch, IntArrayRef sizes) {
  Dims all(batch);
  for (const int64_t n : sizes) all.push_back(n);
  return all;
}

void expect_matrices(const char* op, const char* argument, const Tensor& t, Elements elements) {
  expect_defined(op, argument, t);
  if (!t.is_floating_point() && !(elements == Elements::any && t.is_complex())) {
    throw_not_floating(op, t.dtype());
  }
  if (t.dim() < 2) throw_dim(op, argument, "a matrix, or a batch of them", t.sizes());
}

void expect_square(const char* op, const char* argument, const Tensor& t, Elements elements) {
  expect_matrices(op, argument, t, elements);
  if (t.size(-2) != t.size(-1)) throw_dim(op, argument, "square matrices", t.sizes());
}

Tensor as_batch(const Tensor& t) {
  if (!t.defined()) return t;
  const Tensor x = dense(t);
  return alias(x, {count("linalg", batch_of(x)), x.size(-2), x.size(-1)});
}

Tensor as_rows(const Tensor& t, size_t dims_of_matrix) {
  if (!t.defined()) return t;
  const IntArrayRef sizes = t.sizes();
  const int64_t b = count("linalg", {sizes.data(), sizes.size() - dims_of_matrix});
  return dims_of_matrix == 0 ? alias(t, {b}) : alias(t, {b, sizes.back()});
}

void check_info(const char* op, const Tensor& info, const char* text) {
  if (info.is_meta()) return;
  const Tensor host = info.detach().cpu().contiguous();
  const int32_t* p = host.data_ptr<int32_t>();
  const int32_t* bad = std::find_if(p, p + host.numel(), [](int32_t i) { return i != 0; });
  if (bad == p + host.numel()) return;
  const std::string which =
      host.dim() == 0 ? "" : fmt::format(" in matrix {} of the batch", bad - p);
  throw LinAlgError(fmt::format("{}: {}{}", op, fmt::format(fmt::runtime(text), *bad), which));
}

void expect_no_phase(const char* op, const Tensor& along) {
  if (along.is_meta() || along.numel() == 0) return;
  constexpr double kMost = 1e-2;  // as in PyTorch
  if (max(abs(imag(along.detach()))).item<double>() <= kMost) return;
  throw AutogradError(
      fmt::format("{}: expected a loss that does not depend on the phases of the complex vectors, "
                  "got one that does",
                  op));
}

Tensor transposed(const Tensor& x) { return transpose(x, -2, -1); }

namespace {

// Return row minus column of each element of x [...,M,N]: int64 [M,N].
Tensor below_diagonal(const Tensor& x) {
  const TensorOptions options = TensorOptions(kInt64).device(x.device());
  return unsqueeze(arange(x.size(-2), options), 1) - arange(x.size(-1), options);
}

}  // namespace

Tensor lower_part(const Tensor& x, int64_t k) {
  return where(below_diagonal(x) >= Scalar(-k), x, Scalar(0));
}
Tensor upper_part(const Tensor& x, int64_t k) {
  return where(below_diagonal(x) <= Scalar(-k), x, Scalar(0));
}

Tensor main_diagonal(const Tensor& x) {
  const int64_t m = x.size(-2), n = x.size(-1), k = std::min(m, n);
  if (k == 0) return reshape(x.narrow(-2, 0, k).narrow(-1, 0, k), batch_and(batch_of(x), {0}));
  const Tensor flat = reshape(x, batch_and(batch_of(x), {m * n}));
  return slice(flat, -1, 0, (k - 1) * (n + 1) + 1, n + 1);
}

Tensor diagonal_matrix(const Tensor& v) {
  const Tensor column = unsqueeze(v, -1);
  const int64_t n = v.size(-1);
  return where(eye(n, TensorOptions(kBool).device(v.device())), column, Scalar(0));
}

Tensor differences(const Tensor& v) {
  const Tensor one = eye(v.size(-1), TensorOptions(kBool).device(v.device()));
  return where(one, Scalar(1), unsqueeze(v, -2) - unsqueeze(v, -1));
}

Tensor identity_like(const Tensor& t, IntArrayRef batch, int64_t n) {
  return expand(eye(n, TensorOptions(t.dtype()).device(t.device())), batch_and(batch, {n, n}));
}

Tensor permutation(const Tensor& pivots, int64_t m, DType dtype) {
  const int64_t k = pivots.size(-1);
  const IntArrayRef batch{pivots.sizes().data(), pivots.sizes().size() - 1};
  if (pivots.is_meta()) {
    return empty(batch_and(batch, {m, m}), TensorOptions(dtype).device(pivots.device()));
  }
  const Tensor host = pivots.detach().cpu().contiguous();
  const int32_t* pivot = host.data_ptr<int32_t>();
  Tensor p = zeros({count("lu_unpack", batch), m, m}, kCPU);
  float* out = p.data_ptr<float>();
  std::vector<int64_t> rows(static_cast<size_t>(m));
  for (int64_t b = 0; b < p.size(0); ++b) {
    std::iota(rows.begin(), rows.end(), int64_t{0});
    for (int64_t i = 0; i < k; ++i) {
      const int32_t j = pivot[b * k + i];
      if (j < 1 || j > m) {
        throw IndexError(fmt::format("lu_unpack: expected pivots in [1, {}], got {}", m, j));
      }
      std::swap(rows[static_cast<size_t>(i)], rows[static_cast<size_t>(j - 1)]);
    }
    for (int64_t i = 0; i < m; ++i) out[(b * m + rows[static_cast<size_t>(i)]) * m + i] = 1;
  }
  return p.view(batch_and(batch, {m, m})).to(pivots.device(), dtype);
}

}  // namespace ambit
