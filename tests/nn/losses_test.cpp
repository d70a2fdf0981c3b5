// Losses and distances of nn::functional and their modules, compared with PyTorch 1.13.
#include <ambit/nn/nn.h>

#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;
namespace F = nn::functional;

namespace {

// The targets and weights of all rows.
struct Others {
  explicit Others(Device d)
      : b(wave(d, {4, 3}, 1.1)),
        c(wave(d, {4, 3}, 0.4)),
        s(tensor({1., -1., -1., 1.}, TensorOptions(kFloat64).device(d))),
        sg(where(wave(d, {4, 3}, 2.3) > 0, 1.0,
                 full({4, 3}, -1., TensorOptions(kFloat64).device(d)))),
        q(b * 0.5 + 0.5),
        w(c.abs()),
        cls(tensor({2, 0, 1, 2}, TensorOptions(kInt64).device(d))),
        lab(tensor({{2, 0, -1}, {1, -1, 0}, {-1, 0, 1}, {0, 1, 2}},
                   TensorOptions(kInt64).device(d))) {}
  Tensor b, c, s, sg, q, w, cls, lab;
};

struct Loss {
  const char* name;
  std::function<Tensor(const Tensor&, const Others&, Reduction)> call;
  // For a = wave(4, 3): mean and sum, the first losses, and the first two rows of the gradient of
  // the mean.
  double mean, sum;
  std::vector<double> first, gradient;
};

#define ROW(call, ...)                                                             \
  {                                                                                \
#call, [](const Tensor& a, const Others& o, Reduction r) {                       \
     const auto& [b, c, s, sg, q, w, cls, lab] = o;                                 \
     [[maybe_unused]] const Tensor* used[] = {&b, &c, &s, &sg, &q, &w, &cls, &lab};  \
     return F::call;                                                                \
   },                                                                               \
   __VA_ARGS__ \
  }
