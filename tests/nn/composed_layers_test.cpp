// Layers composed of ops: transposed convolutions, norms, padding, attention; compared with PyTorch
// 1.13.
#include <ambit/nn/nn.h>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;
namespace F = nn::functional;

namespace {

// for i, p in enumerate(m.parameters()): p.copy_(wave(*p.shape, k=0.3 + 0.1 * i) * 0.5)
template <class Module>
void fill(const Module& module, Device d) {
  module->to(d, kFloat64);
  const NoGradGuard no_grad;
  double k = 0.3;
  for (Tensor& p : module->parameters()) {
    p.copy_(wave(d, p.sizes(), k) * 0.5);
    k += 0.1;
  }
}

Tensor output(const Tensor& y) { return y; }
Tensor output(const std::tuple<Tensor, Tensor>& y) { return std::get<0>(y); }

// y = m(*inputs); (y * wave(*y.shape, k=0.9)).sum().backward(). Check the first five elements of y,
// the first four of the first input's gradient, and the sum of each parameter's gradient.
template <class Module>
void check(const Module& module, std::vector<Tensor> inputs, const std::vector<int64_t>& sizes,
           const std::vector<double>& first, const std::vector<double>& dx,
           const std::vector<double>& dw) {
  INFO(module->name());
  fill(module, inputs[0].device());
  inputs[0] = inputs[0].detach().requires_grad_();
  const Tensor y = [&] {
    if constexpr (requires { module->forward(inputs[0], inputs[1], inputs[2]); }) {
      if (inputs.size() == 3) return output(module->forward(inputs[0], inputs[1], inputs[2]));
    }
    if constexpr (requires { module->forward(inputs[0], inputs[1]); }) {
      if (inputs.size() == 2) return output(module->forward(inputs[0], inputs[1]));
    }
    if constexpr (requires { module->forward(inputs[0]); })
      return output(module->forward(inputs[0]));
    return Tensor();
  }();
  REQUIRE(y.sizes() == IntArrayRef(sizes));
  check_values(y.detach().reshape({-1}).narrow(0, 0, 5), {5}, first);
  (y * wave(y.device(), y.sizes(), 0.9)).sum().backward();
  check_values(inputs[0].grad().reshape({-1}).narrow(0, 0, 4), {4}, dx);
  std::vector<Tensor> sums;
  for (const Tensor& p : module->parameters()) sums.push_back(p.grad().sum());
  // The bound is for sums of up to hundreds of numbers of magnitude 10.
  if (!sums.empty()) check_values(stack(sums), {static_cast<int64_t>(sums.size())}, dw, 1e-10);
}

}  // namespace

