// segment_reduce: segments of different lengths, each reduced to one element.
#include <ambit/autograd.h>
#include <ambit/backend/op.h>
#include <ambit/detail/by_float32.h>
#include <ambit/error.h>
#include <ambit/ops/arrange.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/samples.h>
#include <ambit/ops/scan.h>
#include <ambit/ops/shape.h>
#include <ambit/ops/sort.h>
#include <fmt/format.h>

#include <limits>

#include "core/ops/operands/expect.h"
#include "operands.h"

namespace ambit {
namespace {

constexpr const char* kOp = "segment_reduce";

enum class Reduce : uint8_t { sum, prod, mean, max, min };

Scalar start_of(Reduce reduce, const std::optional<Scalar>& initial) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (reduce == Reduce::max) return -kInf;  // `initial` is compared with it at the end
  if (reduce == Reduce::min) return kInf;
  return initial.value_or(reduce == Reduce::prod ? 1 : 0);
}

bool any_of(const Tensor& t) { return any(t).item<bool>(); }

void check_lengths(const Tensor& lengths, int64_t n, bool unsafe) {
  if (lengths.is_meta()) return;
  const Tensor sums = sum(lengths, -1);
  const bool wrong = any_of(lengths < 0) || any_of(unsafe ? sums > n : sums != n);
  if (!wrong) return;
  throw IndexError(fmt::format("{}: expected lengths >= 0 that sum up to {}{}, got {}", kOp,
                               unsafe ? "at most " : "", n, str(lengths.cpu())));
}

void check_offsets(const Tensor& offsets, int64_t n) {
  if (offsets.is_meta()) return;
  if (any_of(offsets < 0) || any_of(offsets > n) || any_of(diff(offsets, 1, -1) < 0)) {
    throw IndexError(fmt::format("{}: expected non-decreasing offsets from 0 to {}, got {}", kOp, n,
                                 str(offsets.cpu())));
  }
}

// Return the starts of the segments and the end of the last one: int64 [B...,S+1].
Tensor borders(const Tensor& data, const std::optional<Tensor>& lengths,
               const std::optional<Tensor>& offsets, int64_t axis, bool unsafe) {
  const char* name = lengths ? "lengths" : "offsets";
  const Tensor& given = lengths ? *lengths : *offsets;
  expect_defined(kOp, name, given);
  check_devices(kOp, {{"data", data}, {name, given}});
  if (given.dtype() != kInt64 && given.dtype() != kInt32) {
    throw DTypeError(fmt::format("{}: expected {} of int64 or int32, got {}", kOp, name,
                                 ambit::name(given.dtype())));
  }
  const IntArrayRef batch(data.sizes().data(), static_cast<size_t>(axis));
  const bool fits = given.dim() == axis + 1 && given.sizes().drop_back() == batch &&
                    (lengths || given.size(-1) > 0);
  if (!fits) {
    throw ShapeError(
        fmt::format("{}: expected {} with the sizes of data before axis {} and one more dim, got "
                    "{} for data {}",
                    kOp, name, axis, str(given.sizes()), str(data.sizes())));
  }
  const Tensor wide = given.to(kInt64);
  if (!lengths) {
    check_offsets(wide, data.size(axis));
    return wide;
  }
  check_lengths(wide, data.size(axis), unsafe);
  Dims firsts(wide.sizes());
  firsts[firsts.size() - 1] = 1;
  return cat({zeros(firsts, wide.options()), cumsum(wide, -1)}, -1);
}

// Add trailing dims of size 1 to t [B...,M], so that it broadcasts with data.
Tensor as_column(Tensor t, const Tensor& data) {
  while (t.dim() < data.dim()) t = unsqueeze(t, -1);
  return t;
}

Tensor reduced(const Tensor& data, Reduce reduce, const Tensor& border, int64_t axis,
               const std::optional<Scalar>& initial) {
  const int64_t n = data.size(axis), segments = border.size(-1) - 1;
  Tensor index, count;
  {
    const NoGradGuard no_grad;
    // The segment of a position is the number of segments that end at or before it. Positions
    // outside of all segments belong to an extra one.
    const Tensor place = arange(n, border.options());
    Dims places(border.sizes());
    places[places.size() - 1] = n;
    index = searchsorted(border.narrow(-1, 1, segments).contiguous(),
                         place.expand(places).contiguous(), false, true);
    index = where(place < border.narrow(-1, 0, 1), segments, index);
    index = as_column(index, data).expand(data.sizes());
    count = as_column(diff(border, 1, -1), data);
  }
  Dims sizes(data.sizes());
  sizes[static_cast<size_t>(axis)] = segments + 1;
  const Tensor start = full(sizes, start_of(reduce, initial), data.options());
  static constexpr const char* kKinds[] = {"sum", "prod", "sum", "amax", "amin"};
  // An infinite initial value may equal all elements of a segment; it must get no part of their
  // gradient.
  const bool includes_start = reduce != Reduce::max && reduce != Reduce::min;
  const Tensor all =
      scatter_reduce(start, axis, index, data, kKinds[static_cast<int>(reduce)], includes_start);
  const Tensor out = narrow(all, axis, 0, segments);
  if (reduce == Reduce::mean) return out / (initial ? clamp(count, 1) : count);
  if (reduce == Reduce::max && initial) return where(out < *initial, *initial, out);
  if (reduce == Reduce::min && initial) return where(out > *initial, *initial, out);
  return out;
}

}  // namespace

Tensor segment_reduce(const Tensor& data, std::string_view reduce,
                      const std::optional<Tensor>& lengths, const std::optional<Tensor>& indices,
                      const std::optional<Tensor>& offsets, int64_t axis, bool unsafe,
                      const std::optional<Scalar>& initial) {
  expect_defined(kOp, "data", data);
  if (!data.is_floating_point()) throw_not_floating(kOp, data.dtype());
  if (indices) {
    throw NotImplementedError("segment_reduce: expected lengths or offsets, got indices");
  }
  if (lengths.has_value() == offsets.has_value()) {
    throw Error(fmt::format("{}: expected either lengths or offsets, got {}", kOp,
                            lengths ? "both" : "neither"));
  }
  const auto kind = static_cast<Reduce>(one_of(kOp, reduce, {"sum", "prod", "mean", "max", "min"}));
  const int64_t dim = wrap_dim(kOp, axis, data.dim());
  const Tensor border = borders(data, lengths, offsets, dim, unsafe);
  return by_float32(data.dtype(), reduced, data, kind, border, dim, initial);
}

}  // namespace ambit
