// AdaptiveLogSoftmaxWithLoss, RMSNorm, CrossMapLRN2d, GELU by tanh, multi_head_attention_forward,
// the options of normalisations, libtorch's functions outside of nn::functional, Module::apply:
// compared with PyTorch 1.13.
#include <ambit/ambit.h>

#include <sstream>

#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;
namespace F = nn::functional;

namespace {

Tensor classes(Device d, const std::vector<int64_t>& values) {
  return tensor(values, TensorOptions(kInt64)).to(d);
}

// for p in m.parameters(): p.copy_(wave(*p.shape, k=k) * .6); k += .17, from k = .3 on
void fill(nn::Module& module, Device d) {
  module.to(d, kFloat64);
  const NoGradGuard no_grad;
  double k = 0.3;
  for (const Tensor& p : module.parameters()) {
    p.copy_(wave(d, p.sizes(), k) * 0.6);
    k += 0.17;
  }
}

template <class M>
std::string printed(const M& module) {
  std::ostringstream os;
  os << module;
  return os.str();
}

}  // namespace

TEST_CASE("AdaptiveLogSoftmaxWithLoss has PyTorch's values, gradients and names") {
  for_each_device([](Device d) {
    // m = nn.AdaptiveLogSoftmaxWithLoss(6, 9, [3, 5], div_value=2., head_bias=True)
    const auto options =
        nn::AdaptiveLogSoftmaxWithLossOptions(6, 9, {3, 5}).div_value(2).head_bias(true);
    nn::AdaptiveLogSoftmaxWithLoss m(options);
    fill(*m, d);
    std::vector<std::string> names;
    for (const auto& [name, tensor] : m->state_dict()) names.push_back(name);
    CHECK(names == std::vector<std::string>{"head.weight", "head.bias", "tail.0.0.weight",
                                            "tail.0.1.weight", "tail.1.0.weight",
                                            "tail.1.1.weight"});
    const Tensor a = wave(d, {4, 6}, 0.9).requires_grad_(), t = classes(d, {7, 0, 4, 2});
    const nn::ASMoutput out = m->forward(a, t);
    check_values(out.output.detach(), {4},
                 {-2.13860340298, -1.62232451909, -1.00390676846, -2.0085541504});
    CHECK(std::abs(out.loss - 1.69334721023) < 1e-11);
    out.output.sum().backward();
    check_values(a.grad()[0], {6},
                 {0.172767835447, 0.29426045374, 0.350148416402, 0.330955251126, 0.272719107581,
                  0.223364342911});
    check_values(
        m->head->bias.grad(), {5},
        {0.297503985017, -0.61184666625, 0.595920201879, -0.26425983916, -0.0173176814871});
    const Tensor inner = m->tail[1]->named_parameters()["0.weight"].grad();
    check_values(inner.flatten().narrow(0, 0, 4), {4},
                 {0.0, 0.0775895454086, 0.0964608697192, 0.0423325309224});
    const NoGradGuard no_grad;
    const Tensor all = m->log_prob(a);
    check_values(all[0], {9},
                 {-2.43746585527, -1.03787538452, -2.06578174963, -3.04830472933, -3.41583406684,
                  -2.91932938449, -1.96369904758, -2.13860340298, -3.23712620496});
    CHECK(all.exp().sum(1).allclose(ones({4}, all.options()), 1e-12, 1e-12));
    CHECK(m->predict(a).equal(all.argmax(1)));
    CHECK(m->predict(a).equal(classes(d, {1, 0, 4, 4})));
    const nn::ASMoutput one = m->forward(a[0], t[0]);
    CHECK(one.output.dim() == 0);
    CHECK(one.output.equal(out.output[0]));
    const auto copy = std::dynamic_pointer_cast<nn::AdaptiveLogSoftmaxWithLossImpl>(m->clone());
    CHECK(copy->log_prob(a).equal(all));
    CHECK_THROWS_AS(m->forward(a, classes(d, {7, 0, 9, 2})), IndexError);
    CHECK_THROWS_AS(m->forward(a, classes(d, {7, 0, -1, 2})), IndexError);
    CHECK_THROWS_AS(m->forward(a, classes(d, {7})), ShapeError);
    CHECK_THROWS_AS(m->forward(a[0], t), ShapeError);
    CHECK_THROWS_AS(m->forward(a.narrow(1, 0, 5), t), ShapeError);
    CHECK_THROWS_AS(m->forward(a, a.select(1, 0)), DTypeError);
    CHECK_THROWS_AS(m->log_prob(a[0]), ShapeError);
    CHECK_THROWS_AS(m->predict(t), DTypeError);
  });
  using Impl = nn::AdaptiveLogSoftmaxWithLossImpl;
  for (const std::vector<int64_t>& cutoffs :
       {std::vector<int64_t>{}, {5, 3}, {3, 3}, {0, 3}, {3, 9}}) {
    CHECK_THROWS_AS(Impl(6, 9, cutoffs), Error);
  }
  // int64 cannot hold 6 / 1e-30 features.
  CHECK_THROWS_AS(nn::AdaptiveLogSoftmaxWithLoss(
                      nn::AdaptiveLogSoftmaxWithLossOptions(6, 9, {3, 5}).div_value(1e-30)),
                  Error);
}

