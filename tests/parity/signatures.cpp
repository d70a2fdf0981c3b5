// Functions as declared by ATen's headers, if they differ from those in Python: numbers of
// reductions, optional tensors and lists, weights one by one, sizes instead of tensors.
#include "calls.h"

#include <tuple>

using namespace parity;

namespace {

std::vector<Tensor> weights(int64_t gates, int64_t layers, bool both_ways, bool biases) {
  std::vector<Tensor> all;
  const int64_t directions = both_ways ? 2 : 1;
  for (int64_t layer = 0; layer < layers * directions; ++layer) {
    const double k = 0.3 + 0.1 * static_cast<double>(layer);
    const int64_t in = layer < directions ? 3 : 4 * directions;
    all.push_back(x({gates * 4, in}) * k);
    all.push_back(y({gates * 4, 4}) * (k - 0.5));
    if (biases) {
      all.push_back(x({gates * 4}) * 0.2);
      all.push_back(y({gates * 4}) * 0.1);
    }
  }
  return all;
}

// The results of each network, and the gradients of its weights.
template <class Run>
void report_network(const std::string& name, int64_t gates, bool both_ways, bool biases, Run run) {
  std::vector<Tensor> w = weights(gates, 2, both_ways, biases);
  for (Tensor& p : w) p.requires_grad_();
  const Tensor h = x({both_ways ? 4 : 2, 2, 4}), c = y({both_ways ? 4 : 2, 2, 4});
  const std::vector<Tensor> out = run(x({5, 2, 3}), h, c, w);
  Tensor sum = torch::zeros({}, torch::kDouble);
  for (size_t i = 0; i < out.size(); ++i) {
    report(name + " result " + std::to_string(i), out[i].detach(), 512);
    sum = sum + (out[i] * wave(out[i].sizes(), 0.9, torch::kDouble)).sum();
  }
  sum.backward();
  for (const Tensor& p : w) report(name + " gradient", p.grad(), 4096);
}

}  // namespace

PARITY(recurrent_functions) {
  for (const bool both_ways : {false, true}) {
    for (const bool biases : {false, true}) {
      const std::string how =
          (both_ways ? " both ways" : "") + std::string(biases ? " biases" : "");
      report_network(
          "lstm" + how, 4, both_ways, biases,
          [&](const Tensor& in, const Tensor& h, const Tensor& c, const List& w) {
            const auto r = torch::lstm(in, {h, c}, w, biases, 2, 0.0, false, both_ways, false);
            return List{std::get<0>(r), std::get<1>(r), std::get<2>(r)};
          });
      const auto pair = [](const std::tuple<Tensor, Tensor>& r) {
        return List{std::get<0>(r), std::get<1>(r)};
      };
      report_network("gru" + how, 3, both_ways, biases,
                     [&](const Tensor& in, const Tensor& h, const Tensor&, const List& w) {
                       return pair(torch::gru(in.transpose(0, 1), h, w, biases, 2, 0.0, false,
                                              both_ways, true));
                     });
      report_network(
          "rnn_tanh" + how, 1, both_ways, biases,
          [&](const Tensor& in, const Tensor& h, const Tensor&, const List& w) {
            return pair(torch::rnn_tanh(in, h, w, biases, 2, 0.0, false, both_ways, false));
          });
      report_network(
          "rnn_relu of packed rows" + how, 1, both_ways, biases,
          [&](const Tensor& in, const Tensor& h, const Tensor&, const List& w) {
            const Tensor rows = in.reshape({10, 3}).narrow(0, 0, 8);
            return pair(torch::rnn_relu(rows, torch::tensor({2, 2, 2, 1, 1}, torch::kLong).cpu(), h,
                                        w, biases, 2, 0.0, false, both_ways));
          });
    }
  }
  const Tensor in = x({2, 3}), h = y({2, 4}), c = x({2, 4});
  const auto w = [](int64_t gates) { return weights(gates, 1, false, true); };
  const auto next = torch::lstm_cell(in, {h, c}, w(4)[0], w(4)[1], w(4)[2], w(4)[3]);
  report("lstm_cell h", std::get<0>(next), 64);
  report("lstm_cell c", std::get<1>(next), 64);
  report("gru_cell", torch::gru_cell(in, h, w(3)[0], w(3)[1], w(3)[2], w(3)[3]), 64);
  report("gru_cell without biases", torch::gru_cell(in, h, w(3)[0], w(3)[1]), 64);
  report("rnn_tanh_cell", torch::rnn_tanh_cell(in, h, w(1)[0], w(1)[1], w(1)[2], w(1)[3]), 64);
  report("rnn_relu_cell", torch::rnn_relu_cell(in, h, w(1)[0], w(1)[1]), 64);
  report_refusal("too few weights", [&] {
    torch::gru(x({5, 2, 3}), h.unsqueeze(0), w(3), true, 2, 0.0, false, false, false);
  });
}

