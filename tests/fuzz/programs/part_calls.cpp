// Parts of tensors: splits, writes of a part into a copy, diagonals, one-hot and bincount.
#include <ambit/ambit.h>
#include <fmt/format.h>

#include "calls.h"

namespace fuzz {

using namespace ambit;

namespace {

using Fill = Generator::Fill;

void splits(Generator& g) {
  Random& r = g.random();
  const Sizes shape = draw(g, static_cast<size_t>(r.between(1, 4)), 1, 4);
  const int x = g.operand(shape);
  const int64_t which = r.between(0, 2), n = r.between(1, 3);
  static const char* const kNames[] = {"hsplit", "vsplit", "dsplit"};
  const auto at = [which](const Tensor& t, auto how) {
    return flat(which == 0 ? hsplit(t, how) : which == 1 ? vsplit(t, how) : dsplit(t, how));
  };
  if (r.one_in(2)) {
    g.call(
        fmt::format("flat(torch.{}($0, {}))", kNames[which], n), {x},
        [=](const Tensors& t) { return at(t[0], n); }, 0);
    return;
  }
  g.call(
      fmt::format("flat(torch.{}($0, [1, {}]))", kNames[which], n), {x},
      [=](const Tensors& t) {
        return at(t[0], IntArrayRef{1, n});
      },
      0);
}

void unflattening(Generator& g) {
  Random& r = g.random();
  Sizes shape = g.small_sizes(1, 3);
  const auto ndim = static_cast<int64_t>(shape.size());
  const int64_t d = r.between(-ndim, ndim - 1);
  Sizes parts = draw(g, static_cast<size_t>(r.between(1, 3)), 1, 3);
  int64_t n = 1;
  for (const int64_t p : parts) n *= p;
  shape[static_cast<size_t>(d < 0 ? d + ndim : d)] = n;
  if (r.one_in(2)) parts[static_cast<size_t>(r.between(0, 2)) % parts.size()] = -1;
  g.call(
      fmt::format("$0.unflatten({}, {})", d, list_text(parts)), {g.operand(shape)},
      [=](const Tensors& t) { return unflatten(t[0], d, parts); }, 0);
}

void scattered(Generator& g) {
  Random& r = g.random();
  const Sizes shape = draw(g, static_cast<size_t>(r.between(2, 3)), 1, 4);
  const auto ndim = static_cast<int64_t>(shape.size());
  const int64_t d = r.between(-ndim, ndim - 1), offset = r.between(-1, 1);
  const auto dim = static_cast<size_t>(d < 0 ? d + ndim : d);
  const int x = g.operand(shape);
  switch (r.between(0, 3)) {
    case 0: {
      const int64_t start = r.between(-shape[dim], shape[dim] - 1), step = r.between(1, 2),
                    first = start < 0 ? start + shape[dim] : start;
      Sizes part = shape;
      part[dim] = (shape[dim] - first + step - 1) / step;
      g.call(
          fmt::format("torch.slice_scatter($0, $1, {}, {}, {}, {})", d, start, shape[dim], step),
          {x, g.operand(part)},
          [=, end = shape[dim]](const Tensors& t) {
            return slice_scatter(t[0], t[1], d, start, end, step);
          },
          0);
      break;
    }
    case 1: {
      const int64_t rows = shape[0], columns = shape[1];
      const int64_t length = std::max<int64_t>(0, std::min(rows - std::max<int64_t>(0, -offset),
                                                           columns - std::max<int64_t>(0, offset)));
      Sizes part(shape.begin() + 2, shape.end());
      part.push_back(length);
      g.call(
          fmt::format("torch.diagonal_scatter($0, $1, {}, 0, 1)", offset), {x, g.operand(part)},
          [=](const Tensors& t) { return diagonal_scatter(t[0], t[1], offset, 0, 1); }, 0);
      break;
    }
    case 2: {
      // PyTorch 1.13 leaves self's gradient uninitialised.
      const int64_t n = r.between(1, 2);
      g.call(
          fmt::format("torch.as_strided_scatter($0.detach(), $1.detach(), [{}], [1], 0)", n),
          {x, g.operand({n})},
          [=](const Tensors& t) {
            return as_strided_scatter(t[0].detach(), t[1].detach(), {n}, {1}, 0);
          },
          0);
      break;
    }
    default:
      g.call(
          fmt::format("torch.diagflat($0, {})", offset), {x},
          [=](const Tensors& t) { return diagflat(t[0], offset); }, 0);
  }
}

void filled_diagonal(Generator& g) {
  Random& r = g.random();
  const int64_t n = r.between(1, 4);
  // With more than two dims all have equal sizes.
  const Sizes shape = r.one_in(3) ? Sizes{n, n, n} : Sizes{r.between(1, 6), n};
  const bool wraps = r.one_in(2);
  g.call(
      fmt::format("($0 * 1).fill_diagonal_(1.5, {})", bool_text(wraps)), {g.operand(shape)},
      [=](const Tensors& t) { return (t[0] * 1).fill_diagonal_(1.5, wraps); }, 0);
}

void classes_and_bins(Generator& g) {
  Random& r = g.random();
  if (r.one_in(2)) {
    const int64_t classes = r.between(-1, 5);
    g.call(
        fmt::format("F.one_hot($0, {})", classes), {g.integers(g.small_sizes(0, 3), 0, 3)},
        [=](const Tensors& t) { return one_hot(t[0], classes); }, 0);
    return;
  }
  const bool density = r.one_in(2), weighs = r.one_in(2);
  const Sizes shape = g.small_sizes(0, 3);
  const int x = g.constant(shape, Fill::few), w = weighs ? g.constant(shape, Fill::unit) : -1;
  if (r.one_in(2)) {
    const int64_t bins = r.between(1, 4);
    g.call(fmt::format("flat(torch.histogram($0, {}, range=(-2.0, 2.0), weight=$1, density={}))",
                       bins, bool_text(density)),
           {x, w}, [=](const Tensors& t) {
             return flat(histogram(t[0], bins, ArrayRef<double>{-2, 2}, t[1], density));
           });
    return;
  }
  const int edges = g.numbers({-3, -0.5, 0, 1.75}, g.dtype_of_call());
  g.call(fmt::format("flat(torch.histogram($0, $1, weight=$2, density={}))", bool_text(density)),
         {x, edges, w},
         [=](const Tensors& t) { return flat(histogram(t[0], t[1], t[2], density)); });
}

}  // namespace

const std::vector<Call> kPartCalls{splits, unflattening, scattered, filled_diagonal,
                                   classes_and_bins};

}  // namespace fuzz