TEST_CASE("CrossMapLRN2d and RMSNorm have PyTorch's values and correct gradients") {
  for_each_device([](Device d) {
    const Tensor z = wave(d, {1, 5, 2, 1});
    const auto lrn = [](int64_t size) {
      return nn::CrossMapLRN2d(nn::CrossMapLRN2dOptions(size).alpha(0.7).beta(0.6).k(2));
    };
    // nn.CrossMapLRN2d(3, alpha=.7, beta=.6, k=2)(wave(1, 5, 2, 1)); of size 4
    check_values(lrn(3)(z), {1, 5, 2, 1},
                 {0.0, 0.393855288883, 0.605345893301, 0.523776525486, 0.196635892017,
                  -0.2012427798, -0.52926684272, -0.588272807396, -0.38598512284, 0.0101423298354});
    check_values(
        lrn(4)(z), {1, 5, 2, 1},
        {0.0, 0.401070672852, 0.615768819535, 0.534281033989, 0.202047622712, -0.20778866761,
         -0.539786520025, -0.601847822834, -0.393045296943, 0.010359404838});
    gradcheck([&](const std::vector<Tensor>& in) { return lrn(3)(in[0]); }, {z});
    CHECK_THROWS_AS(lrn(3)(z[0]), ShapeError);
    CHECK_THROWS_AS(lrn(3)(z.to(kInt64)), DTypeError);
    const Tensor x = wave(d, {2, 3});
    nn::RMSNorm norm(nn::RMSNormOptions({3}).eps(1e-3));
    fill(*norm, d);
    CHECK(norm(x).equal(rms_norm(x, {3}, norm->weight, 1e-3)));
  });
  CHECK(printed(nn::CrossMapLRN2d(3)) == "CrossMapLRN2d(3, alpha=0.0001, beta=0.75, k=1)");
  CHECK(printed(nn::RMSNorm(nn::RMSNormOptions(4))) ==
        "RMSNorm((4,), eps=None, elementwise_affine=True)");
  CHECK(printed(nn::RMSNorm(nn::RMSNormOptions({4, 2}).eps(0.5).elementwise_affine(false))) ==
        "RMSNorm((4, 2), eps=0.5, elementwise_affine=False)");
  CHECK(nn::RMSNorm(nn::RMSNormOptions(4))->weight.equal(ones({4})));
  CHECK(nn::RMSNorm(nn::RMSNormOptions(4).elementwise_affine(false))->parameters().empty());
  CHECK_THROWS_AS(nn::CrossMapLRN2d(0), Error);
  CHECK_THROWS_AS(nn::RMSNorm(nn::RMSNormOptions(std::vector<int64_t>())), Error);
}

