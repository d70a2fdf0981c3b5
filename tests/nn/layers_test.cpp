// Layers compared with PyTorch 1.13. Each comment is the Python code of the expected values, in
// float64 under no_grad, with wave() as in expected.h.
#include <ambit/nn/nn.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>
#include <doctest/doctest.h>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

namespace {

Tensor set(const Tensor& parameter, const Tensor& value) {
  const NoGradGuard no_grad;
  return parameter.copy_(value);
}

Tensor numbers(std::initializer_list<TensorData> values, Device device) {
  return tensor(values, TensorOptions(kFloat64).device(device));
}

}  // namespace

TEST_CASE("Linear and Conv2d agree with PyTorch") {
  for_each_device([](Device d) {
    // l = nn.Linear(3, 2); l.weight.copy_(wave(2, 3)); l.bias.copy_(wave(2)); l(wave(2, 3, k=.3))
    auto linear = nn::Linear(3, 2).to(d, kFloat64);
    set(linear->weight, wave(d, {2, 3}));
    set(linear->bias, wave(d, {2}));
    check_values(linear(wave(d, {2, 3}, 0.3)), {2, 2},
                 {0.7468061170145, 0.5451463452927, 1.583417229591, 1.282710351052});
    // c = nn.Conv2d(2, 4, (3, 2), stride=(2, 1), padding=(1, 0), groups=2)
    // c.weight.copy_(wave(4, 1, 3, 2)); c.bias.copy_(wave(4)); c(wave(1, 2, 4, 3, k=.3))
    auto conv = nn::Conv2d(nn::Conv2dOptions(2, 4, {3, 2}).stride({2, 1}).padding({1, 0}).groups(2))
                    .to(d, kFloat64);
    set(conv->weight, wave(d, {4, 1, 3, 2}));
    set(conv->bias, wave(d, {4}));
    check_values(conv(wave(d, {1, 2, 4, 3}, 0.3)), {1, 4, 2, 2},
                 {0.1905573639391, 0.7409425179789, 2.398909023521, 2.178927569063, 2.084833234109,
                  2.065189530488, -1.134205744501, -1.744839988545, 3.32559124622, 3.551925798363,
                  0.3907777812367, -0.3762914692136, -0.07253198831117, -0.5034577488084,
                  -1.181841061489, -0.6985815554332});
  });
}

TEST_CASE("pooling agrees with PyTorch") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {1, 1, 5, 5});  // x = wave(1, 1, 5, 5)
    // nn.MaxPool2d(3, 2, 1)(x)
    check_values(nn::MaxPool2d(3, 2, 1)(x), {1, 1, 3, 3},
                 {0.6442176872377, 0.9854497299885, 0.8632093666489, 0.988168233877, 0.988168233877,
                  0.6695697621966, 0.9906073556949, 0.8457468311429, 0.6695697621966});
    // nn.MaxPool2d(2, ceil_mode=True)(x)
    check_values(
        nn::MaxPool2d(nn::MaxPool2dOptions(2).ceil_mode(true))(x), {1, 1, 3, 3},
        {0.6442176872377, 0.9854497299885, 0.3349881501559, 0.988168233877, 0.8545989080883,
         0.6695697621966, 0.9906073556949, 0.3031183567457, -0.8875670335815});
    // nn.AvgPool2d(3, 2, 1)(x)
    check_values(
        nn::AvgPool2d(3, 2, 1)(x), {1, 1, 3, 3},
        {-0.06423792365172, 0.0008424178849759, 0.06486053104631, -0.15956418407, -0.2096801458625,
         0.004595478347466, -0.002502144698354, -0.08854422482918, -0.0629384045942});
    // nn.AvgPool2d(3, 2, 1, count_include_pad=False)(x)
    check_values(
        nn::AvgPool2d(nn::AvgPool2dOptions(3).stride(2).padding(1).count_include_pad(false))(x),
        {1, 1, 3, 3},
        {-0.1445353282164, 0.001263626827464, 0.1459361948542, -0.2393462761051, -0.2096801458625,
         0.006893217521199, -0.005629825571296, -0.1328163372438, -0.1416114103369});
    // nn.AdaptiveAvgPool2d((2, 3))(x)
    check_values(nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({2, 3}))(x), {1, 1, 2, 3},
                 {0.1778355866217, 0.2410496961422, 0.08939400208571, 0.2704392550518,
                  0.151663053428, -0.1023044013751});
    const auto [values, indices] = nn::MaxPool2d(5)->forward_with_indices(x);
    CHECK(indices.item<int64_t>() == x.flatten().argmax().item<int64_t>());
  });
}