TEST_CASE("composed layers have PyTorch's values and gradients") {
  for_each_device([](Device d) {
    const Tensor x1 = wave(d, {2, 4, 7}), x2 = wave(d, {2, 4, 5, 6}), x3 = wave(d, {2, 4, 2, 3, 2});
    const Tensor tgt = wave(d, {3, 2, 6});
    check(nn::Conv1d(nn::Conv1dOptions(4, 6, 3).stride(2).padding(1).dilation(2).groups(2)), {x1},
          {2, 6, 3},
          {0.372379837117, 0.513667935929, 0.603745667632, 0.667929034145, 0.606545731426},
          {0, 0.231005799641, 0, -0.251520179462}, {-0.596508844354, 0.0456432214316});
    check(nn::ConvTranspose1d(
              nn::ConvTranspose1dOptions(4, 6, 3).stride(3).padding(1).output_padding(2).groups(2)),
          {x1}, {2, 6, 21},
          {-0.069321860306, 0.0774888346706, -0.134895330045, 0.0506474955215, 0.231666131154},
          {0.978288777603, 0.675018828393, -1.5556896282, 2.13789248057},
          {-4.42961127574, -0.100598307314});
    check(nn::ConvTranspose2d(
              nn::ConvTranspose2dOptions(4, 6, {3, 2}).stride(2).padding({1, 0}).output_padding(1)),
          {x2}, {2, 6, 10, 13},
          {-0.205896073961, -0.0159008181973, 0.530845021694, 0.739467135259, 1.01792140896},
          {-2.62052871161, -0.41601911377, 2.80956953977, -0.860661055473},
          {-1.1467969448, 1.882473596});
    check(nn::ConvTranspose2d(nn::ConvTranspose2dOptions(4, 4, 2)
                                  .dilation(3)
                                  .output_padding(2)
                                  .padding(1)
                                  .groups(2)
                                  .bias(false)),
          {x2}, {2, 4, 8, 9},
          {0.234441337322, 0.335922961241, 0.164992330348, 0.0946621495313, -0.0201891193473},
          {0.0940879704292, -0.0312832480169, 0.241908177603, 0.332028317225}, {-8.99541384513});
    check(nn::BatchNorm1d(4), {x1}, {2, 4, 7}, {0, 0, 0, 0, 0}, {0, 0, 0, -0},
          {-3.78091453643, -0.0577053682576});
    check(nn::BatchNorm3d(4), {x3}, {2, 4, 2, 3, 2}, {0, 0, 0, 0, 0}, {-0, 0, 0, 0},
          {-0.452928638422, 1.52864952037});
    check(nn::LayerNorm(std::vector<int64_t>{4, 7}), {x1}, {2, 4, 7},
          {0, 0.33173716946, 0.7593809555, 0.952890118673, 0.724202221653},
          {0.0271671001027, 0.0148210323938, 0.149400905357, 0.0283555537108},
          {-3.93676417781, -0.0577053682576});
    check(nn::GroupNorm(2, 4), {x2}, {2, 4, 5, 6}, {0, 0, 0, 0, 0},
          {-0.00491051085157, -0.000374598249191, 0.0020280037807, 0.00116731396175},
          {-2.55485372696, 1.43022048992});
    check(nn::InstanceNorm1d(nn::InstanceNorm1dOptions(4).affine(true)), {x1}, {2, 4, 7},
          {0, 0, 0, 0, 0}, {0, 0, 0, -0}, {-3.58383271269, -0.0577053682576});
    check(nn::InstanceNorm2d(4), {x2}, {2, 4, 5, 6},
          {-0.0806880035119, 0.835709755726, 1.32111132968, 1.14722477352, 0.395831651654},
          {-0.0459604862292, 1.12756510467, 1.42996161697, 0.641371039277}, {});
    check(nn::InstanceNorm3d(nn::InstanceNorm3dOptions(4).affine(true)), {x3}, {2, 4, 2, 3, 2},
          {0, 0, 0, 0, 0}, {-0, 0, 0, 0}, {-1.28105951676, 1.52864952037});
    check(nn::LocalResponseNorm(nn::LocalResponseNormOptions(3).alpha(0.5).k(2)), {x2},
          {2, 4, 5, 6}, {0, 0.371561683044, 0.547734586246, 0.468661713876, 0.186969202842},
          {0, 0.425155681069, 0.469234823332, 0.167006721113}, {});
    check(nn::PixelShuffle(2), {x2}, {2, 1, 10, 12},
          {0, 0.836655638536, 0.644217687238, 0.287052651328, 0.985449729988},
          {0, 0.973847630878, -0.442520443295, -0.772764487556}, {});
    check(nn::PixelUnshuffle(2), {wave(d, {2, 1, 4, 6})}, {2, 4, 2, 3},
          {0, 0.985449729988, 0.334988150156, 0.854598908088, -0.366479129252},
          {0, -0.772764487556, 0.783326909627, 0.0168139004843}, {});
    check(nn::ConstantPad1d(nn::ConstantPad1dOptions({1, 2}, 3.5)), {x1}, {2, 4, 10},
          {3.5, 0, 0.644217687238, 0.985449729988, 0.863209366649},
          {0.783326909627, 0.973847630878, 0.427379880234, -0.442520443295}, {});
    check(nn::ConstantPad2d(nn::ConstantPad2dOptions({1, -1, 2, 0}, 3.5)), {x2}, {2, 4, 7, 6},
          {3.5, 3.5, 3.5, 3.5, 3.5},
          {-0.761983583919, 0.0336230472211, 0.803784426552, 0.965657776549}, {});
    check(nn::ConstantPad3d(1, 3.5), {x2}, {2, 6, 7, 8}, {3.5, 3.5, 3.5, 3.5, 3.5},
          {0.928465722765, 0.286201759557, -0.572653989411, -0.998136615933}, {});
    check(nn::ReflectionPad1d(2), {x1}, {2, 4, 11},
          {0.985449729988, 0.644217687238, 0, 0.644217687238, 0.985449729988},
          {0.973847630878, 1.21070678986, -0.442520443295, -0.977530117665}, {});
    check(nn::ReflectionPad2d(nn::ReflectionPad2dOptions({1, 2, 3, 0})), {x2}, {2, 4, 8, 9},
          {0.669569762197, 0.0336230472211, 0.669569762197, 0.990607355695, 0.845746831143},
          {0.0672080725255, 0.0835544156602, 0.956375928405, 0.449627075974}, {});
    check(nn::ReflectionPad3d(1), {wave(d, {1, 1, 2, 3, 2})}, {1, 1, 4, 5, 4},
          {0.0168139004843, -0.631266637872, 0.0168139004843, -0.631266637872, -0.982452612624},
          {-0.871141364184, 0.548622030471, 3.09683457493, 0.427387106076}, {});
    check(nn::ReplicationPad1d(2), {x1}, {2, 4, 11}, {0, 0, 0, 0.644217687238, 0.985449729988},
          {1.75717454051, 0.427379880234, -0.442520443295, -0.977530117665}, {});
    check(nn::ReplicationPad2d(nn::ReplicationPad2dOptions({1, 2, 3, 0})), {x2}, {2, 4, 8, 9},
          {0, 0, 0.644217687238, 0.985449729988, 0.863209366649},
          {0.0362777016818, 0.588657491069, 0.453242266379, -0.0251776694242}, {});
    check(nn::ReplicationPad3d(1), {wave(d, {1, 1, 2, 3, 2})}, {1, 1, 4, 5, 4},
          {0, 0, 0.644217687238, 0.644217687238, 0},
          {-1.4432122311, 0.693409242851, 2.65409874796, 1.27661114015}, {});
    check(nn::ZeroPad2d(nn::ZeroPad2dOptions({1, 2, 0, 1})), {x2}, {2, 4, 6, 9},
          {0, 0, 0.644217687238, 0.985449729988, 0.863209366649},
          {0.783326909627, 0.973847630878, 0.427379880234, -0.442520443295}, {});
    CHECK(nn::ZeroPad1d(nn::ZeroPad1dOptions({1, 2}))(x1).equal(
        nn::ConstantPad1d(nn::ConstantPad1dOptions({1, 2}, 0))(x1)));
    CHECK(nn::ZeroPad3d(nn::ZeroPad3dOptions({1, 0, 0, 1, 0, 2}))(x2).equal(
        nn::ConstantPad3d(nn::ConstantPad3dOptions({1, 0, 0, 1, 0, 2}, 0))(x2)));
    check(nn::Unflatten(1, std::vector<int64_t>{2, 2}), {x2}, {2, 2, 2, 5, 6},
          {0, 0.644217687238, 0.985449729988, 0.863209366649, 0.334988150156},
          {0, 0.783326909627, 0.973847630878, 0.427379880234}, {});
    check(nn::Bilinear(4, 3, 5), {wave(d, {2, 3, 4}), wave(d, {2, 3, 3}, 0.4)}, {2, 3, 5},
          {0.726654634712, -0.117139738341, 0.191329679167, 1.07801056433, -0.430481030417},
          {-0.222902905637, -0.082427544034, 0.120427339573, 0.232145213496},
          {5.53264355391, 0.859277369159});
    check(nn::MultiheadAttention(6, 2), {tgt, wave(d, {4, 2, 6}, 0.4), wave(d, {4, 2, 6}, 0.5)},
          {3, 2, 6},
          {-0.260207197987, 0.397552242536, 0.498071078659, 0.308231249953, 0.659488652658},
          {-0.0133874850956, -0.00851656444188, -0.00288488445102, 0.00300449367593},
          {-1.71660761084, -0.741054148495, -1.11190619737, 0.0456432214316});
    check(nn::MultiheadAttention(nn::MultiheadAttentionOptions(6, 3)
                                     .bias(false)
                                     .add_bias_kv(true)
                                     .add_zero_attn(true)
                                     .kdim(4)
                                     .vdim(5)),
          {tgt, wave(d, {4, 2, 4}, 0.4), wave(d, {4, 2, 5}, 0.5)}, {3, 2, 6},
          {0.0680657930662, 0.0451833590744, -0.0601587970914, -0.0557110262553, 0.050409480764},
          {0.028915601543, 0.0330324859508, 0.0341986767677, 0.0323100016411},
          {0.615744672217, 1.15114717489, 0.244912922122, 0.0855387012996, 0.0730085064883,
           0.030628124355});
    check(nn::TransformerEncoderLayer(
              nn::TransformerEncoderLayerOptions(6, 2).dim_feedforward(8).dropout(0).activation(
                  kGELU)),
          {tgt}, {3, 2, 6}, {0, 1.04744697323, 0.406690011359, -0.122823839761, 0.424844147791},
          {-0.108720508766, 0.0501292111838, 0.0291936967974, -0.00132201295369},
          {-0.294340926552, 0.845453675658, -5.55111512313e-17, -4.16333634234e-17,
           0.00357592171024, 0.120358455097, -3.50414142147e-16, -2.22044604925e-16,
           -0.134114036737, -0.0882685104095, -4.51478011567, 0.0456432214316});
    check(nn::TransformerDecoderLayer(
              nn::TransformerDecoderLayerOptions(6, 2).dim_feedforward(8).dropout(0)),
          {tgt, wave(d, {4, 2, 6}, 0.4)}, {3, 2, 6},
          {0, 1.17493520565, -0.0049513497151, -0.181002135649, 0.139981323915},
          {-0.040855261699, 0.0029138401867, -0.0216926404792, 0.00553948616922},
          {-0.184576287842, 0.418653231025, 2.08166817117e-17, -1.73472347598e-17, 0.870132213287,
           -0.164553637972, 5.20417042793e-17, -5.55111512313e-17, 0.150518239179, 0.159750350995,
           -2.42861286637e-17, -1.38777878078e-16, 0.360050362889, -0.0476557043575, -1.14656091581,
           0.0252875157295, -2.96974714149, 0.0456432214316});
  });
}

