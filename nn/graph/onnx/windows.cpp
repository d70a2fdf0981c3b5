#include "windows.h"

#include <ambit/error.h>
#include <ambit/nn/functional/aten.h>
#include <ambit/ops/shape.h>

#include <fmt/format.h>

#include <algorithm>

namespace ambit::graph::onnx {

bool Windows::is_plain() const {
  for (size_t i = 0; i < kernel.size(); ++i) {
    if (before[i] != after[i] || extra[i] != 0 || before[i] > kernel[i] / 2) return false;
  }
  return kernel.size() >= 1 && kernel.size() <= 3;
}

Windows windows_of(IntArrayRef input, Dims kernel, Dims stride, Dims dilation, Dims pads,
                   std::string_view auto_pad, bool ceil_mode) {
  if (input.size() < 3) throw Error(fmt::format("expected [N,C,...], got {} dims", input.size()));
  const size_t n = input.size() - 2;
  if (stride.empty()) stride = Dims(n, 1);
  if (dilation.empty()) dilation = Dims(n, 1);
  if (pads.empty()) pads = Dims(2 * n, 0);
  for (const Dims* list : {&kernel, &stride, &dilation}) {
    if (list->size() != n ||
        std::any_of(list->begin(), list->end(), [](int64_t v) { return v < 1 || v > INT32_MAX; })) {
      throw Error(fmt::format("expected {} positive numbers as kernel, strides and dilations", n));
    }
  }
  if (pads.size() != 2 * n)
    throw Error(fmt::format("expected {} pads, got {}", 2 * n, pads.size()));
  Windows w{kernel, stride, dilation, {}, {}, {}, {}};
  for (size_t i = 0; i < n; ++i) {
    const int64_t size = input[i + 2], window = dilation[i] * (kernel[i] - 1) + 1;
    int64_t before = pads[i], after = pads[n + i];
    if (auto_pad == "VALID") before = after = 0;
    if (auto_pad.starts_with("SAME")) {
      const int64_t out = (size + stride[i] - 1) / stride[i];
      const int64_t total = std::max<int64_t>(0, (out - 1) * stride[i] + window - size);
      before = auto_pad == "SAME_LOWER" ? (total + 1) / 2 : total / 2;
      after = total - before;
    }
    const int64_t room = size + before + after - window;
    if (before < 0 || after < 0 || room < 0) {
      throw ShapeError(
          fmt::format("expected a window of at most {}, got {}", size + before + after, window));
    }
    int64_t out = (ceil_mode ? room + stride[i] - 1 : room) / stride[i] + 1;
    // Omit a window that would start in the padding at the end.
    if (ceil_mode && (out - 1) * stride[i] >= size + before) --out;
    w.before.push_back(before);
    w.after.push_back(after);
    w.outputs.push_back(out);
    w.extra.push_back(std::max<int64_t>(0, (out - 1) * stride[i] - room));
  }
  return w;
}

Tensor padded(const Tensor& x, IntArrayRef before, IntArrayRef after, const Scalar& value) {
  Dims pads;
  bool is_padded = false;
  for (size_t i = before.size(); i-- > 0;) {
    pads.push_back(before[i]);
    pads.push_back(after[i]);
    is_padded |= before[i] != 0 || after[i] != 0;
  }
  return is_padded ? constant_pad_nd(x, pads, value) : x;
}

Tensor unfolded(const Tensor& x, const Windows& w) {
  Tensor out = x;
  for (size_t i = 0; i < w.kernel.size(); ++i) {
    const int64_t window = w.dilation[i] * (w.kernel[i] - 1) + 1;
    out = unfold(out, static_cast<int64_t>(i) + 2, window, w.stride[i])
              .narrow(static_cast<int64_t>(i) + 2, 0, w.outputs[i])
              .slice(-1, 0, window, w.dilation[i]);
  }
  return out;
}

}  // namespace ambit::graph::onnx
