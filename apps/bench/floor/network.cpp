#include "network.h"

namespace bench::floor {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;
using tag = memory::format_tag;

const memory::dims kNoPadding{0, 0}, kTwo{2, 2};

memory::desc any_layout(const memory& data) { return describe(data.get_desc().dims(), tag::any); }

/// Channels-last.
memory::desc activation(const memory::dims& sizes) {
  return describe(sizes, sizes.size() == 4 ? tag::nhwc : tag::nc);
}

void copy(memory from, memory to) {
  dnnl::reorder(from, to).execute(stream(), from, to);
}

}  // namespace

std::vector<float> Parameter::read() const {
  std::vector<float> values(plain.get_size() / sizeof(float));
  copy(value, memory(plain, engine(), values.data()));
  return values;
}

Network::Network(const memory& input, bool training) : training_(training) {
  y_ = forward_.add_reorder(input, activation(input.get_desc().dims()));
}

size_t Network::add_parameter(const memory& plain, const memory::desc& wanted) {
  Parameter made{allocate(wanted), {}, plain.get_desc()};
  copy(plain, made.value);
  parameters_.push_back(made);
  return parameters_.size() - 1;
}

void Network::conv(const memory& weight, const memory& bias, int64_t padding) {
  const memory x = y_;
  const memory::dims in = x.get_desc().dims(), w = weight.get_desc().dims();
  const memory::dims out{in[0], w[0], in[2] + 2 * padding - w[2] + 1,
                         in[3] + 2 * padding - w[3] + 1};
  const memory::dims stride{1, 1}, pad{padding, padding};
  const memory::desc any = any_layout(weight), b = bias.get_desc();
  const dnnl::convolution_forward::primitive_desc forward(
      {training_ ? prop_kind::forward_training : prop_kind::forward_inference,
       algorithm::convolution_direct, x.get_desc(), any, b, activation(out), stride, pad, pad},
      engine());
  y_ = allocate(forward.dst_desc());
  const size_t i = add_parameter(weight, forward.weights_desc());
  add_parameter(bias, b);
  const memory value = parameters_[i].value;
  forward_.add(dnnl::convolution_forward(forward), {{DNNL_ARG_SRC, x},
                                                    {DNNL_ARG_WEIGHTS, value},
                                                    {DNNL_ARG_BIAS, parameters_[i + 1].value},
                                                    {DNNL_ARG_DST, y_}});
  backwards_.push_back([=, this, first = backwards_.empty()](const memory& dy) {
    const dnnl::convolution_backward_weights::primitive_desc of_weights(
        {algorithm::convolution_direct, x.get_desc(), any, b, dy.get_desc(), stride, pad, pad},
        engine(), forward);
    const memory dw = allocate(of_weights.diff_weights_desc()), db = allocate(b);
    backward_.add(dnnl::convolution_backward_weights(of_weights), {{DNNL_ARG_SRC, x},
                                                                   {DNNL_ARG_DIFF_DST, dy},
                                                                   {DNNL_ARG_DIFF_WEIGHTS, dw},
                                                                   {DNNL_ARG_DIFF_BIAS, db}});
    parameters_[i].grad = backward_.add_reorder(dw, value.get_desc());
    parameters_[i + 1].grad = db;
    if (first) return memory();  // nobody asks for the gradient of the images

    const dnnl::convolution_backward_data::primitive_desc of_data(
        {algorithm::convolution_direct, x.get_desc(), any, dy.get_desc(), stride, pad, pad},
        engine(), forward);
    const memory dx = allocate(of_data.diff_src_desc());
    const memory weights = backward_.add_reorder(value, of_data.weights_desc());
    backward_.add(
        dnnl::convolution_backward_data(of_data),
        {{DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DIFF_SRC, dx}});
    return dx;
  });
}

void Network::relu() {
  const memory y = y_;
  const auto kind = algorithm::eltwise_relu_use_dst_for_bwd;  // so that it can work in place
  const dnnl::eltwise_forward::primitive_desc forward(
      {training_ ? prop_kind::forward_training : prop_kind::forward_inference,
       training_ ? kind : algorithm::eltwise_relu, y.get_desc(), 0.0f},
      engine());
  forward_.add(dnnl::eltwise_forward(forward), {{DNNL_ARG_SRC, y}, {DNNL_ARG_DST, y}});
  backwards_.push_back([=, this](const memory& dy) {
    const dnnl::eltwise_backward::primitive_desc backward(
        {kind, dy.get_desc(), y.get_desc(), 0.0f}, engine(), forward);
    backward_.add(dnnl::eltwise_backward(backward),
                  {{DNNL_ARG_DST, y}, {DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_SRC, dy}});
    return dy;
  });
}

