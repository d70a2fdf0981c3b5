#include "layout.h"

namespace conformance {
namespace {

using ambit::Dims;

// Guard of 64 elements: catches writes of a vector or two beyond the end, and keeps the 64-byte
// alignment of allocations for every dtype.
constexpr int64_t kGuard = 64;

/// Return the strides of a tensor whose dims are in `order`, the slowest first.
Dims strides_in(const Dims& sizes, const std::vector<size_t>& order) {
  Dims strides(sizes.size(), 1);
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0; step *= sizes[order[i]]) strides[order[i]] = step;
  return strides;
}

Dims strides_of(const Dims& sizes, Layout layout) {
  const size_t dims = sizes.size();
  Dims wider = sizes;
  std::vector<size_t> reversed;
  for (size_t d = dims; d-- > 0;) reversed.push_back(d);
  switch (layout) {
    case Layout::contiguous:
    case Layout::offset:
      break;
    case Layout::transposed:
      return strides_in(sizes, reversed);
    case Layout::strided:
      wider = ambit::contiguous_strides(sizes);
      for (int64_t& stride : wider) stride *= 2;
      return wider;
    case Layout::padded:
      if (dims > 0) wider[dims - 1] += 3;
      break;
    case Layout::broadcast:
      for (size_t d = 0; d < dims; d += 2) wider[d] = 1;
      wider = ambit::contiguous_strides(wider);
      for (size_t d = 0; d < dims; d += 2) wider[d] = 0;
      return wider;
    case Layout::channels_last:
      return strides_in(sizes, {0, 2, 3, 1});
  }
  return ambit::contiguous_strides(wider);
}

}  // namespace

const char* name(Layout layout) {
  constexpr const char* kNames[] = {"contiguous", "offset",    "transposed",   "strided",
                                    "padded",     "broadcast", "channels_last"};
  return kNames[static_cast<size_t>(layout)];
}

Geometry laid_out(ambit::IntArrayRef sizes, Layout layout) {
  Geometry g{sizes, strides_of(sizes, layout)};
  g.offset = kGuard + (layout == Layout::offset || layout == Layout::padded ? 1 : 0);
  int64_t last = g.offset;
  for (size_t d = 0; d < sizes.size(); ++d)
    last += std::max<int64_t>(sizes[d] - 1, 0) * g.strides[d];
  g.length = last + 1 + kGuard;
  return g;
}

std::vector<int64_t> Geometry::positions() const {
  std::vector<int64_t> all;
  all.reserve(static_cast<size_t>(ambit::count("conformance", sizes)));
  if (all.capacity() == 0) return all;
  all.push_back(offset);
  // One dim after the other, from the first: each position expands to a row of positions.
  for (size_t d = 0; d < sizes.size(); ++d) {
    const size_t n = all.size(), size = static_cast<size_t>(sizes[d]);
    all.resize(n * size);
    for (size_t i = n; i-- > 0;) {
      const int64_t first = all[i];
      for (size_t j = 0; j < size; ++j) {
        all[i * size + j] = first + static_cast<int64_t>(j) * strides[d];
      }
    }
  }
  return all;
}

const std::vector<Form>& forms() {
  const std::vector<Dims> some = {{31}, {5, 7, 3}, {67, 9}, {2, 1, 3, 2, 3, 2}};
  static const std::vector<Form> kForms = {
      {"contiguous", Layout::contiguous, some},
      {"offset", Layout::offset, some},
      {"transposed", Layout::transposed, some},
      {"strided", Layout::strided, some},
      {"padded", Layout::padded, some},
      {"broadcast", Layout::broadcast, some},
      {"channels_last", Layout::channels_last, {{2, 5, 7, 3}}},
      {"0-dim", Layout::contiguous, {{}}},
      {"empty", Layout::contiguous, {{0}, {3, 0, 5}}},
      {"odd", Layout::contiguous, {{1}, {3}, {7}, {15}, {17}, {31}, {33}, {127}, {1023}, {4097}}},
      {"large", Layout::contiguous, {{270001}}},
      {"large_transposed", Layout::transposed, {{513, 517}}},
  };
  return kForms;
}

}  // namespace conformance
