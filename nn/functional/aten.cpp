// Padding, channel and other functions that libtorch has outside of nn::functional.
#include <ambit/error.h>
#include <ambit/nn/functional/aten.h>
#include <ambit/ops/creation.h>
#include <fmt/format.h>

namespace ambit {
namespace {

PadMode mode_of(std::string_view name) {
  if (name == "constant") return PadMode::constant;
  if (name == "reflect") return PadMode::reflect;
  if (name == "replicate") return PadMode::replicate;
  if (name == "circular") return PadMode::circular;
  throw Error(fmt::format(
      "pad: expected the mode constant, reflect, replicate or circular, got \"{}\"", name));
}

Tensor pad_dims(const char* op, const Tensor& self, IntArrayRef padding, size_t dims,
                PadMode mode) {
  if (padding.size() != 2 * dims) {
    throw ShapeError(
        fmt::format("{}: expected {} numbers of padding, got {}", op, 2 * dims, padding.size()));
  }
  return nn::functional::pad(self, padding, mode);
}

}  // namespace

Tensor pad(const Tensor& self, IntArrayRef pad, std::string_view mode,
           std::optional<double> value) {
  return nn::functional::pad(self, pad, mode_of(mode), value.value_or(0));
}
Tensor constant_pad_nd(const Tensor& self, IntArrayRef pad, const Scalar& value) {
  return nn::functional::pad(self, pad, PadMode::constant, value);
}
Tensor reflection_pad1d(const Tensor& self, IntArrayRef padding) {
  return pad_dims("reflection_pad1d", self, padding, 1, PadMode::reflect);
}
Tensor reflection_pad2d(const Tensor& self, IntArrayRef padding) {
  return pad_dims("reflection_pad2d", self, padding, 2, PadMode::reflect);
}
Tensor reflection_pad3d(const Tensor& self, IntArrayRef padding) {
  return pad_dims("reflection_pad3d", self, padding, 3, PadMode::reflect);
}
Tensor replication_pad1d(const Tensor& self, IntArrayRef padding) {
  return pad_dims("replication_pad1d", self, padding, 1, PadMode::replicate);
}
Tensor replication_pad2d(const Tensor& self, IntArrayRef padding) {
  return pad_dims("replication_pad2d", self, padding, 2, PadMode::replicate);
}
Tensor replication_pad3d(const Tensor& self, IntArrayRef padding) {
  return pad_dims("replication_pad3d", self, padding, 3, PadMode::replicate);
}

Tensor channel_shuffle(const Tensor& self, int64_t groups) {
  if (!self.defined()) throw Error("channel_shuffle: expected self, got an undefined tensor");
  if (self.dim() < 3 || groups < 1 || self.size(1) % groups != 0) {
    throw ShapeError(fmt::format(
        "channel_shuffle: expected [N, C, ...] and groups that divide C, got {} and {} groups",
        str(self.sizes()), groups));
  }
  Dims sizes(self.sizes());
  sizes[1] = groups;
  sizes.insert(2, self.size(1) / groups);
  return self.reshape(sizes).transpose(1, 2).reshape(self.sizes());
}

const Tensor& silu_(const Tensor& self) { return copy_(self, silu(self.clone())); }
const Tensor& mish_(const Tensor& self) { return copy_(self, mish(self.clone())); }
const Tensor& gelu_(const Tensor& self, std::string_view approximate) {
  return copy_(self, gelu(self.clone(), approximate));
}

namespace {

// Return 0 or 1 / (1 - p) for each channel.
Tensor channel_mask(const char* op, const Tensor& input, double p) {
  if (input.dim() < 2) {
    throw ShapeError(
        fmt::format("{}: expected 2 dims or more, got shape {}", op, str(input.sizes())));
  }
  Dims sizes(input.sizes().size(), 1);
  sizes[0] = input.size(0);
  sizes[1] = input.size(1);
  return dropout(ones(sizes, input.options()), p);
}

// True if the input is returned unchanged, whatever its shape.
bool drops_none(const char* op, const Tensor& input, double p, bool train) {
  if (!input.defined()) throw Error(fmt::format("{}: expected input, got an undefined tensor", op));
  if (!(p >= 0 && p <= 1)) throw Error(fmt::format("{}: expected p in [0, 1], got {}", op, p));
  return !train || p == 0 || input.numel() == 0;
}

}  // namespace

Tensor feature_dropout(const Tensor& input, double p, bool train) {
  constexpr const char* kOp = "feature_dropout";
  return drops_none(kOp, input, p, train) ? input : input * channel_mask(kOp, input, p);
}
Tensor feature_dropout_(const Tensor& self, double p, bool train) {
  constexpr const char* kOp = "feature_dropout_";
  return drops_none(kOp, self, p, train) ? self : self.mul_(channel_mask(kOp, self, p));
}

std::tuple<Tensor, Tensor, Tensor, Tensor> embedding_bag(
    const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq,
    int64_t mode, bool sparse, const Tensor& per_sample_weights, bool include_last_offset,
    std::optional<int64_t> padding_idx) {
  if (mode < 0 || mode > 2) {
    throw Error(fmt::format("embedding_bag: expected the mode 0, 1 or 2, got {}", mode));
  }
  const nn::EmbeddingBagMode modes[] = {Reduction::sum, Reduction::mean, kMax};
  const Tensor out = nn::functional::embedding_bag(indices, weight,
                                                   nn::functional::EmbeddingBagFuncOptions()
                                                       .offsets(offsets)
                                                       .scale_grad_by_freq(scale_grad_by_freq)
                                                       .mode(modes[mode])
                                                       .sparse(sparse)
                                                       .per_sample_weights(per_sample_weights)
                                                       .include_last_offset(include_last_offset)
                                                       .padding_idx(padding_idx));
  const Tensor none = empty({0}, indices.options());
  return {out, none, none, none};
}

namespace {

Tensor sampled(const char* op, int64_t dims, const Tensor& input, const Tensor& grid,
               int64_t interpolation_mode, int64_t padding_mode, bool align_corners) {
  if (input.defined() && input.dim() != dims) {
    throw ShapeError(
        fmt::format("{}: expected an input of {} dims, got {}", op, dims, str(input.sizes())));
  }
  return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners);
}

}  // namespace