TEST_CASE("BatchNorm2d normalises and updates its statistics as PyTorch does") {
  for_each_device([](Device d) {
    // b = nn.BatchNorm2d(2); b.weight.copy_(tensor([1.5, -0.5])); b.bias.copy_(tensor([0.25, 1.]))
    auto norm = nn::BatchNorm2d(2).to(d, kFloat64);
    set(norm->weight, numbers({1.5, -0.5}, d));
    set(norm->bias, numbers({0.25, 1.0}, d));
    const Tensor x = wave(d, {2, 2, 1, 3});  // x = wave(2, 2, 1, 3); b(x)
    check_values(norm(x), {2, 2, 1, 3},
                 {0.5346813985457, 1.820732416201, 2.501933545152, 0.5290893005042, 1.088093431393,
                  1.813829204762, -1.20524429937, -1.426587606162, -0.7255154543671, 1.424809781202,
                  0.7473300215447, 0.3968482605939});
    norm(x * 2);  // b(x * 2); b.running_mean; b.running_var; b.num_batches_tracked
    check_values(norm->running_mean, {2}, {-0.04135533427473, 0.1212868460728});
    check_values(norm->running_var, {2}, {1.141971687288, 0.9412500647976});
    CHECK(norm->num_batches_tracked.item<int64_t>() == 2);
    norm->eval();  // b.eval(); b(x)
    check_values(norm(x), {2, 2, 1, 3},
                 {0.3080487971237, 1.212310907098, 1.691284417267, 0.6176388652657, 0.8898657597562,
                  1.243288543038, -0.9153465901481, -1.070979891534, -0.5780344527272,
                  1.053841732683, 0.723918927357, 0.5532393990904});
    CHECK(norm->num_batches_tracked.item<int64_t>() == 2);
    // b = nn.BatchNorm2d(2, momentum=None); b(x); b(x * 3); b.running_mean; b.running_var
    auto mean = nn::BatchNorm2d(nn::BatchNorm2dOptions(2).momentum(std::nullopt)).to(d, kFloat64);
    mean(x);
    mean(x * 3);
    check_values(mean->running_mean, {2}, {-0.2852092018947, 0.8364610073984});
    check_values(mean->running_var, {2}, {3.387466196817, 1.339286375486});
  });
}

TEST_CASE("BatchNorm2d does not change its statistics when the input is refused") {
  nn::BatchNorm2d norm(2);
  CHECK_THROWS_AS(norm(ones({2, 2})), ShapeError);
  CHECK_THROWS_AS(norm(ones({2, 3, 1, 1})), ShapeError);
  CHECK_THROWS_AS(norm(ones({1, 2, 1, 1})), ShapeError);
  CHECK(norm->num_batches_tracked.item<int64_t>() == 0);
  CHECK(norm->running_var.equal(ones({2})));
  nn::BatchNorm2d plain(nn::BatchNorm2dOptions(2).affine(false).track_running_stats(false));
  CHECK(plain->state_dict().empty());
  plain->eval();
  // With the batch's statistics the 8 values of a channel have the sum 0. Each is below 3 and has
  // up to 5 relative roundings of 6e-8: 8 * 3 * 5 * 6e-8 = 7.2e-6.
  CHECK(plain(rand({2, 2, 2, 2})).sum({0, 2, 3}).abs().max().item<float>() < 8e-6f);
}

TEST_CASE("activations agree with PyTorch") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {2, 3}) * 2;  // x = wave(2, 3) * 2
    const auto check = [&x](const nn::AnyModule& module, const std::vector<double>& values) {
      INFO(module.ptr()->name());
      check_values(module(x), {2, 3}, values);
    };
    check(nn::ReLU(), {0, 1.288435374475, 1.970899459977, 1.726418733298, 0.6699763003118, 0});
    check(nn::Sigmoid(), {0.5, 0.7838822423376, 0.8777076912268, 0.8489537635454, 0.661497852426,
                          0.3314650160558});
    check(nn::Tanh(),
          {0, 0.8587162090654, 0.96191287446, 0.9386312947762, 0.5849642930444, -0.6053611271303});
    check(nn::GELU(),
          {0, 1.161141533923, 1.922873195949, 1.65367426035, 0.5015198383628, -0.1694106115313});
    check(nn::Softmax(1), {0.08471535007452, 0.3072716434554, 0.6080130064701, 0.6964249347154,
                           0.2421403651838, 0.06143470010082});
    check(nn::LogSoftmax(1), {-2.468458465001, -1.180023090526, -0.4975590050243, -0.3617952665663,
                              -1.418237699552, -2.789780455243});
    Tensor y = x.clone();
    nn::ReLU(true)(y);
    CHECK(y.equal(nn::ReLU()(x)));
  });
}

