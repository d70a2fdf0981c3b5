// Functions of layers under libtorch's names outside of nn::functional: compared with modules and
// functions of nn, which other tests compare with PyTorch; and their errors.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

namespace {

std::vector<Tensor> weights_of(const nn::Module& module) {
  std::vector<Tensor> all;
  for (const Tensor& p : module.parameters()) all.push_back(p.detach());
  return all;
}

}  // namespace

TEST_CASE("recurrent functions equal modules with the same weights") {
  for_each_device([](Device d) {
    manual_seed(3);
    const Tensor x = wave(d, {5, 2, 3}), h = wave(d, {4, 2, 4}, 0.3), c = wave(d, {4, 2, 4}, 0.4);
    for (const bool bias : {true, false}) {
      nn::LSTM lstm_module(
          nn::LSTMOptions(3, 4).num_layers(2).bidirectional(true).bias(bias).batch_first(true));
      lstm_module->to(d, kFloat64);
      const Tensor rows = x.transpose(0, 1);
      const auto [y, hc] = lstm_module(rows, std::make_tuple(h, c));
      const auto [fy, fh, fc] =
          lstm(rows, {h, c}, weights_of(*lstm_module), bias, 2, 0, false, true, true);
      CHECK(fy.equal(y));
      CHECK(fh.equal(std::get<0>(hc)));
      CHECK(fc.equal(std::get<1>(hc)));
      nn::GRU gru_module(nn::GRUOptions(3, 4).num_layers(2).bidirectional(true).bias(bias));
      gru_module->to(d, kFloat64);
      const auto [gy, gh] = gru_module(x, h);
      const auto [fgy, fgh] = gru(x, h, weights_of(*gru_module), bias, 2, 0, false, true, false);
      CHECK(fgy.equal(gy));
      CHECK(fgh.equal(gh));
    }
    nn::LSTM projected(nn::LSTMOptions(3, 4).proj_size(2));
    projected->to(d, kFloat64);
    const Tensor p = wave(d, {1, 2, 2}), q = wave(d, {1, 2, 4});
    CHECK(std::get<0>(lstm(x, {p, q}, weights_of(*projected), true, 1, 0, false, false, false))
              .equal(std::get<0>(projected(x, std::make_tuple(p, q)))));
    const auto packed = nn::utils::rnn::pack_padded_sequence(x, tensor({5, 3}));
    nn::RNN relu_module(nn::RNNOptions(3, 4).nonlinearity(kReLU));
    relu_module->to(d, kFloat64);
    const Tensor one = h.narrow(0, 0, 1);
    const auto [py, ph] = relu_module->forward_with_packed_input(packed, one);
    const auto [fpy, fph] = rnn_relu(packed.data(), packed.batch_sizes(), one,
                                     weights_of(*relu_module), true, 1, 0, false, false);
    CHECK(fpy.equal(py.data()));
    CHECK(fph.equal(ph));
    nn::GRUCell cell(nn::GRUCellOptions(3, 4));
    cell->to(d, kFloat64);
    const auto w = weights_of(*cell);
    CHECK(gru_cell(x[0], h[0], w[0], w[1], w[2], w[3]).equal(cell(x[0], h[0])));
    CHECK(gru_cell(x[0][0], h[0][0], w[0], w[1]).sizes() == IntArrayRef{4});
  });
}

