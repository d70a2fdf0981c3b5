// 2-D convolution and its gradients: oneDNN for float32 with many channels, conv_direct.h else.
#include "backends/cpu/kernels.h"
#include "backends/cpu/layout/channels_last.h"
#include "backends/cpu/layout/native_scope.h"
#include "backends/cpu/runtime/onednn.h"
#include "backends/cpu/runtime/parallel.h"
#include "conv_direct.h"
#include "conv_sizes.h"

namespace ambit::cpu {
namespace {

// oneDNN's vectors hold 16 channels of the result. Where those fill them it is faster, as measured,
// from little work on. Where they do not, the own loops are, whose vectors hold pixels, but for
// much work on what would have to be brought back to row-major first.
bool prefers_onednn(const Tensor& x, const ConvSizes& g, int64_t channels, bool even_for_few) {
  const bool many = channels >= 16;
  const int64_t enough = int64_t{1} << (many ? 18 : 23);
  return x.dtype() == kFloat32 && (many || (even_for_few && channels >= 4)) && g.work() >= enough;
}

/// oneDNN takes all threads that it is given, however small the work. Its primitives must run on as
/// many as they were made for: where there are fewer, those wait for the others for ever.
int threads_for(const ConvSizes& g) {
  return g.work() < 2 * kProductGrain ? 1 : available_threads();
}

/// The weights with a dim of groups, as oneDNN wants them, where there are several.
Dims weight_sizes(const ConvSizes& g) {
  if (g.groups == 1) return {g.K, g.C, g.R, g.S};
  return {g.groups, g.Kg, g.Cg, g.R, g.S};
}

/// x and y as given; where one lies row-major, oneDNN brings it to channels-last and back.
onednn::Key key_of(onednn::Kind kind, const ConvSizes& g, const Tensor& x, const Tensor& y,
                   bool bias = false) {
  onednn::Key key(kind);
  key.add({g.N, g.C, g.H, g.W, g.K, g.R, g.S, g.P, g.Q, g.groups, threads_for(g)});
  key.add(bias | has_channels_last_strides(x) << 1 | has_channels_last_strides(y) << 2);
  for (const Pair& pair : {g.p.stride, g.p.padding, g.p.dilation}) key.add({pair[0], pair[1]});
  return key;
}

/// The operands as they lie, and as oneDNN likes them best.
struct Layouts {
  Layouts(const ConvSizes& g, const Tensor& given_x, const Tensor& given_y, bool bias)
      : x(onednn::describe(given_x.sizes(), given_x.strides())),
        w(onednn::describe(weight_sizes(g))),
        y(onednn::describe(given_y.sizes(), given_y.strides())),
        best{onednn::channels_last(given_x.sizes()), onednn::any_layout(weight_sizes(g)),
             bias ? onednn::describe({g.K}) : dnnl::memory::desc(),
             onednn::channels_last(given_y.sizes()), g.p} {}
  dnnl::memory::desc x, w, y;
  onednn::Convolution best;
};

void onednn_conv(const ConvSizes& g, const Tensor& y, const Tensor& x, const Tensor& w,
                 const Tensor& b) {
  const bool bias = b.defined();
  const onednn::Threads threads(threads_for(g));
  const onednn::Key key = key_of(onednn::Kind::conv2d, g, x, y, bias);
  onednn::Plan& plan = onednn::cached("conv2d", key, [&] {
    const Layouts layouts(g, x, y, bias);
    const auto primitive = onednn::convolution(layouts.best);
    onednn::Plan made("conv2d");
    made.input(DNNL_ARG_SRC, layouts.x, primitive.src_desc());
    made.input(DNNL_ARG_WEIGHTS, layouts.w, primitive.weights_desc());
    if (bias) made.input(DNNL_ARG_BIAS, layouts.best.bias, layouts.best.bias);
    made.output(DNNL_ARG_DST, layouts.y, primitive.dst_desc());
    made.finish(dnnl::convolution_forward(primitive), primitive.scratchpad_desc());
    return made;
  });
  if (bias) {
    plan.run({x.data_ptr(), w.data_ptr(), b.data_ptr(), y.data_ptr()});
  } else {
    plan.run({x.data_ptr(), w.data_ptr(), y.data_ptr()});
  }
}

void onednn_input_grad(const ConvSizes& g, const Tensor& dx, const Tensor& dy, const Tensor& w) {
  const onednn::Threads threads(threads_for(g));
  const onednn::Key key = key_of(onednn::Kind::conv2d_input_grad, g, dx, dy);
  onednn::Plan& plan = onednn::cached("conv2d_input_grad", key, [&] {
    const Layouts layouts(g, dx, dy, false);
    const auto primitive = onednn::convolution_input_grad(layouts.best);
    onednn::Plan made("conv2d_input_grad");
    made.input(DNNL_ARG_DIFF_DST, layouts.y, primitive.diff_dst_desc());
    made.input(DNNL_ARG_WEIGHTS, layouts.w, primitive.weights_desc());
    made.output(DNNL_ARG_DIFF_SRC, layouts.x, primitive.diff_src_desc());
    made.finish(dnnl::convolution_backward_data(primitive), primitive.scratchpad_desc());
    return made;
  });
  plan.run({dy.data_ptr(), w.data_ptr(), dx.data_ptr()});
}

void onednn_weight_grad(const ConvSizes& g, const Tensor& dw, const Tensor& dy, const Tensor& x) {
  const onednn::Threads threads(threads_for(g));
  const onednn::Key key = key_of(onednn::Kind::conv2d_weight_grad, g, x, dy);
  onednn::Plan& plan = onednn::cached("conv2d_weight_grad", key, [&] {
    const Layouts layouts(g, x, dy, false);
    const auto primitive = onednn::convolution_weight_grad(layouts.best);
    onednn::Plan made("conv2d_weight_grad");
    made.input(DNNL_ARG_DIFF_DST, layouts.y, primitive.diff_dst_desc());
    made.input(DNNL_ARG_SRC, layouts.x, primitive.src_desc());
    made.output(DNNL_ARG_DIFF_WEIGHTS, layouts.w, primitive.diff_weights_desc());
    made.finish(dnnl::convolution_backward_weights(primitive), primitive.scratchpad_desc());
    return made;
  });
  plan.run({dy.data_ptr(), x.data_ptr(), dw.data_ptr()});
}

}  // namespace

// y [N,K,P,Q], x [N,C,H,W], w [K,C/groups,R,S], b [K]
void conv2d(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b, const Conv2dParams& p) {
  if (y.numel() == 0) return;
  const ConvSizes g(x.sizes(), w.sizes(), y.sizes(), p);
  if (prefers_onednn(x, g, g.Kg, is_channels_last(x))) {
    // w may be another convolution's result; Layouts has it row-major.
    const NativeScope native({.outputs = {&y}, .row_major = {&w, &b}, .inputs = {&x}});
    return onednn_conv(g, native.output(0), native.input(0), w, b);
  }
  visit<dtypes::kFloating>(x.dtype(), [&]<class T>() {
    direct_conv<T>(g, y.data_ptr<T>(), x.data_ptr<T>(), w.data_ptr<T>(),
                   b.defined() ? b.data_ptr<T>() : nullptr);
  });
}

// dx [N,C,H,W], dy [N,K,P,Q], w [K,C/groups,R,S]
void conv2d_input_grad(Tensor& dx, const Tensor& dy, const Tensor& w, const Conv2dParams& p) {
  if (dy.numel() == 0 || w.numel() == 0) return fill(dx, 0);
  const ConvSizes g(dx.sizes(), w.sizes(), dy.sizes(), p);
  if (prefers_onednn(dx, g, g.Cg, false)) {
    const NativeScope native({.outputs = {&dx}, .row_major = {&w}, .inputs = {&dy}});
    return onednn_input_grad(g, native.output(0), native.input(0), w);
  }
  visit<dtypes::kFloating>(dx.dtype(), [&]<class T>() {
    direct_conv_input_grad<T>(g, dx.data_ptr<T>(), dy.data_ptr<T>(), w.data_ptr<T>());
  });
}

// dw [K,C/groups,R,S], dy [N,K,P,Q], x [N,C,H,W]
void conv2d_weight_grad(Tensor& dw, const Tensor& dy, const Tensor& x, const Conv2dParams& p) {
  if (dy.numel() == 0 || dw.numel() == 0) return fill(dw, 0);
  const ConvSizes g(x.sizes(), dw.sizes(), dy.sizes(), p);
  if (prefers_onednn(x, g, g.Kg, is_channels_last(dy))) {
    const NativeScope native({.row_major = {&dw}, .inputs = {&dy, &x}});
    return onednn_weight_grad(g, dw, native.input(0), native.input(1));
  }
  visit<dtypes::kFloating>(x.dtype(), [&]<class T>() {
    direct_conv_weight_grad<T>(g, dw.data_ptr<T>(), dy.data_ptr<T>(), x.data_ptr<T>());
  });
}

}  // namespace ambit::cpu