TEST_CASE("multi_head_attention_forward has PyTorch's values with all its options") {
  for_each_device([](Device d) {
    const int64_t e = 4, h = 2, l = 3, s = 5, n = 2;
    const Tensor iw = wave(d, {3 * e, e}, 0.31) * 0.6, ib = wave(d, {3 * e}, 0.53) * 0.3,
                 bk = wave(d, {1, 1, e}, 0.2), bv = wave(d, {1, 1, e}, 0.41),
                 ow = wave(d, {e, e}, 0.77) * 0.7, ob = wave(d, {e}, 0.9) * 0.2;
    const Tensor q = wave(d, {l, n, e}).requires_grad_(), k = wave(d, {s, n, e}, 0.45),
                 v = wave(d, {s, n, e}, 0.63);
    const Tensor padding = zeros({n, s}, TensorOptions(kBool).device(d));
    padding[0][4] = true;
    padding[1][0] = true;
    using Options = F::MultiheadAttentionForwardFuncOptions;
    const auto both = Options(e, h, iw, ib, bk, bv, true, 0, ow, ob)
                          .key_padding_mask(padding)
                          .attn_mask(wave(d, {l, s}, 1.3));
    const auto [out, weights] = F::multi_head_attention_forward(q, k, v, both);
    check_values(
        out.detach(), {l, n, e},
        {-0.189597985336, 0.358932125895,  -0.0193988887381, 0.310733837656,   0.270196991965,
         -0.185716319694, 0.608037469975,  -0.397110909519,  -0.0896437692665, 0.254388084556,
         0.0893384992116, 0.198215484833,  0.183641915545,   -0.0964019094491, 0.51630244686,
         -0.303303174554, 0.0203797898775, 0.141531982775,   0.204599141851,   0.0809874222292,
         0.063556114084,  0.0197893820021, 0.404446315757,   -0.196206413234});
    check_values(weights.detach()[0], {l, s + 2},
                 {0.175679206672,
                  0.317791866424,
                  0.20766419968,
                  0.0871893154045,
                  0.0,
                  0.102733912608,
                  0.108941499211,
                  0.14534770178,
                  0.43567906988,
                  0.119326777919,
                  0.0836556817579,
                  0.0,
                  0.104771892944,
                  0.11121887572,
                  0.133700130161,
                  0.463611237475,
                  0.0922419870695,
                  0.0624888794468,
                  0.0,
                  0.125726232786,
                  0.122231533062});
    check_values(autograd::grad({out.sum()}, {q})[0][0], {n, e},
                 {-0.00421761620978, -0.00616685428285, -0.00752818849852, -0.00817183897229,
                  0.0057688691798, 0.00231728855684, -0.00135520581222, -0.004898504535});
    // If weights are not requested, they are not computed, and the output is the same.
    const auto [lean, none] =
        F::multi_head_attention_forward(q, k, v, Options(both).need_weights(false));
    CHECK(lean.allclose(out, 1e-12, 1e-12));
    CHECK(!none.defined());
    const auto separate = Options(e, h, {}, {}, {}, {}, false, 0.5, ow, {})
                              .use_separate_proj_weight(true)
                              .q_proj_weight(wave(d, {e, e}, 0.3))
                              .k_proj_weight(wave(d, {e, 6}, 0.4) * 0.5)
                              .v_proj_weight(wave(d, {e, 3}, 0.5))
                              .average_attn_weights(false)
                              .training(false);
    const auto [out2, weights2] = F::multi_head_attention_forward(
        q, wave(d, {s, n, 6}, 0.45), wave(d, {s, n, 3}, 0.63), separate);
    check_values(out2.detach()[0], {n, e},
                 {0.0879074545084, -0.0840862648679, 0.0799461817837, -0.0755029063379,
                  -0.125683271211, 0.109680236275, -0.0932612438894, 0.0764885623579});
    CHECK(weights2.sizes() == IntArrayRef{n, h, l, s});
    const auto fixed = Options(e, h, iw, ib, {}, {}, false, 0, ow, ob)
                           .static_k(wave(d, {n * h, 4, e / h}, 0.21))
                           .static_v(wave(d, {n * h, 4, e / h}, 0.37))
                           .need_weights(false);
    const Tensor out3 = std::get<0>(F::multi_head_attention_forward(q, k, v, fixed));
    check_values(out3.detach()[0], {n, e},
                 {-0.451348186098, 0.68121824794, -0.40099867619, 0.750200090183, -0.48108899253,
                  0.705836744887, -0.420401499092, 0.764313654692});

    const auto refuses = [&](auto error, const Options& options, const Tensor& key) {
      CHECK_THROWS_AS(F::multi_head_attention_forward(q, key, v, options), decltype(error));
    };
    refuses(ShapeError(""), Options(both).attn_mask(zeros({l, 2}, q.options())), k);
    refuses(ShapeError(""), Options(both).key_padding_mask(zeros({l, 2}, q.options())), k);
    refuses(ShapeError(""), Options(both).in_proj_weight(ow), k);
    refuses(ShapeError(""), Options(both).out_proj_weight({}), k);
    refuses(ShapeError(""), Options(both).in_proj_bias(ob), k);
    refuses(ShapeError(""), Options(fixed).static_k(bk), k);
    refuses(ShapeError(""), Options(fixed).static_k(wave(d, {n * h, 7, e / h})), k);
    refuses(ShapeError(""), both, k.narrow(2, 0, 3));
    refuses(ShapeError(""), both, k.narrow(0, 0, 3));
    refuses(Error(""), Options(both).num_heads(3), k);
    refuses(Error(""), Options(both).bias_v({}), k);
    refuses(Error(""), Options(both).static_k(bk), k);
    refuses(Error(""), both, Tensor());
    refuses(DTypeError(""), both, k.to(kInt64));
    refuses(DTypeError(""), Options(both).attn_mask(zeros({l, s}, padding.options().dtype(kInt64))),
            k);
  });
}