const std::vector<Loss>& losses() {
  static const std::vector<Loss> all{
      ROW(l1_loss(a, b, r), 0.91877579107, 11.0253094928,
          {0, 0.246989672824, 0.176953326169, 1.02095506079},
          {0, -0.0833333333333, 0.0833333333333, 0.0833333333333, 0.0833333333333,
           0.0833333333333}),
      ROW(smooth_l1_loss(a, b, r, 0.5), 0.70545302547, 8.46543630565,
          {0, 0.0610038984816, 0.0313124796422, 0.770955060792},
          {0, -0.0411649454706, 0.0294922210281, 0.0833333333333, 0.0833333333333,
           0.0591261829801}),
      ROW(huber_loss(a, b, r, 0.7), 0.445597506097, 5.34717007317,
          {0, 0.0305019492408, 0.0156562398211, 0.469668542554},
          {0, -0.0205824727353, 0.0147461105141, 0.0583333333333, 0.0583333333333,
           0.0295630914901}),
      ROW(binary_cross_entropy(a * 0.5 + 0.5, q, w, r), 0.961613653796, 11.5393638456,
          {0, 0.10870495281, 0.342908207659, 1.47507626188},
          {0, -0.0137015683933, 0.366169634311, 0.311129711531, 0.120716597213, 0.0306535246812}),
      ROW(binary_cross_entropy_with_logits(a, q, w, r, w[0]), 0.385151946965, 4.62182336358,
          {0, 0.0831063817581, 0.237075672212, 0.655605648891},
          {0, -0.00295676083302, -0.0063719309172, 0.0316224606889, 0.047057874042,
           0.0220036222916}),
      ROW(kl_div(a, q, r), -0.204253117493, -2.45103740991,
          {-0.34657359028, -0.662063875531, -0.982104990846, -0.727720283153},
          {-0.0416666666667, -0.0788003066692, -0.0753540168258, -0.0350939294107, -0.0020165802546,
           -0.0122691531012}),
      ROW(kl_div(a, b, r, true), 0.493860105569, 5.92632126683,
          {0, 0.602178483379, -0.397177151921, -0.871963973409},
          {-0.0833333333333, -0.20317262543, -0.187044215048, -0.0711722457151, -0.0321768276505,
           -0.0411534722395}),
      ROW(hinge_embedding_loss(a, sg, 0.4, r), 0.461693670348, 5.54032404418,
          {0.4, 0.644217687238, 0, 0.863209366649},
          {-0.0833333333333, 0.0833333333333, 0, 0.0833333333333, 0.0833333333333,
           -0.0833333333333}),
      ROW(margin_ranking_loss(a, b, sg, 0.3, r), 0.451566169839, 5.41879403807,
          {0.3, 0.546989672824, 0.476953326169, 0},
          {0.0833333333333, -0.0833333333333, 0.0833333333333, -0, -0, 0.0833333333333}),
      ROW(cosine_embedding_loss(a, b, s, 0.1, r), 0.454724890722, 1.81889956289,
          {0.0323440584407, 0, 0, 1.78655550445}, {0, -0.0448376776011, 0.0293117183821, 0, 0, -0}),
      ROW(soft_margin_loss(a, sg, r), 0.656990117021, 7.88388140426,
          {0.69314718056, 0.422042378024, 1.30264544678, 0.351928019001},
          {0.0416666666667, -0.0286911457276, 0.0606823518765, -0.024722437783, -0.0347522855564,
           0.0344327086085}),
      ROW(multilabel_soft_margin_loss(a, q, w[0], r), 0.296532650514, 1.18613060206,
          {0.157742814042, 0.252290308277, 0.389662465018, 0.386435014719},
          {0, -0.00940761467899, -0.010524808215, 0, 0.018133057753, 0.0158991615391}),
      ROW(multi_margin_loss(a, cls, 2, 0.8, w[0], r), 0.0956513597771, 0.382605439108,
          {0.0503268431428, 0, 0.279722539929, 0.0525560560364},
          {0, 0.0548499980737, -0.0548499980737, 0, 0, 0}),
      ROW(multi_margin_loss(a, cls, 1, 1, {}, r), 0.358718654765, 1.43487461906,
          {0.224439409087, 0.157259594502, 0.820687604988, 0.232488010483},
          {0.0833333333333, 0.0833333333333, -0.166666666667, -0.0833333333333, 0.0833333333333,
           0}),
      ROW(multilabel_margin_loss(a, lab, r), 0.345452956928, 1.38181182771,
          {0.767661881496, 0.614149946216, 0, 0},
          {-0.0833333333333, 0.166666666667, -0.0833333333333, 0.0833333333333, -0.166666666667,
           0.0833333333333}),
      ROW(poisson_nll_loss(a, q * 3, true, true, 1e-8, r), 1.96132978584, 23.53595743,
          {1.22986874942, 1.63832814422, 1.4181304084, 1.34801565889},
          {-0.0416666666667, -0.0776928754755, -0.00281067984639, 0.0922813056154, 0.110443910898,
           0.0218705719114}),
      ROW(poisson_nll_loss(a * 0.5 + 0.6, q, false, false, 1e-8, r), 1.07456850061, 12.8948220073,
          {0.85541280355, 0.998789737146, 1.01254114214, 1.01850108263},
          {0.00694444502315, -0.00106164374917, 0.00718679961586, 0.0246572784592, 0.0403529234771,
           0.0272190565719}),
      ROW(triplet_margin_loss(a, b, c, 0.9, 2, 1e-6, true, r), 1.77216877855, 7.08867511422,
          {0.833973802925, 1.15407620706, 2.51406294311, 2.58656216112},
          {1.46884999679e-07, -0.375452002395, -0.0356123213356, 0.163962374667, 0.307909958887,
           0.273652585034}),
  };
  return all;
}
#undef ROW

}  // namespace

TEST_CASE("losses have PyTorch's values and gradients") {
  for_each_device([](Device d) {
    const Others others(d);
    for (const Loss& loss : losses()) {
      INFO(loss.name);
      const Tensor a = wave(d, {4, 3}).requires_grad_();
      const Tensor mean = loss.call(a, others, kMean);
      check_values(mean.detach(), {}, {loss.mean});
      check_values(loss.call(a, others, kSum).detach(), {}, {loss.sum});
      const auto n = static_cast<int64_t>(loss.first.size());
      check_values(loss.call(a, others, kNone).detach().flatten().narrow(0, 0, n), {n}, loss.first);
      mean.backward();
      check_values(a.grad().narrow(0, 0, 2), {2, 3}, loss.gradient);
    }
  });
}

