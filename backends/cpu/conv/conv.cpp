// Convolution and its gradients. Implementations: conv_winograd.h for windows of 3x3, 5x5 and 5
// with many channels; oneDNN for float32 with many channels, and for bfloat16 if native_products()
// has it, unless conversion to float32 for Winograd is faster; where oneDNN has no code for the
// CPU's vectors (prefers_products()), conv_products.h instead; conv_filters.h for 16 filters of few
// channels; conv_direct.h for the rest. conv_direct.h applies an activation while the result is in
// the cache. After the others it is a separate pass: applying it to each part of oneDNN's result
// was not faster (measured), and oneDNN's own relu maps NaN to 0.
#include <ambit/backend/alias.h>
#include <ambit/backend/reference.h>

#include <algorithm>
#include <optional>

#include "backends/cpu/elementwise/inner_loops.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/layout/channels_last.h"
#include "backends/cpu/layout/native_scope.h"
#include "backends/cpu/layout/upcast.h"
#include "backends/cpu/matmul/matmul_bfloat16.h"
#include "backends/cpu/runtime/library_use.h"
#include "backends/cpu/runtime/scratch.h"
#include "conv_direct.h"
#include "conv_filters.h"
#include "conv_onednn.h"
#include "conv_padding.h"
#include "conv_products.h"
#include "conv_sizes.h"
#include "conv_winograd.h"