TEST_CASE("functions of layers accept libtorch's options") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {2, 4, 3});
    const auto first = [](const Tensor& t) { return t[0]; };
    // F.layer_norm(x, (3,), wave(3, k=.3), None, 1e-3); F.group_norm(x, 2, wave(4, k=.3), ...)
    check_values(
        first(F::layer_norm(x, F::LayerNormFuncOptions({3}).weight(wave(d, {3}, 0.3)).eps(1e-3))),
        {4, 3},
        {0.0, 0.0728275242299, 0.609293602862, 0.0, 0.0311638672162, -0.717990175797, 0.0,
         -0.303536638032, 0.742416507356, 0.0, 0.0752617883696, 0.606184324662});
    check_values(first(F::group_norm(x, F::GroupNormFuncOptions(2)
                                            .weight(wave(d, {4}, 0.3))
                                            .bias(wave(d, {4}, 0.6))
                                            .eps(1e-3))),
                 {4, 3},
                 {0.0, 0.0, 0.0, 0.845237032446, 0.516133194755, 0.0888690387892, 0.383207004029,
                  0.300341373764, 0.562805988402, 1.13355404855, 1.79729749855, 2.14067303096});
    check_values(first(F::instance_norm(
                     x, F::InstanceNormFuncOptions().weight(wave(d, {4}, 0.3)).eps(1e-3))),
                 {4, 3},
                 {0.0, 0.0, 0.0, 0.344614815986, 0.0311638672162, -0.375778683202, -0.162457255159,
                  -0.579959252197, 0.742416507356, -1.04045205977, 0.199494257136, 0.840957802637});
    check_values(first(F::local_response_norm(
                     x, F::LocalResponseNormFuncOptions(3).alpha(0.5).beta(0.6).k(2))),
                 {4, 3},
                 {0.0, 0.414200187666, 0.616990728858, 0.530535546882, 0.205999311858,
                  -0.215710393062, -0.535670880219, -0.603708447932, -0.388098077644,
                  0.0106917872483, 0.405738062212, 0.610865883308});
    // The squares exceed float16's range; PyTorch 2.15 returns 0. 300 / (1 + 1e-4 * 300^2)^0.75
    const Tensor large = F::local_response_norm(full({1, 1, 2}, 300, x.options().dtype(kFloat16)),
                                                F::LocalResponseNormFuncOptions(1));
    CHECK(large.dtype() == kFloat16);
    check_values(large, {1, 1, 2}, {53.34838230116768, 53.34838230116768}, 0x1p-11);
    const nn::CrossMapLRN2d cross_map(nn::CrossMapLRN2dOptions(1));
    const Tensor planes = cross_map(full({1, 1, 1, 1}, 300, x.options().dtype(kFloat16)));
    check_values(planes, {1, 1, 1, 1}, {53.34838230116768}, 0x1p-11);
    const Tensor out = zeros({0}, x.options());
    const Tensor y = F::normalize(x, F::NormalizeFuncOptions().p(3).dim(2).out(out));
    check_values(
        first(y).narrow(0, 0, 2), {2, 3},
        {0.0, 0.602187462072, 0.921156751293, 0.961342783305, 0.373071068373, -0.390661799412});
    CHECK(out.equal(y));
    const Tensor g = wave(d, {5}, 0.9) * 3;
    check_values(F::gelu(g, F::GELUFuncOptions().approximate("tanh")), {5},
                 {0.0, 2.3282907166, 2.91689310442, 1.15382961996, -0.122582653281});
    CHECK(F::gelu(g, F::GELUFuncOptions()).equal(gelu(g)));
    CHECK(nn::GELU(nn::GELUOptions().approximate("tanh"))(g).equal(gelu(g, "tanh")));
    gradcheck([](const std::vector<Tensor>& in) { return gelu(in[0], "tanh"); }, {g});
    CHECK_THROWS_AS(gelu(g, "relu"), Error);
    CHECK_THROWS_AS(gelu(g.to(kInt64), "tanh"), DTypeError);
    check_values(hardsigmoid(g), {5},
                 {0.5, 0.891663454814, 0.986923815439, 0.713689940117, 0.278739778353});
    check_values(hardswish(g), {5},
                 {0.0, 2.09539193546, 2.88334025857, 0.915050163394, -0.370044150841});
    CHECK(hardswish_(g.clone()).equal(hardswish(g)));
    const Tensor image = wave(d, {1, 4, 2, 2});
    CHECK(F::pixel_shuffle(image, F::PixelShuffleFuncOptions(2)).equal(F::pixel_shuffle(image, 2)));
    CHECK(F::pixel_unshuffle(image, F::PixelUnshuffleFuncOptions(2))
              .equal(F::pixel_unshuffle(image, 2)));
  });
  CHECK(printed(nn::GELU()) == "GELU(approximate='none')");
  const nn::ReflectionPad2d reflect(nn::ReflectionPadOptions<2>({1, 1, 0, 0}));
  const nn::ReplicationPad1d replicate(nn::ReplicationPadOptions<1>(1));
  CHECK(reflect->options.padding() == std::vector<int64_t>{1, 1, 0, 0});
  CHECK(replicate->options.padding() == std::vector<int64_t>{1, 1});
}