PARITY(numbers_of_reductions) {
  const Tensor p = x().sigmoid(), t = y().sigmoid();
  for (const int64_t r : {at::Reduction::None, at::Reduction::Mean, at::Reduction::Sum}) {
    report("l1_loss", torch::l1_loss(x(), y(), r), 16);
    report("mse_loss", torch::mse_loss(x(), y(), r), 16);
    report("smooth_l1_loss", torch::smooth_l1_loss(x(), y(), r, 0.5), 16);
    report("huber_loss", torch::huber_loss(x(), y(), r, 0.7), 16);
    report("kl_div", torch::kl_div(p.log(), t, r), 32);
    report("binary_cross_entropy", torch::binary_cross_entropy(p, t, {}, r), 32);
    report("binary_cross_entropy_with_logits",
           torch::binary_cross_entropy_with_logits(x(), t, {}, y({3}), r), 32);
    report("soft_margin_loss", torch::soft_margin_loss(x(), y().sign(), r), 32);
    report("nll_loss", torch::nll_loss(p, torch::tensor({2, 0}), y({3}), r, 2), 16);
    report("nll_loss_nd", torch::nll_loss_nd(p, torch::tensor({2, 0}), {}, r), 16);
    report("cross_entropy_loss",
           torch::cross_entropy_loss(x(), torch::tensor({2, 0}), {}, r, -100, 0.1), 64);
    report("hinge_embedding_loss", torch::hinge_embedding_loss(x(), x().sign(), 0.5, r), 16);
    report("margin_ranking_loss", torch::margin_ranking_loss(x(), y(), x().sign(), 0.2, r), 16);
    report("cosine_embedding_loss",
           torch::cosine_embedding_loss(x(), y(), torch::tensor({1, -1}), 0.1, r), 64);
    report("triplet_margin_loss",
           torch::triplet_margin_loss(x(), y(), x().flip({1}), 1.0, 2, 1e-6, false, r), 64);
    report("poisson_nll_loss", torch::poisson_nll_loss(x(), y(), true, false, 1e-8, r), 32);
    report("multi_margin_loss", torch::multi_margin_loss(x(), torch::tensor({2, 0}), 1, 1, {}, r),
           32);
    report("multilabel_margin_loss",
           torch::multilabel_margin_loss(x(), torch::tensor({{2, 0, -1}, {1, -1, 0}}), r), 32);
  }
}

PARITY(optional_arguments) {
  c10::optional<Tensor> none;
  const c10::optional<Tensor> bias = y({4});
  const Tensor image = x({2, 3, 5, 5}), filter = x({4, 3, 3, 3});
  report("conv2d without", torch::conv2d(image, filter, none, {1, 1}, {1, 1}), 128);
  report("conv2d with", torch::conv2d(image, filter, bias, {1, 1}, {1, 1}), 128);
  report("linear with", torch::linear(x({2, 3}), x({4, 3}), bias), 32);
  report("bincount", torch::bincount(integers().abs().flatten(), none, 9), 0);
  report("cov", torch::cov(x(), 1, none, none), 64);
  const int64_t rows = 0;
  const at::OptionalIntArrayRef all, first = torch::IntArrayRef(rows);
  report("sum of all", x().sum(all), 16);
  report("mean of rows", x().mean(first, true), 16);
  report("var of all", torch::var(x(), all, c10::optional<int64_t>(0)), 64);
  report("std_mean", std::get<0>(torch::std_mean(x(), all, c10::optional<int64_t>(1))), 64);
  report("clone", x().t().clone(c10::optional<torch::MemoryFormat>()));
  report("multinomial", torch::multinomial(torch::tensor({0.0, 1.0, 0.0}), 2, true,
                                           c10::optional<at::Generator>()));
  report("randn_like",
         torch::randn_like(x(), torch::TensorOptions(), torch::MemoryFormat::Preserve) * 0);
  report("slice", x().slice());
  report("split", x({5}).split({2, 3})[1]);
  report("split_with_sizes", torch::split(x({5}), {4, 1})[0]);
  report("expand", x({3}).expand({2, 3}, false));
  report("to", x().to(torch::kCPU, torch::kFloat, false, true, torch::MemoryFormat::Preserve), 2);
}

