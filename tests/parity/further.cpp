// CTC, adaptive softmax, attention's function, options of normalisations, functions of layers
// outside of nn::functional, quantiles, windows, reflections.
#include "calls.h"

using namespace parity;

namespace nn = torch::nn;
namespace F = torch::nn::functional;

PARITY(further_losses) {
  const Tensor padded = torch::tensor({1, 2, 2, 3, 1, 0, 2, 0, 0}, torch::kLong).view({3, 3});
  const Tensor in = torch::tensor({5, 4, 3}, torch::kLong),
               out = torch::tensor({3, 2, 1}, torch::kLong);
  const auto loss = [=](const Tensor& x, const F::CTCLossFuncOptions& options) {
    return F::ctc_loss(torch::log_softmax(x, 2), padded, in, out, options);
  };
  const Call calls[] = {
      {"ctc mean", [=](const List& a) { return loss(a[0], {}); }, {x({5, 3, 4})}, 64},
      {"ctc each",
       [=](const List& a) { return loss(a[0], F::CTCLossFuncOptions().reduction(torch::kNone)); },
       {x({5, 3, 4})},
       64},
      {"ctc zero_infinity",
       [=](const List& a) {
         return nn::CTCLoss(nn::CTCLossOptions().blank(1).zero_infinity(true))(
             torch::log_softmax(a[0], 2), padded, torch::tensor({2, 4, 3}, torch::kLong), out);
       },
       {x({5, 3, 4})},
       64},
      {"ctc of lists",
       [=](const List& a) {
         return torch::ctc_loss(torch::log_softmax(a[0], 2),
                                torch::tensor({1, 2, 3, 1}, torch::kInt), {5, 4, 3}, {1, 2, 1});
       },
       {x({5, 3, 4})},
       64},
  };
  for (const Call& call : calls) run(call);
  const auto refused = [&](const char* what, std::vector<int64_t> lengths, int64_t blank) {
    report_refusal(what, [=] {
      torch::ctc_loss(torch::zeros({5, 3, 4}), padded, lengths, {3, 2, 1}, blank);
    });
  };
  refused("too long", {6, 4, 3}, 0);
  refused("too few lengths", {5, 4}, 0);
  refused("no such blank", {5, 4, 3}, 4);
}

