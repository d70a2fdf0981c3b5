#include "conv_onednn.h"

#include <ambit/detail/packed_constants.h>

#include <algorithm>
#include <array>

#include "backends/cpu/layout/channels_last.h"
#include "backends/cpu/runtime/onednn.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/scratch.h"
#include "conv_padding.h"
#include "conv_parts.h"

namespace ambit::cpu {
namespace {

using dnnl::memory;
using onednn::Kind;
using onednn::Plan;

/// Maximal number of parts of images or rows of a result: enough for many cores.
constexpr int64_t kMostParts = 16;

/// Return the maximal number of parts of the weight gradient; each needs memory for all weights.
int64_t most_sums(const ConvSizes& g) {
  const int64_t images = g.N * (g.C * g.x_plane() + g.K * g.y_plane()), weights = g.K * g.taps();
  return std::clamp<int64_t>(images / weights, 2, kMostParts / 2);
}

/// Return the sizes of the weights for oneDNN: with a leading dim of groups if there are several.
Dims weight_sizes(const ConvSizes& g) {
  Dims sizes = g.groups == 1 ? Dims{g.K, g.C} : Dims{g.groups, g.Kg, g.Cg};
  if (g.dims == 3) sizes.push_back(g.T);
  sizes.push_back(g.R);
  sizes.push_back(g.S);
  return sizes;
}

/// One pass of a convolution, in parts. With several parts, or if `keeps_weights`, the weights are
/// converted once to the layout that the first part prefers.
class Pass {
 public:
  Pass(Kind kind, const char* op, const ConvSizes& g, const Tensor& x, const Tensor& y,
       bool bias = false, bool keeps_weights = false)
      : kind_(kind),
        op_(op),
        g_(g),
        x_(x),
        y_(y),
        bias_(bias),
        dtype_(x.dtype()),
        parts_(g, kind == Kind::convolution_input_grad ? ConvParts::Own::x : ConvParts::Own::y,
               kind == Kind::convolution_weight_grad ? most_sums(g) : kMostParts),
        weights_(onednn::describe(dtype_, weight_sizes(g))),
        packed_(parts_.count() == 1 && !keeps_weights ? weights_
                                                      : packing().wanted(packed_argument())) {}

  int64_t parts() const { return parts_.count(); }
  bool packs() const { return packed_ != weights_; }
  /// Return memory for the packed form of constant weights.
  PackedConstants::Form kept_weights(const void* w) const {
    constexpr int64_t kOneDnn = 2;
    const auto layout = static_cast<int64_t>(key(Role::packing, parts_[0]).hash());
    return PackedConstants::find(w,
                                 {kOneDnn, layout, g_.K, g_.C, g_.T, g_.R, g_.S, g_.groups,
                                  static_cast<int64_t>(packed_bytes())},
                                 packed_bytes());
  }
  /// Bytes of the packed weights.
  size_t packed_bytes() const { return packed_.get_size(); }
  void pack(void* packed, const void* w) const { packing().run({w, packed}); }
  void unpack(void* w, const void* packed) const { packing().run({packed, w}); }
  /// Return true if oneDNN's implementation is correct and tuned.
  bool suits() const { return is_right() && (dtype_ == kFloat32 || plan(0).is_tuned()); }
  /// Return true if oneDNN may multiply weights or dy with zeros for padding. Its implementations
  /// by im2col and by AMX do, and those for bfloat16 weight gradients. For gradients of x, these
  /// are zeros around dy, also without padding of x.
  bool multiplies_padding() const;

  /// Return the calling thread's plan of part i; weights are packed.
  Plan& plan(int64_t i) const { return plan(i, packs() ? Role::part : Role::whole); }
  void* x(int64_t i) const { return row(x_, parts_[i].image, parts_[i].x_row); }
  void* y(int64_t i) const { return row(y_, parts_[i].image, parts_[i].y_row); }

 private:
  /// Purpose of a plan: the whole pass, a part with packed weights, or packing the weights.
  enum class Role : int64_t { whole, part, packing };

