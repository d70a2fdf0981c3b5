// combinations and cartesian_prod.
#include <ambit/backend/op.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/error.h>
#include <ambit/ops/arrange.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/index.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"

namespace ambit {
namespace {

// Return the binomial coefficient. Errors: OutOfMemoryError if that many rows do not fit in memory.
int64_t choices(const char* op, int64_t n, int64_t r) {
  if (r > n) return 0;
  r = std::min(r, n - r);
  int64_t ways = 1;
  for (int64_t i = 1; i <= r; ++i) {
    // Each division is exact: a product of i consecutive numbers is divisible by i!.
    if (__builtin_mul_overflow(ways, n - r + i, &ways)) {
      throw OutOfMemoryError(fmt::format(
          "{}: expected combinations that memory has room for, got {} of {}", op, r, n));
    }
    ways /= i;
  }
  return ways;
}

// Advance to the next choice of indices below n, in the order of Python's itertools.
void advance(int64_t* index, int64_t r, int64_t n, bool with_replacement) {
  int64_t i = r - 1;
  while (i >= 0 && index[i] == (with_replacement ? n - 1 : n - r + i)) --i;
  if (i < 0) return;
  ++index[i];
  for (int64_t j = i + 1; j < r; ++j) index[j] = with_replacement ? index[i] : index[j - 1] + 1;
}

// Return rows of indices into n elements: [ways, r], on the host.
Tensor choice_indices(const char* op, int64_t n, int64_t r, bool with_replacement) {
  int64_t of = n;
  if (with_replacement && n > 0 && __builtin_add_overflow(n, r - 1, &of)) of = INT64_MAX;
  const int64_t ways = choices(op, of, r);
  const Tensor rows = allocate(op, {ways, r}, kInt64, kCPU);
  auto* row = rows.data_ptr<int64_t>();
  if (ways > 0) {
    for (int64_t j = 0; j < r; ++j) row[j] = with_replacement ? 0 : j;
  }
  for (int64_t i = 1; i < ways; ++i, row += r) {
    std::copy_n(row, r, row + r);
    advance(row + r, r, n, with_replacement);
  }
  return rows;
}

}  // namespace

Tensor cartesian_prod(TensorList tensors) try {
  const char* op = "cartesian_prod";
  if (tensors.empty()) throw ShapeError("cartesian_prod: expected tensors, got an empty list");
  check_devices(op, {{"tensors", tensors}});
  for (const Tensor& t : tensors) {
    expect_dim(op, "each of the tensors", t, 1, "a vector");
    expect_same_dtype(op, tensors[0], t);
  }
  if (tensors.size() == 1) return tensors[0];
  std::vector<Tensor> columns = meshgrid(tensors);
  for (Tensor& c : columns) c = reshape(c, -1);
  return stack(columns, 1);
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("cartesian_prod");
}

Tensor combinations(const Tensor& self, int64_t r, bool with_replacement) {
  const char* op = "combinations";
  expect_dim(op, "self", self, 1, "a vector");
  if (r < 0) throw Error(fmt::format("{}: expected r >= 0, got {}", op, r));
  if (r == 0) return empty(0, self.options());
  const Tensor rows = choice_indices(op, self.numel(), r, with_replacement);
  const Tensor picked = index_select(self, 0, reshape(rows, -1).to(self.device()));
  return view(picked, rows.sizes());
}

}  // namespace ambit