PARITY(sizes_in_place) {
  Tensor t = x({2, 3}).clone();
  t.resize_({4});
  report("resize_ smaller", t);
  t.resize_({3, 2});
  report("resize_ as before", t);
  report("resize_ larger", t.resize_({3, 4}).flatten().narrow(0, 0, 6));
  t = x({3, 4}).t().clone(torch::MemoryFormat::Preserve);
  t.resize_as_(x({2, 6}));
  report("resize_as_", t);
  t.as_strided_({2, 2}, {3, 1}, 1);
  report("as_strided_", t);
  Tensor s = torch::empty({0}, torch::kDouble);
  s.set_(x({3, 4}), 2, {2, 2}, {1, 4});
  report("set_", s);
  report("set_ to nothing", s.set_());
  Tensor w = x().clone().requires_grad_();
  report_refusal("resize_ of what requires grad", [&] { w.resize_({2}); });
  const auto version = w._version();
  w.data().mul_(3);
  report("written through data()", static_cast<double>(w._version() - version));
  {
    torch::NoGradGuard no_grad;
    w.detach().mul_(3);
  }
  report("written through detach()", static_cast<double>(w._version() - version));
  report("fill", torch::fill(x(), 2.5));
  report("fill of a tensor", torch::fill(x(), torch::tensor(0.5, torch::kDouble)));
  report("zero_", torch::zero_(t));
}

PARITY(samples_and_special) {
  const Tensor places = torch::tensor({0.0, 1.0, 3.5}, torch::kDouble);
  for (const int64_t order : {1, 2}) {
    for (const Tensor& g : torch::gradient(x({3, 4}), torch::nullopt, torch::nullopt, order)) {
      report("gradient", g, 16);
    }
    report(
        "gradient at places",
        torch::gradient(x({3, 4}), torch::TensorList(places), c10::optional<int64_t>(0), order)[0],
        16);
    report("gradient along dims", torch::gradient(x({3, 4}), torch::IntArrayRef{1, 0}, order)[0],
           16);
  }
  const Call calls[] = {
      {"i0e", OP(torch::special::i0e(a[0] * 5)), {x()}, 64},
      {"i1e", OP(torch::special::i1e(a[0] * 5)), {x()}, 64},
      {"erfcx", OP(torch::special::erfcx(a[0] * 3)), {x()}, 256},
      {"ndtr", OP(torch::special::ndtr(a[0])), {x()}, 64},
      {"log_ndtr", OP(torch::special::log_ndtr(a[0] * 5)), {x()}, 256},
      {"ndtri", OP(torch::special::ndtri(a[0] * 0.4 + 0.5)), {x()}, 256},
      {"entr", OP(torch::special::entr(a[0])), {y()}, 32},
      {"xlog1py", OP(torch::special::xlog1py(a[0], a[1])), {x(), y()}, 64},
      {"norm_except_dim", OP(torch::norm_except_dim(a[0], 2, 1)), {x({2, 3, 2})}, 64},
      {"norm_except_dim of vectors", OP(torch::norm_except_dim(a[0], 2, 0)), {x({3})}, 64},
      {"silu_",
       OP(torch::silu_(const_cast<Tensor&>(static_cast<const Tensor&>(a[0] * 1)))),
       {x()},
       64},
      {"rsub", OP(torch::rsub(a[0], a[1], 3)), {x(), y()}},
      {"angle", OP(torch::angle(a[0]) + a[0]), {x()}},
      {"real", OP(torch::real(a[0])), {x()}},
      {"nansum", OP(torch::nansum(a[0] / a[0], {1})), {integers({4, 3}).to(torch::kDouble)}, 32},
      {"norm by dim", OP(torch::norm(a[0], 2, {1})), {x({4, 7})}, 64},
      {"norm of magnitudes", OP(torch::norm(a[0], 1, {0}, true)), {x({4, 7})}, 64},
      {"conv_tbc",
       OP(torch::conv_tbc(a[0], a[1], a[2], 1)),
       {x({5, 2, 3}), x({3, 3, 4}), y({4})},
       128},
      {"bilinear",
       OP(torch::bilinear(a[0], a[1], a[2], a[3])),
       {x({2, 3}), y({2, 4}), x({5, 3, 4}), y({5})},
       256},
  };
  for (const Call& call : calls) run(call);
  report("corners of erfcx", torch::special::erfcx(corners()), 64);
  report("corners of ndtri", torch::special::ndtri(corners()), 64);
  report("can_cast", torch::can_cast(torch::kDouble, torch::kLong));
  report("is_same_size", torch::is_same_size(x(), y()));
}