void Network::max_pool() {
  const memory x = y_;
  const memory::dims in = x.get_desc().dims();
  const memory::desc out = activation({in[0], in[1], in[2] / 2, in[3] / 2});
  const dnnl::pooling_forward::primitive_desc forward(
      {training_ ? prop_kind::forward_training : prop_kind::forward_inference,
       algorithm::pooling_max, x.get_desc(), out, kTwo, kTwo, kNoPadding, kNoPadding},
      engine());
  y_ = allocate(out);
  if (!training_) {
    forward_.add(dnnl::pooling_forward(forward), {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y_}});
    return;
  }
  const memory places = allocate(forward.workspace_desc());
  forward_.add(dnnl::pooling_forward(forward),
               {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y_}, {DNNL_ARG_WORKSPACE, places}});
  backwards_.push_back([=, this](const memory& dy) {
    const dnnl::pooling_backward::primitive_desc backward(
        {algorithm::pooling_max, x.get_desc(), dy.get_desc(), kTwo, kTwo, kNoPadding, kNoPadding},
        engine(), forward);
    const memory dx = allocate(x.get_desc());
    backward_.add(dnnl::pooling_backward(backward),
                  {{DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_WORKSPACE, places}, {DNNL_ARG_DIFF_SRC, dx}});
    return dx;
  });
}

void Network::linear(const memory& weight, const memory& bias) {
  const memory x = y_;
  // The first linear layer takes the channels-last images as they are; in its weights, columns are
  // (channel, row, column), as in the view that flattens plain images.
  memory::dims in = x.get_desc().dims(), w = in;
  const int64_t outputs = weight.get_desc().dims()[0];
  w[0] = outputs;
  const memory given(describe(w, w.size() == 4 ? tag::oihw : tag::oi), engine(),
                     weight.get_data_handle());
  const memory::desc any = describe(w, tag::any), b = bias.get_desc();
  const memory::desc out = activation({in[0], outputs});
  const dnnl::inner_product_forward::primitive_desc forward(
      {training_ ? prop_kind::forward_training : prop_kind::forward_inference, x.get_desc(), any, b,
       out},
      engine());
  y_ = allocate(out);
  const size_t i = add_parameter(given, forward.weights_desc());
  add_parameter(bias, b);
  const memory value = parameters_[i].value;
  forward_.add(dnnl::inner_product_forward(forward), {{DNNL_ARG_SRC, x},
                                                      {DNNL_ARG_WEIGHTS, value},
                                                      {DNNL_ARG_BIAS, parameters_[i + 1].value},
                                                      {DNNL_ARG_DST, y_}});
  backwards_.push_back([=, this](const memory& dy) {
    const dnnl::inner_product_backward_weights::primitive_desc of_weights(
        {x.get_desc(), any, b, dy.get_desc()}, engine(), forward);
    const memory dw = allocate(of_weights.diff_weights_desc()), db = allocate(b);
    backward_.add(dnnl::inner_product_backward_weights(of_weights), {{DNNL_ARG_SRC, x},
                                                                     {DNNL_ARG_DIFF_DST, dy},
                                                                     {DNNL_ARG_DIFF_WEIGHTS, dw},
                                                                     {DNNL_ARG_DIFF_BIAS, db}});
    parameters_[i].grad = backward_.add_reorder(dw, value.get_desc());
    parameters_[i + 1].grad = db;

    const dnnl::inner_product_backward_data::primitive_desc of_data(
        {x.get_desc(), any, dy.get_desc()}, engine(), forward);
    const memory dx = allocate(x.get_desc());
    const memory weights = backward_.add_reorder(value, of_data.weights_desc());
    backward_.add(
        dnnl::inner_product_backward_data(of_data),
        {{DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DIFF_SRC, dx}});
    return dx;
  });
}

void Network::make_backward() {
  output_grad_ = allocate(y_.get_desc());
  memory grad = output_grad_;
  for (auto layer = backwards_.rbegin(); layer != backwards_.rend(); ++layer) grad = (*layer)(grad);
}

}  // namespace bench::floor
