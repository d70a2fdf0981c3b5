// 2-D convolution and its gradients: oneDNN for float32 with many channels, conv_direct.h else.
#include "conv_direct.h"
#include "kernels.h"
#include "onednn.h"
#include "parallel.h"

namespace ambit::cpu {
namespace {

enum Tag : int64_t { kForward = 200, kInputGrad, kWeightGrad };

/// Whether oneDNN is faster, as measured: the channels of the result must fill its blocks of 16,
/// and the work pay for bringing the data into its layout and back.
bool prefers_onednn(const Tensor& x, const ConvGeometry& g, int64_t channels) {
  return x.dtype() == kFloat32 && channels >= 16 && g.work() >= (int64_t{1} << 18);
}

/// oneDNN takes all threads that it is given, however small the work.
int threads_for(const ConvGeometry& g) {
  return g.work() < 2 * kProductGrain ? 1 : get_num_threads();
}

/// The weights with a dim of groups, as oneDNN wants them, where there are several.
Dims weight_sizes(const ConvGeometry& g) {
  if (g.groups == 1) return {g.K, g.C, g.R, g.S};
  return {g.groups, g.Kg, g.Cg, g.R, g.S};
}

onednn::Key key_of(Tag tag, const ConvGeometry& g, bool bias = false) {
  onednn::Key key(tag);
  key.add({g.N, g.C, g.H, g.W, g.K, g.R, g.S, g.P, g.Q, g.groups, bias, threads_for(g)});
  for (const Pair& pair : {g.p.stride, g.p.padding, g.p.dilation}) key.add({pair[0], pair[1]});
  return key;
}

/// The operands as they lie, and as oneDNN likes them best.
struct Layouts {
  explicit Layouts(const ConvGeometry& g, bool bias)
      : x(onednn::describe({g.N, g.C, g.H, g.W})),
        w(onednn::describe(weight_sizes(g))),
        y(onednn::describe({g.N, g.K, g.P, g.Q})),
        best{onednn::any_layout({g.N, g.C, g.H, g.W}), onednn::any_layout(weight_sizes(g)),
             bias ? onednn::describe({g.K}) : dnnl::memory::desc(),
             onednn::any_layout({g.N, g.K, g.P, g.Q}), g.p} {}
  dnnl::memory::desc x, w, y;
  onednn::Convolution best;
};

void onednn_conv(const ConvGeometry& g, float* y, const float* x, const float* w, const float* b) {
  const onednn::Threads threads(threads_for(g));
  onednn::Plan& plan = onednn::cached("conv2d", key_of(kForward, g, b), [&] {
    const Layouts layouts(g, b);
    const auto primitive = onednn::convolution(layouts.best);
    onednn::Plan made("conv2d");
    made.input(DNNL_ARG_SRC, layouts.x, primitive.src_desc());
    made.input(DNNL_ARG_WEIGHTS, layouts.w, primitive.weights_desc());
    if (b) made.input(DNNL_ARG_BIAS, layouts.best.bias, layouts.best.bias);
    made.output(DNNL_ARG_DST, layouts.y, primitive.dst_desc());
    made.finish(dnnl::convolution_forward(primitive), primitive.scratchpad_desc());
    return made;
  });
  if (b) {
    plan.run({x, w, b, y});
  } else {
    plan.run({x, w, y});
  }
}

void onednn_input_grad(const ConvGeometry& g, float* dx, const float* dy, const float* w) {
  const onednn::Threads threads(threads_for(g));
  onednn::Plan& plan = onednn::cached("conv2d_input_grad", key_of(kInputGrad, g), [&] {
    const Layouts layouts(g, false);
    const auto primitive = onednn::convolution_input_grad(layouts.best);
    onednn::Plan made("conv2d_input_grad");
    made.input(DNNL_ARG_DIFF_DST, layouts.y, primitive.diff_dst_desc());
    made.input(DNNL_ARG_WEIGHTS, layouts.w, primitive.weights_desc());
    made.output(DNNL_ARG_DIFF_SRC, layouts.x, primitive.diff_src_desc());
    made.finish(dnnl::convolution_backward_data(primitive), primitive.scratchpad_desc());
    return made;
  });
  plan.run({dy, w, dx});
}

void onednn_weight_grad(const ConvGeometry& g, float* dw, const float* dy, const float* x) {
  const onednn::Threads threads(threads_for(g));
  onednn::Plan& plan = onednn::cached("conv2d_weight_grad", key_of(kWeightGrad, g), [&] {
    const Layouts layouts(g, false);
    const auto primitive = onednn::convolution_weight_grad(layouts.best);
    onednn::Plan made("conv2d_weight_grad");
    made.input(DNNL_ARG_DIFF_DST, layouts.y, primitive.diff_dst_desc());
    made.input(DNNL_ARG_SRC, layouts.x, primitive.src_desc());
    made.output(DNNL_ARG_DIFF_WEIGHTS, layouts.w, primitive.diff_weights_desc());
    made.finish(dnnl::convolution_backward_weights(primitive), primitive.scratchpad_desc());
    return made;
  });
  plan.run({dy, x, dw});
}

}  // namespace

// y [N,K,P,Q], x [N,C,H,W], w [K,C/groups,R,S], b [K]
void conv2d(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b, const Conv2dParams& p) {
  if (y.numel() == 0) return;
  const ConvGeometry g(x.sizes(), w.sizes(), y.sizes(), p);
  const auto run = [&]<class T>(auto&& convolve) {
    convolve(g, y.data_ptr<T>(), x.data_ptr<T>(), w.data_ptr<T>(),
             b.defined() ? b.data_ptr<T>() : nullptr);
  };
  if (prefers_onednn(x, g, g.Kg)) return run.operator()<float>(onednn_conv);
  if (x.dtype() == kFloat32) return run.operator()<float>(direct_conv<float>);
  run.operator()<double>(direct_conv<double>);
}

// dx [N,C,H,W], dy [N,K,P,Q], w [K,C/groups,R,S]
void conv2d_input_grad(Tensor& dx, const Tensor& dy, const Tensor& w, const Conv2dParams& p) {
  if (dy.numel() == 0 || w.numel() == 0) return fill(dx, 0);
  const ConvGeometry g(dx.sizes(), w.sizes(), dy.sizes(), p);
  const auto run = [&]<class T>(auto&& convolve) {
    convolve(g, dx.data_ptr<T>(), dy.data_ptr<T>(), w.data_ptr<T>());
  };
  if (prefers_onednn(dx, g, std::min(g.Cg, g.Kg))) return run.operator()<float>(onednn_input_grad);
  if (dx.dtype() == kFloat32) return run.operator()<float>(direct_conv_input_grad<float>);
  run.operator()<double>(direct_conv_input_grad<double>);
}

// dw [K,C/groups,R,S], dy [N,K,P,Q], x [N,C,H,W]
void conv2d_weight_grad(Tensor& dw, const Tensor& dy, const Tensor& x, const Conv2dParams& p) {
  if (dy.numel() == 0 || dw.numel() == 0) return fill(dw, 0);
  const ConvGeometry g(x.sizes(), dw.sizes(), dy.sizes(), p);
  const auto run = [&]<class T>(auto&& convolve) {
    convolve(g, dw.data_ptr<T>(), dy.data_ptr<T>(), x.data_ptr<T>());
  };
  if (prefers_onednn(x, g, g.Kg)) return run.operator()<float>(onednn_weight_grad);
  if (x.dtype() == kFloat32) return run.operator()<float>(direct_conv_weight_grad<float>);
  run.operator()<double>(direct_conv_weight_grad<double>);
}

}  // namespace ambit::cpu