PARITY(further_layers) {
  nn::AdaptiveLogSoftmaxWithLoss m(
      nn::AdaptiveLogSoftmaxWithLossOptions(6, 9, {3, 5}).div_value(2).head_bias(true));
  m->to(torch::kDouble);
  fill(*m, 0.6);
  for (const auto& p : m->named_parameters()) report(p.key(), p.value(), 0);
  const Tensor input = x({4, 6}), target = torch::tensor({7, 0, 4, 2}, torch::kLong);
  const nn::ASMoutput out = m(input, target);
  report("adaptive", out.output, 64);
  report("adaptive loss", out.loss, 64);
  report("log_prob", m->log_prob(input), 64);
  report("of what the head gives", m->_get_full_log_prob(input, m->head(input)), 64);
  report("predict", m->predict(input), 0);
  report_refusal("no such class", [&] { m(input, target + 3); });
  report_refusal("falling cutoffs", [] {
    nn::AdaptiveLogSoftmaxWithLoss bad(6, 9, std::vector<int64_t>{5, 3});
  });

  const int64_t e = 4;
  const Tensor none;
  const auto attend = [&](bool weights) {
    return F::MultiheadAttentionForwardFuncOptions(e, 2, x({3 * e, e}), x({3 * e}), y({1, 1, e}),
                                                   x({1, 1, e}), true, 0.0, y({e, e}), x({e}))
        .attn_mask(y({3, 5}))
        .key_padding_mask(integers({2, 5}) > 4)
        .need_weights(weights);
  };
  const auto both =
      F::multi_head_attention_forward(x({3, 2, e}), y({5, 2, e}), x({5, 2, e}), attend(true));
  report("attention", std::get<0>(both), 256);
  report("attention's weights", std::get<1>(both), 256);
  const Call calls[] = {
      {"attention without weights",
       [&](const List& a) {
         return std::get<0>(F::multi_head_attention_forward(a[0], a[1], a[2], attend(false)));
       },
       {x({3, 2, e}), y({5, 2, e}), x({5, 2, e})},
       256},
      {"layer_norm",
       OP(F::layer_norm(a[0], F::LayerNormFuncOptions({3}).weight(a[1]).eps(1e-3))),
       {x({2, 4, 3}), y({3})},
       64},
      {"group_norm",
       OP(F::group_norm(a[0], F::GroupNormFuncOptions(2).weight(a[1]).bias(a[2]))),
       {x({2, 4, 3}), y({4}), x({4})},
       64},
      {"instance_norm",
       OP(F::instance_norm(a[0], F::InstanceNormFuncOptions().weight(a[1]).bias(a[2]))),
       {x({2, 4, 3}), y({4}), x({4})},
       64},
      {"local_response_norm",
       OP(F::local_response_norm(a[0], F::LocalResponseNormFuncOptions(3).alpha(0.5).k(2))),
       {x({2, 4, 3})},
       64},
      {"gelu by tanh", OP(F::gelu(a[0], F::GELUFuncOptions().approximate("tanh"))), {y()}, 32},
      {"pixel_shuffle",
       OP(F::pixel_shuffle(a[0], F::PixelShuffleFuncOptions(2))),
       {x({1, 4, 2, 2})}},
      {"pixel_unshuffle",
       OP(F::pixel_unshuffle(a[0], F::PixelUnshuffleFuncOptions(2))),
       {x({1, 1, 2, 2})}},
      {"torch batch_norm",
       OP(torch::batch_norm(a[0], a[1], a[2], {}, {}, true, 0.1, 1e-5, false)),
       {x({2, 4, 3}), y({4}), x({4})},
       64},
      {"torch instance_norm",
       OP(torch::instance_norm(a[0], a[1], a[2], {}, {}, true, 0.1, 1e-5, false)),
       {x({2, 4, 3}), y({4}), x({4})},
       64},
      {"torch silu", OP(torch::silu(a[0])), {x()}, 32},
      {"torch mish", OP(torch::mish(a[0])), {x()}, 32},
      {"torch hardswish", OP(torch::hardswish(a[0] * 4)), {x()}, 32},
      {"torch elu", OP(torch::elu(a[0], 0.7, 1.3, 0.4)), {x()}, 32},
      {"torch pad", OP(torch::constant_pad_nd(a[0], {1, 2}, 3)), {x()}},
      {"torch reflection_pad1d", OP(torch::reflection_pad1d(a[0], {1, 2})), {x()}},
      {"torch cosine_similarity", OP(torch::cosine_similarity(a[0], a[1])), {x(), y()}, 32},
  };
  for (const Call& call : calls) run(call);
  report("CrossMapLRN2d",
         nn::CrossMapLRN2d(nn::CrossMapLRN2dOptions(3).alpha(0.7))(x({1, 6, 2, 2})), 64);
  std::string paths;
  m->apply(
      [&](const std::string& path, const std::shared_ptr<nn::Module>&) { paths += path + ";"; });
  report_text("apply", paths);
}

PARITY(further_functions) {
  const double n = 8192;  // as in linalg.cpp
  const Tensor well = x({4, 3}) + 2 * torch::eye(4, 3, torch::kDouble);
  const auto reflections = [=] { return torch::geqrf(well); };
  const Call calls[] = {
      {"quantile", OP(torch::quantile(a[0], 0.3, 1)), {x({3, 4})}, 32},
      {"quantiles",
       OP(torch::quantile(a[0], torch::tensor({0.3, 0.9}, torch::kDouble), 0, true)),
       {x({3, 4})},
       32},
      {"nanquantile", OP(torch::nanquantile(a[0], 0.6)), {x({3, 4})}, 32},
      {"igamma of x", OP(torch::igamma(y(), a[0])), {y({2, 3})}, 512},
      {"igammac of x", OP(torch::igammac(y(), a[0])), {y({2, 3})}, 512},
      {"frexp", OP(std::get<0>(torch::frexp(a[0]))), {y()}},
      {"orgqr",
       OP(torch::orgqr(a[0], a[1])),
       {std::get<0>(reflections()), std::get<1>(reflections())},
       n},
      {"ormqr",
       [=](const List& a) {
         const auto [v, tau] = reflections();
         return torch::ormqr(v, tau, a[0].detach(), true, true);
       },
       {x({4, 2})},
       n},
      {"geqrf", [=](const List&) { return std::get<0>(torch::geqrf(well)); }, {}, n},
      {"masked_fill", OP(a[0].masked_fill(a[0] > 0.2, a[1])), {x(), no_dims()}},
      {"hann", OP(torch::hann_window(5, torch::kDouble)), {}, 64},
      {"hamming", OP(torch::hamming_window(6, false, torch::kDouble)), {}, 64},
      {"blackman", OP(torch::blackman_window(5, torch::kDouble)), {}, 64},
      {"bartlett", OP(torch::bartlett_window(5, torch::kDouble)), {}, 64},
      {"kaiser", OP(torch::kaiser_window(5, true, 6.0, torch::kDouble)), {}, 512},
      {"expit", OP(torch::special::expit(a[0])), {x()}, 32},
      {"gammaln", OP(torch::special::gammaln(a[0])), {y()}, 64},
  };
  for (const Call& call : calls) run(call);
  report("histogram", std::get<0>(torch::histogram(x({10}), 4)), 0);
  report("isin", torch::isin(integers(), torch::tensor({1, 4, -6}, torch::kLong)), 0);
  report("frexp's exponent", std::get<1>(torch::frexp(y())), 0);
  Tensor filled = torch::zeros({2}, torch::kDouble);
  filled.fill_(no_dims());
  report("fill_", filled, 0);
  report_refusal("fill_ with more", [&] { filled.fill_(torch::ones({1})); });
  report_refusal("quantile beyond 1", [] { torch::quantile(x(), 1.5); });
  report_refusal("tau too long", [=] { torch::orgqr(well, torch::ones({4}, torch::kDouble)); });
}

