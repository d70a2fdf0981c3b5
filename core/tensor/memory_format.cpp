// Memory formats of strided tensors: channels last.
#include <ambit/backend/kernels.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/layout.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"

namespace ambit {
namespace {

// Return the dims from innermost to outermost; null if the format has a different number of dims.
const int* channels_last_order(MemoryFormat format, int64_t ndim) {
  static constexpr int k2d[] = {1, 3, 2, 0}, k3d[] = {1, 4, 3, 2, 0};
  if (format == MemoryFormat::ChannelsLast && ndim == 4) return k2d;
  if (format == MemoryFormat::ChannelsLast3d && ndim == 5) return k3d;
  return nullptr;
}

Dims channels_last_strides(MemoryFormat format, IntArrayRef sizes) {
  const int* order = channels_last_order(format, static_cast<int64_t>(sizes.size()));
  if (!order) {
    const bool flat = format == MemoryFormat::ChannelsLast;
    throw ShapeError(fmt::format("contiguous: expected a tensor of {} dims for {}, got shape {}",
                                 flat ? 4 : 5, flat ? "ChannelsLast" : "ChannelsLast3d",
                                 str(sizes)));
  }
  Dims strides(sizes.size());
  int64_t step = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto d = static_cast<size_t>(order[i]);
    strides[d] = step;
    step *= std::max<int64_t>(sizes[d], 1);
  }
  return strides;
}

// If both formats match, which is so with one channel, row-major is preferred, as in PyTorch.
bool suggests(MemoryFormat format, const Tensor& t) {
  const int* order = channels_last_order(format, t.dim());
  if (!order || t.stride(1) == 0) return false;
  int64_t least = 0;
  for (int64_t i = 0; i < t.dim(); ++i) {
    const int64_t d = order[i], size = t.size(d), stride = t.stride(d);
    if (size == 0 || stride < least || (d == 0 && least == t.stride(1))) return false;
    least = stride * size;
  }
  return true;
}

// True if elements do not overlap and have no gaps.
bool is_dense(const Tensor& t) {
  Dims order(static_cast<size_t>(t.dim()));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return t.stride(a) < t.stride(b); });
  int64_t step = 1;
  for (const int64_t d : order) {
    if (t.size(d) == 1) continue;
    if (t.stride(d) != step) return false;
    step *= t.size(d);
  }
  return true;
}

Tensor copy_with_strides(const char* op, const Tensor& self, IntArrayRef strides) {
  Tensor out = empty_strided(self.sizes(), strides, self.options());
  kernels::copy(out, self);
  return record(op, std::move(out), wrt(self, [](const Tensor& g) { return g; }));
}

}  // namespace

bool Tensor::is_contiguous(MemoryFormat format) const {
  if (format == MemoryFormat::Contiguous || format == MemoryFormat::Preserve) {
    return is_contiguous();
  }
  if (!channels_last_order(format, dim())) return false;
  const Dims expected = channels_last_strides(format, sizes());
  for (size_t d = 0; d < expected.size(); ++d) {
    if (sizes()[d] != 1 && strides()[d] != expected[d]) return numel() == 0;
  }
  return true;
}

MemoryFormat Tensor::suggest_memory_format() const {
  for (const MemoryFormat format : {MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d}) {
    if (suggests(format, *this)) return format;
  }
  return MemoryFormat::Contiguous;
}

Tensor Tensor::contiguous(MemoryFormat format) const {
  if (format == MemoryFormat::Preserve) {
    throw Error("contiguous: expected a memory format other than Preserve, got Preserve");
  }
  if (format == MemoryFormat::Contiguous) return contiguous();
  const Dims wanted = channels_last_strides(format, sizes());
  return is_contiguous(format) ? *this : copy_with_strides("contiguous", *this, wanted);
}

Tensor clone(const Tensor& self, std::optional<MemoryFormat> format) {
  expect_defined("clone", "self", self);
  return self.clone(format);
}

Tensor Tensor::clone(std::optional<MemoryFormat> asked) const {
  const MemoryFormat format = asked.value_or(MemoryFormat::Preserve);
  if (format == MemoryFormat::Preserve && !is_contiguous() && is_dense(*this)) {
    return copy_with_strides("clone", *this, strides());
  }
  if (format == MemoryFormat::Contiguous || format == MemoryFormat::Preserve) return clone();
  return copy_with_strides("clone", *this, channels_last_strides(format, sizes()));
}

std::ostream& operator<<(std::ostream& os, Layout layout) {
  return os << (layout == kStrided ? "Strided" : "Sparse");
}

std::ostream& operator<<(std::ostream& os, MemoryFormat format) {
  switch (format) {
    case MemoryFormat::Contiguous:
      return os << "Contiguous";
    case MemoryFormat::Preserve:
      return os << "Preserve";
    case MemoryFormat::ChannelsLast:
      return os << "ChannelsLast";
    case MemoryFormat::ChannelsLast3d:
      break;
  }
  return os << "ChannelsLast3d";
}

}  // namespace ambit