TEST_CASE("libtorch's functions outside of nn::functional equal those inside") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {2, 4, 3}), w = wave(d, {4}, 0.3) + 2, b = wave(d, {4}, 0.6);
    const std::optional<Tensor> none;
    CHECK(silu(x).equal(F::silu(x)));
    CHECK(log_sigmoid(x).equal(F::logsigmoid(x)));
    check_values(elu(wave(d, {4}) * 2 - 1, 0.7, 1.3, 0.4), {4},
                 {-0.300008758108, 0.374965986818, 1.26216929797, 0.944344353287});
    CHECK(elu(x, 0.5).equal(F::elu(x, 0.5)));
    const auto in_place = [&](const Tensor& want, const auto& f) {
      const Tensor y = x.clone();
      CHECK(f(y).equal(want));
      CHECK(y.equal(want));
    };
    in_place(elu(x), [](const Tensor& t) { return elu_(t); });
    in_place(celu(x), [](const Tensor& t) { return celu_(t); });
    in_place(selu(x), [](const Tensor& t) { return selu_(t); });
    in_place(relu6(x), [](const Tensor& t) { return relu6_(t); });
    in_place(hardtanh(x, -0.5, 0.5), [](const Tensor& t) { return hardtanh_(t, -0.5, 0.5); });
    in_place(leaky_relu(x, 0.2), [](const Tensor& t) { return leaky_relu_(t, 0.2); });
    in_place(rrelu(x), [](const Tensor& t) { return rrelu_(t); });
    in_place(threshold(x, 0.1, 3), [](const Tensor& t) { return threshold_(t, 0.1, 3); });
    in_place(hardsigmoid(x), [](const Tensor& t) { return hardsigmoid_(t); });
    CHECK(binary_cross_entropy_with_logits(x, x.abs(), x[0], x[1])
              .equal(F::binary_cross_entropy_with_logits(x, x.abs(), x[0], kMean, x[1])));
    const Tensor target = classes(d, {1, 2});
    CHECK(cross_entropy_loss(x.select(2, 0), target).equal(cross_entropy(x.select(2, 0), target)));

    const Tensor mean = zeros({4}, x.options()), var = ones({4}, x.options());
    CHECK(batch_norm(x, w, b, mean, var, false, 0.1, 1e-3, true)
              .equal(batch_norm(x, w, b, mean, var, {.training = false, .eps = 1e-3})));
    CHECK(instance_norm(x, w, b, none, none, true, 0.1, 1e-3, true)
              .equal(F::instance_norm(x, {}, {}, w, b, true, 0.1, 1e-3)));
    CHECK(layer_norm(x, {3}, {}, {}, 1e-3, true).equal(layer_norm(x, {3}, {}, {}, 1e-3)));
    CHECK(group_norm(x, 2, w, b, 1e-3, false).equal(F::group_norm(x, 2, w, b, 1e-3)));

    CHECK(pad(x, {1, 2}).equal(constant_pad_nd(x, {1, 2})));
    CHECK(pad(x, {1, 2}, "constant", 3).equal(constant_pad_nd(x, {1, 2}, 3)));
    constexpr int64_t kLarge = (int64_t{1} << 60) + 1;  // not exact in double
    const Tensor whole =
        constant_pad_nd(zeros({1}, TensorOptions(kInt64).device(d)), {0, 1}, kLarge);
    CHECK(whole[1].item<int64_t>() == kLarge);
    CHECK(pad(x, {1, 2}, "reflect").equal(reflection_pad1d(x, {1, 2})));
    CHECK(pad(x, {1, 2}, "replicate").equal(replication_pad1d(x, {1, 2})));
    CHECK(pad(x, {1, 2}, "circular").equal(F::pad(x, {1, 2}, kCircular)));
    const Tensor volume = wave(d, {1, 1, 3, 3, 3});
    CHECK(reflection_pad2d(volume[0], {1, 1, 1, 0}).sizes() == IntArrayRef{1, 3, 4, 5});
    CHECK(replication_pad2d(volume[0], {1, 1, 1, 0}).sizes() == IntArrayRef{1, 3, 4, 5});
    CHECK(reflection_pad3d(volume, {1, 1, 1, 0, 1, 0}).sizes() == IntArrayRef{1, 1, 4, 4, 5});
    CHECK(replication_pad3d(volume, {1, 1, 1, 0, 1, 0}).sizes() == IntArrayRef{1, 1, 4, 4, 5});
    CHECK_THROWS_AS(pad(x, {1, 2}, "mirror"), Error);
    CHECK_THROWS_AS(reflection_pad2d(x, {1, 2}), ShapeError);
    CHECK_THROWS_AS(replication_pad1d(x, {1}), ShapeError);
    check_values(channel_shuffle(arange(6, x.options()).view({1, 6, 1}), 2), {1, 6, 1},
                 {0, 3, 1, 4, 2, 5});
    CHECK_THROWS_AS(channel_shuffle(x, 3), ShapeError);
    const Tensor m = wave(d, {2, 4});
    check_values(nuclear_norm(m), {}, {2.32808150737});
    check_values(frobenius_norm(m), {}, {2.02271634349});
    check_values(frobenius_norm(m, {0, 1}, true), {1, 1}, {2.02271634349});
    CHECK(nuclear_norm(m, {0, 1}).equal(nuclear_norm(m)));
    CHECK(!detach(x.clone().requires_grad_()).requires_grad());
    CHECK(is_nonzero(m[0][1]));
  });
}