  void* row(const Tensor& t, int64_t image, int64_t i) const {
    const int64_t element = image * t.strides()[0] + i * t.strides()[split_dim()];
    return static_cast<char*>(t.data_ptr()) + element * static_cast<int64_t>(element_size(dtype_));
  }
  /// Return the dim along which images are split into parts.
  size_t split_dim() const { return g_.dims - 1 + g_.outermost(); }
  /// Return the sizes of `images` images of t with `rows` rows each.
  Dims sizes_of(const Tensor& t, int64_t images, int64_t rows) const;
  /// Return the last g_.dims entries of a list for D, H, W.
  memory::dims spatial(const std::array<int64_t, 3>& list) const {
    return {list.end() - static_cast<std::ptrdiff_t>(g_.dims), list.end()};
  }
  int weights_argument() const {
    return computes_weights() ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS;
  }
  /// Return true if this pass computes the gradient of the weights.
  bool computes_weights() const { return kind_ == Kind::convolution_weight_grad; }
  /// Return true if oneDNN 2.6's kernels are correct for this pass. Weight gradients read or write
  /// out of bounds if depth is padded by more than its stride and that stride is above 1. Those of
  /// bfloat16 also fail with padded depth, with any dilation, with single-tap strided windows over
  /// channels that do not fill a block, and where a tap reads only padding (dw is then not
  /// written). Gradients of x in bfloat16 fail for odd numbers of channels, which are processed in
  /// pairs.
  bool is_right() const;
  /// Return true if each tap reads an element of x in each part.
  bool uses_each_tap() const;
  int packed_argument() const { return computes_weights() ? DNNL_ARG_FROM : DNNL_ARG_TO; }
  onednn::Key key(Role role, const ConvPart& part) const;
  Plan& plan(int64_t i, Role role) const;
  Plan make(const ConvPart& part, const memory::desc& weights) const;
  Plan& packing() const;

