// Ops that repeat single elements or the whole tensor.
#include <ambit/backend/op.h>
#include <ambit/error.h>
#include <ambit/ops/arrange.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/scan.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/host_values.h"
#include "core/ops/shape/part.h"

namespace ambit {
namespace {

void check_output_size(int64_t sum, std::optional<int64_t> output_size) {
  if (sum == output_size.value_or(sum)) return;
  throw ShapeError(fmt::format(
      "repeat_interleave: expected an output_size that is the sum of the repeats, {}, got {}", sum,
      *output_size));
}

[[noreturn]] void throw_negative(int64_t repeats) {
  throw Error(fmt::format("repeat_interleave: expected repeats >= 0, got {}", repeats));
}

// Return the indices, computed on the host; repeats int64, contiguous.
Tensor indices_on_host(const Tensor& repeats, std::optional<int64_t> output_size) {
  const int64_t n = repeats.numel(), *r = repeats.data_ptr<int64_t>();
  int64_t sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (r[i] < 0) throw_negative(r[i]);
    const int64_t before = sum;
    if (__builtin_add_overflow(before, r[i], &sum)) {
      throw ShapeError(
          fmt::format("repeat_interleave: expected a sum below 2^63, got {} + {}", before, r[i]));
    }
  }
  check_output_size(sum, output_size);
  const Tensor out = allocate("repeat_interleave", {sum}, kInt64, kCPU);
  auto* p = out.data_ptr<int64_t>();
  for (int64_t i = 0; i < n; ++i) p = std::fill_n(p, r[i], i);
  return out;
}

// Return the indices, computed on a device: at each position, how many repeats have ended at or
// before it. If output_size exceeds the true sum, which is unknown here, extra positions get an
// out-of-range index.
Tensor indices_on_device(const Tensor& repeats, std::optional<int64_t> output_size) {
  const Tensor ends = cumsum(repeats, 0);
  int64_t size = 0;
  if (output_size) {
    size = *output_size;
    if (size < 0) check_output_size(0, size);
  } else if (repeats.numel() > 0) {
    const auto least = min(repeats).item<int64_t>();
    if (least < 0) throw_negative(least);
    size = select(ends, 0, -1).item<int64_t>();
  }
  const Tensor shape = allocate("repeat_interleave", {size}, kInt64, kMeta);  // throws if too large
  if (repeats.is_meta()) return shape;
  Tensor begun = zeros({size + 1}, repeats.options());
  begun = scatter_add(begun, 0, ends, ones_like(ends));
  return narrow(cumsum(begun, 0), 0, 0, size);
}

}  // namespace

Tensor repeat_interleave(const Tensor& repeats, std::optional<int64_t> output_size) {
  const char* op = "repeat_interleave";
  expect_dim(op, "repeats", repeats, 1, "a vector");
  if (repeats.dtype() != kInt64 && repeats.dtype() != kInt32) {
    throw DTypeError(
        fmt::format("{}: expected repeats of int64 or int32, got {}", op, name(repeats.dtype())));
  }
  const NoGradGuard no_grad;
  const Tensor r = repeats.to(kInt64).contiguous();
  const Tensor there = host_values(r);
  const Tensor out =
      there.defined() ? indices_on_host(there, output_size) : indices_on_device(r, output_size);
  return out.to(repeats.device(), repeats.dtype());
}

Tensor repeat_interleave(const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim,
                         std::optional<int64_t> output_size) {
  const char* op = "repeat_interleave";
  check_devices(op, {{"self", self}, {"repeats", repeats}});
  expect_defined(op, "self", self);
  expect_defined(op, "repeats", repeats);
  const Tensor x = dim ? self : reshape(self, -1);
  const size_t d = index_of(op, dim.value_or(0), x);
  const int64_t size = x.sizes()[d];
  if (repeats.dim() > 1 || (repeats.numel() != 1 && repeats.numel() != size)) {
    throw ShapeError(fmt::format("{}: expected repeats of shape [{}] or [1], got {}", op, size,
                                 str(repeats.sizes())));
  }
  const Tensor each = expand(reshape(repeats, -1), size);
  return index_select(x, static_cast<int64_t>(d), repeat_interleave(each, output_size));
}

Tensor repeat_interleave(const Tensor& self, int64_t repeats, std::optional<int64_t> dim,
                         std::optional<int64_t> output_size) {
  const char* op = "repeat_interleave";
  expect_defined(op, "self", self);
  const Tensor x = dim ? self : reshape(self, -1);
  const size_t d = index_of(op, dim.value_or(0), x);
  if (repeats < 0) throw_negative(repeats);
  Dims sizes(x.sizes()), apart(x.sizes());
  sizes[d] = count(op, {sizes[d], repeats});
  check_output_size(sizes[d], output_size);
  apart.insert(d + 1, repeats);
  const Tensor out = clone(expand(unsqueeze(x, static_cast<int64_t>(d) + 1), apart));
  return view(out, sizes);
}

Tensor tile(const Tensor& self, IntArrayRef dims) {
  expect_defined("tile", "self", self);
  Dims repeats;
  for (size_t i = dims.size(); i < self.sizes().size(); ++i) repeats.push_back(1);
  for (const int64_t r : dims) repeats.push_back(r);
  return repeat(self, repeats);
}

}  // namespace ambit