TEST_CASE("Embedding looks up rows; a padding row is zero and has no gradient") {
  for_each_device([](Device d) {
    // e = nn.Embedding(4, 2); e.weight.copy_(wave(4, 2)); e(torch.tensor([[3, 0], [1, 3]]))
    auto table = nn::Embedding(4, 2).to(d, kFloat64);
    set(table->weight, wave(d, {4, 2}));
    const Tensor rows = tensor({{3, 0}, {1, 3}}, d);
    check_values(table(rows), {2, 2, 2},
                 {-0.8715757724136, -0.9824526126243, 0, 0.6442176872377, 0.9854497299885,
                  0.8632093666489, -0.8715757724136, -0.9824526126243});
    // The index is counted from the end: it is row 1 of 4.
    auto padded = nn::Embedding(nn::EmbeddingOptions(4, 2).padding_idx(-3)).to(d);
    CHECK(padded->options.padding_idx() == 1);
    CHECK(padded->weight[1].equal(zeros({2}, d)));
    padded(rows).sum().backward();
    CHECK(padded->weight.grad().equal(tensor({{1.0, 1.0}, {0.0, 0.0}, {0.0, 0.0}, {2.0, 2.0}}, d)));
  });
}

TEST_CASE("Dropout drops only during training") {
  for_each_device([](Device d) {
    nn::Dropout drop(0.25);
    const Tensor x = ones({10000}, d);
    const Tensor y = drop(x);
    const double kept = (y != 0).to(kFloat32).mean().item<double>();
    // 5 standard deviations of the mean of 10000 draws: 5 sqrt(0.25 * 0.75 / 10000) = 0.0217.
    CHECK(std::abs(kept - 0.75) < 0.0217);
    CHECK(y.max().item<float>() == 1 / 0.75f);
    drop->eval();
    CHECK(drop(x).equal(x));
    nn::Dropout in_place(nn::DropoutOptions(1).inplace(true));
    const Tensor z = ones({5}, d);
    CHECK(in_place(z).is_same(z));
    CHECK(z.equal(zeros({5}, d)));
  });
}

TEST_CASE("Flatten and Identity do not change values") {
  const Tensor x = rand({2, 3, 4, 5});
  CHECK(nn::Flatten()(x).equal(x.view({2, 60})));
  CHECK(nn::Flatten(nn::FlattenOptions().start_dim(0).end_dim(2))(x).sizes() ==
        IntArrayRef({24, 5}));
  CHECK(nn::Identity()(x).is_same(x));
}

TEST_CASE("losses agree with PyTorch") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {2, 3}) * 2, t = tensor({2, 0}, d);
    const Tensor w = numbers({0.5, 1.0, 2.0}, d);  // t = tensor([2, 0]); w = tensor([.5, 1., 2.])
    using Options = nn::CrossEntropyLossOptions;
    // nn.CrossEntropyLoss(...)(x, t) without options; weight=w; label_smoothing=0.1;
    // ignore_index=2, reduction='sum'; weight=w, label_smoothing=0.2, reduction='none'
    check_values(nn::CrossEntropyLoss()(x, t), {}, {0.4296771357953});
    check_values(nn::CrossEntropyLoss(Options().weight(w))(x, t), {}, {0.4704062573327});
    check_values(nn::CrossEntropyLoss(Options().label_smoothing(0.1))(x, t), {}, {0.5319736552476});
    check_values(nn::CrossEntropyLoss(Options().ignore_index(2).reduction(kSum))(x, t), {},
                 {0.3617952665663});
    check_values(
        nn::CrossEntropyLoss(Options().weight(w).label_smoothing(0.2).reduction(kNone))(x, t), {2},
        {1.023385763577, 0.6232978561813});
    // lp = F.log_softmax(x, 1); nn.NLLLoss()(lp, t); nn.NLLLoss(weight=w, ignore_index=0)(lp, t)
    const Tensor log_p = log_softmax(x, 1);
    check_values(nn::NLLLoss()(log_p, t), {}, {0.4296771357953});
    check_values(nn::NLLLoss(nn::NLLLossOptions().weight(w).ignore_index(0))(log_p, t), {},
                 {0.4975590050243});
    // nn.MSELoss()(x, x.flip(0)); nn.MSELoss(reduction='sum')(x, x.flip(0))
    check_values(nn::MSELoss()(x, x.flip({0})), {}, {3.501695779279});
    check_values(nn::MSELoss(kSum)(x, x.flip({0})), {}, {21.01017467567});
  });
}