TEST_CASE("a Transformer has PyTorch's values, names and masks") {
  for_each_device([](Device d) {
    nn::Transformer m(nn::TransformerOptions(6, 2, 2, 1).dim_feedforward(8).dropout(0));
    fill(m, d);
    CHECK(m->parameters().size() == 46);
    CHECK(m->named_parameters().contains("encoder.layers.1.self_attn.out_proj.weight"));
    const Tensor mask = nn::TransformerImpl::generate_square_subsequent_mask(3).to(d, kFloat64);
    CHECK(mask.cpu().equal(
        tensor({{0., -INFINITY, -INFINITY}, {0., 0., -INFINITY}, {0., 0., 0.}}, kFloat64)));
    const Tensor padding = tensor({{0, 0, 0, 1}, {0, 0, 0, 0}}, kInt64).to(kBool).to(d);
    const Tensor y = m(wave(d, {4, 2, 6}), wave(d, {3, 2, 6}, 0.4), Tensor(), mask, Tensor(),
                       padding, Tensor(), padding);
    check_values(
        y.detach().reshape({-1}).narrow(0, 0, 6), {6},
        {0, -0.563397349085, -0.0743269991715, 0.929836297298, 0.16736160831, 0.548540686719});
    const auto copy = std::dynamic_pointer_cast<nn::TransformerImpl>(m->clone());
    CHECK(copy->forward(wave(d, {4, 2, 6}), wave(d, {3, 2, 6}, 0.4), Tensor(), mask, Tensor(),
                        padding, Tensor(), padding)
              .detach()
              .equal(y.detach()));
    // A Transformer clones the given encoder; a clone of the Transformer has a third encoder.
    nn::Transformer coded(nn::TransformerOptions(6, 2, 2, 1).dropout(0).custom_encoder(m->encoder));
    const auto twin = std::dynamic_pointer_cast<nn::TransformerImpl>(coded->clone());
    CHECK(coded->encoder.ptr() != m->encoder.ptr());
    CHECK(twin->encoder.ptr() != coded->encoder.ptr());
    CHECK(twin->encoder.forward(wave(d, {4, 2, 6}), Tensor(), padding)
              .equal(coded->encoder.forward(wave(d, {4, 2, 6}), Tensor(), padding)));

    nn::MultiheadAttention attention(6, 2);
    fill(attention, d);
    const Tensor hidden =
        tensor({{0, 1, 0, 0}, {0, 1, 0, 0}, {0, 1, 0, 0}}, kInt64).to(kBool).to(d);
    const auto [out, weights] = attention(wave(d, {3, 2, 6}), wave(d, {4, 2, 6}, 0.4),
                                          wave(d, {4, 2, 6}, 0.5), padding, true, hidden);
    check_values(out.detach().reshape({-1}).narrow(0, 0, 4), {4},
                 {-0.276098499307, 0.418632310543, 0.472224161669, 0.338327689708});
    check_values(weights.detach().narrow(0, 0, 1).narrow(1, 0, 2).squeeze(0), {2, 4},
                 {0.617070626375, 0, 0.382929373625, 0, 0.973988690333, 0, 0.026011309667, 0});
    CHECK_FALSE(std::get<1>(attention(wave(d, {3, 2, 6}), wave(d, {4, 2, 6}), wave(d, {4, 2, 6}),
                                      Tensor(), false))
                    .defined());
  });
}

