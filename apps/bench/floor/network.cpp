#include "network.h"

#include "fastest.h"

namespace bench::floor {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;
using tag = memory::format_tag;

memory::desc any_layout(const memory::dims& sizes) { return describe(sizes, tag::any); }
memory::desc channels_last(const memory::dims& sizes) { return describe(sizes, tag::nhwc); }

}  // namespace

std::vector<float> Parameter::read() const {
  std::vector<float> values(given.get_size() / sizeof(float));
  const memory rows = allocate(row_major(value.get_desc().dims()));
  copy(value, rows);
  copy(view(rows, ordered), memory(given, engine(), values.data()));
  return values;
}

Network::Network(const memory& input, Gradients gradients) : gradients_(gradients) {
  y_ = forward_.add_reorder(input, channels_last(input.get_desc().dims()));
}

prop_kind Network::kind() const {
  return gradients_ == Gradients::none ? prop_kind::forward_inference : prop_kind::forward_training;
}

void Network::add_parameter(const memory& values, const memory::desc& given,
                            const memory::desc& ordered, const memory::desc& wanted) {
  const memory rows = allocate(row_major(wanted.dims()));
  copy(view(values, given), view(rows, ordered));
  parameters_.push_back({allocate(wanted), {}, given, ordered});
  copy(rows, parameters_.back().value);
}

size_t Network::add_parameters(const memory& weight, const memory::desc& wanted,
                               const memory& bias) {
  const memory::desc w = weight.get_desc(), b = bias.get_desc();
  if (image_sizes_.empty()) {
    add_parameter(weight, w, w, wanted);
  } else {
    memory::dims sizes = image_sizes_;
    sizes[0] = w.dims()[0];
    add_parameter(weight, row_major(sizes), channels_last(sizes), wanted);
    image_sizes_.clear();
  }
  add_parameter(bias, b, b, b);
  return parameters_.size() - 2;
}

void Network::conv(const memory& weight, const memory& bias, int64_t padding) {
  const memory x = y_;
  const memory::dims in = x.get_desc().dims(), w = weight.get_desc().dims();
  const memory::dims out{in[0], w[0], in[2] + 2 * padding - w[2] + 1,
                         in[3] + 2 * padding - w[3] + 1};
  const memory::dims stride{1, 1}, pad{padding, padding};
  const memory::desc any = any_layout(w), b = bias.get_desc(), y = channels_last(out);
  const auto forward = fastest<dnnl::convolution_forward>(
      {{kind(), algorithm::convolution_direct, x.get_desc(), any, b, y, stride, pad, pad},
       engine()},
      {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_DST});
  const size_t i = add_parameters(weight, forward.desc.weights_desc(), bias);
  const memory value = parameters_[i].value;
  y_ = allocate(y);
  forward_.add(forward.primitive, {{DNNL_ARG_SRC, x},
                                   {DNNL_ARG_WEIGHTS, value},
                                   {DNNL_ARG_BIAS, parameters_[i + 1].value},
                                   {DNNL_ARG_DST, y_}});

  backwards_.push_back([=, this, first = backwards_.empty()](const memory& dy) {
    const auto weight_grad = fastest<dnnl::convolution_backward_weights>(
        {{algorithm::convolution_direct, x.get_desc(), any, b, y, stride, pad, pad},
         engine(),
         forward.desc},
        {DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_BIAS});
    const memory dw = allocate(weight_grad.desc.diff_weights_desc()), db = allocate(b);
    backward_.add(weight_grad.primitive, {{DNNL_ARG_SRC, x},
                                          {DNNL_ARG_DIFF_DST, dy},
                                          {DNNL_ARG_DIFF_WEIGHTS, dw},
                                          {DNNL_ARG_DIFF_BIAS, db}});
    parameters_[i].grad = backward_.add_reorder(dw, value.get_desc());
    parameters_[i + 1].grad = db;
    if (first && gradients_ != Gradients::parameters_and_input) return memory();

    const auto input_grad = fastest<dnnl::convolution_backward_data>(
        {{algorithm::convolution_direct, x.get_desc(), any, y, stride, pad, pad},
         engine(),
         forward.desc},
        {DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC});
    const memory dx = allocate(x.get_desc());
    const memory weights = backward_.add_reorder(value, input_grad.desc.weights_desc());
    backward_.add(input_grad.primitive,
                  {{DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DIFF_SRC, dx}});
    return dx;
  });
}