PARITY(lookups_and_images) {
  const Tensor table = x({6, 3}), indices = torch::tensor({1, 5, 1, 0, 2, 3});
  const Tensor offsets = torch::tensor({0, 2, 2, 5});
  for (const int64_t mode : {0, 1, 2}) {
    Tensor w = table.clone().requires_grad_();
    const Tensor bags = std::get<0>(torch::embedding_bag(w, indices, offsets, false, mode));
    report("embedding_bag", bags.detach(), 16);
    (bags * wave(bags.sizes(), 0.5, torch::kDouble)).sum().backward();
    report("embedding_bag gradient", w.grad(), 32);
  }
  report("embedding_bag with factors",
         std::get<0>(torch::embedding_bag(table, indices, offsets, false, 0, false, y({6}), false)),
         16);
  Tensor shortened = table.clone();
  torch::embedding_renorm_(shortened, indices, 0.5, 2);
  report("embedding_renorm_", shortened, 64);
  report("embedding", torch::embedding(table, indices, -1, false, false));
  const std::vector<double> twice{2.0, 1.5};
  const Tensor image = x({1, 2, 4, 4});
  report("upsample_nearest2d", torch::upsample_nearest2d(image, c10::nullopt, twice));
  report("upsample_bilinear2d", torch::upsample_bilinear2d(image, c10::nullopt, false, twice), 64);
  report("upsample_bicubic2d", torch::upsample_bicubic2d(image, c10::nullopt, true, twice), 256);
  report("upsample_linear1d",
         torch::upsample_linear1d(x({1, 2, 4}), c10::nullopt, false, std::vector<double>{1.7}), 64);
  report("upsample_nearest3d",
         torch::upsample_nearest3d(x({1, 1, 2, 2, 2}), torch::IntArrayRef{4, 3, 2}));
  report_refusal("neither size nor factors", [&] {
    torch::upsample_nearest2d(image, c10::nullopt, c10::optional<torch::ArrayRef<double>>());
  });
  report("grid_sampler_2d", torch::grid_sampler_2d(image, x({1, 3, 3, 2}), 0, 0, false), 64);
  report("feature_dropout", torch::feature_dropout(image, 0.5, false));
  report("alpha_dropout", torch::alpha_dropout(image, 0.5, false));
  report("dropped altogether", torch::feature_dropout(image, 1.0, true));
  report("pad_sequence", torch::pad_sequence({x({3, 2}), y({1, 2})}, true, -1.0));
  Tensor in_place = image.clone();
  report("mish_", torch::mish_(in_place), 64);
  report("gelu_", torch::gelu_(in_place, "tanh"), 64);
  report("dropout_", torch::dropout_(in_place, 0.5, false), 64);
}