Tensor grid_sampler_2d(const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                       int64_t padding_mode, bool align_corners) {
  return sampled("grid_sampler_2d", 4, input, grid, interpolation_mode, padding_mode,
                 align_corners);
}
Tensor grid_sampler_3d(const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                       int64_t padding_mode, bool align_corners) {
  return sampled("grid_sampler_3d", 5, input, grid, interpolation_mode, padding_mode,
                 align_corners);
}

Tensor conv_tbc(const Tensor& self, const Tensor& weight, const Tensor& bias, int64_t pad) {
  for (const Tensor* t : {&self, &weight}) {
    if (!t->defined()) throw Error("conv_tbc: expected a tensor, got an undefined one");
    if (t->dim() != 3) {
      throw ShapeError(fmt::format("conv_tbc: expected 3 dims, got shape {}", str(t->sizes())));
    }
  }
  return conv1d(self.permute({1, 2, 0}), weight.permute({2, 1, 0}), bias, 1, pad)
      .permute({2, 0, 1});
}

namespace {

// Output sizes, and the factor of each dim if factors are given.
struct Upsampling {
  Upsampling(const char* op, const Tensor& input, OptionalIntArrayRef output_size,
             const ScaleFactors& given, size_t dims) {
    if (!input.defined()) {
      throw Error(fmt::format("{}: expected input, got an undefined tensor", op));
    }
    if (output_size.has_value() == given.get().has_value()) {
      throw Error(fmt::format("{}: expected either output_size or scale_factors, got {}", op,
                              output_size ? "both" : "none"));
    }
    if (output_size) {
      sizes = Dims(*output_size);
      factors.resize(dims);
      return;
    }
    if (input.dim() != static_cast<int64_t>(dims) + 2 || given.get()->size() != dims) {
      throw ShapeError(fmt::format("{}: expected an input of {} dims and {} factors, got {} and {}",
                                   op, dims + 2, dims, str(input.sizes()), given.get()->size()));
    }
    for (size_t d = 0; d < dims; ++d) {
      const double factor = (*given.get())[d];
      const double size = static_cast<double>(input.sizes()[d + 2]) * factor;
      if (!(size >= 1 && size < 0x1p31)) {  // also NaN
        throw ShapeError(fmt::format(
            "{}: expected scale_factors that make sizes from 1 to {}, got {} for size {}", op,
            INT32_MAX, factor, input.sizes()[d + 2]));
      }
      sizes.push_back(static_cast<int64_t>(size));
      factors.push_back(factor);
    }
  }
  Dims sizes;
  std::vector<std::optional<double>> factors;
};

}  // namespace

Tensor upsample_nearest1d(const Tensor& input, OptionalIntArrayRef output_size,
                          const ScaleFactors& scale_factors) {
  const Upsampling u("upsample_nearest1d", input, output_size, scale_factors, 1);
  return upsample_nearest1d(input, u.sizes, u.factors[0]);
}
Tensor upsample_nearest2d(const Tensor& input, OptionalIntArrayRef output_size,
                          const ScaleFactors& scale_factors) {
  const Upsampling u("upsample_nearest2d", input, output_size, scale_factors, 2);
  return upsample_nearest2d(input, u.sizes, u.factors[0], u.factors[1]);
}
Tensor upsample_nearest3d(const Tensor& input, OptionalIntArrayRef output_size,
                          const ScaleFactors& scale_factors) {
  const Upsampling u("upsample_nearest3d", input, output_size, scale_factors, 3);
  return upsample_nearest3d(input, u.sizes, u.factors[0], u.factors[1], u.factors[2]);
}
Tensor upsample_linear1d(const Tensor& input, OptionalIntArrayRef output_size, bool align_corners,
                         const ScaleFactors& scale_factors) {
  const Upsampling u("upsample_linear1d", input, output_size, scale_factors, 1);
  return upsample_linear1d(input, u.sizes, align_corners, u.factors[0]);
}
Tensor upsample_bilinear2d(const Tensor& input, OptionalIntArrayRef output_size, bool align_corners,
                           const ScaleFactors& scale_factors) {
  const Upsampling u("upsample_bilinear2d", input, output_size, scale_factors, 2);
  return upsample_bilinear2d(input, u.sizes, align_corners, u.factors[0], u.factors[1]);
}
Tensor upsample_trilinear3d(const Tensor& input, OptionalIntArrayRef output_size,
                            bool align_corners, const ScaleFactors& scale_factors) {
  const Upsampling u("upsample_trilinear3d", input, output_size, scale_factors, 3);
  return upsample_trilinear3d(input, u.sizes, align_corners, u.factors[0], u.factors[1],
                              u.factors[2]);
}
Tensor upsample_bicubic2d(const Tensor& input, OptionalIntArrayRef output_size, bool align_corners,
                          const ScaleFactors& scale_factors) {
  const Upsampling u("upsample_bicubic2d", input, output_size, scale_factors, 2);
  return upsample_bicubic2d(input, u.sizes, align_corners, u.factors[0], u.factors[1]);
}

}  // namespace ambit