TEST_CASE("scaled_dot_product_attention equals its formula") {
  const Tensor q = wave(kCPU, {2, 3, 4}), k = wave(kCPU, {2, 5, 4}, 0.4),
               v = wave(kCPU, {2, 5, 6}, 0.3);
  const Tensor plain = matmul(softmax(matmul(q, k.transpose(1, 2)) / 2.0, -1), v);
  CHECK(F::scaled_dot_product_attention(q, k, v).allclose(plain, 1e-14, 1e-14));
  const Tensor causal = F::scaled_dot_product_attention(q, k, v, {}, 0, true);
  CHECK(causal.select(1, 0).allclose(v.select(1, 0), 1e-14, 1e-14));
  const Tensor seen = arange(5).unsqueeze(0) <= arange(3).unsqueeze(1);
  CHECK(F::scaled_dot_product_attention(q, k, v, seen).allclose(causal, 1e-14, 1e-14));
  CHECK(F::scaled_dot_product_attention(q, k, v, {}, 0, false, 0.5).allclose(plain, 1e-14, 1e-14));
  CHECK_THROWS_AS(F::scaled_dot_product_attention(q, v, v), ShapeError);
  CHECK_THROWS_AS(F::scaled_dot_product_attention(q, k, v, seen, 0, true), Error);
}

