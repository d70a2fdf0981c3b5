// Padding and rearranging of elements, composed of ops.
#include <ambit/error.h>
#include <ambit/nn/functional/padding.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>

namespace ambit::nn::functional {
namespace {

// The input with `before` and `after` elements of `value` around along dim, or without some.
Tensor pad_constant(const Tensor& x, int64_t dim, int64_t before, int64_t after,
                    const Scalar& value) {
  const int64_t size = x.size(dim),
                kept = size + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0);
  if (kept < 0) {
    throw ShapeError(
        fmt::format("pad: expected to take off {} elements at most along dim {}, got {} and {}",
                    size, dim, before, after));
  }
  std::vector<Tensor> parts;
  const auto add = [&](int64_t n) {
    if (n <= 0) return;
    Dims sizes(x.sizes());
    sizes[static_cast<size_t>(dim)] = n;
    parts.push_back(full(sizes, value, x.options()));
  };
  add(before);
  parts.push_back(x.narrow(dim, std::max<int64_t>(-before, 0), kept));
  add(after);
  return parts.size() == 1 ? parts[0] : cat(parts, dim);
}

// Where the elements of the padded dim come from. Negative padding crops: circular padding before
// it wraps, the others what they have made of the whole.
std::vector<int64_t> sources(PadMode mode, int64_t dim, int64_t size, int64_t before,
                             int64_t after) {
  const int64_t first = std::max<int64_t>(-before, 0);
  const int64_t left = size - first - std::max<int64_t>(-after, 0);
  const int64_t most = mode == PadMode::reflect ? size - 1 : mode == PadMode::circular ? left : -1;
  const bool fits = left > 0 && (most < 0 || std::max(before, after) <= most);
  if (!fits) {
    throw ShapeError(
        fmt::format("pad: expected padding that {} elements along dim {} can make, got {} and {}",
                    size, dim, before, after));
  }
  std::vector<int64_t> from;
  for (int64_t i = -before; i < size + after; ++i) {
    switch (mode) {
      case PadMode::reflect:
        from.push_back(i < 0 ? -i : i >= size ? 2 * (size - 1) - i : i);
        break;
      case PadMode::circular:
        from.push_back(first + (i - first + left) % left);
        break;
      default:
        from.push_back(std::clamp<int64_t>(i, 0, size - 1));
    }
  }
  return from;
}

// How many images [C,H,W] there are.
int64_t count_images(const Tensor& input) {
  int64_t n = 1;
  for (int64_t d = 0; d < input.dim() - 3; ++d) n *= input.size(d);
  return n;
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

Tensor pad(const Tensor& input, IntArrayRef pad, PadMode mode, const Scalar& value) {
  if (!input.defined()) throw Error("pad: expected a tensor, got an undefined one");
  if (pad.size() % 2 != 0) {
    throw Error(fmt::format("pad: expected two numbers for each dim, got {}", pad.size()));
  }
  if (pad.size() / 2 > static_cast<size_t>(input.dim())) {
    throw ShapeError(fmt::format("pad: expected numbers for {} dims at most, got {}", input.dim(),
                                 pad.size() / 2));
  }
  Tensor out = input;
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int64_t dim = input.dim() - 1 - static_cast<int64_t>(i);
    const int64_t before = pad[2 * i], after = pad[2 * i + 1];
    if (before == 0 && after == 0) continue;
    if (mode == PadMode::constant) {
      out = pad_constant(out, dim, before, after, value);
      continue;
    }
    const std::vector<int64_t> from = sources(mode, dim, input.size(dim), before, after);
    Tensor index = empty({static_cast<int64_t>(from.size())}, TensorOptions(kInt64).device(kCPU));
    std::copy(from.begin(), from.end(), index.data_ptr<int64_t>());
    out = out.index_select(dim, index.to(input.device()));
  }
  return out.is_same(input) ? input.clone() : out;
}

Tensor pixel_shuffle(const Tensor& input, int64_t upscale_factor) {
  check_shuffle("pixel_shuffle", input, upscale_factor);
  const int64_t r = upscale_factor, c = input.size(-3), h = input.size(-2), w = input.size(-1);
  if (c % (r * r) != 0) {
    throw ShapeError(fmt::format("pixel_shuffle: expected channels that {} divides, got shape {}",
                                 r * r, str(input.sizes())));
  }
  Dims sizes(input.sizes());
  const size_t at = sizes.size() - 3;
  sizes[at] = c / (r * r);
  sizes[at + 1] = h * r;
  sizes[at + 2] = w * r;
  return input.reshape({count_images(input), c / (r * r), r, r, h, w})
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
  sizes[at] = c * r * r;
  sizes[at + 1] = h / r;
  sizes[at + 2] = w / r;
  return input.reshape({count_images(input), c, h / r, r, w / r, r})
      .permute({0, 1, 3, 5, 2, 4})
      .reshape(sizes);
}

}  // namespace ambit::nn::functional
