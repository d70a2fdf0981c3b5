// Padding and rearranging of elements, composed of ops.
#include <ambit/autograd.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/nn/functional/padding.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ambit::nn::functional {
namespace {

int64_t cropped(int64_t n) { return n >= 0 ? 0 : n == INT64_MIN ? INT64_MAX : -n; }

/// Padding of one dim. Negative values crop.
struct Edges {
  int64_t dim, before, after;
  int64_t first, left;  // first element and number of elements after cropping
};

// Errors: ShapeError if the padded size is invalid.
Edges checked_edges(PadMode mode, int64_t dim, int64_t size, int64_t before, int64_t after) {
  const int64_t first = cropped(before), last = cropped(after);
  const bool crops = first <= size && last <= size - first;
  const int64_t left = crops ? size - first - last : -1;
  if (mode == PadMode::constant) {
    if (left < 0) {
      throw ShapeError(
          fmt::format("pad: expected to remove at most {} elements along dim {}, got {} and {}",
                      size, dim, before, after));
    }
    return {dim, before, after, first, left};
  }
  const int64_t most = mode == PadMode::reflect    ? size - 1
                       : mode == PadMode::circular ? left
                                                   : INT64_MAX;
  // As in libtorch only circular padding may crop all elements.
  const bool leaves_none = left == 0 && mode == PadMode::circular && std::max(before, after) <= 0;
  if ((left < 1 && !leaves_none) || std::max(before, after) > most) {
    throw ShapeError(
        fmt::format("pad: expected padding that fits {} elements along dim {}, got {} and {}", size,
                    dim, before, after));
  }
  return {dim, before, after, first, left};
}

// Errors: ShapeError if the result has 2^63 elements or more.
void check_padded_sizes(IntArrayRef input, const std::vector<Edges>& all) {
  Dims sizes(input);
  for (const Edges& e : all) {
    int64_t& size = sizes[static_cast<size_t>(e.dim)];
    if (__builtin_add_overflow(e.left, std::max<int64_t>(e.before, 0), &size) ||
        __builtin_add_overflow(size, std::max<int64_t>(e.after, 0), &size)) {
      throw ShapeError(
          fmt::format("pad: expected sizes below 2^63, got {} and {} along dim {} of {}", e.before,
                      e.after, e.dim, str(input)));
    }
  }
  count("pad", sizes);
}

// Return n elements of `value` along dim, with the other sizes of x.
Tensor constant_edge(const Tensor& x, int64_t dim, int64_t n, const Scalar& value) {
  Dims sizes(x.sizes());
  sizes[static_cast<size_t>(dim)] = n;
  return full(sizes, value, x.options());
}

// Return n copies of the element at `place` along dim.
Tensor repeated_edge(const Tensor& x, int64_t dim, int64_t place, int64_t n) {
  const Tensor edge = x.narrow(dim, place, 1);
  Dims sizes(edge.sizes());
  sizes[static_cast<size_t>(dim)] = n;
  return edge.expand(sizes);
}

Tensor turned(const Tensor& x, int64_t dim) { return x.size(dim) == 1 ? x : x.flip({dim}); }

// Return the padding before the first element of x, or after the last one.
Tensor edge(const Tensor& x, const Edges& e, PadMode mode, const Scalar& value, bool before) {
  const int64_t n = before ? e.before : e.after, size = x.size(e.dim);
  switch (mode) {
    case PadMode::reflect:
      return turned(x.narrow(e.dim, before ? 1 : size - 1 - n, n), e.dim);
    case PadMode::circular:
      return x.narrow(e.dim, before ? e.first + e.left - n : e.first, n);
    case PadMode::replicate:
      return repeated_edge(x, e.dim, before ? 0 : size - 1, n);
    default:
      return constant_edge(x, e.dim, n, value);
  }
}

// Return x with one dim padded. Circular padding repeats the cropped tensor; the other modes are
// computed from the uncropped one.
Tensor joined(const Tensor& x, const Edges& e, PadMode mode, const Scalar& value) {
  std::vector<Tensor> parts;
  if (e.before > 0) parts.push_back(edge(x, e, mode, value, true));
  parts.push_back(x.narrow(e.dim, e.first, e.left));
  if (e.after > 0) parts.push_back(edge(x, e, mode, value, false));
  return parts.size() == 1 ? parts[0] : cat(parts, e.dim);
}

// Return, for each position of the padded dim, the index of its source element.
Tensor sources(const Edges& e, PadMode mode, int64_t size, Device device) {
  const int64_t begin = -e.before, end = size + e.after;
  if (device == kMeta) return empty({end - begin}, TensorOptions(kInt64).device(device));
  const Tensor index = empty({end - begin}, TensorOptions(kInt64).device(kCPU));
  auto* from = index.data_ptr<int64_t>();
  for (int64_t i = begin; i < end; ++i) {
    if (mode == PadMode::reflect) {
      *from++ = i < 0 ? -i : i >= size ? 2 * (size - 1) - i : i;
    } else if (mode == PadMode::circular) {
      *from++ = e.first + (i - e.first + e.left) % e.left;
    } else {
      *from++ = std::clamp<int64_t>(i, 0, size - 1);
    }
  }
  return index.to(device);
}

// As joined(), but the gradient of repeated elements is a single scatter-add.
Tensor padded(const Tensor& x, const Edges& e, PadMode mode, const Scalar& value) {
  const bool repeats = mode != PadMode::constant && (e.before > 0 || e.after > 0);
  // For few elements, calling an op costs more than its work: one gather beats several copies.
  constexpr int64_t kFew = 1024;
  const int64_t length = x.size(e.dim);
  if (repeats && x.is_cpu() && x.numel() <= kFew && length + e.before + e.after <= kFew) {
    return x.index_select(e.dim, sources(e, mode, length, kCPU));
  }
  if (!repeats || !x.requires_grad() || !GradMode::is_enabled()) return joined(x, e, mode, value);
  return record("pad", joined(x.detach(), e, mode, value),
                wrt(x, [e, mode, sizes = Dims(x.sizes())](const Tensor& g) {
                  const int64_t size = sizes[static_cast<size_t>(e.dim)];
                  const Tensor index = sources(e, mode, size, g.device());
                  return zeros(sizes, g.options()).index_add(e.dim, index, g);
                }));
}

// Return the number of images [C,H,W].
int64_t count_images(const Tensor& input) {
  int64_t n = 1;
  for (int64_t d = 0; d < input.dim() - 3; ++d) n *= input.size(d);
  return n;
}

int64_t multiplied(const char* op, int64_t size, int64_t factor) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(size, factor, &product)) return product;
  throw ShapeError(fmt::format("{}: expected sizes below 2^63, got {} times {}", op, size, factor));
}