PARITY(signs_of_zeros) {
  for (const int64_t n : {1, 7, 100}) {  // vectorised loops
    for (const auto dtype : {torch::kFloat, torch::kDouble, torch::kBFloat16}) {
      for (const double zero : {-0.0, 0.0}) {
        const Tensor x = torch::full({n}, zero, dtype);
        const auto sign = [](const char* name, const Tensor& y) {
          report(name, torch::signbit(y));
        };
        sign("relu", torch::relu(x));
        sign("relu_", x.clone().relu_());
        sign("relu of every second",
             torch::full({2 * n}, zero, dtype).slice(0, 0, 2 * n, 2).relu());
        sign("clamp from 0", torch::clamp(x, 0, 1));
        sign("clamp to 0", torch::clamp(x, -1, 0));
        sign("clamp between zeros", torch::clamp(x, -0.0, -0.0));
        sign("clamp_min", torch::clamp_min(x, 0));
        sign("clamp_max", torch::clamp_max(x, 0));
        sign("relu6", F::relu6(x));
        sign("hardtanh", F::hardtanh(x, F::HardtanhFuncOptions().min_val(-1).max_val(0)));
        sign("threshold", F::threshold(x, F::ThresholdFuncOptions(0, 0)));
        sign("leaky_relu", F::leaky_relu(x));
      }
    }
  }
}

PARITY(symmetric_factors) {
  const Tensor w = x({2, 5, 5}), b = y({5, 2});
  const Tensor a = w + w.transpose(-2, -1) + 0.5 * torch::eye(5, torch::kDouble);
  const auto [LD, pivots] = torch::linalg_ldl_factor(a);
  report("LD", LD, 1024);
  report("pivots", pivots);
  report("ldl_solve", torch::linalg_ldl_solve(LD, pivots, b), 4096);
  report("info", std::get<2>(torch::linalg_ldl_factor_ex(a * 0)));
  report_refusal("ldl_factor of zeros", [=] { torch::linalg_ldl_factor(a * 0); });
  report_refusal("ldl_factor of a vector", [=] { torch::linalg_ldl_factor(x({5})); });
}

PARITY(segments) {
  const Tensor lengths = torch::tensor({2, 0, 3, 1}, torch::kLong);
  for (const char* reduce : {"sum", "prod", "mean", "max", "min"}) {
    run({reduce,
         [=](const List& a) {
           return torch::segment_reduce(a[0], reduce, lengths, {}, {}, 0, false, 0.5);
         },
         {x({6, 2})}});
    report(reduce, torch::segment_reduce(x({6}), reduce, lengths));
  }
  const Tensor offsets = torch::tensor({{0, 1, 3}, {0, 3, 3}}, torch::kLong);
  report("offsets", torch::segment_reduce(x({2, 3, 2}), "sum", {}, {}, offsets, 1));
  report_refusal("lengths", [=] { torch::segment_reduce(x({7}), "sum", lengths); });
  report_refusal("both missing", [=] { torch::segment_reduce(x({7}), "sum"); });
}