TEST_CASE("kl_div does not hide NaN or negative probabilities") {
  for_each_device([](Device d) {
    // F.kl_div(torch.zeros(3), torch.tensor([-1., 0., nan]), reduction='none')
    const Tensor p = tensor({-1., 0., NAN}, kFloat64).to(d);
    check_values(F::kl_div(zeros_like(p), p, Reduction::none), {3}, {NAN, 0, NAN});
  });
}

TEST_CASE("losses at their margin have PyTorch's gradient, 0") {
  for_each_device([](Device d) {
    // PyTorch 2.15; for triplet_margin_loss torch.ops.aten's, since F's accepts no margin of 0:
    // x = torch.zeros(1, 2, requires_grad=True); the sum of each, backward(), x.grad
    const auto gradient_of = [&](const std::function<Tensor(const Tensor&)>& loss) {
      const Tensor x = zeros({1, 2}, TensorOptions(kFloat64).device(d)).set_requires_grad(true);
      loss(x).backward();
      return x.grad();
    };
    const auto pair = [&](double a, double b) { return tensor({{a, b}}, kFloat64).to(d); };
    const Tensor one = pair(1, 1);
    check_values(gradient_of([&](const Tensor& x) {
                   return F::margin_ranking_loss(x, x.detach() + 1, one * -1, 1, Reduction::sum);
                 }),
                 {1, 2}, {0, 0});
    check_values(gradient_of([&](const Tensor& x) {
                   return F::margin_ranking_loss(x, x.detach() + 1, one, -1, Reduction::sum);
                 }),
                 {1, 2}, {0, 0});
    check_values(gradient_of([&](const Tensor& x) {
                   return F::hinge_embedding_loss(x, -one, 0, Reduction::sum);
                 }),
                 {1, 2}, {0, 0});
    check_values(gradient_of([&](const Tensor& x) {
                   const Tensor apart = -one.select(1, 0);
                   return F::cosine_embedding_loss(x + pair(1, 0), pair(0, 1), apart, 0,
                                                   Reduction::sum);
                 }),
                 {1, 2}, {0, 0});
    check_values(gradient_of([&](const Tensor& x) {
                   return F::triplet_margin_loss(x, one, pair(1, -1), 0, 1, 0, false,
                                                 Reduction::sum);
                 }),
                 {1, 2}, {0, 0});
  });
}

// This is the exact value; PyTorch 2.15 gives 1, because the product of the squares overflows.
TEST_CASE("cosine_embedding_loss is correct for float32 above 1e10") {
  for_each_device([](Device d) {
    const Tensor x = full({1, 2}, 1e15, TensorOptions(kFloat32).device(d));
    const Tensor loss = F::cosine_embedding_loss(x, x * 2, ones({1}, d));
    CHECK(std::abs(loss.item<double>()) <= 0x1p-22);
  });
}

TEST_CASE("losses have correct second gradients") {
  const Others others{Device()};
  for (const Loss& loss : losses()) {
    INFO(loss.name);
    const auto f = [&](const std::vector<Tensor>& in) { return loss.call(in[0], others, kMean); };
    const Tensor a = wave(kCPU, {4, 3}, 0.71) * 0.9 + 0.013;  // away from kinks
    gradcheck(f, {a});
    gradgradcheck(f, {a});
  }
}

