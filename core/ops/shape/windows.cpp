// Views of windows or diagonals.
#include "windows.h"

#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/ops/operands/expect.h"
#include "part.h"

namespace ambit {
namespace {

// `n` windows of `size` along dim d, `step` apart, starting at `first`.
struct Windows {
  size_t d;
  int64_t first, n, size, step;

  Tensor operator()(const Tensor& t) const {
    Dims sizes(t.sizes()), strides(t.strides());
    if (sizes.empty()) sizes.push_back(1), strides.push_back(1);
    const int64_t stride = strides[d];
    const int64_t offset = t.storage_offset() + (t.numel() == 0 ? 0 : first * stride);
    sizes[d] = n;
    if (n > 1 && t.numel() > 0)
      strides[d] *= step;  // otherwise the stride is unused, and the product could overflow
    sizes.push_back(size);
    strides.push_back(stride);
    if (t.dim() == 0) sizes.erase(0), strides.erase(0);
    return make_view(t, sizes, strides, offset);
  }
};

// Sum windows into a tensor of `sizes`. If windows overlap, every m-th of them do not, so m sums
// into views are enough; many windows with step 1 are instead summed by their element index, for
// which all windows form one contiguous view.
Tensor sum_windows(const Tensor& g, IntArrayRef sizes, const Windows& all) {
  const auto dim = static_cast<int64_t>(all.d);
  Tensor out = zeros(sizes, g.options());
  if (g.numel() > 0) {
    const NoGradGuard no_grad;
    const bool by_place = all.step == 1 && all.size <= all.n && !sizes.empty();
    for (int64_t i = 0; by_place && i < all.size; ++i) {
      narrow(out, dim, all.first + i, all.n).add_(select(g, -1, i));
    }
    const int64_t m = by_place ? 0 : std::min((all.size - 1) / all.step + 1, all.n);
    for (int64_t i = 0; i < m; ++i) {
      const int64_t n = (all.n - 1 - i) / m + 1;
      const Windows part{all.d, all.first + i * all.step, n, all.size, all.step * m};
      part(out).add_(sizes.empty() ? g : slice(g, dim, i, std::nullopt, m));
    }
  }
  return record("unfold", std::move(out), wrt(g, [all, dim](const Tensor& gg) {
                  return unfold(gg, dim, all.size, all.step);
                }));
}

}  // namespace

Tensor sum_windows(const Tensor& windows, IntArrayRef sizes, int64_t dim, int64_t step) {
  return sum_windows(windows, sizes,
                     {static_cast<size_t>(dim), 0, windows.size(dim), windows.size(-1), step});
}

Tensor unfold(const Tensor& self, int64_t dim, int64_t size, int64_t step) {
  expect_defined("unfold", "self", self);
  const auto d = static_cast<size_t>(wrap_dim("unfold", dim, self.dim()));
  const int64_t most = self.dim() == 0 ? 1 : self.sizes()[d];
  if (size < 0 || size > most) {
    throw ShapeError(fmt::format("unfold: expected a size in [0, {}], got {}", most, size));
  }
  if (step < 1) throw Error(fmt::format("unfold: expected a step >= 1, got {}", step));
  const Windows all{d, 0, (most - size) / step + 1, size, step};
  Tensor out = all(self);
  if (!needs_gradient(self)) return out;
  return record("unfold", std::move(out),
                wrt(self, [all, sizes = Dims(self.sizes())](const Tensor& g) {
                  return sum_windows(g, sizes, all);
                }));
}

Tensor diagonal(const char* op, const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  expect_defined(op, "self", self);
  const auto a = static_cast<size_t>(wrap_dim(op, dim1, self.dim()));
  const auto b = static_cast<size_t>(wrap_dim(op, dim2, self.dim()));
  if (a == b) {
    throw ShapeError(fmt::format("{}: expected two different dims, got {} and {} of shape {}", op,
                                 dim1, dim2, str(self.sizes())));
  }
  Dims sizes(self.sizes()), strides(self.strides());
  const int64_t rows = sizes[a], columns = sizes[b];
  // The start of the diagonal. The offset is clamped first, because -offset may overflow.
  const int64_t down = std::clamp<int64_t>(offset < -rows ? rows : -offset, 0, rows);
  const int64_t right = std::clamp<int64_t>(offset, 0, columns);
  const int64_t n = std::min(rows - down, columns - right);
  int64_t start = self.storage_offset(), step = 0;
  if (n > 0 && self.numel() > 0) start += down * strides[a] + right * strides[b];
  if (n > 1 && self.numel() > 0) step = strides[a] + strides[b];
  for (const size_t d : {std::max(a, b), std::min(a, b)}) {
    sizes.erase(d);
    strides.erase(d);
  }
  sizes.push_back(n);
  strides.push_back(n > 1 ? step : 1);
  return record_part(op, make_view(self, sizes, strides, start), self,
                     [=](const Tensor& g) { return diagonal(op, g, offset, dim1, dim2); });
}

Tensor diagonal(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  return diagonal("diagonal", self, offset, dim1, dim2);
}

Tensor linalg_diagonal(const Tensor& A, int64_t offset, int64_t dim1, int64_t dim2) {
  return diagonal("linalg_diagonal", A, offset, dim1, dim2);
}

}  // namespace ambit