void check_shuffle(const char* op, const Tensor& input, int64_t factor) {
  if (!input.defined()) throw Error(fmt::format("{}: expected a tensor, got an undefined one", op));
  if (factor < 1)
    throw Error(fmt::format("{}: expected a factor of at least 1, got {}", op, factor));
  if (input.dim() < 3) {
    throw ShapeError(fmt::format("{}: expected an input of at least 3 dims, got shape {}", op,
                                 str(input.sizes())));
  }
}

}  // namespace

Tensor pad(const Tensor& input, IntArrayRef pad, PadMode mode, const Scalar& value) try {
  if (!input.defined()) throw Error("pad: expected a tensor, got an undefined one");
  if (pad.size() % 2 != 0) {
    throw Error(fmt::format("pad: expected two numbers for each dim, got {}", pad.size()));
  }
  if (pad.size() / 2 > static_cast<size_t>(input.dim())) {
    throw ShapeError(fmt::format("pad: expected numbers for {} dims at most, got {}", input.dim(),
                                 pad.size() / 2));
  }
  std::vector<Edges> all;
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int64_t dim = input.dim() - 1 - static_cast<int64_t>(i);
    const int64_t before = pad[2 * i], after = pad[2 * i + 1];
    if (before == 0 && after == 0) continue;
    all.push_back(checked_edges(mode, dim, input.size(dim), before, after));
  }
  if (all.empty()) return input.clone();
  check_padded_sizes(input.sizes(), all);
  const bool crops_only = std::all_of(all.begin(), all.end(),
                                      [](const Edges& e) { return e.before <= 0 && e.after <= 0; });
  // Crop first: crops are views, so the last step makes the only copy.
  std::stable_partition(all.begin(), all.end(),
                        [](const Edges& e) { return e.before <= 0 && e.after <= 0; });
  Tensor out = input;
  for (const Edges& e : all) out = padded(out, e, mode, value);
  return crops_only ? out.clone() : out;
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("pad");
}

Tensor pixel_shuffle(const Tensor& input, int64_t upscale_factor) {
  check_shuffle("pixel_shuffle", input, upscale_factor);
  const int64_t r = upscale_factor, c = input.size(-3), h = input.size(-2), w = input.size(-1);
  if (c % r != 0 || c / r % r != 0) {
    throw ShapeError(
        fmt::format("pixel_shuffle: expected channels that the square of {} divides, got shape {}",
                    r, str(input.sizes())));
  }
  Dims sizes(input.sizes());
  const size_t at = sizes.size() - 3;
  sizes[at] = c / r / r;
  sizes[at + 1] = multiplied("pixel_shuffle", h, r);
  sizes[at + 2] = multiplied("pixel_shuffle", w, r);
  return input.reshape({count_images(input), c / r / r, r, r, h, w})
      .permute({0, 1, 4, 2, 5, 3})
      .reshape(sizes);
}

Tensor pixel_unshuffle(const Tensor& input, int64_t downscale_factor) {
  check_shuffle("pixel_unshuffle", input, downscale_factor);
  const int64_t r = downscale_factor, c = input.size(-3), h = input.size(-2), w = input.size(-1);
  if (h % r != 0 || w % r != 0) {
    throw ShapeError(
        fmt::format("pixel_unshuffle: expected a height and width that {} divides, got shape {}", r,
                    str(input.sizes())));
  }
  Dims sizes(input.sizes());
  const size_t at = sizes.size() - 3;
  sizes[at] = multiplied("pixel_unshuffle", multiplied("pixel_unshuffle", c, r), r);
  sizes[at + 1] = h / r;
  sizes[at + 2] = w / r;
  return input.reshape({count_images(input), c, h / r, r, w / r, r})
      .permute({0, 1, 3, 5, 2, 4})
      .reshape(sizes);
}

}  // namespace ambit::nn::functional