namespace ambit::cpu {
namespace {

// Multiply-adds above which a channels-last result pays off, if later ops can keep the layout.
constexpr int64_t kEnough = int64_t{1} << 18;

// conv_winograd.h computes in float32. For bfloat16 the conversions cost less than it saves
// (measured) for windows of 5x5 and for many channels, unless the CPU has AMX tiles.
bool is_worth_upcasting(const ConvSizes& g) {
  return g.dims == 2 && g.R > 1 && has_winograd_conv(g) && !has_bfloat16_tiles() &&
         (g.R == 5 || std::min(g.C, g.K) >= 64);
}

// Return true if conv_products.h suits a convolution with this many channels of the result. It
// reads all channels at once, so conv_direct.h computes several groups.
bool suits_products(const Tensor& x, const ConvSizes& g, int64_t channels) {
  return prefers_products() && x.dtype() == kFloat32 && g.groups == 1 && channels >= 16 &&
         g.work() >= kEnough;
}

// oneDNN's vectors hold 16 channels of the result. If the channels fill them, it is faster
// (measured) even for little work. Otherwise our own kernels win (they vectorise over pixels),
// unless the problem is large and its input would first have to be converted to row-major.
bool prefers_onednn(const Tensor& x, const ConvSizes& g, int64_t channels, bool even_for_few) {
  if (x.dtype() == kBFloat16) return !is_worth_upcasting(g);
  if (prefers_products()) return false;
  const bool many = channels >= 16;
  const int64_t enough = many ? kEnough : int64_t{1} << 23;
  return x.dtype() == kFloat32 && (many || (even_for_few && channels >= 4)) && g.work() >= enough;
}

// With few input channels oneDNN needs twice the time of conv_filters.h for 16 filters, and the
// same time for 32 (measured).
bool prefers_filters(const Tensor& x, const ConvSizes& g) {
  return x.dtype() == kFloat32 && g.C <= 8 && g.K == 16 && !is_channels_last(x) &&
         g.work() >= kEnough / 2 && has_filters_conv(g);
}

// View a 1-d operand [a,b,L] as an image with one row.
bool is_line(const Tensor& t) { return t.dim() == 3; }
Tensor as_image(const Tensor& t) { return alias(t, {t.size(0), t.size(1), 1, t.size(2)}); }
ConvParams as_image(const ConvParams& p) {
  return {{1, p.stride[0]}, {0, p.padding[0]}, {1, p.dilation[0]}, p.groups};
}

// View channels-last volumes as images that contain the rows of all planes.
Tensor as_rows(const Tensor& t) {
  if (t.dim() != 5) return t;
  return alias(t, {t.size(0), t.size(1), t.size(2) * t.size(3), t.size(4)});
}

// Return true if conv_filters.h suits the convolution and has computed it.
bool convolve_by_filters(const ConvSizes& g, Tensor& y, const Tensor& x, const Tensor& w,
                         const Tensor& b) {
  if (!prefers_filters(x, g) || spoils_padding(g, w)) return false;
  const NativeScope native({.outputs = {&y}, .row_major = {&x, &w, &b}});
  if (!native.has_native_outputs()) return false;
  filters_conv(g, native.output(0).data_ptr<float>(), x.data_ptr<float>(), w.data_ptr<float>(),
               b.defined() ? b.data_ptr<float>() : nullptr);
  return true;
}

// As convolve_by_filters, for the gradient of w.
bool weight_grad_by_filters(const ConvSizes& g, Tensor& dw, const Tensor& dy, const Tensor& x) {
  if (!prefers_filters(x, g) || !is_channels_last(dy)) return false;
  const NativeScope native({.row_major = {&dw, &x}, .inputs = {&dy}});
  const Tensor& grad_output = native.input(0);
  if (!has_channels_last_strides(grad_output)) return false;
  filters_conv_weight_grad(g, dw.data_ptr<float>(), grad_output.data_ptr<float>(),
                           x.data_ptr<float>());
  return !has_spoiled_padding(g, grad_output, dw);
}

// Return true if conv_winograd.h suits the convolution and has computed it. `is_input_grad`: y is
// the gradient of the input, computed as a convolution of x with rotated weights.
bool convolve_by_winograd(const ConvSizes& sizes, const Tensor& y, const Tensor& x, const Tensor& w,
                          bool is_input_grad, const Tensor& b) {
  if (x.dtype() != kFloat32) return false;
  const WinogradSizes whole = WinogradSizes::of(sizes);
  const std::optional<WinogradSizes> g = is_input_grad ? whole.as_forward_conv() : whole;
  if (!g || !has_winograd_conv(*g)) return false;
  const Tensor results = as_rows(y), images = as_rows(x);
  const NativeScope native(
      {.outputs = {&results}, .row_major = {&w, &b}, .inputs = {&images}, .inputs_follow = true});
  const Tensor &to = native.output(0), &from = native.input(0);
  if (!native.has_native_outputs() || !has_channels_last_strides(from)) return false;
  const WinogradWeights weights(whole, w.data_ptr<float>());
  return winograd_conv(*g, to.data_ptr<float>(), from.data_ptr<float>(), weights.data(),
                       is_input_grad, b.defined() ? b.data_ptr<float>() : nullptr);
}

// As convolve_by_winograd, for the gradient of w.
bool weight_grad_by_winograd(const ConvSizes& sizes, Tensor& dw, const Tensor& dy,
                             const Tensor& x) {
  if (x.dtype() != kFloat32) return false;
  const WinogradSizes g = WinogradSizes::of(sizes);
  if (!has_winograd_conv(g)) return false;
  const bool splits = g.x_split > 1;
  const Tensor results = as_rows(dy), images = as_rows(x);
  const NativeScope native(
      {.row_major = {&dw}, .inputs = {&results, &images}, .inputs_follow = true});
  const Tensor &grad_output = native.input(0), &inputs = native.input(1);
  if (!has_channels_last_strides(grad_output) || !has_channels_last_strides(inputs)) return false;
  const Scratch split(splits ? static_cast<size_t>(g.K * g.taps()) * sizeof(float) : 0);
  float* const to = splits ? split.data<float>() : dw.data_ptr<float>();
  if (!winograd_conv_weight_grad(g, to, grad_output.data_ptr<float>(), inputs.data_ptr<float>())) {
    return false;
  }
  if (splits) g.unite_weights(dw.data_ptr<float>(), to);
  return true;
}

// Return true if conv_products.h suits the convolution and has computed it.
bool convolve_by_products(const ConvSizes& g, Tensor& y, const Tensor& x, const Tensor& w,
                          const Tensor& b) {
  if (!suits_products(x, g, g.K) || spoils_padding(g, w)) return false;
  const Tensor results = as_rows(y), images = as_rows(x);
  const NativeScope native(
      {.outputs = {&results}, .row_major = {&w, &b}, .inputs = {&images}, .inputs_follow = true});
  const Tensor &to = native.output(0), &from = native.input(0);
  if (!native.has_native_outputs() || !has_channels_last_strides(from)) return false;
  products_conv(g, to.data_ptr<float>(), from.data_ptr<float>(), w.data_ptr<float>(),
                b.defined() ? b.data_ptr<float>() : nullptr);
  return true;
}

// As convolve_by_products, for the gradient of x.
bool input_grad_by_products(const ConvSizes& g, Tensor& dx, const Tensor& dy, const Tensor& w) {
  if (!suits_products(dx, g, g.C)) return false;
  const Tensor results = as_rows(dx), images = as_rows(dy);
  const NativeScope native(
      {.outputs = {&results}, .row_major = {&w}, .inputs = {&images}, .inputs_follow = true});
  const Tensor &to = native.output(0), &from = native.input(0);
  if (!native.has_native_outputs() || !has_channels_last_strides(from)) return false;
  products_conv_input_grad(g, to.data_ptr<float>(), from.data_ptr<float>(), w.data_ptr<float>());
  return true;
}

// As convolve_by_products, for the gradient of w.
bool weight_grad_by_products(const ConvSizes& g, Tensor& dw, const Tensor& dy, const Tensor& x) {
  if (!suits_products(x, g, g.K)) return false;
  const Tensor results = as_rows(dy), images = as_rows(x);
  const NativeScope native(
      {.row_major = {&dw}, .inputs = {&results, &images}, .inputs_follow = true});
  const Tensor &grad_output = native.input(0), &inputs = native.input(1);
  if (!has_channels_last_strides(grad_output) || !has_channels_last_strides(inputs)) return false;
  products_conv_weight_grad(g, dw.data_ptr<float>(), grad_output.data_ptr<float>(),
                            inputs.data_ptr<float>());
  return !has_spoiled_padding(g, grad_output, dw);
}

// Return the sizes of the convolution that gives the gradient of x, if there is one and it is
// faster, which it is with many channels (measured).
std::optional<ConvSizes> as_forward_conv(const ConvSizes& g, const Tensor& dx) {
  return dx.dtype() == kFloat32 && g.Kg >= 32 ? g.as_forward_conv() : std::nullopt;
}

// Return true if oneDNN suits the convolution and has computed it.
bool convolve_by_onednn(const ConvSizes& g, Tensor& y, const Tensor& x, const Tensor& w,
                        const Tensor& b) {
  const LibraryUse use(prefers_onednn(x, g, g.Kg, is_channels_last(x)));
  if (!use) return false;
  // w may be the result of another convolution; NativeScope converts it to row-major.
  const NativeScope native({.outputs = {&y}, .row_major = {&w, &b}, .inputs = {&x}});
  return onednn_conv(g, native.output(0), native.input(0), w, b);
}

// y [N,K,...], x [N,C,...], w [K,C/groups,...], b [K]; map: applied to the result, or none.
void convolve(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b, const ConvParams& p,
              std::optional<UnaryOp> map) {
  if (is_line(y)) {
    Tensor row = as_image(y);
    return convolve(row, as_image(x), as_image(w), b, as_image(p), map);
  }
  if (y.numel() == 0) return;
  const ConvSizes g(x.sizes(), w.sizes(), y.sizes(), p);
  if (convolve_by_filters(g, y, x, w, b) || convolve_by_winograd(g, y, x, w, false, b) ||
      convolve_by_products(g, y, x, w, b) || convolve_by_onednn(g, y, x, w, b)) {
    if (map) unary(y, y, *map);
    return;
  }
  if (y.dtype() == kBFloat16) {
    return map ? run_upcast(kernels::convolution_map, convolution_map, y, x, w, b, p, *map)
               : run_upcast(kernels::convolution, convolution, y, x, w, b, p);
  }
  if (spoils_padding(g, w)) {
    reference::convolution(y, x, w, b, p);
    if (map) unary(y, y, *map);
    return;
  }
  visit<dtypes::kFloating>(x.dtype(), [&]<class T>() {
    direct_conv<T>(g, y.data_ptr<T>(), x.data_ptr<T>(), w.data_ptr<T>(),
                   b.defined() ? b.data_ptr<T>() : nullptr,
                   map ? unary_loop(*map, y.dtype()) : nullptr);
  });
}

}  // namespace

void convolution(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b,
                 const ConvParams& p) {
  convolve(y, x, w, b, p, {});
}

void convolution_map(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b,
                     const ConvParams& p, const ActivationParams& map) {
  convolve(y, x, w, b, p, map);
}

// dx [N,C,...], dy [N,K,...], w [K,C/groups,...]
void convolution_input_grad(Tensor& dx, const Tensor& dy, const Tensor& w, const ConvParams& p) {
  if (is_line(dx)) {
    Tensor row = as_image(dx);
    return convolution_input_grad(row, as_image(dy), as_image(w), as_image(p));
  }
  if (dy.numel() == 0 || w.numel() == 0) return kernels::fill(dx, 0);
  const ConvSizes g(dx.sizes(), w.sizes(), dy.sizes(), p);
  if (convolve_by_winograd(g, dx, dy, w, true, Tensor()) || input_grad_by_products(g, dx, dy, w)) {
    return;
  }
  if (const LibraryUse use(prefers_onednn(dx, g, g.Cg, false)); use) {
    const NativeScope native({.outputs = {&dx}, .row_major = {&w}, .inputs = {&dy}});
    const std::optional<ConvSizes> forward = as_forward_conv(g, dx);
    if (forward &&
        onednn_conv_input_grad_as_forward(*forward, native.output(0), native.input(0), w))
      return;
    if (onednn_conv_input_grad(g, native.output(0), native.input(0), w)) return;
  }
  if (dx.dtype() == kBFloat16) {
    return run_upcast(kernels::convolution_input_grad, convolution_input_grad, dx, dy, w, p);
  }
  // Keep the layout of dy for the gradient of the weights.
  const NativeScope native({.row_major = {&dx, &w}, .inputs = {&dy}});
  const Tensor& grad_output = native.input(0);
  if (dx.dtype() == kFloat32 && has_channels_last_strides(grad_output) &&
      filters_conv_input_grad(g, dx.data_ptr<float>(), grad_output.data_ptr<float>(),
                              w.data_ptr<float>())) {
    return;
  }
  visit<dtypes::kFloating>(dx.dtype(), [&]<class T>() {
    direct_conv_input_grad<T>(g, dx.data_ptr<T>(), grad_output.data_ptr<T>(),
                              has_channels_last_strides(grad_output), w.data_ptr<T>());
  });
}

// dw [K,C/groups,...], dy [N,K,...], x [N,C,...]
void convolution_weight_grad(Tensor& dw, const Tensor& dy, const Tensor& x, const ConvParams& p) {
  if (is_line(dw)) {
    Tensor row = as_image(dw);
    return convolution_weight_grad(row, as_image(dy), as_image(x), as_image(p));
  }
  if (dy.numel() == 0 || dw.numel() == 0) return kernels::fill(dw, 0);
  const ConvSizes g(x.sizes(), dw.sizes(), dy.sizes(), p);
  if (weight_grad_by_filters(g, dw, dy, x) || weight_grad_by_winograd(g, dw, dy, x) ||
      weight_grad_by_products(g, dw, dy, x)) {
    return;
  }
  if (const LibraryUse use(prefers_onednn(x, g, g.Kg, is_channels_last(dy))); use) {
    const NativeScope native({.row_major = {&dw}, .inputs = {&dy, &x}});
    if (onednn_conv_weight_grad(g, dw, native.input(0), native.input(1))) return;
  }
  if (dw.dtype() == kBFloat16) {
    return run_upcast(kernels::convolution_weight_grad, convolution_weight_grad, dw, dy, x, p);
  }
  visit<dtypes::kFloating>(x.dtype(), [&]<class T>() {
    direct_conv_weight_grad<T>(g, dw.data_ptr<T>(), dy.data_ptr<T>(), x.data_ptr<T>());
  });
  if (has_spoiled_padding(g, dy, dw)) convolution_weight_grad_by_taps(dw, dy, x, p);
}

}  // namespace ambit::cpu