TEST_CASE("recurrent functions refuse weights and states of wrong shapes") {
  const Tensor x = ones({5, 2, 3}), h = ones({1, 2, 4});
  const std::vector<Tensor> w{ones({12, 3}), ones({12, 4}), ones({12}), ones({12})};
  const auto run = [&](const Tensor& in, const Tensor& state, std::vector<Tensor> params) {
    return gru(in, state, params, true, 1, 0, false, false, false);
  };
  CHECK(std::get<0>(run(x, h, w)).sizes() == IntArrayRef{5, 2, 4});
  CHECK_THROWS_AS(run(x, h, {w[0], w[1]}), Error);
  CHECK_THROWS_AS(run(x, ones({1, 3, 4}), w), ShapeError);
  CHECK_THROWS_AS(run(ones({5, 2, 4}), h, w), ShapeError);
  CHECK_THROWS_AS(run(x, h, {w[0], ones({12, 5}), w[2], w[3]}), ShapeError);
  CHECK_THROWS_AS(run(x, h, {w[0], w[1], w[2], ones({11})}), ShapeError);
  CHECK_THROWS_AS(run(x, h, {w[0], w[1], w[2], Tensor()}), Error);
  CHECK_THROWS_AS(run(x.to(kFloat64), h, w), DTypeError);
  CHECK_THROWS_AS(run(x.to("reference"), h, w), DeviceMismatchError);
  CHECK_THROWS_AS(gru(x, h, w, true, 0, 0, false, false, false), Error);
  CHECK_THROWS_AS(gru(x, h, w, true, 1, 2, false, false, false), Error);
  CHECK_THROWS_AS(lstm(x, {h}, w, true, 1, 0, false, false, false), Error);
  const Tensor rows = ones({7, 3});
  CHECK_THROWS_AS(gru(rows, tensor({2, 3, 2}), h, w, true, 1, 0, false, false), Error);
  CHECK_THROWS_AS(gru(rows, tensor({2, 2, 2}), h, w, true, 1, 0, false, false), ShapeError);
  CHECK_THROWS_AS(gru(rows, tensor({2., 2.}), h, w, true, 1, 0, false, false), Error);
  CHECK_THROWS_AS(gru_cell(x[0], h[0], w[0], ones({12, 5})), ShapeError);
  CHECK_THROWS_AS(gru_cell(x[0], ones({3, 4}), w[0], w[1]), ShapeError);
  CHECK_THROWS_AS(lstm_cell(x[0], {h[0]}, w[0], w[1]), Error);
  CHECK_THROWS_AS(rnn_tanh_cell(Tensor(), h[0], w[0], w[1]), Error);
}

TEST_CASE("lookups, image functions and convolutions equal those of nn") {
  namespace F = nn::functional;
  for_each_device([](Device d) {
    const Tensor table = wave(d, {6, 3}), image = wave(d, {1, 2, 4, 4});
    const Tensor indices = tensor({1, 5, 1, 0}).to(d), offsets = tensor({0, 2, 2}).to(d);
    CHECK(std::get<0>(embedding_bag(table, indices, offsets, false, 1))
              .equal(F::embedding_bag(indices, table,
                                      F::EmbeddingBagFuncOptions().offsets(offsets).mode(kMean))));
    CHECK(embedding(table, indices, -1, true).equal(F::embedding(indices, table)));
    const Tensor short_rows = table.clone();
    CHECK(&embedding_renorm_(short_rows, indices, 0.5, 2) == &short_rows);
    CHECK(norm(short_rows, 2, {1})[1].item<double>() < 0.5001);
    CHECK(short_rows[2].equal(table[2]));
    CHECK(upsample_bilinear2d(image, std::nullopt, false, {2.0, 1.5})
              .equal(upsample_bilinear2d(image, {8, 6}, false, 2.0, 1.5)));
    CHECK(upsample_nearest2d(image, {5, 6}, std::nullopt).equal(upsample_nearest2d(image, {5, 6})));
    CHECK(upsample_nearest2d(image, {5, 6}, {}).equal(upsample_nearest2d(image, {5, 6})));
    const std::optional<ArrayRef<double>> none;
    CHECK(upsample_nearest2d(image, IntArrayRef{5, 6}, none)
              .equal(upsample_nearest2d(image, {5, 6})));
    CHECK_THROWS_AS(upsample_nearest2d(image, std::nullopt, none), Error);
    CHECK_THROWS_AS(upsample_nearest2d(image, {5, 6}, {2.0, 2.0}), Error);
    CHECK_THROWS_AS(upsample_nearest2d(image, std::nullopt, std::vector<double>{2.0}), ShapeError);
    CHECK_THROWS_AS(upsample_nearest2d(Tensor(), std::nullopt, {2.0, 2.0}), Error);
    for (const double factor : {HUGE_VAL, -HUGE_VAL, std::nan(""), -2.0, 0.1, 1e30}) {
      CHECK_THROWS_AS(upsample_nearest2d(image, std::nullopt, {factor, 2.0}), ShapeError);
    }
    const Tensor steps = wave(d, {5, 2, 3}), filter = wave(d, {3, 3, 4}, 0.2);
    CHECK(conv_tbc(steps, filter, ones({4}, steps.options()), 1)
              .permute({1, 2, 0})
              .allclose(conv1d(steps.permute({1, 2, 0}), filter.permute({2, 1, 0}),
                               ones({4}, steps.options()), 1, 1)));
    CHECK_THROWS_AS(conv_tbc(steps[0], filter, {}), ShapeError);
    CHECK_THROWS_AS(grid_sampler_3d(image, wave(d, {1, 2, 2, 2, 3}), 0, 0, false), ShapeError);
    CHECK_THROWS_AS(embedding_renorm_(table, indices.to(kFloat64), 1, 2), DTypeError);
    CHECK_THROWS_AS(embedding_renorm_(table[0], indices, 1, 2), ShapeError);
    CHECK_THROWS_AS(embedding_bag(table, indices, offsets, false, 3), Error);
  });
}

