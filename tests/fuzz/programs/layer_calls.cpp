// Convolutions, norms, and resizing of images.
#include <ambit/ambit.h>
#include <fmt/format.h>

#include "calls.h"

namespace fuzz {

using namespace ambit;
namespace F = nn::functional;

namespace {

using Fill = Generator::Fill;

void convolution(Generator& g) {
  Random& r = g.random();
  const auto D = static_cast<size_t>(r.between(1, 3));
  const int64_t most = D == 3 ? 2 : 3;
  const int64_t groups = r.one_in(2) ? 1 : r.between(1, 3);
  const int64_t C = groups * r.between(1, most), K = groups * r.between(1, most);
  const Sizes kernel = draw(g, D, 1, most), dilation = draw(g, D, 1, most),
              padding = draw(g, D, 0, 2);
  Sizes stride = draw(g, D, 1, 3), in(D);
  const std::string name = r.one_in(6) ? (r.one_in(2) ? "same" : "valid") : "";
  if (name == "same") stride = Sizes(D, 1);
  for (size_t i = 0; i < D; ++i) {
    const int64_t needs = dilation[i] * (kernel[i] - 1) + 1 - (name.empty() ? 2 * padding[i] : 0);
    in[i] = std::max<int64_t>(1, needs) + r.between(0, most);
  }
  Sizes weight{K, C / groups};
  weight.insert(weight.end(), kernel.begin(), kernel.end());
  const int x = g.operand(image_sizes(g, C, in)), w = g.operand(weight),
            b = r.one_in(2) ? g.operand({K}) : -1;
  const std::string python = fmt::format(
      "{}($0, $1, $2, {}, {}, {}, {})", spatial("conv", D), list_text(stride),
      name.empty() ? list_text(padding) : "'" + name + "'", list_text(dilation), groups);
  g.call(python, {x, w, b}, [=](const Tensors& t) {
    const ConvParams p{stride, padding, dilation, groups};
    if (D == 1) {
      return name.empty() ? conv1d(t[0], t[1], t[2], p)
                          : conv1d(t[0], t[1], t[2], stride, name, dilation, groups);
    }
    if (D == 2) {
      return name.empty() ? conv2d(t[0], t[1], t[2], p)
                          : conv2d(t[0], t[1], t[2], stride, name, dilation, groups);
    }
    return name.empty() ? conv3d(t[0], t[1], t[2], p)
                        : conv3d(t[0], t[1], t[2], stride, name, dilation, groups);
  });
}

void transposed_convolution(Generator& g) {
  Random& r = g.random();
  const auto D = static_cast<size_t>(r.between(1, 3));
  const int64_t most = D == 3 ? 2 : 3;
  const int64_t groups = r.one_in(2) ? 1 : r.between(1, 3);
  const int64_t C = groups * r.between(1, most), K = r.between(1, most);
  const Sizes kernel = draw(g, D, 1, most), dilation = draw(g, D, 1, 2), padding = draw(g, D, 0, 1),
              stride = draw(g, D, 1, 3), in = draw(g, D, 1, most + 1);
  Sizes weight{C, K}, more(D);
  weight.insert(weight.end(), kernel.begin(), kernel.end());
  for (size_t i = 0; i < D; ++i) {
    more[i] = r.one_in(2) ? 0 : r.between(0, std::max(stride[i], dilation[i]) - 1);
  }
  const int x = g.operand(image_sizes(g, C, in)), w = g.operand(weight),
            b = r.one_in(2) ? g.operand({K * groups}) : -1;
  g.call(fmt::format("{}($0, $1, $2, {}, {}, {}, {}, {})", spatial("conv_transpose", D),
                     list_text(stride), list_text(padding), list_text(more), groups,
                     list_text(dilation)),
         {x, w, b}, [=](const Tensors& t) {
           const auto f = D == 1   ? conv_transpose1d
                          : D == 2 ? static_cast<decltype(&conv_transpose1d)>(conv_transpose2d)
                                   : conv_transpose3d;
           return f(t[0], t[1], t[2], stride, padding, more, groups, dilation);
         });
}

void batch_norm_call(Generator& g) {
  Random& r = g.random();
  const int64_t C = r.between(1, 4);
  Sizes in = draw(g, static_cast<size_t>(r.between(0, 3)), 1, 3);
  in.insert(in.begin(), {r.between(1, 4), C});
  const bool has_stats = r.one_in(2), training = !has_stats || r.one_in(2), affine = r.one_in(2);
  const int x = g.operand(in), w = affine ? g.operand({C}) : -1, b = affine ? g.operand({C}) : -1;
  const int mean = has_stats ? g.operand({C}) : -1,
            var = has_stats ? g.operand({C}, Fill::positive) : -1;
  g.call(
      fmt::format("batch_norm($0, $1, $2, $3, $4, {})", bool_text(training)), {x, mean, var, w, b},
      [=](const Tensors& t) {
        Tensors all;
        for (const size_t i : {1, 2}) {
          all.push_back(t[i].defined() ? t[i].detach().clone() : Tensor());
        }
        const Tensor y = batch_norm(t[0], t[3], t[4], all[0], all[1],
                                    {.training = training, .momentum = 0.25, .eps = 0.125});
        return has_stats ? flat({y, all[0], all[1]}) : y;
      },
      512);
}

void norms(Generator& g) {
  Random& r = g.random();
  switch (r.between(0, 4)) {
    case 0: {
      const Sizes shape = g.small_sizes(1, 4);
      const auto n = static_cast<size_t>(r.between(1, static_cast<int64_t>(shape.size())));
      const Sizes tail(shape.end() - static_cast<int64_t>(n), shape.end());
      const int x = g.operand(shape), w = r.one_in(2) ? g.operand(tail) : -1,
                b = r.one_in(2) ? g.operand(tail) : -1;
      g.call(
          fmt::format("F.layer_norm($0, {}, $1, $2, 0.125)", list_text(tail)), {x, w, b},
          [=](const Tensors& t) { return layer_norm(t[0], tail, t[1], t[2], 0.125); }, 512);
      break;
    }
    case 1: {
      const int64_t groups = r.between(1, 3), C = groups * r.between(1, 2);
      Sizes shape = draw(g, static_cast<size_t>(r.between(0, 3)), 1, 4);
      shape.insert(shape.begin(), {r.between(1, 3), C});
      const int x = g.operand(shape), w = r.one_in(2) ? g.operand({C}) : -1,
                b = r.one_in(2) ? g.operand({C}) : -1;
      g.call(
          fmt::format("F.group_norm($0, {}, $1, $2, 0.125)", groups), {x, w, b},
          [=](const Tensors& t) { return group_norm(t[0], groups, t[1], t[2], 0.125); }, 512);
      break;
    }
    case 2: {
      const int64_t C = r.between(1, 3);
      Sizes shape = draw(g, static_cast<size_t>(r.between(1, 3)), 2, 3);
      shape.insert(shape.begin(), {r.between(1, 3), C});
      const bool affine = r.one_in(2);
      const int x = g.operand(shape), w = affine ? g.operand({C}) : -1,
                b = affine ? g.operand({C}) : -1;
      g.call(
          "F.instance_norm($0, weight=$1, bias=$2, eps=0.125)", {x, w, b},
          [=](const Tensors& t) {
            return F::instance_norm(t[0], Tensor(), Tensor(), t[1], t[2], true, 0.1, 0.125);
          },
          512);
      break;
    }
    case 3: {
      const Sizes shape = draw(g, static_cast<size_t>(r.between(3, 5)), 1, 4);
      const int64_t size = r.between(1, 5);
      g.call(
          fmt::format("F.local_response_norm($0, {}, 0.5, 0.75, 2.0)", size), {g.operand(shape)},
          [=](const Tensors& t) {
            return F::local_response_norm(
                t[0], F::LocalResponseNormFuncOptions(size).alpha(0.5).beta(0.75).k(2));
          },
          256);
      break;
    }
    default: {
      const Sizes shape = g.small_sizes(0, 4);
      const int64_t d = g.dim_of(static_cast<int64_t>(shape.size()));
      const int64_t which = r.between(0, 3);
      static const char* const kNames[] = {"F.softmax($0, {})", "F.log_softmax($0, {})",
                                           "F.softmin($0, {})", "F.normalize($0, 3.0, {}, 0.125)"};
      g.call(
          fmt::format(fmt::runtime(kNames[which]), d), {g.operand(shape)},
          [=](const Tensors& t) {
            return which == 0   ? softmax(t[0], d)
                   : which == 1 ? log_softmax(t[0], d)
                   : which == 2 ? F::softmin(t[0], d)
                                : F::normalize(t[0], 3, d, 0.125);
          },
          256);
    }
  }
}

void interpolation(Generator& g) {
  Random& r = g.random();
  static const char* const kNames[] = {"nearest",   "linear", "bilinear",     "bicubic",
                                       "trilinear", "area",   "nearest-exact"};
  const auto mode = static_cast<Interpolation>(r.between(0, 6));
  size_t D = static_cast<size_t>(r.between(1, 3));
  if (mode == Interpolation::linear) D = 1;
  if (mode == Interpolation::bilinear || mode == Interpolation::bicubic) D = 2;
  if (mode == Interpolation::trilinear) D = 3;
  Sizes shape = draw(g, D, 1, D == 3 ? 3 : 5);
  // With one channel and channels last, PyTorch 1.13 ignores the scale of nearest.
  shape.insert(shape.begin(), {r.between(1, 2), r.between(2, 3)});
  F::InterpolateFuncOptions o;
  o.mode(mode);
  std::string text = fmt::format("mode='{}'", kNames[static_cast<size_t>(mode)]);
  if (r.one_in(2)) {
    const Sizes size = draw(g, D, 1, D == 3 ? 4 : 7);
    o.size(std::vector<int64_t>(size.begin(), size.end()));
    text += ", size=" + list_text(size);
  } else {
    // Scales that keep the sizes are not used, because PyTorch's gradient ignores them.
    // The gradient of nearest in one dim ignores any scale that the sizes do not determine.
    const bool nearest = mode == Interpolation::nearest || mode == Interpolation::nearest_exact;
    const double factor = nearest ? 2 : r.choose(std::vector<double>{0.5, 0.75, 2, 2.25, 2.5});
    o.scale_factor(std::vector<double>(D, factor));
    text += fmt::format(", scale_factor={}", number_text(factor));
    if (r.one_in(2)) {
      o.recompute_scale_factor(true);
      text += ", recompute_scale_factor=True";
    }
  }
  const bool can_align = mode != Interpolation::nearest && mode != Interpolation::area &&
                         mode != Interpolation::nearest_exact;
  const bool aligned = can_align && r.one_in(2);
  if (can_align) {
    o.align_corners(aligned);
    text += fmt::format(", align_corners={}", bool_text(aligned));
  }
  if ((mode == Interpolation::bilinear || mode == Interpolation::bicubic) && r.one_in(4)) {
    o.antialias(true);
    text += ", antialias=True";
  }
  g.call(
      fmt::format("F.interpolate(in_rows($0), {})", text), {g.operand(shape)},
      [=](const Tensors& t) { return F::interpolate(t[0], o); }, 256);
}

void sampling(Generator& g) {
  Random& r = g.random();
  const size_t D = r.one_in(2) ? 2 : 3;
  const int64_t N = r.between(1, 2);
  const bool aligned = r.one_in(2);
  if (r.one_in(4)) {
    Sizes size = draw(g, D, 1, 4);
    size.insert(size.begin(), {N, 2});
    g.call(fmt::format("F.affine_grid($0, {}, {})", list_text(size), bool_text(aligned)),
           {g.operand({N, static_cast<int64_t>(D), static_cast<int64_t>(D) + 1})},
           [=](const Tensors& t) { return F::affine_grid(t[0], size, aligned); });
    return;
  }
  Sizes in = draw(g, D, 1, 4), to = draw(g, D, 1, 3);
  in.insert(in.begin(), {N, r.between(1, 2)});
  to.insert(to.begin(), N);
  to.push_back(static_cast<int64_t>(D));
  static const char* const kPads[] = {"zeros", "border", "reflection"};
  const int64_t pad = r.between(0, 2), mode = r.between(0, D == 2 ? 2 : 1);
  // Positions are away from those where an element's neighbours change, because roundings could
  // change the neighbours.
  const double shift = 1. / 64;
  static const char* const kModes[] = {"bilinear", "nearest", "bicubic"};
  g.call(
      fmt::format("F.grid_sample($0, $1 / 2 + {}, '{}', '{}', {})", shift, kModes[mode], kPads[pad],
                  bool_text(aligned)),
      {g.operand(in), g.operand(to)},
      [=](const Tensors& t) { return grid_sampler(t[0], t[1] / 2 + shift, mode, pad, aligned); },
      512);
}

void windows(Generator& g) {
  Random& r = g.random();
  const Sizes k = draw(g, 2, 1, 3), d = draw(g, 2, 1, 2), p = draw(g, 2, 0, 1),
              s = draw(g, 2, 1, 3);
  Sizes in(2), n(2);
  for (size_t i = 0; i < 2; ++i) {
    in[i] = std::max<int64_t>(1, d[i] * (k[i] - 1) + 1 - 2 * p[i]) + r.between(0, 3);
    n[i] = (in[i] + 2 * p[i] - d[i] * (k[i] - 1) - 1) / s[i] + 1;
  }
  const int64_t C = r.between(1, 2);
  const auto pair = [](const Sizes& v) { return IntOrPair{v[0], v[1]}; };
  const bool has_batch = !r.one_in(4);
  Sizes shape = has_batch ? Sizes{2} : Sizes{};
  if (r.one_in(2)) {
    shape.insert(shape.end(), {C, in[0], in[1]});
    g.call(fmt::format("F.unfold($0, {}, {}, {}, {})", list_text(k), list_text(d), list_text(p),
                       list_text(s)),
           {g.operand(shape)},
           [=](const Tensors& t) { return im2col(t[0], pair(k), pair(d), pair(p), pair(s)); });
  } else {
    shape.insert(shape.end(), {C * k[0] * k[1], n[0] * n[1]});
    g.call(fmt::format("F.fold($0, {}, {}, {}, {}, {})", list_text(in), list_text(k), list_text(d),
                       list_text(p), list_text(s)),
           {g.operand(shape)}, [=](const Tensors& t) {
             return col2im(t[0], pair(in), pair(k), pair(d), pair(p), pair(s));
           });
  }
}

void padding(Generator& g) {
  Random& r = g.random();
  static const char* const kNames[] = {"constant", "reflect", "replicate", "circular"};
  const auto mode = static_cast<PadMode>(r.between(0, 3));
  const auto D = static_cast<size_t>(r.between(1, 3));
  Sizes shape = draw(g, D, 3, D == 3 ? 3 : 5);
  shape.insert(shape.begin(), {r.between(1, 2), r.between(1, 2)});
  Sizes by = draw(g, 2 * D, mode == PadMode::constant || r.one_in(2) ? -1 : 0, 2);
  const std::string value = mode == PadMode::constant ? ", value=1.5" : "";
  g.call(fmt::format("F.pad($0, {}, mode='{}'{})", list_text(by), kNames[static_cast<size_t>(mode)],
                     value),
         {g.operand(shape)}, [=](const Tensors& t) {
           return F::pad(t[0], by, mode, mode == PadMode::constant ? 1.5 : 0);
         });
}

void shuffling(Generator& g) {
  const int64_t f = g.random().between(1, 3), h = g.random().between(1, 3);
  Sizes shape = draw(g, static_cast<size_t>(g.random().between(0, 2)), 1, 2);
  if (g.random().one_in(2)) {
    shape.insert(shape.end(), {f * f * 2, h, 2});
    g.call(fmt::format("F.pixel_shuffle($0, {}).clone()", f), {g.operand(shape)},
           [=](const Tensors& t) { return F::pixel_shuffle(t[0], f).clone(); });
  } else {
    shape.insert(shape.end(), {2, f * h, f});
    g.call(fmt::format("F.pixel_unshuffle($0, {}).clone()", f), {g.operand(shape)},
           [=](const Tensors& t) { return F::pixel_unshuffle(t[0], f).clone(); });
  }
}

}  // namespace

const std::vector<Call> kLayerCalls{
    convolution,   transposed_convolution, convolution, batch_norm_call, norms,   norms,
    interpolation, interpolation,          sampling,    windows,         padding, shuffling};

}  // namespace fuzz
