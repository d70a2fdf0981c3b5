#include <fmt/format.h>

#include "kernels.h"

namespace ambit::graph::capturing {
namespace {

size_t spatial(const Tensor& x) { return x.sizes().size() - 2; }

Dims out_of(const Tensor& y) {
  return Dims(IntArrayRef(y.sizes().data() + 2, y.sizes().size() - 2));
}

}  // namespace

void Writer::linear(const Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b) {
  const json weight = r_.tensor(w), bias = r_.optional(b);
  give(y, "linear.default", {{"input", r_.tensor(x)}, {"weight", weight}, {"bias", bias}});
}

void Writer::linear_map(const Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b,
                        const ActivationParams& map) {
  linear(y, x, w, b);
  unary(y, y, map.op);
}

void Writer::convolution(const Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b,
                         const ConvParams& p) {
  const size_t n = spatial(x);
  const json weight = r_.tensor(w), bias = r_.optional(b);
  give(y, "convolution.default",
       {{"input", r_.tensor(x)},
        {"weight", weight},
        {"bias", bias},
        {"stride", ints(p.stride.of(n))},
        {"padding", ints(p.padding.of(n))},
        {"dilation", ints(p.dilation.of(n))},
        {"transposed", flag(false)},
        {"output_padding", ints(Dims(n))},
        {"groups", integer(p.groups)}});
}

void Writer::convolution_map(const Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b,
                             const ConvParams& p, const ActivationParams& map) {
  convolution(y, x, w, b, p);
  unary(y, y, map.op);
}

// The transposed convolution.
void Writer::convolution_input_grad(const Tensor& dx, const Tensor& dy, const Tensor& w,
                                    const ConvParams& p) {
  const size_t n = spatial(dy);
  Dims output_padding;
  for (size_t i = 0; i < n; ++i) {
    const int64_t size = (dy.sizes()[i + 2] - 1) * p.stride[i] - 2 * p.padding[i] +
                         p.dilation[i] * (w.sizes()[i + 2] - 1) + 1;
    output_padding.push_back(dx.sizes()[i + 2] - size);
  }
  const json weight = r_.tensor(w);
  give(dx, "convolution.default",
       {{"input", r_.tensor(dy)},
        {"weight", weight},
        {"bias", none()},
        {"stride", ints(p.stride.of(n))},
        {"padding", ints(p.padding.of(n))},
        {"dilation", ints(p.dilation.of(n))},
        {"transposed", flag(true)},
        {"output_padding", ints(output_padding)},
        {"groups", integer(p.groups)}});
}

void Writer::max_pool(const Tensor& y, const Tensor& index, const Tensor& x, const PoolParams& p) {
  const size_t n = spatial(x);
  const bool gives_index = n != 1 || p.adaptive || index.defined();
  std::string function = fmt::format("max_pool{}d{}", n, gives_index ? "_with_indices" : "");
  std::vector<Named> arguments{{"self", r_.tensor(x)}};
  if (p.adaptive) {
    function = fmt::format("adaptive_max_pool{}d", n);
    arguments.push_back({"output_size", ints(out_of(y))});
  } else {
    arguments.insert(arguments.end(), {{"kernel_size", ints(p.kernel.of(n))},
                                       {"stride", ints(p.stride.of(n))},
                                       {"padding", ints(p.padding.of(n))},
                                       {"dilation", ints(p.dilation.of(n))},
                                       {"ceil_mode", flag(p.ceil_mode)}});
  }
  std::vector<std::pair<DType, Dims>> results{{y.dtype(), Dims(y.sizes())}};
  if (gives_index) results.emplace_back(kInt64, Dims(y.sizes()));
  const auto names = r_.call_many(function + ".default", std::move(arguments), results);
  r_.write(y, names[0]);
  if (!index.defined()) return;
  give(index, "to.dtype", {{"self", Recorder::value(names[1])}, {"dtype", type(index.dtype())}});
}

void Writer::avg_pool(const Tensor& y, const Tensor& x, const PoolParams& p) {
  const size_t n = spatial(x);
  if (p.adaptive) {
    return give(y, fmt::format("adaptive_avg_pool{}d.default", n),
                {{"self", r_.tensor(x)}, {"output_size", ints(out_of(y))}});
  }
  std::vector<Named> arguments{
      {"self", r_.tensor(x)},           {"kernel_size", ints(p.kernel.of(n))},
      {"stride", ints(p.stride.of(n))}, {"padding", ints(p.padding.of(n))},
      {"ceil_mode", flag(p.ceil_mode)}, {"count_include_pad", flag(p.count_include_pad)}};
  if (p.divisor != 0 && n == 1) r_.refuse("windows of one dim without a divisor");
  if (p.divisor != 0) arguments.push_back({"divisor_override", integer(p.divisor)});
  give(y, fmt::format("avg_pool{}d.default", n), std::move(arguments));
}

void Writer::interpolate(const Tensor& y, const Tensor& x, const InterpolateParams& p) {
  using Mode = InterpolateParams::Mode;
  const size_t n = spatial(x);
  constexpr const char* kLinear[] = {"linear1d", "bilinear2d", "trilinear3d"};
  const bool is_nearest = p.mode == Mode::nearest;
  if (p.mode == Mode::nearest_exact || (p.mode == Mode::cubic && n != 2)) {
    r_.refuse("interpolation that is nearest, linear or bicubic");
  }
  std::string function = fmt::format("nearest{}d", n);
  if (p.mode == Mode::linear) function = kLinear[n - 1];
  if (p.mode == Mode::cubic) function = "bicubic2d";
  std::vector<double> factors;
  for (size_t i = 0; i < n && p.scale[i] != 0; ++i) factors.push_back(p.scale[i]);
  json scale = none(), size = ints(out_of(y));
  if (factors.size() == n) {
    scale = json::object();
    scale["as_floats"] = factors;
    size = none();
  }
  std::vector<Named> arguments{{"input", r_.tensor(x)}, {"output_size", size}};
  if (!is_nearest) arguments.push_back({"align_corners", flag(p.align_corners)});
  arguments.push_back({"scale_factors", scale});
  give(y, fmt::format("upsample_{}.vec", function), std::move(arguments));
}

void Writer::softmax(const Tensor& y, const Tensor& x, int64_t dim, bool log) {
  give(y, log ? "log_softmax.int" : "softmax.int", {{"self", r_.tensor(x)}, {"dim", integer(dim)}});
}

void Writer::batch_norm(const Tensor& y, const Tensor& mean, const Tensor& invstd,
                        const Tensor& running_mean, const Tensor& running_var, const Tensor& x,
                        const Tensor& w, const Tensor& b, const BatchNormParams& p) {
  const json weight = r_.optional(w), bias = r_.optional(b);
  if (p.training && running_mean.defined()) {
    r_.refuse("batch norms in evaluation (call eval() before capture)");
  }
  r_.forget(mean);
  r_.forget(invstd);
  give(y, "batch_norm.default",
       {{"input", r_.tensor(x)},
        {"weight", weight},
        {"bias", bias},
        {"running_mean", r_.optional(running_mean)},
        {"running_var", r_.optional(running_var)},
        {"training", flag(p.training)},
        {"momentum", real(p.momentum)},
        {"eps", real(p.eps)},
        {"cudnn_enabled", flag(false)}});
}

void Writer::layer_norm(const Tensor& y, const Tensor& mean, const Tensor& invstd, const Tensor& x,
                        const Tensor& w, const Tensor& b, double eps, bool centered) {
  r_.forget(mean);
  r_.forget(invstd);
  const json weight = r_.optional(w);
  std::vector<Named> arguments{
      {"input", r_.tensor(x)}, {"normalized_shape", ints(x.sizes().back())}, {"weight", weight}};
  if (centered) arguments.push_back({"bias", r_.optional(b)});
  if (!centered && b.defined()) r_.refuse("RMS norms without a bias");
  arguments.push_back({"eps", real(eps)});
  give(y, centered ? "layer_norm.default" : "rms_norm.default", std::move(arguments));
}

void Writer::group_norm(const Tensor& y, const Tensor& mean, const Tensor& invstd, const Tensor& x,
                        const Tensor& w, const Tensor& b, double eps) {
  const int64_t groups = mean.size(1);
  r_.forget(mean);
  r_.forget(invstd);
  const json weight = r_.optional(w), bias = r_.optional(b);
  give(y, "group_norm.default",
       {{"input", r_.tensor(x)},
        {"num_groups", integer(groups)},
        {"weight", weight},
        {"bias", bias},
        {"eps", real(eps)}});
}

void Writer::attention(const Tensor& y, const Tensor& lse, const Tensor& q, const Tensor& k,
                       const Tensor& v, const Tensor& mask, const AttentionParams& p) {
  r_.forget(lse);
  give(y, "scaled_dot_product_attention.default",
       {{"query", r_.tensor(q)},
        {"key", r_.tensor(k)},
        {"value", r_.tensor(v)},
        {"attn_mask", r_.optional(mask)},
        {"dropout_p", real(0)},
        {"is_causal", flag(p.causal)},
        {"scale", real(p.scale)}});
}

// torch.export has functions for whole cells, but they also compute the products, which are
// separate kernels here.
void Writer::lstm_cell(const Tensor& h, const Tensor& c, const Tensor& gates, const Tensor& a,
                       const Tensor& b, const Tensor& c0) {
  const DType d = h.dtype();
  const int64_t size = h.size(1);
  const json left = r_.tensor(a), right = r_.tensor(b), state = r_.tensor(c0);
  r_.forget(gates);
  const auto binary = [&](const char* target, const std::string& x, const std::string& other) {
    return r_.call(target, {{"self", Recorder::value(x)}, {"other", Recorder::value(other)}}, d,
                   h.sizes());
  };
  const std::string all = r_.call("add.Tensor", {{"self", left}, {"other", right}}, d, a.sizes());
  std::vector<std::string> parts;
  for (int64_t i = 0; i < 4; ++i) {
    const std::string part = r_.call("slice.Tensor",
                                     {{"self", Recorder::value(all)},
                                      {"dim", integer(1)},
                                      {"start", integer(i * size)},
                                      {"end", integer((i + 1) * size)}},
                                     d, h.sizes());
    parts.push_back(call_unary(part, i == 2 ? UnaryOp::tanh : UnaryOp::sigmoid, d, h.sizes()));
  }
  const std::string kept = binary("mul.Tensor", parts[1], state.at("as_tensor").at("name"));
  const std::string cell = binary("add.Tensor", kept, binary("mul.Tensor", parts[0], parts[2]));
  const std::string squashed = call_unary(cell, UnaryOp::tanh, d, h.sizes());
  r_.write(c, cell);
  r_.write(h, binary("mul.Tensor", parts[3], squashed));
}

void Writer::gru_cell(const Tensor& h, const Tensor& gates, const Tensor& a, const Tensor& b,
                      const Tensor& h0) {
  const DType d = h.dtype();
  const int64_t size = h.size(1);
  const std::string left = r_.read(a), right = r_.read(b), before = r_.read(h0);
  r_.forget(gates);
  const auto binary = [&](const char* target, const std::string& x, const std::string& other) {
    return r_.call(target, {{"self", Recorder::value(x)}, {"other", Recorder::value(other)}}, d,
                   h.sizes());
  };
  const auto third = [&](const std::string& x, int64_t i) {
    return r_.call("slice.Tensor",
                   {{"self", Recorder::value(x)},
                    {"dim", integer(1)},
                    {"start", integer(i * size)},
                    {"end", integer((i + 1) * size)}},
                   d, h.sizes());
  };
  const auto gate = [&](int64_t i) {
    return call_unary(binary("add.Tensor", third(left, i), third(right, i)), UnaryOp::sigmoid, d,
                      h.sizes());
  };
  const std::string r = gate(0), z = gate(1);
  const std::string hidden = binary("mul.Tensor", r, third(right, 2));
  const std::string n =
      call_unary(binary("add.Tensor", third(left, 2), hidden), UnaryOp::tanh, d, h.sizes());
  const std::string change = binary("mul.Tensor", z, binary("sub.Tensor", before, n));
  r_.write(h, binary("add.Tensor", n, change));
}

}  // namespace ambit::graph::capturing