TEST_CASE("instance_norm keeps statistics") {
  nn::InstanceNorm1d m(nn::InstanceNorm1dOptions(4).track_running_stats(true));
  m->to(kFloat64);
  const Tensor x = wave(kCPU, {2, 4, 7});
  m(x);
  check_values(m->running_mean, {4},
               {0.0152814482358, 0.0219422348391, -0.00709645181525, -0.0245893869242});
  check_values(m->running_var, {4},
               {0.957117219887, 0.947131833218, 0.964493847307, 0.942171085887});
  m->eval();
  check_values(m(x).flatten().narrow(0, 0, 4), {4},
               {-0.0156199514965, 0.642867966177, 0.991658727012, 0.86671058618});
  CHECK(m(x[0]).allclose(m(x)[0], 1e-14, 1e-14));
}

TEST_CASE("ConvTranspose has the requested output size, and refuses impossible ones") {
  nn::ConvTranspose2d m(nn::ConvTranspose2dOptions(2, 3, 3).stride(2).padding(1));
  CHECK(m(ones({1, 2, 4, 4}), IntArrayRef{8, 7}).sizes() == IntArrayRef{1, 3, 8, 7});
  CHECK(m(ones({2, 4, 4})).sizes() == IntArrayRef{3, 7, 7});
  CHECK_THROWS_AS(m(ones({1, 2, 4, 4}), IntArrayRef{9, 7}), ShapeError);
  CHECK_THROWS_AS(m(ones({1, 2, 4, 4}), IntArrayRef{9}), ShapeError);
  CHECK_THROWS_AS(m(ones({1, 3, 4, 4})), ShapeError);
  CHECK_THROWS_AS(m(ones({1, 2, 4, 4}, kFloat64)), DTypeError);
  CHECK_THROWS_AS(conv_transpose2d(ones({1, 2, 4, 4}), ones({2, 3, 3, 3}), {}, 2, 1, 2),
                  ShapeError);
  CHECK_THROWS_AS(conv1d(ones({4, 4}), ones({2, 3, 3})), ShapeError);
  CHECK_THROWS_AS(conv1d(ones({4}), ones({2, 3, 3})), ShapeError);
  CHECK_THROWS_AS(nn::ConvTranspose1d(nn::ConvTranspose1dOptions(3, 4, 2).groups(2)), Error);
  CHECK_THROWS_AS(nn::Conv1d(nn::Conv1dOptions(3, 4, 0)), Error);
}