  const Kind kind_;
  const char* const op_;
  const ConvSizes& g_;
  const Tensor &x_, &y_;
  const bool bias_;
  const DType dtype_;
  const ConvParts parts_;
  const memory::desc weights_, packed_;  // row-major, and in the layout of the parts
};

Dims Pass::sizes_of(const Tensor& t, int64_t images, int64_t rows) const {
  Dims sizes(t.sizes());
  sizes[0] = images;
  sizes[split_dim()] = rows;
  return sizes;
}

bool Pass::is_right() const {
  const int64_t depth_padding = g_.padding[0], depth_stride = g_.stride[0];
  if (computes_weights() && depth_stride > 1 && depth_padding > depth_stride) return false;
  if (dtype_ == kFloat32) return true;
  if (kind_ == Kind::convolution_input_grad) return g_.Kg % 2 == 0;
  if (!computes_weights()) return true;
  const bool skips = g_.taps() == g_.Cg && std::ranges::max(g_.stride) > 1;
  return depth_padding == 0 && std::ranges::max(g_.dilation) == 1 && !(skips && g_.Cg % 16 != 0) &&
         uses_each_tap();
}

bool Pass::multiplies_padding() const {
  if (kind_ == Kind::convolution_input_grad) {
    return dtype_ == kBFloat16 && g_.taps() > 1 && plan(0).multiplies_padding();
  }
  if (std::ranges::max(g_.padding) == 0) return false;
  return (dtype_ == kBFloat16 && computes_weights()) || plan(0).multiplies_padding();
}

bool Pass::uses_each_tap() const {
  const int64_t windows[] = {g_.T, g_.R, g_.S};
  const auto uses_taps = [&](size_t d, int64_t inputs, int64_t outputs, int64_t padding) {
    for (int64_t tap = 0; tap < windows[d]; ++tap) {
      const int64_t first = tap * g_.dilation[d] - padding;  // index in x for y's first element
      const int64_t at =
          first + std::max<int64_t>(ceil_div(-first, g_.stride[d]), 0) * g_.stride[d];
      if (at >= inputs || at > first + (outputs - 1) * g_.stride[d]) return false;
    }
    return true;
  };
  const int64_t inputs[] = {g_.D, g_.H, g_.W}, outputs[] = {g_.O, g_.P, g_.Q};
  for (size_t d = 3 - g_.dims; d < 3; ++d) {
    if (d != g_.outermost() && !uses_taps(d, inputs[d], outputs[d], g_.padding[d])) return false;
  }
  for (int64_t i = 0; i < parts(); ++i) {
    const ConvPart part = parts_[i];
    if (!uses_taps(g_.outermost(), part.x_rows, part.y_rows, part.padding_top)) return false;
  }
  return true;
}

onednn::Key Pass::key(Role role, const ConvPart& part) const {
  onednn::Key key(kind_);
  key.add(static_cast<int64_t>(role));
  key.add({g_.C, g_.W, g_.K, g_.R, g_.S, g_.Q, g_.groups});
  key.add({g_.stride[1], g_.stride[2], g_.padding[2], g_.dilation[1], g_.dilation[2]});
  key.add(bias_ | has_channels_last_strides(x_) << 1 | has_channels_last_strides(y_) << 2 |
          (dtype_ == kBFloat16) << 3);
  // The strides of a row-major image do not contain its height.
  key.add({g_.H, g_.P});
  if (g_.dims == 3) key.add({g_.D, g_.T, g_.O, g_.stride[0], g_.padding[1], g_.dilation[0]});
  const ConvPart first = parts_[0];  // determines the layout of packed weights
  for (const ConvPart& p : {part, first}) {
    key.add({p.images, p.x_rows, p.y_rows, p.padding_top, p.padding_bottom});
  }
  return key;
}

Plan& Pass::plan(int64_t i, Role role) const {
  const ConvPart part = parts_[i];
  return onednn::cached(op_, key(role, part),
                        [&] { return make(part, role == Role::part ? packed_ : weights_); });
}

Plan Pass::make(const ConvPart& part, const memory::desc& weights) const {
  const Dims x_sizes = sizes_of(x_, part.images, part.x_rows),
             y_sizes = sizes_of(y_, part.images, part.y_rows);
  const memory::desc x = onednn::describe(dtype_, x_sizes, x_.strides()),
                     y = onednn::describe(dtype_, y_sizes, y_.strides());
  std::array<int64_t, 3> before = g_.padding, after = g_.padding;
  before[g_.outermost()] = part.padding_top;
  after[g_.outermost()] = part.padding_bottom;
  const onednn::Convolution best{.x = onednn::channels_last(dtype_, x_sizes),
                                 .w = onednn::any_layout(dtype_, weight_sizes(g_)),
                                 .dw = onednn::any_layout(kFloat32, weight_sizes(g_)),
                                 .bias = bias_ ? onednn::describe(dtype_, {g_.K}) : memory::desc(),
                                 .y = onednn::channels_last(dtype_, y_sizes),
                                 .stride = spatial(g_.stride),
                                 .dilation = spatial(g_.dilation),
                                 .padding_begin = spatial(before),
                                 .padding_end = spatial(after)};
  Plan made(op_);
  switch (kind_) {
    case Kind::convolution: {
      const auto primitive = onednn::convolution(best);
      made.input(DNNL_ARG_SRC, x, primitive.src_desc());
      made.input(DNNL_ARG_WEIGHTS, weights, primitive.weights_desc());
      if (bias_) made.input(DNNL_ARG_BIAS, best.bias, best.bias);
      made.output(DNNL_ARG_DST, y, primitive.dst_desc());
      made.made_by(primitive.impl_info_str());
      made.finish(dnnl::convolution_forward(primitive), primitive.scratchpad_desc());
      break;
    }
    case Kind::convolution_input_grad: {
      const auto primitive = onednn::convolution_input_grad(best);
      made.input(DNNL_ARG_DIFF_DST, y, primitive.diff_dst_desc());
      made.input(DNNL_ARG_WEIGHTS, weights, primitive.weights_desc());
      made.output(DNNL_ARG_DIFF_SRC, x, primitive.diff_src_desc());
      made.made_by(primitive.impl_info_str());
      made.finish(dnnl::convolution_backward_data(primitive), primitive.scratchpad_desc());
      break;
    }
    case Kind::convolution_weight_grad: {
      const auto primitive = onednn::convolution_weight_grad(best);
      made.input(DNNL_ARG_DIFF_DST, y, primitive.diff_dst_desc());
      made.input(DNNL_ARG_SRC, x, primitive.src_desc());
      made.output(DNNL_ARG_DIFF_WEIGHTS, weights, primitive.diff_weights_desc());
      made.made_by(primitive.impl_info_str());
      made.finish(dnnl::convolution_backward_weights(primitive), primitive.scratchpad_desc());
      break;
    }
    case Kind::matmul_bfloat16:  // not a convolution
      break;
  }
  return made;
}

/// Return the plan that packs weights in the first part's preferred layout, or unpacks its result.
Plan& Pass::packing() const {
  return onednn::cached(op_, key(Role::packing, parts_[0]), [&] {
    const memory::desc packed = make(parts_[0], weights_).wanted(weights_argument());
    const memory::desc &from = computes_weights() ? packed : weights_,
                       &to = computes_weights() ? weights_ : packed;
    Plan made(op_);
    made.input(DNNL_ARG_FROM, from, from);
    made.output(DNNL_ARG_TO, to, to);
    made.finish(onednn::reorder(from, to), {});
    return made;
  });
}

/// The weights in the layout of a pass.
class PackedWeights {
 public:
  PackedWeights(const Pass& pass, const void* w)
      : kept_(pass.packs() ? pass.kept_weights(w) : PackedConstants::Form()),
        scratch_(pass.packs() && !kept_.data ? pass.packed_bytes() : 0),
        data_(w) {
    if (!pass.packs()) return;
    void* const packed = kept_.data ? kept_.data : scratch_.data();
    if (!kept_.data || kept_.is_new) pass.pack(packed, w);
    data_ = packed;
  }
  const void* data() const { return data_; }

