#include "conv_channels_last.h"

#include <algorithm>
#include <cstdint>

#include "backends/cuda/runtime/workspace.h"
#include "transpose.h"

namespace ambit::cuda {
namespace {

// Bytes of x and y in a part of the batch: enough to fill a GPU, but small relative to its memory.
constexpr int64_t kPartBytes = int64_t{32} << 20;
constexpr int64_t kAlignment = 16;

/// An operand [outer,channels,...]; some of its outer slices are converted at a time.
class LaidOut {
 public:
  LaidOut(const Dims& sizes, DType dtype, void* given, int64_t outer)
      : channels_(sizes[1]),
        pixels_(count("convolution", IntArrayRef(sizes).slice(2))),
        dtype_(dtype),
        element_bytes_(element_size(dtype)),
        given_(static_cast<char*>(given)),
        lies_so_(channels_ == 1 || pixels_ == 1),
        own_(lies_so_ && is_aligned(given) ? 0 : bytes_of(outer)) {}

  /// Return the memory to read or write from slice `first` on.
  void* at(int64_t first) const { return own_.data() ? own_.data() : given_ + bytes_of(first); }
  void read(int64_t first, int64_t n) const {
    if (own_.data()) {
      transpose(own_.data(), given_ + bytes_of(first), element_bytes_, n, channels_, pixels_);
    }
  }
  void write(int64_t first, int64_t n) const {
    if (own_.data()) {
      transpose(given_ + bytes_of(first), own_.data(), element_bytes_, n, pixels_, channels_);
    }
  }
  /// Return true if the operand is copied to a separate buffer.
  bool is_away() const { return own_.data() != nullptr; }
  /// As write(), and apply a map of kActivations; no-op without a separate buffer.
  void write_map(int64_t first, int64_t n, UnaryOp map) const {
    if (!is_away()) return;
    transpose_map(given_ + bytes_of(first), own_.data(), dtype_, n, pixels_, channels_, map);
  }

 private:
  // Checks every slice, because any may be the first of a part.
  bool is_aligned(const void* p) const {
    return (reinterpret_cast<uintptr_t>(p) | bytes_of(1)) % kAlignment == 0;
  }
  size_t bytes_of(int64_t outer) const {
    return static_cast<size_t>(outer * channels_ * pixels_) * element_bytes_;
  }

  int64_t channels_, pixels_;
  DType dtype_;
  size_t element_bytes_;
  char* given_;
  bool lies_so_;
  Workspace own_;
};

bool is_depthwise(const ConvProblem& p) { return p.w[1] == 1 || p.w[0] == p.params.groups; }

}  // namespace

bool may_lie_channels_last(const ConvProblem& p) {
  return is_reduced_floating(p.dtype) || (p.dtype == kFloat32 && p.tf32);
}

// Tensor cores would be idle in depthwise convolutions.
bool wants_channels_last(const ConvProblem& p) {
  return may_lie_channels_last(p) && !is_depthwise(p);
}

int64_t images_of_part(const ConvProblem& p) {
  const bool adds_up = p.kind == ConvKind::weight_grad && is_reduced_floating(p.dtype);
  if (adds_up || !wants_channels_last(p)) return p.x[0];
  const int64_t elements = count("convolution", p.x) + count("convolution", p.y);
  const int64_t image = elements / p.x[0] * static_cast<int64_t>(element_size(p.dtype));
  return std::clamp<int64_t>(kPartBytes / std::max<int64_t>(image, 1), 1, p.x[0]);
}

bool convolve_channels_last(ConvProblem p, const ConvPointers& given,
                            bool (*run)(const ConvProblem&, const ConvPointers&),
                            std::optional<UnaryOp> map) {
  const int64_t images = p.x[0], part = images_of_part(p);
  const LaidOut x(p.x, p.dtype, given[0], part), y(p.y, p.dtype, given[2], part);
  const LaidOut w(p.w, p.dtype, given[1], p.w[0]);
  p.channels_last = true;
  p.alignment = kAlignment;
  const LaidOut b({1, p.bias ? p.w[0] : 0}, p.dtype, given[3], 1);
  if (p.bias) b.read(0, 1);
  if (p.kind != ConvKind::weight_grad) w.read(0, p.w[0]);
  for (int64_t first = 0; first < images; first += part) {
    const int64_t n = std::min(part, images - first);
    p.x[0] = p.y[0] = n;
    if (p.kind != ConvKind::input_grad) x.read(first, n);
    if (p.kind != ConvKind::forward) y.read(first, n);
    run(p, {x.at(first), w.at(0), y.at(first), p.bias ? b.at(0) : nullptr});
    if (map) {
      y.write_map(first, n, *map);
    } else if (p.kind == ConvKind::forward) {
      y.write(first, n);
    }
    if (p.kind == ConvKind::input_grad) x.write(first, n);
  }
  if (p.kind == ConvKind::weight_grad) w.write(0, p.w[0]);
  return map && y.is_away();
}

}  // namespace ambit::cuda
