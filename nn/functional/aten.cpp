// Padding and channels under libtorch's names outside of nn::functional.
#include <ambit/error.h>
#include <ambit/nn/functional/aten.h>
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

}  // namespace ambit
