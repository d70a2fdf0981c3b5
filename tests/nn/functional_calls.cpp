// Calls of nn::functional for the table of agreement: activations, losses, layers as functions.
// layers_test and aten_functions_test test functions with random numbers.
#include <ambit/ambit.h>

#include "tests/tables/agreement_calls.h"

using namespace ambit;
using namespace agreement;
namespace F = nn::functional;

namespace {

#define OF_A(f) RESULT(f, F::f(o.a)), RESULT(f, F::f(o.unit))

std::vector<Call> activation_calls() {
  return {
      OF_A(elu),
      RESULT(elu, F::elu(o.a, 0.7), F::elu(MADE(o.a.clone()), 0.7, true)),
      OF_A(selu),
      OF_A(celu),
      RESULT(celu, F::celu(o.a, 0.7)),
      OF_A(leaky_relu),
      full_only(RESULT(prelu, F::prelu(o.a, o.unit[0]))),
      OF_A(rrelu),
      OF_A(relu6),
      RESULT(relu6, F::relu6(o.n)),
      OF_A(hardtanh),
      OF_A(silu),
      OF_A(hardsigmoid),
      OF_A(hardswish),
      OF_A(mish),
      OF_A(softplus),
      RESULT(softplus, F::softplus(o.a, 2, 1)),
      OF_A(logsigmoid),
      OF_A(softsign),
      OF_A(tanhshrink),
      OF_A(hardshrink),
      OF_A(softshrink),
      RESULT(threshold, F::threshold(o.a, 0.1, 20)),
      with_dims(RESULT(glu, F::glu(MADE(cat({o.a, o.unit}, 1))))),
      with_dims(RESULT(softmin, F::softmin(o.a, 1))),
      RESULT(silu_, silu_(MADE(o.a.clone()))),
      RESULT(mish_, mish_(MADE(o.a.clone()))),
      RESULT(gelu_, gelu_(MADE(o.a.clone())), gelu_(MADE(o.a.clone()), "tanh")),
  };
}

/// Targets -1 and 1, for margin losses, and targets 0 and 1.
Tensor signs(const Operands& o) { return MADE(o.yes.to(o.a.dtype()) * 2 - 1); }
Tensor flags(const Operands& o) { return MADE(o.yes.to(o.a.dtype())); }
Tensor classes(const Operands& o) { return MADE(o.m.select(1, 0).remainder(5)); }

#define LOSS(f, ...) RESULT(f, F::f(__VA_ARGS__), F::f(__VA_ARGS__, Reduction::none))

std::vector<Call> loss_calls() {
  return {
      LOSS(l1_loss, o.a, o.unit),
      LOSS(smooth_l1_loss, o.a, o.unit),
      RESULT(smooth_l1_loss, F::smooth_l1_loss(o.a, o.unit, Reduction::sum, 0.3)),
      LOSS(huber_loss, o.a, o.unit),
      RESULT(huber_loss, F::huber_loss(o.a, o.unit, Reduction::sum, 0.3)),
      RESULT(binary_cross_entropy, F::binary_cross_entropy(o.unit, flags(o)),
             F::binary_cross_entropy(o.unit, o.unit * 0.5, o.unit, Reduction::none)),
      RESULT(binary_cross_entropy_with_logits, F::binary_cross_entropy_with_logits(o.a, o.unit),
             F::binary_cross_entropy_with_logits(o.a, o.unit, o.unit, Reduction::sum, o.unit)),
      LOSS(kl_div, o.a, o.unit),
      RESULT(kl_div, F::kl_div(o.a, o.unit * 0.5, Reduction::sum, true)),
      RESULT(hinge_embedding_loss, F::hinge_embedding_loss(o.a, signs(o))),
      RESULT(margin_ranking_loss, F::margin_ranking_loss(o.a, o.unit, signs(o), 0.25)),
      full_only(RESULT(cosine_embedding_loss,
                       F::cosine_embedding_loss(o.a, o.unit, signs(o).select(1, 0), 0.125))),
      LOSS(soft_margin_loss, o.a, signs(o)),
      with_dims(RESULT(multilabel_soft_margin_loss, F::multilabel_soft_margin_loss(o.a, flags(o)),
                       F::multilabel_soft_margin_loss(o.a, flags(o), o.unit))),
      full_only(RESULT(multi_margin_loss, F::multi_margin_loss(o.a, classes(o)),
                       F::multi_margin_loss(o.a, classes(o), 2, 0.5, o.unit[0]))),
      full_only(
          RESULT(multilabel_margin_loss, F::multilabel_margin_loss(o.a, MADE(o.n.clamp(-1, 4))))),
      RESULT(poisson_nll_loss, F::poisson_nll_loss(o.a, o.unit),
             F::poisson_nll_loss(o.unit, o.unit * 4, false, true)),
      RESULT(pairwise_distance, F::pairwise_distance(o.a, o.unit)),
      with_dims(
          RESULT(pairwise_distance, F::pairwise_distance(o.a, o.unit, 1, 1e-6, /*keepdim=*/true))),
      with_dims(RESULT(cosine_similarity, F::cosine_similarity(o.a, o.unit))),
      with_dims(RESULT(normalize, F::normalize(o.a), F::normalize(o.a, 1, 0))),
      with_dims(RESULT(triplet_margin_loss,
                       F::triplet_margin_loss(o.a, o.unit, MADE(o.unit.flip({0}))),
                       F::triplet_margin_loss(o.a, o.unit, o.unit * 2, 1, 2, 1e-6, /*swap=*/true))),
      with_dims(RESULT(
          triplet_margin_with_distance_loss,
          F::triplet_margin_with_distance_loss(o.a, o.unit, MADE(o.unit.flip({0})), nullptr))),
  };
}

Tensor lines(const Tensor& t) { return t.unsqueeze(0); }
Tensor plane(const Tensor& t) { return t.unsqueeze(0).unsqueeze(0); }
Tensor box(const Tensor& t) { return plane(t).unsqueeze(0); }
/// Positions inside and outside of an image.
Tensor places(const Tensor& t) { return MADE(stack({t, t * 0.5}, -1).unsqueeze(0)); }
/// Weights [rows E, E] of recurrent cells and projections of E features.
Tensor weights(const Operands& o, int64_t rows) {
  return MADE(o.unit.narrow(0, 0, rows).repeat({o.unit.size(1), 1}));
}

std::vector<Tensor> attend(const Operands& o) {
  const Tensor q = o.a.unsqueeze(1), kv = o.unit.unsqueeze(1);
  const F::MultiheadAttentionForwardFuncOptions options(q.size(2), 1, weights(o, 3), {}, {}, {},
                                                        /*add_zero_attn=*/false, /*dropout_p=*/0,
                                                        weights(o, 1), {});
  const auto [y, w] = F::multi_head_attention_forward(q, kv, kv, options);
  return {y, w};
}

std::vector<Tensor> run_lstm(const Operands& o) {
  const Tensor start = MADE(zeros({1, 1, o.a.size(1)}, o.a.options()));
  const Tensor w = weights(o, 4);
  const auto [y, h, c] =
      lstm(o.a.unsqueeze(1), {start, start}, {w, w}, false, 1, 0, false, false, false);
  return {y, h, c};
}
std::vector<Tensor> run_lstm_cell(const Operands& o) {
  const auto [h, c] = lstm_cell(o.a, {o.unit, o.a}, weights(o, 4), weights(o, 4));
  return {h, c};
}

std::vector<Call> layer_calls() {
  return {
      full_only(Call{"multi_head_attention_forward", attend}),
      full_only(Call{"lstm", run_lstm}),
      full_only(Call{"lstm_cell", run_lstm_cell}),
      full_only(RESULT(gru_cell, gru_cell(o.a, o.unit, weights(o, 3), weights(o, 3)))),
      full_only(RESULT(rnn_tanh_cell, rnn_tanh_cell(o.a, o.unit, weights(o, 1), weights(o, 1)))),
      full_only(RESULT(rnn_relu_cell, rnn_relu_cell(o.a, o.unit, weights(o, 1), weights(o, 1)))),
      full_only(RESULT(bilinear, F::bilinear(o.a.narrow(0, 0, 4), o.unit.narrow(0, 0, 4),
                                             weights(o, 1).unsqueeze(0)))),
      full_only(RESULT(instance_norm, F::instance_norm(plane(o.a)))),
      with_dims(RESULT(local_response_norm, F::local_response_norm(lines(o.a), 2, 0.5))),
      full_only(RESULT(
          embedding_bag, F::embedding_bag(MADE(o.m.remainder(4)), o.a),
          F::embedding_bag(MADE(o.m.remainder(4)), o.a, F::EmbeddingBagFuncOptions().mode(kMax)))),
      full_only(RESULT(embedding_renorm_, embedding_renorm_(MADE(o.a.detach().clone()),
                                                            MADE(o.m.remainder(4)), 1, 2))),
      full_only(RESULT(conv_tbc, conv_tbc(o.a.unsqueeze(1), o.unit.narrow(0, 0, 2).unsqueeze(2),
                                          o.unit.select(1, 0).narrow(0, 0, 1), 1))),
  };
}

std::vector<Call> image_calls() {
  using Size = std::vector<int64_t>;
  const auto sized = [](Size size, nn::InterpolationMode mode) {
    return F::InterpolateFuncOptions().size(std::move(size)).mode(mode);
  };
  static const auto kLines = sized({13}, kLinear), kArea2 = sized({3, 2}, kArea),
                    kCubic = sized({8, 9}, kBicubic);
  return {
      full_only(RESULT(interpolate, F::interpolate(lines(o.a), kLines),
                       F::interpolate(plane(o.a), kArea2), F::interpolate(plane(o.a), kCubic))),
      full_only(RESULT(grid_sample, F::grid_sample(plane(o.a), places(o.a)))),
      full_only(RESULT(grid_sampler_2d, grid_sampler_2d(plane(o.a), places(o.a), 0, 1, true))),
      full_only(RESULT(
          grid_sampler_3d,
          grid_sampler_3d(box(o.a),
                          MADE(stack({o.a, o.a * 0.5, o.a * 0.25}, -1)).unsqueeze(0).unsqueeze(0),
                          0, 0, false))),
      full_only(RESULT(
          max_unpool1d,
          F::max_unpool1d(o.a.narrow(1, 0, 2),
                          MADE(tensor({1, 2}, o.m.device()).expand({o.a.size(0), 2}).contiguous()),
                          F::MaxUnpool1dFuncOptions(2)))),
      full_only(
          Call{"fractional_max_pool2d_with_indices",
               [](const Operands& o) {
                 const auto [y, at] = F::fractional_max_pool2d_with_indices(
                     plane(o.a),
                     F::FractionalMaxPool2dFuncOptions(2).output_size({{2, 3}})._random_samples(
                         MADE(full({1, 1, 2}, 0.25, o.a.options()))));
                 return std::vector<Tensor>{y, at};
               }}),
      full_only(Call{"fractional_max_pool3d_with_indices",
                     [](const Operands& o) {
                       const auto [y, at] = F::fractional_max_pool3d_with_indices(
                           box(o.a),
                           F::FractionalMaxPool3dFuncOptions({1, 2, 2})
                               .output_size({{1, 2, 3}})
                               ._random_samples(MADE(full({1, 1, 3}, 0.25, o.a.options()))));
                       return std::vector<Tensor>{y, at};
                     }}),
      full_only(RESULT(lp_pool1d, F::lp_pool1d(lines(o.a), F::LPPool1dFuncOptions(2, 2)))),
      full_only(RESULT(lp_pool2d, F::lp_pool2d(plane(o.a), F::LPPool2dFuncOptions(2, 2)))),
      full_only(RESULT(lp_pool3d, F::lp_pool3d(box(o.a), F::LPPool3dFuncOptions(2, {1, 2, 2})))),
      with_dims(
          RESULT(pad, F::pad(o.a, F::PadFuncOptions({1, 2}).value(3)), pad(o.a, {1, 0, 0, 2}))),
      full_only(RESULT(pad, F::pad(lines(o.a), F::PadFuncOptions({1, 2}).mode(kReflect)),
                       pad(lines(o.a), {1, 2}, "circular"))),
      with_dims(RESULT(constant_pad_nd, constant_pad_nd(o.a, {1, -1}, 2))),
      full_only(RESULT(reflection_pad1d, reflection_pad1d(lines(o.a), {2, 1}))),
      full_only(RESULT(reflection_pad2d, reflection_pad2d(plane(o.a), {2, 1, 1, 1}))),
      full_only(RESULT(reflection_pad3d,
                       reflection_pad3d(o.a.expand({1, 2, -1, -1}), {2, 1, 1, 1, 1, 0}))),
      full_only(RESULT(replication_pad1d, replication_pad1d(lines(o.a), {2, 1}))),
      full_only(RESULT(replication_pad2d, replication_pad2d(plane(o.a), {2, 1, 1, 1}))),
      full_only(RESULT(replication_pad3d, replication_pad3d(plane(o.a), {2, 1, 1, 1, 1, 0}))),
      full_only(RESULT(pixel_shuffle, F::pixel_shuffle(o.a.expand({4, -1, -1}), 2))),
      full_only(RESULT(pixel_unshuffle,
                       F::pixel_unshuffle(lines(o.a.narrow(0, 0, 4).narrow(1, 0, 4)), 2))),
      full_only(RESULT(channel_shuffle, channel_shuffle(o.a.expand({1, 4, -1, -1}), 2))),
  };
}

const CallTable<Call> kActivations(activation_calls), kLosses(loss_calls), kLayers(layer_calls),
    kImages(image_calls);

}  // namespace