 private:
  const PackedConstants::Form kept_;
  Scratch scratch_;
  const void* data_;
};

/// Call f(i) for each part of a pass, on all threads.
template <class F>
void for_parts(const Pass& pass, const F& f) {
  parallel_for(pass.parts(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i);
  });
}

/// Add all rows of [parts, size] to the first one.
void add_rows(float* rows, int64_t parts, int64_t size) {
  parallel_for(size, grain_for(parts), [&](int64_t begin, int64_t end) {
    for (int64_t part = 1; part < parts; ++part) {
      const float* from = rows + part * size;
      for (int64_t i = begin; i < end; ++i) rows[i] += from[i];
    }
  });
}

/// to [K,C/groups,reversed taps] = w [C,K/groups,taps], for a gradient computed as a convolution.
void reverse_taps(const ConvSizes& forward, float* to, const float* w) {
  const int64_t window = forward.T * forward.R * forward.S;
  parallel_for(forward.K, grain_for(forward.Cg * window), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const int64_t group = k / forward.Kg;
      for (int64_t c = 0; c < forward.Cg; ++c) {
        const float* from = w + ((group * forward.Cg + c) * forward.Kg + k % forward.Kg) * window;
        std::reverse_copy(from, from + window, to + (k * forward.Cg + c) * window);
      }
    }
  });
}

}  // namespace

bool onednn_conv(const ConvSizes& g, const Tensor& y, const Tensor& x, const Tensor& w,
                 const Tensor& b) {
  const bool keeps = PackedConstants::keeps(w.data_ptr(), w.nbytes());
  const Pass pass(Kind::convolution, "convolution", g, x, y, b.defined(), keeps);
  if (!pass.suits()) return false;
  const PackedWeights weights(pass, w.data_ptr());
  for_parts(pass, [&](int64_t i) {
    if (b.defined()) {
      pass.plan(i).run({pass.x(i), weights.data(), b.data_ptr(), pass.y(i)});
    } else {
      pass.plan(i).run({pass.x(i), weights.data(), pass.y(i)});
    }
  });
  return !pass.multiplies_padding() || !has_spoiled_padding(g, w, y);
}

bool onednn_conv_input_grad(const ConvSizes& g, const Tensor& dx, const Tensor& dy,
                            const Tensor& w) {
  const Pass pass(Kind::convolution_input_grad, "convolution_input_grad", g, dx, dy);
  if (!pass.suits()) return false;
  const PackedWeights weights(pass, w.data_ptr());
  for_parts(pass, [&](int64_t i) { pass.plan(i).run({pass.y(i), weights.data(), pass.x(i)}); });
  return !pass.multiplies_padding() || !has_spoiled_zeros(w, dx);
}

bool onednn_conv_weight_grad(const ConvSizes& g, const Tensor& dw, const Tensor& dy,
                             const Tensor& x) {
  const Pass pass(Kind::convolution_weight_grad, "convolution_weight_grad", g, x, dy);
  if (!pass.suits()) return false;
  if (pass.parts() == 1) {
    pass.plan(0).run({pass.y(0), pass.x(0), dw.data_ptr()});
  } else {
    // Partial sums are float32 for every dtype.
    const auto size = static_cast<int64_t>(pass.packed_bytes() / sizeof(float));
    const Scratch sums(static_cast<size_t>(pass.parts()) * pass.packed_bytes());
    for_parts(pass, [&](int64_t i) {
      pass.plan(i).run({pass.y(i), pass.x(i), sums.data<float>() + i * size});
    });
    add_rows(sums.data<float>(), pass.parts(), size);
    pass.unpack(dw.data_ptr(), sums.data<float>());
  }
  return !pass.multiplies_padding() || !has_spoiled_padding(g, dy, dw);
}

bool onednn_conv_input_grad_as_forward(const ConvSizes& forward, const Tensor& dx, const Tensor& dy,
                                       const Tensor& w) {
  const Pass pass(Kind::convolution, "convolution_input_grad", forward, dy, dx);
  const Scratch reversed_w(w.nbytes());
  reverse_taps(forward, reversed_w.data<float>(), w.data_ptr<float>());
  const PackedWeights weights(pass, reversed_w.data());
  for_parts(pass, [&](int64_t i) { pass.plan(i).run({pass.x(i), weights.data(), pass.y(i)}); });
  return !pass.multiplies_padding() || !has_spoiled_padding(forward, w, dx);
}

}  // namespace ambit::cpu