TEST_CASE("padding and rearranging refuse invalid sizes") {
  const Tensor x = ones({2, 3, 4});
  CHECK_THROWS_AS(F::pad(x, {1}, kConstant), Error);
  CHECK_THROWS_AS(F::pad(x, {1, 1, 1, 1, 1, 1, 1, 1}, kConstant), ShapeError);
  CHECK_THROWS_AS(F::pad(x, {4, 0}, kReflect), ShapeError);
  CHECK_THROWS_AS(F::pad(x, {5, 0}, kCircular), ShapeError);
  CHECK_THROWS_AS(F::pad(x, {-4, -4}, kReplicate), ShapeError);
  CHECK_THROWS_AS(F::pad(x, {-3, -2}, kConstant), ShapeError);
  CHECK(F::pad(x, {-1, -2}, kConstant).sizes() == IntArrayRef{2, 3, 1});
  CHECK(F::pad(arange(3), {2, 1}, kCircular).equal(tensor({1, 2, 0, 1, 2, 0}, kInt64)));
  CHECK(F::pad(arange(3), F::PadFuncOptions({1, 0}).value(7)).equal(tensor({7, 0, 1, 2}, kInt64)));
  CHECK_FALSE(F::pad(x, {0, 0}, kConstant).is_same(x));
  CHECK_THROWS_AS(F::pixel_shuffle(ones({3, 2, 2}), 2), ShapeError);
  CHECK_THROWS_AS(F::pixel_unshuffle(ones({3, 3, 2}), 2), ShapeError);
  CHECK_THROWS_AS(F::pixel_shuffle(ones({4, 2, 2}), 0), Error);
  CHECK_THROWS_AS(nn::Unflatten(1, std::vector<int64_t>{2, 2})(x), ShapeError);
  CHECK(nn::Unflatten(-1, std::vector<int64_t>{2, -1})(x).sizes() == IntArrayRef{2, 3, 2, 2});
  CHECK_THROWS_AS(F::group_norm(ones({2, 4, 3}), 3), ShapeError);
  CHECK_THROWS_AS(F::instance_norm(ones({2, 4, 1})), ShapeError);
  CHECK_THROWS_AS(F::local_response_norm(ones({2, 4, 3}), 0), Error);
  CHECK_THROWS_AS(nn::GroupNorm(3, 4), Error);
  CHECK_THROWS_AS(nn::LayerNorm(std::vector<int64_t>{}), Error);
  CHECK_THROWS_AS(nn::BatchNorm1d(4)(ones({2, 4, 3, 3})), ShapeError);
  CHECK_THROWS_AS(nn::InstanceNorm2d(4)(ones({2, 4})), ShapeError);
  CHECK_THROWS_AS(nn::MultiheadAttention(6, 4), Error);
  CHECK_THROWS_AS(nn::MultiheadAttention(6, 2)(ones({3, 2, 5}), ones({3, 2, 6}), ones({3, 2, 6})),
                  ShapeError);
  CHECK_THROWS_AS(F::bilinear(ones({2, 3}), ones({2, 4}), ones({5, 4, 3})), ShapeError);
  // F.bilinear(torch.ones(2, 3), torch.ones(2, 4), torch.ones(0, 3, 4)).shape, and without features
  CHECK(F::bilinear(ones({2, 3}), ones({2, 4}), ones({0, 3, 4})).sizes() == IntArrayRef{2, 0});
  CHECK(F::bilinear(ones({2, 0}), ones({2, 4}), ones({5, 0, 4})).equal(zeros({2, 5})));
}