TEST_CASE(
    "Module::apply accepts functions of modules, const ones and pointers, with paths or without") {
  const nn::Sequential net(nn::Linear(2, 2), nn::Sequential(nn::ReLU()));
  const nn::Module& constant = *net;
  std::string names, paths;
  net->apply([&](nn::Module& m) { names += m.name() + " "; });
  constant.apply([&](const nn::Module& m) { names += m.name() + " "; });
  net->apply([&](const std::shared_ptr<nn::Module>& m) { names += m->name() + " "; });
  const std::string once = "Sequential Linear Sequential ReLU ";
  CHECK(names == once + once + once);
  net->apply([&](const std::string& path, nn::Module& m) { paths += path + m.name() + " "; });
  constant.apply(
      [&](const std::string& path, const nn::Module& m) { paths += path + m.name() + " "; });
  net->apply([&](const std::string& path, const std::shared_ptr<nn::Module>& m) {
    paths += path + m->name() + " ";
  });
  const std::string tree = "Sequential 0Linear 1Sequential 1.0ReLU ";
  CHECK(paths == tree + tree + tree);
  paths.clear();
  net->apply([&](const std::string& path, const std::shared_ptr<nn::Module>&) { paths += path; },
             "net");
  CHECK(paths == "netnet.0net.1net.1.0");
  nn::LinearImpl alone(2, 2);
  CHECK_THROWS_AS(alone.apply([](const std::shared_ptr<nn::Module>&) {}), Error);
}