TEST_CASE(
    "binary_cross_entropy is finite at 0 and 1, and refuses numbers that are not probabilities") {
  const Tensor x = tensor({0., 1., 0., 1.}).requires_grad_(), t = tensor({0., 1., 1., 0.});
  const Tensor y = F::binary_cross_entropy(x, t, {}, kNone);
  CHECK(y.detach().equal(tensor({0., 0., 100., 100.})));
  y.sum().backward();
  // torch.nn.functional.binary_cross_entropy(x, t, reduction='none').sum().backward(); x.grad
  CHECK(x.grad().allclose(tensor({0., 0., -1e12, 1e12})));
  CHECK_THROWS_AS(F::binary_cross_entropy(tensor({1.5}), tensor({1.})), Error);
  CHECK_THROWS_AS(F::binary_cross_entropy(ones({2}), ones({3})), ShapeError);
  CHECK_THROWS_AS(F::binary_cross_entropy_with_logits(ones({2}), ones({3})), ShapeError);
  CHECK_THROWS_AS(F::smooth_l1_loss(ones({2}), ones({2}), kMean, -1), Error);
  CHECK_THROWS_AS(F::huber_loss(ones({2}), ones({2}), kMean, 0), Error);
  CHECK_THROWS_AS(F::multi_margin_loss(ones({2, 3}), zeros({2}, kInt64), 3), Error);
  CHECK_THROWS_AS(F::multi_margin_loss(ones({2, 3}), zeros({3}, kInt64)), ShapeError);
  CHECK_THROWS_AS(F::multi_margin_loss(ones({2, 3}), full({2}, 3, kInt64)), IndexError);
  CHECK_THROWS_AS(F::cosine_embedding_loss(ones({2, 3}), ones({2, 3}), ones({3, 1})), ShapeError);
  CHECK_THROWS_AS(F::l1_loss(ones({2}, kInt64), ones({2})), DTypeError);
}

TEST_CASE("distances have PyTorch's values") {
  for_each_device([](Device d) {
    const Tensor a = wave(d, {4, 3}), b = wave(d, {4, 3}, 1.1);
    check_values(F::pairwise_distance(a, b), {4},
                 {0.303835873547, 1.68033376562, 2.60042439774, 2.24452689478});
    check_values(F::pairwise_distance(a, b, 1, 1e-6, true), {4, 1},
                 {0.423943998993, 2.66230538272, 4.36991881319, 3.56914529794});
    check_values(F::cosine_similarity(a, b), {4},
                 {0.96765594156, -0.175314603902, -0.929535161872, -0.786555504446});
    check_values(F::cosine_similarity(a, b, 0), {3},
                 {-0.588279740293, -0.516039841392, 0.112723336025});
    check_values(
        F::normalize(a, 1, 0).narrow(0, 0, 2), {2, 3},
        {0, 0.246011840188, 0.333410175588, 0.492812194549, 0.127924229486, -0.118681546078});
    check_values(F::normalize(a)[3], {3}, {0.0141679468983, 0.553598568768, 0.832663133529});
  });
}