// Values of PyTorch 1.13; the last ones of PyTorch 2.15: x = torch.arange(5).view(1, 1, 5),
// F.pad(x, (-3, -2), mode='circular'); F.pad(torch.arange(12).view(1, 1, 3, 4), (-1, 1, 1, -1),
// ...).
TEST_CASE("negative padding crops in every mode") {
  const Tensor x = arange(5).reshape({1, 1, 5});
  const auto padded = [&](std::vector<int64_t> pad, PadMode mode) {
    return F::pad(x, pad, mode).flatten();
  };
  CHECK(padded({-1, 2}, kReflect).equal(tensor({1, 2, 3, 4, 3, 2}, kInt64)));
  CHECK(padded({-1, 2}, kReplicate).equal(tensor({1, 2, 3, 4, 4, 4}, kInt64)));
  CHECK(padded({-1, 2}, kCircular).equal(tensor({1, 2, 3, 4, 1, 2}, kInt64)));
  CHECK(padded({2, -2}, kReflect).equal(tensor({2, 1, 0, 1, 2}, kInt64)));
  CHECK(padded({2, -2}, kCircular).equal(tensor({1, 2, 0, 1, 2}, kInt64)));
  CHECK(padded({2, -2}, kReplicate).equal(tensor({0, 0, 0, 1, 2}, kInt64)));
  CHECK(padded({-4, 3}, kReplicate).equal(tensor({4, 4, 4, 4}, kInt64)));
  CHECK(padded({-4, 3}, kReflect).equal(tensor({4, 3, 2, 1}, kInt64)));
  CHECK(padded({3, -3}, kReflect).equal(tensor({3, 2, 1, 0, 1}, kInt64)));
  CHECK_THROWS_AS(F::pad(x, {-4, 3}, kCircular), ShapeError);
  CHECK(F::pad(x, {-3, -2}, kCircular).sizes() == IntArrayRef{1, 1, 0});
  CHECK(F::pad(x, {-3, -2}, kConstant).sizes() == IntArrayRef{1, 1, 0});
  CHECK_THROWS_AS(F::pad(x, {-3, -2}, kReflect), ShapeError);
  CHECK_THROWS_AS(F::pad(x, {-3, -2}, kReplicate), ShapeError);
  const Tensor image = arange(12).view({1, 1, 3, 4});
  const auto cropped = [&](PadMode mode) { return F::pad(image, {-1, 1, 1, -1}, mode).flatten(); };
  CHECK(cropped(kReflect).equal(tensor({5, 6, 7, 6, 1, 2, 3, 2, 5, 6, 7, 6}, kInt64)));
  CHECK(cropped(kReplicate).equal(tensor({1, 2, 3, 3, 1, 2, 3, 3, 5, 6, 7, 7}, kInt64)));
  CHECK(cropped(kCircular).equal(tensor({5, 6, 7, 5, 1, 2, 3, 1, 5, 6, 7, 5}, kInt64)));
  // y = torch.arange(1., 7.).view(1, 2, 3); F.pad(y, (-1, 1), mode=mode).pow(2).sum().backward()
  const auto grad = [](PadMode mode) {
    const Tensor y = arange(1, 7, kFloat32).view({1, 2, 3}).requires_grad_();
    F::pad(y, {-1, 1}, mode).pow(2).sum().backward();
    return y.grad().flatten();
  };
  CHECK(grad(kReflect).equal(tensor({0., 8., 6., 0., 20., 12.}, kFloat32)));
  CHECK(grad(kReplicate).equal(tensor({0., 4., 12., 0., 10., 24.}, kFloat32)));
  CHECK(grad(kCircular).equal(tensor({0., 8., 6., 0., 20., 12.}, kFloat32)));
}

TEST_CASE("layers without samples or without pixels") {
  const Tensor none = ones({3, 0, 4});
  CHECK(std::get<0>(nn::MultiheadAttention(4, 2)->forward(none, none, none)).sizes() ==
        none.sizes());
  CHECK(nn::TransformerEncoderLayer(nn::TransformerEncoderLayerOptions(4, 2))
            ->forward(none)
            .sizes() == none.sizes());
  CHECK(F::pixel_shuffle(ones({1, 4, 0, 2}), 2).sizes() == IntArrayRef{1, 1, 0, 4});
  CHECK(F::pixel_unshuffle(ones({1, 4, 0, 2}), 2).sizes() == IntArrayRef{1, 16, 0, 1});
}

TEST_CASE("masks of uint8 mask like those of bool, and masks of other integers are refused") {
  nn::MultiheadAttention m(4, 2);
  const Tensor x = wave(kCPU, {3, 1, 4}).to(kFloat32);
  const Tensor hidden = tensor({{0, 0, 1}}, kInt64);
  const Tensor by_bool = std::get<1>(m(x, x, x, hidden.to(kBool)));
  CHECK(std::get<1>(m(x, x, x, hidden.to(kUInt8))).equal(by_bool));
  CHECK(by_bool.select(2, 2).abs().sum().item<float>() == 0);
  CHECK_THROWS_AS(m(x, x, x, hidden), DTypeError);
}