void Network::relu() {
  const memory y = y_;  // both passes work in place
  const dnnl::eltwise_forward::primitive_desc forward(
      {kind(), algorithm::eltwise_relu, y.get_desc(), 0.0f}, engine());
  forward_.add(dnnl::eltwise_forward(forward), {{DNNL_ARG_SRC, y}, {DNNL_ARG_DST, y}});

  backwards_.push_back([=, this](const memory& dy) {
    const dnnl::eltwise_backward::primitive_desc backward(
        {algorithm::eltwise_relu_use_dst_for_bwd, dy.get_desc(), y.get_desc(), 0.0f}, engine(),
        forward);
    backward_.add(dnnl::eltwise_backward(backward),
                  {{DNNL_ARG_DST, y}, {DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_SRC, dy}});
    return dy;
  });
}

void Network::max_pool() {
  const memory x = y_;
  const memory::dims in = x.get_desc().dims(), two{2, 2}, none{0, 0};
  const memory::desc y = channels_last({in[0], in[1], in[2] / 2, in[3] / 2});
  const dnnl::pooling_forward::primitive_desc forward(
      {kind(), algorithm::pooling_max, x.get_desc(), y, two, two, none, none}, engine());
  y_ = allocate(y);
  if (gradients_ == Gradients::none) {
    forward_.add(dnnl::pooling_forward(forward), {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y_}});
    return;
  }
  const memory places = allocate(forward.workspace_desc());
  forward_.add(dnnl::pooling_forward(forward),
               {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y_}, {DNNL_ARG_WORKSPACE, places}});

  backwards_.push_back([=, this](const memory& dy) {
    const dnnl::pooling_backward::primitive_desc backward(
        {algorithm::pooling_max, x.get_desc(), y, two, two, none, none}, engine(), forward);
    const memory dx = allocate(x.get_desc());
    backward_.add(dnnl::pooling_backward(backward),
                  {{DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_WORKSPACE, places}, {DNNL_ARG_DIFF_SRC, dx}});
    return dx;
  });
}

// oneDNN accepts images directly, but then uses its slower gemm and reorders the weights for the
// gradient.
void Network::flatten() {
  const memory::desc images = y_.get_desc();
  image_sizes_ = images.dims();
  const int64_t rows = image_sizes_[0];
  y_ = view(y_, row_major({rows, static_cast<int64_t>(images.get_size() / sizeof(float)) / rows}));
  backwards_.push_back([images](const memory& dy) { return view(dy, images); });
}

void Network::linear(const memory& weight, const memory& bias) {
  const memory x = y_;
  const memory::dims w = weight.get_desc().dims();
  const memory::desc b = bias.get_desc(), y = row_major({x.get_desc().dims()[0], w[0]});
  // oneDNN's blocked layouts make the forward pass faster, but the gradients of few rows slower.
  const bool few = gradients_ != Gradients::none && y.dims()[0] < 16;
  const auto forward = fastest<dnnl::inner_product_forward>(
      {{kind(), x.get_desc(), few ? row_major(w) : any_layout(w), b, y}, engine()},
      {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_DST});
  const memory::desc layout = forward.desc.weights_desc();
  const size_t i = add_parameters(weight, layout, bias);
  const memory value = parameters_[i].value;
  y_ = allocate(y);
  forward_.add(forward.primitive, {{DNNL_ARG_SRC, x},
                                   {DNNL_ARG_WEIGHTS, value},
                                   {DNNL_ARG_BIAS, parameters_[i + 1].value},
                                   {DNNL_ARG_DST, y_}});

  backwards_.push_back([=, this](const memory& dy) {
    // Keep the layout: for matrices of this size, reorders cost more than they gain.
    const auto weight_grad = fastest<dnnl::inner_product_backward_weights>(
        {{x.get_desc(), layout, b, y}, engine(), forward.desc},
        {DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_BIAS});
    parameters_[i].grad = allocate(layout);
    parameters_[i + 1].grad = allocate(b);
    backward_.add(weight_grad.primitive, {{DNNL_ARG_SRC, x},
                                          {DNNL_ARG_DIFF_DST, dy},
                                          {DNNL_ARG_DIFF_WEIGHTS, parameters_[i].grad},
                                          {DNNL_ARG_DIFF_BIAS, parameters_[i + 1].grad}});

    const auto input_grad = fastest<dnnl::inner_product_backward_data>(
        {{x.get_desc(), layout, y}, engine(), forward.desc},
        {DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC});
    const memory dx = allocate(x.get_desc());
    backward_.add(input_grad.primitive,
                  {{DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_WEIGHTS, value}, {DNNL_ARG_DIFF_SRC, dx}});
    return dx;
  });
}

void Network::make_backward(const memory& output_grad) {
  memory grad = backward_.add_reorder(output_grad, y_.get_desc());
  for (auto layer = backwards_.rbegin(); layer != backwards_.rend(); ++layer) grad = (*layer)(grad);
}

}  // namespace bench::floor