TEST_CASE("modules of losses equal the functions with their options") {
  const Others o{Device()};
  const Tensor a = wave(kCPU, {4, 3});
  const auto same = [](const Tensor& got, const Tensor& expected) { CHECK(got.equal(expected)); };
  same(nn::L1Loss(kSum)->forward(a, o.b), F::l1_loss(a, o.b, kSum));
  same(nn::SmoothL1Loss(nn::SmoothL1LossOptions().beta(0.5))->forward(a, o.b),
       F::smooth_l1_loss(a, o.b, kMean, 0.5));
  same(nn::HuberLoss(nn::HuberLossOptions().delta(0.5))->forward(a, o.b),
       F::huber_loss(a, o.b, kMean, 0.5));
  same(nn::BCELoss(nn::BCELossOptions().weight(o.w))->forward(o.q, o.q),
       F::binary_cross_entropy(o.q, o.q, o.w));
  same(nn::BCEWithLogitsLoss(
           nn::BCEWithLogitsLossOptions().weight(o.w).pos_weight(o.w[0]).reduction(kSum))
           ->forward(a, o.q),
       F::binary_cross_entropy_with_logits(a, o.q, o.w, kSum, o.w[0]));
  same(nn::KLDivLoss()->forward(a, o.q), F::kl_div(a, o.q));
  same(nn::KLDivLoss(nn::KLDivLossOptions(kBatchMean).log_target(true))->forward(a, o.b),
       F::kl_div(a, o.b, kSum, true) / 4.0);
  same(nn::HingeEmbeddingLoss()->forward(a, o.sg), F::hinge_embedding_loss(a, o.sg));
  same(nn::MarginRankingLoss()->forward(a, o.b, o.sg), F::margin_ranking_loss(a, o.b, o.sg));
  same(nn::CosineEmbeddingLoss()->forward(a, o.b, o.s), F::cosine_embedding_loss(a, o.b, o.s));
  same(nn::SoftMarginLoss()->forward(a, o.sg), F::soft_margin_loss(a, o.sg));
  same(nn::MultiLabelMarginLoss()->forward(a, o.lab), F::multilabel_margin_loss(a, o.lab));
  same(nn::MultiLabelSoftMarginLoss()->forward(a, o.q), F::multilabel_soft_margin_loss(a, o.q));
  same(nn::MultiMarginLoss(nn::MultiMarginLossOptions().p(2).weight(o.w[0]))->forward(a, o.cls),
       F::multi_margin_loss(a, o.cls, 2, 1, o.w[0]));
  same(nn::PoissonNLLLoss()->forward(a, o.q), F::poisson_nll_loss(a, o.q));
  same(nn::TripletMarginLoss()->forward(a, o.b, o.c), F::triplet_margin_loss(a, o.b, o.c));
  const auto l1 = [](const Tensor& x, const Tensor& y) { return (x - y).abs().sum(-1); };
  same(nn::TripletMarginWithDistanceLoss(
           nn::TripletMarginWithDistanceLossOptions().distance_function(l1))
           ->forward(a, o.b, o.c),
       F::triplet_margin_with_distance_loss(a, o.b, o.c, l1));
  same(nn::CosineSimilarity()->forward(a, o.b), F::cosine_similarity(a, o.b));
  same(nn::PairwiseDistance(nn::PairwiseDistanceOptions().p(1))->forward(a, o.b),
       F::pairwise_distance(a, o.b, 1));
  // A single row has the same loss as a batch of one row.
  CHECK(F::multi_margin_loss(a[0], o.cls[0])
            .allclose(F::multi_margin_loss(a.narrow(0, 0, 1), o.cls.narrow(0, 0, 1))));
  CHECK(F::multilabel_margin_loss(a[0], o.lab[0])
            .allclose(F::multilabel_margin_loss(a.narrow(0, 0, 1), o.lab.narrow(0, 0, 1))));
}

TEST_CASE("cosine_similarity of small, large and broadcast vectors, as in PyTorch 1.13") {
  const auto one = [](double v) { return full({1, 2}, v, TensorOptions(kFloat32)); };
  CHECK(F::cosine_similarity(one(1e-5), one(1e-5)).item<float>() == doctest::Approx(1));
  CHECK(F::cosine_similarity(one(1e10), one(1e10)).item<float>() == doctest::Approx(1));
  CHECK(F::cosine_similarity(ones({3, 4}), ones({4})).sizes() == IntArrayRef{3});
  CHECK(F::multi_margin_loss(ones({3}), zeros({1}, kInt64)).dim() == 0);
}

TEST_CASE("second derivatives at 0") {
  const auto second = [](const std::function<Tensor(const Tensor&)>& f) {
    const Tensor x = zeros({1}, TensorOptions(kFloat64)).requires_grad_();
    const Tensor g = autograd::grad({f(x).sum()}, {x}, {}, {}, /*create_graph=*/true)[0];
    return autograd::grad({g.sum()}, {x})[0].item<double>();
  };
  // torch.autograd.functional.hessian at 0
  CHECK(second([](const Tensor& x) { return F::logsigmoid(x); }) == doctest::Approx(-0.25));
  CHECK(second([](const Tensor& x) {
          return F::binary_cross_entropy_with_logits(x, ones({1}, x.options()));
        }) == doctest::Approx(0.25));
  CHECK(second([](const Tensor& x) { return F::huber_loss(x, x.detach()); }) == doctest::Approx(1));
  CHECK(second([](const Tensor& x) { return F::smooth_l1_loss(x, x.detach()); }) ==
        doctest::Approx(1));
}