TEST_CASE("in-place activations and dropouts record their gradients") {
  for_each_device([](Device d) {
    using Tensors = std::vector<Tensor>;
    const Tensor x = wave(d, {2, 3});
    Tensor (*const functions[])(const Tensors&) = {
        [](const Tensors& in) { return silu_(in[0] * 1); },
        [](const Tensors& in) { return mish_(in[0] * 1); },
        [](const Tensors& in) { return gelu_(in[0] * 1, "tanh"); },
        [](const Tensors& in) { return dropout_(in[0] * 1, 0, true); },
    };
    for (const auto f : functions) gradcheck(f, {x});
    check_values(silu_(x * 1), {2, 3}, [&] {
      const Tensor y = nn::functional::silu(x).cpu();
      return std::vector<double>(y.data_ptr<double>(), y.data_ptr<double>() + 6);
    }());
    const Tensor many = ones({50, 40, 3}, x.options());
    manual_seed(5);
    const Tensor dropped = feature_dropout(many, 0.25, true);
    CHECK(dropped.select(2, 0).equal(dropped.select(2, 2)));
    const auto kept = (dropped.select(2, 0) > 0).sum().item<double>() / 2000;
    CHECK(std::abs(kept - 0.75) < 0.05);  // 5 standard deviations of sqrt(3 / 16 / 2000) = 0.0097
    CHECK(feature_dropout(many, 0.25, false).equal(many));
    const Tensor written = many.clone();
    feature_dropout_(written, 1, true);
    CHECK(written.equal(zeros_like(many)));
    manual_seed(5);
    const Tensor alpha = many.clone();
    alpha_dropout_(alpha, 0.5, true);
    CHECK(!alpha.equal(many));
    CHECK_THROWS_AS(feature_dropout(ones({3}), 0.5, true), ShapeError);
    CHECK_THROWS_AS(feature_dropout(Tensor(), 0.5, true), Error);
    CHECK_THROWS_AS(silu_(ones({3}).requires_grad_()), AutogradError);
    CHECK_THROWS_AS(dropout_(ones({3}), 1.5), Error);
  });
}

TEST_CASE("functions that are also methods") {
  const Tensor x = ones({2, 3});
  CHECK(size(x, 1) == 3);
  CHECK(stride(x, 0) == 3);
  CHECK(is_same_size(x, zeros({2, 3})));
  CHECK(conj(x).is_same(x));
  CHECK(resolve_neg(x).is_same(x));
  CHECK(split(ones({5}), {2, 3})[1].numel() == 3);
  CHECK(slice(x).sizes() == x.sizes());
  const Tensor y = ones({2}).requires_grad_() * 2;
  CHECK(!detach_(y).requires_grad());
}
