// Forms: convolutions.
#include "forms.h"

namespace ambit::graph::onnx {

Ref with_batch(Site& s, const Ref& x, int64_t rank) {
  return s.rank(0) == rank ? x : s.e.unsqueeze(x, 0);
}

void give_without_batch(Site& s, const Ref& y, int64_t rank) {
  s.give(s.rank(0) == rank ? y : s.e.squeeze(y, 0));
}

namespace {

// Return a list of n numbers; PyTorch also accepts one number for all.
Dims list(Site& s, size_t i, size_t n) {
  const Dims given = s.integers(i);
  return given.size() == n ? given : Dims(n, given.size() == 1 ? given[0] : 0);
}

Dims twice(const Dims& pads) {
  Dims out = pads;
  for (const int64_t p : pads) out.push_back(p);
  return out;
}

struct Window {
  Dims stride, padding, dilation;
  int64_t groups = 1;
};

size_t spatial(Site& s) { return static_cast<size_t>(s.rank(1) - 2); }

// `pads`: as in ONNX, the padding before each dim, then the padding after each dim.
void convolve(Site& s, const Window& w, const Dims& pads) {
  const int64_t rank = s.rank(1);
  const Ref y = s.e.op("Conv", {with_batch(s, s.tensor(0), rank), s.tensor(1), s.optional(2)},
                       {attribute("strides", w.stride), attribute("pads", pads),
                        attribute("dilations", w.dilation), attribute("group", w.groups)});
  give_without_batch(s, y, rank);
}

void convolve_transposed(Site& s, const Window& w, const Dims& output_padding) {
  const int64_t rank = s.rank(1);
  Attributes attributes{attribute("strides", w.stride), attribute("pads", twice(w.padding)),
                        attribute("dilations", w.dilation), attribute("group", w.groups)};
  bool has_more = false;
  for (const int64_t p : output_padding) has_more |= p != 0;
  if (has_more) attributes.push_back(attribute("output_padding", output_padding));
  const Ref y = s.e.op("ConvTranspose",
                       {with_batch(s, s.tensor(0), rank), s.tensor(1), s.optional(2)}, attributes);
  give_without_batch(s, y, rank);
}

void conv(Site& s) {
  const size_t n = spatial(s);
  const Window w{list(s, 3, n), list(s, 4, n), list(s, 5, n), s.integer(6)};
  convolve(s, w, twice(w.padding));
}

// If the padding of "same" is odd, the extra element is at the end.
void conv_named(Site& s) {
  const size_t n = spatial(s);
  const Window w{list(s, 3, n), Dims(n, 0), list(s, 5, n), s.integer(6)};
  Dims pads(2 * n, 0);
  const Dims sizes = s.sizes(1);
  for (size_t i = 0; i < n && s.text(4) == "same"; ++i) {
    const int64_t total = w.dilation[i] * (sizes[i + 2] - 1);
    pads[i] = total / 2;
    pads[n + i] = total - total / 2;
  }
  convolve(s, w, pads);
}

void conv_transpose(Site& s) {
  const size_t n = spatial(s);
  convolve_transposed(s, {list(s, 3, n), list(s, 4, n), list(s, 7, n), s.integer(6)},
                      list(s, 5, n));
}

void convolution(Site& s) {
  const size_t n = spatial(s);
  const Window w{list(s, 3, n), list(s, 4, n), list(s, 5, n), s.integer(8)};
  if (s.flag(6)) return convolve_transposed(s, w, list(s, 7, n));
  convolve(s, w, twice(w.padding));
}

// Convert [N, C, H, W] to columns, one for each window: gather by the positions in each dim.
void image_to_columns(Site& s) {
  Emitter& e = s.e;
  const int64_t rank = 4;
  const Dims kernel = list(s, 1, 2), dilation = list(s, 2, 2), padding = list(s, 3, 2),
             stride = list(s, 4, 2);
  Dims sizes = s.fixed_sizes(0);
  if (sizes.size() == 3) sizes.insert(0, 1);
  const Ref pads = e.integers({0, 0, padding[0], padding[1], 0, 0, padding[0], padding[1]});
  Ref x = with_batch(s, s.tensor(0), rank);
  x = e.op("Pad", {x, pads, e.number(0, x.dtype)});
  Dims counts;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t room = sizes[i + 2] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1;
    const int64_t count = room / stride[i] + 1;
    counts.push_back(count);
    Dims index;
    for (int64_t k = 0; k < kernel[i]; ++k) {
      for (int64_t j = 0; j < count; ++j) index.push_back(j * stride[i] + k * dilation[i]);
    }
    const Ref positions = e.reshape(e.integers(index), {kernel[i], count});
    // In the second pass the first spatial dim has already become two dims.
    x = e.op("Gather", {x, positions}, {attribute("axis", i == 0 ? 2 : 4)});
  }
  x = e.transpose(x, {0, 1, 2, 4, 3, 5});
  x = e.reshape(x, {sizes[0], sizes[1] * kernel[0] * kernel[1], counts[0] * counts[1]});
  give_without_batch(s, x, rank);
}

void columns_to_image(Site& s) {
  const int64_t rank = 3;
  const Dims padding = list(s, 4, 2);
  const Ref y = s.e.op(
      "Col2Im",
      {with_batch(s, s.tensor(0), rank), s.e.integers(list(s, 1, 2)), s.e.integers(list(s, 2, 2))},
      {attribute("dilations", list(s, 3, 2)), attribute("pads", twice(padding)),
       attribute("strides", list(s, 5, 2))});
  give_without_batch(s, y, rank);
}

constexpr Form kRows[] = {
    {"conv1d.default", conv},
    {"conv2d.default", conv},
    {"conv3d.default", conv},
    {"conv1d.padding", conv_named},
    {"conv2d.padding", conv_named},
    {"conv_transpose1d.default", conv_transpose},
    {"conv_transpose2d.input", conv_transpose},
    {"conv_transpose3d.input", conv_transpose},
    {"convolution.default", convolution},
    {"im2col.default", image_to_columns},
    {"col2im.default", columns_to_image},
};

}  // namespace

constinit const std::span<const Form> kConvolutionForms = kRows;

}  // namespace ambit::graph::onnx
