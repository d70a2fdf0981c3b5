// embedding and embedding_bag with their options, and their layers, compared with PyTorch 1.13.
#include <ambit/ambit.h>

#include <sstream>

#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;
namespace F = nn::functional;

namespace {

// For a tensor t: its first and last element, and (t.flatten() * wave(t.numel(), k=0.31)).sum().
using Probes = std::vector<double>;

void check_probes(const Tensor& t, const Probes& expected) {
  const Tensor flat = t.detach().reshape({-1});
  const Tensor sum = (flat * wave(t.device(), {t.numel()}, 0.31)).sum();
  check_values(stack({flat[0], flat[-1], sum}), {3}, expected);
}

Tensor integers(std::initializer_list<TensorData> list, Device d) {
  return tensor(list, TensorOptions(kInt64).device(d));
}

struct BagRow {
  nn::EmbeddingBagMode mode;
  bool two_dims;
  std::optional<int64_t> padding_idx;
  bool scale_grad;
  Probes value, dw, dfactors;
};

// w = wave(5, 3, k=0.5); i = torch.tensor([1, 0, 3, 3, 2, 1, 4, 0]); p = wave(8, k=0.3) for sum;
// F.embedding_bag(i.view(2, 4), w, per_sample_weights=p.view(2, 4), ...), or
// F.embedding_bag(i, w, torch.tensor([0, 3, 3, 4]), per_sample_weights=p, ...);
// (y * wave(*y.shape, k=0.9)).sum().backward(): probes of y, w.grad, p.grad. With scale_grad w.grad
// / torch.bincount(i)[:, None]: PyTorch 1.13 itself uses the counts of other rows on the CPU.
const std::vector<BagRow>& rows() {
  static const std::vector<BagRow> table{
      // clang-format off
    {kSum, true, {}, false, {-1.31768066959, 1.25777393591, 2.3213874872}, {0.368918315735,
     -0.9519653892, -1.24873919763}, {1.29509782297, -1.03471883266, -2.95718238659}},
    {kSum, true, {}, true, {-1.31768066959, 1.25777393591, 2.3213874872}, {0.184459157868,
     -0.9519653892, -0.386832070143}, {1.29509782297, -1.03471883266, -2.95718238659}},
    {kSum, true, 3, false, {0, 1.25777393591, 3.26829805772}, {0.368918315735, -0.9519653892,
     -0.944516814461}, {1.29509782297, -1.03471883266, -0.968592564428}},
    {kSum, true, 3, true, {0, 1.25777393591, 3.26829805772}, {0.184459157868, -0.9519653892,
     -0.234720878558}, {1.29509782297, -1.03471883266, -0.968592564428}},
    {kSum, true, -4, false, {-1.31768066959, 0.660800972546, 0.0690901288995}, {0.368918315735,
     -0.9519653892, -0.198126345133}, {0, -1.03471883266, -2.39620575812}},
    {kSum, false, {}, false, {-0.551955023457, 1.25777393591, -1.89196085413}, {0.837217969339,
     -0.445570246195, 0.833524188311}, {1.29509782297, -0.187423052364, 0.443323649225}},
    {kSum, false, {}, true, {-0.551955023457, 1.25777393591, -1.89196085413}, {0.418608984669,
     -0.445570246195, 0.67117839148}, {1.29509782297, -0.187423052364, 0.443323649225}},
    {kSum, false, 3, false, {0, 1.25777393591, 0.198445457001}, {0.837217969339,
     -0.445570246195, 1.33375390523}, {1.29509782297, -0.187423052364, 1.13525106523}},
    {kSum, false, 3, true, {0, 1.25777393591, 0.198445457001}, {0.418608984669, -0.445570246195,
     0.92129324994}, {1.29509782297, -0.187423052364, 1.13525106523}},
    {kSum, false, -4, false, {-0.551955023457, 0.660800972546, -2.11403060975}, {0.837217969339,
     -0.445570246195, 0.125481175813}, {0, -0.187423052364, -0.624821344323}},
    {kMean, true, {}, false, {-0.239391312182, 0.335031808081, 0.767267130676}, {0.106844970058,
     -0.244382529416, 0.193909740179}, {}},
    {kMean, true, {}, true, {-0.239391312182, 0.335031808081, 0.767267130676}, {0.0534224850292,
     -0.244382529416, 0.154948318297}, {}},
    {kMean, true, 3, false, {0.498747493302, 0.335031808081, 1.43357794501}, {0.106844970058,
     -0.244382529416, 0.936578298739}, {}},
    {kMean, true, 3, true, {0.498747493302, 0.335031808081, 1.43357794501}, {0.0534224850292,
     -0.244382529416, 0.526282597577}, {}},
    {kMean, true, -4, false, {-0.65168674511, 0.24721836274, 0.0619975230031}, {0.142459960078,
     -0.325843372555, 0.0381317047083}, {}},
    {kMean, false, {}, false, {0.00665495631299, 0.335031808081, -1.97817079191},
     {0.242472452711, -0.114383973444, 0.572283308838}, {}},
    {kMean, false, {}, true, {0.00665495631299, 0.335031808081, -1.97817079191},
     {0.121236226356, -0.114383973444, 0.35676028991}, {}},
    {kMean, false, 3, false, {0.498747493302, 0.335031808081, 0.628302053185}, {0.242472452711,
     -0.114383973444, 1.54330924793}, {}},
    {kMean, false, 3, true, {0.498747493302, 0.335031808081, 0.628302053185}, {0.121236226356,
     -0.114383973444, 0.842273259456}, {}},
    {kMean, false, -4, false, {-0.488765058833, 0.24721836274, -2.27258576137}, {0.323296603615,
     -0.152511964592, -0.04474976806}, {}},
    {kMax, true, {}, false, {0.997494986604, 0.841470984808, 3.26721311977}, {0, 0,
     0.662785882793}, {}},
    {kMax, true, 3, false, {0.997494986604, 0.841470984808, 3.26721311977}, {0, 0,
     0.662785882793}, {}},
    {kMax, true, -4, false, {0, 0.841470984808, 2.04302377433}, {0, 0, 0.511457643779}, {}},
    {kMax, false, {}, false, {0.997494986604, 0.841470984808, -1.23776728932}, {0, 0,
     1.73219784585}, {}},
    {kMax, false, 3, false, {0.997494986604, 0.841470984808, 0.924498346226}, {0, 0,
     2.20811141257}, {}},
    {kMax, false, -4, false, {0, 0.841470984808, -1.68170772739}, {0, 0, 1.11837417988}, {}},
      // clang-format on
  };
  return table;
}

struct BagInput {
  BagInput(const BagRow& row, Device d)
      : input(integers({1, 0, 3, 3, 2, 1, 4, 0}, d)), weight(wave(d, {5, 3}, 0.5)) {
    options.mode(row.mode).padding_idx(row.padding_idx).scale_grad_by_freq(row.scale_grad);
    if (!row.dfactors.empty()) factors = wave(d, {8}, 0.3);
    if (row.two_dims) {
      input = input.view({2, 4});
    } else {
      options.offsets(integers({0, 3, 3, 4}, d));
    }
  }
  Tensor operator()(const Tensor& w, const Tensor& p) const {
    F::EmbeddingBagFuncOptions o = options;
    if (p.defined()) o.per_sample_weights(p.view(input.sizes()));
    return F::embedding_bag(input, w, o);
  }
  Tensor input, weight, factors;
  F::EmbeddingBagFuncOptions options;
};

template <class Module>
std::string printed(const Module& module) {
  std::ostringstream os;
  os << *module;
  return os.str();
}

}  // namespace

TEST_CASE("embedding_bag has PyTorch's values and gradients") {
  for_each_device([](Device d) {
    for (size_t i = 0; i < rows().size(); ++i) {
      INFO("row ", i);
      const BagRow& row = rows()[i];
      BagInput in(row, d);
      in.weight.requires_grad_();
      if (in.factors.defined()) in.factors.requires_grad_();
      const Tensor y = in(in.weight, in.factors);
      check_probes(y, row.value);
      (y * wave(d, y.sizes(), 0.9)).sum().backward();
      check_probes(in.weight.grad(), row.dw);
      if (in.factors.defined()) check_probes(in.factors.grad(), row.dfactors);
    }
  });
}

TEST_CASE("embedding_bag has correct first and second gradients") {
  for_each_device([](Device d) {
    for (size_t i = 0; i < rows().size(); ++i) {
      if (rows()[i].scale_grad) continue;  // the scaled gradient is not a derivative
      INFO("row ", i);
      const BagInput in(rows()[i], d);
      const auto f = [&](const std::vector<Tensor>& t) { return in(t[0], t[1]); };
      gradcheck(f, {in.weight, in.factors});
      gradgradcheck(f, {in.weight, in.factors});
    }
  });
}

TEST_CASE("bags at the end, empty bags, and bags with NaN") {
  for_each_device([](Device d) {
    const Tensor w = wave(d, {5, 3}, 0.5), i = integers({1, 0, 3, 3, 2, 1, 4, 0}, d);
    F::EmbeddingBagFuncOptions o;
    // F.embedding_bag(i, w, torch.tensor([0, 3, 3, 8]), include_last_offset=True)
    const Tensor ends = integers({0, 3, 3, 8}, d);
    check_values(F::embedding_bag(i, w, o.offsets(ends).include_last_offset(true)), {3, 3},
                 {0.00665495631299, 0.143266230256, 0.244800934447, 0, 0, 0, -0.02366612424,
                  0.058827090233, 0.12691738135});
    // int32; indices after the last offset belong to no bag.
    const Tensor early = integers({0, 3}, d).to(kInt32);
    for (const nn::EmbeddingBagMode mode : {nn::EmbeddingBagMode(kSum), {kMean}, {kMax}}) {
      const Tensor y = F::embedding_bag(i.to(kInt32), w, o.offsets(early).mode(mode));
      F::EmbeddingBagFuncOptions whole;
      CHECK(y.allclose(F::embedding_bag(i.slice(0, 0, 3).unsqueeze(0), w, whole.mode(mode))));
      const Tensor none =
          F::embedding_bag(integers({}, d).view({0}), w, whole.offsets(integers({0, 0}, d)));
      CHECK(none.equal(zeros({2, 3}, w.options())));
      CHECK(F::embedding_bag(zeros({2, 0}, i.options()), w, F::EmbeddingBagFuncOptions().mode(mode))
                .equal(zeros({2, 3}, w.options())));
    }
    // The first of equal elements gets the gradient, as in PyTorch.
    const Tensor same = ones({2, 1}, w.options()).requires_grad_();
    F::embedding_bag(integers({{1, 0}}, d), same, F::EmbeddingBagFuncOptions().mode(kMax))
        .backward();
    check_values(same.grad().view({2}), {2}, {0, 1});
    // w = torch.tensor([[nan, 1], [2, nan], [3, 0]]): F.embedding_bag(i, w, mode="max"), and
    // w.grad of its sum: only a NaN in the first row is kept.
    const double nan = std::nan("");
    const Tensor odd = tensor({{nan, 1.}, {2., nan}, {3., 0.}}, w.options()).requires_grad_();
    const auto largest = [&](const Tensor& bags, std::optional<int64_t> padding) {
      return F::embedding_bag(bags, odd,
                              F::EmbeddingBagFuncOptions().mode(kMax).padding_idx(padding));
    };
    const Tensor three = largest(integers({{0, 1, 2}, {1, 0, 2}, {2, 1, 0}}, d), {});
    CHECK(
        three.detach().allclose(tensor({{nan, 1.}, {3., nan}, {3., 1.}}, w.options()), 0, 0, true));
    three.sum().backward();
    CHECK(odd.grad().equal(tensor({{1., 2.}, {0., 1.}, {2., 0.}}, w.options())));
    CHECK(largest(integers({{0, 1, 2}}, d), 0)
              .detach()
              .allclose(tensor({{3., nan}}, w.options()), 0, 0, true));
  });
}

TEST_CASE("embedding renormalises used rows, scales gradients, and skips padding") {
  for_each_device([](Device d) {
    const Tensor i = integers({{0, 1}, {1, 3}}, d);
    // w = wave(5, 3, k=0.5); F.embedding(torch.tensor([[0, 1], [1, 3]]), w, max_norm=0.9,
    // norm_type=...); w[:4]
    const std::vector<std::pair<double, std::vector<double>>> norms{
        {2,
         {0, 0.445533337951, 0.781984576254, 0.608031743594, 0.554270154039, 0.364803899928,
          0.14112000806, -0.35078322769, -0.756802495308, -0.571128725284, -0.560258132957,
          -0.412216809997}},
        {1,
         {0, 0.326659162493, 0.573340769371, 0.358343572702, 0.326659174184, 0.21499721719,
          0.14112000806, -0.35078322769, -0.756802495308, -0.332997286724, -0.326659174859,
          -0.240343504352}},
        {std::numeric_limits<double>::infinity(),
         {0, 0.479425538604, 0.841470984808, 0.899999909774, 0.820422772135, 0.539977526634,
          0.14112000806, -0.35078322769, -0.756802495308, -0.899999907931, -0.882869738041,
          -0.649582265119}}};
    for (const auto& [p, expected] : norms) {
      const Tensor w = wave(d, {5, 3}, 0.5).requires_grad_();
      const Tensor y = F::embedding(i, w, F::EmbeddingFuncOptions().max_norm(0.9).norm_type(p));
      check_values(w.detach().slice(0, 0, 4).reshape({12}), {12}, expected);
      CHECK(y.detach().equal(w.detach().index_select(0, i.view({4})).view({2, 2, 3})));
      y.sum().backward();
      CHECK(w.grad().sum().item<double>() == 12);
    }
    // F.embedding_bag(..., max_norm=0.9, mode="sum")
    const Tensor w = wave(d, {5, 3}, 0.5);
    check_values(F::embedding_bag(i, w, F::EmbeddingBagFuncOptions().max_norm(0.9).mode(kSum)),
                 {2, 3},
                 {0.608031743594, 0.999803491991, 1.14678847618, 0.0369030183096, -0.00598797891812,
                  -0.0474129100687});
    // F.embedding(..., scale_grad_by_freq=True, padding_idx=-2)
    const Tensor v = wave(d, {5, 3}, 0.5).requires_grad_();
    const Tensor y =
        F::embedding(i, v, F::EmbeddingFuncOptions().scale_grad_by_freq(true).padding_idx(-2));
    (y * wave(d, y.sizes(), 0.9)).sum().backward();
    check_values(
        v.grad().slice(0, 0, 2).reshape({6}), {6},
        {0, 0.783326909627, 0.973847630878, -0.172692303661, -0.212853271405, -0.091931126908});
    CHECK(v.grad().slice(0, 2).equal(zeros({3, 3}, v.options())));
  });
}

TEST_CASE("embedding layers made from a table share its memory, and their copies do not") {
  const Tensor table = wave(Device(), {5, 3}, 0.5);
  const nn::Embedding layer = nn::Embedding::from_pretrained(table);
  CHECK_FALSE(layer->weight.requires_grad());
  CHECK(layer->weight.data_ptr() == table.data_ptr());
  CHECK(nn::Embedding::from_pretrained(table, nn::EmbeddingFromPretrainedOptions().freeze(false))
            ->weight.requires_grad());
  const auto copy = std::dynamic_pointer_cast<nn::EmbeddingImpl>(layer->clone());
  CHECK(copy->weight.data_ptr() != table.data_ptr());
  CHECK(copy->weight.equal(table));
  CHECK_FALSE(copy->weight.requires_grad());
  CHECK(layer->weight.data_ptr() == table.data_ptr());

  const Tensor i = tensor({1, 0, 3}), offsets = tensor({0, 2, 3});
  const auto bag = nn::EmbeddingBag::from_pretrained(
      table, nn::EmbeddingBagFromPretrainedOptions().mode(kSum).include_last_offset(true));
  CHECK(bag(i, offsets).allclose(stack({table[1] + table[0], table[3]})));
  CHECK(nn::AnyModule(bag).forward(i, offsets).equal(bag(i, offsets)));
  CHECK(nn::AnyModule(bag).forward(i.view({1, 3})).equal(bag(i.view({1, 3}))));
  const nn::EmbeddingBag fresh(nn::EmbeddingBagOptions(4, 2).padding_idx(-1));
  CHECK(fresh->weight[3].equal(zeros({2})));
  CHECK(fresh->weight.requires_grad());
  CHECK(fresh->named_parameters().keys() == std::vector<std::string>{"weight"});
}

TEST_CASE("embedding layers print as PyTorch's") {
  CHECK(printed(nn::Embedding(nn::EmbeddingOptions(10, 3)
                                  .padding_idx(1)
                                  .max_norm(2)
                                  .norm_type(2.5)
                                  .scale_grad_by_freq(true)
                                  .sparse(true))) ==
        "Embedding(10, 3, padding_idx=1, max_norm=2.0, norm_type=2.5, scale_grad_by_freq=True, "
        "sparse=True)");
  CHECK(printed(nn::EmbeddingBag(10, 3)) == "EmbeddingBag(10, 3, mode=mean)");
  CHECK(printed(nn::EmbeddingBag(nn::EmbeddingBagOptions(10, 3)
                                     .max_norm(1)
                                     .norm_type(3)
                                     .mode(kSum)
                                     .scale_grad_by_freq(true)
                                     .padding_idx(2))) ==
        "EmbeddingBag(10, 3, max_norm=1.0, norm_type=3.0, scale_grad_by_freq=True, mode=sum, "
        "padding_idx=2)");
}

TEST_CASE("invalid offsets of bags give the same error on all devices with host memory") {
  const auto words = [](Device d, std::initializer_list<TensorData> offsets) -> std::string {
    const Tensor w = ones({5, 3}, d), i = integers({1, 0, 3}, d), before = w.clone();
    try {
      F::embedding_bag(
          i, w, F::EmbeddingBagFuncOptions().max_norm(0.5).offsets(tensor(offsets, kInt64).to(d)));
    } catch (const Error& e) {
      CHECK(w.equal(before));
      return e.what();
    }
    return {};
  };
  for (const char* device : {"cpu", "reference", "sim"}) {
    CHECK(words(device, {1, 2}) == "embedding_bag: expected the first offset to be 0, got 1");
    CHECK(words(device, {0, 4}) ==
          "embedding_bag: expected non-decreasing offsets of at most 3, got 4");
    CHECK(words(device, {0, 2, 1}) ==
          "embedding_bag: expected non-decreasing offsets of at most 3, got 1");
    CHECK(words(device, {0, 3}).empty());
    const Tensor i = integers({5}, device), none = integers({}, device).view({0});
    // The index is checked even if nothing is added; PyTorch 2.15 does not check the second bag's
    // index.
    const auto bag = [&](const Tensor& w, const Tensor& offsets) {
      F::embedding_bag(i, w, F::EmbeddingBagFuncOptions().offsets(offsets));
      synchronize(device);
    };
    CHECK_THROWS_WITH_AS(bag(ones({5, 0}, device), i - 5),
                         "embedding_bag: expected an index in [0, 5), got 5", IndexError);
    CHECK_THROWS_WITH_AS(bag(ones({5, 3}, device), none),
                         "embedding_bag: expected an index in [0, 5), got 5", IndexError);
  }
}

TEST_CASE("invalid arguments are refused by name, and nothing is changed") {
  const Tensor w = ones({5, 3}), i = tensor({1, 0, 3});
  const F::EmbeddingBagFuncOptions bag;
  const auto offsets = [](std::initializer_list<TensorData> list) {
    return F::EmbeddingBagFuncOptions().offsets(tensor(list));
  };
  CHECK_THROWS_AS(F::embedding_bag(i, w, bag), Error);
  CHECK_THROWS_AS(F::embedding_bag(i.view({1, 3}), w, offsets({0})), Error);
  CHECK_THROWS_AS(F::embedding_bag(i.to(kFloat32), w, offsets({0})), DTypeError);
  CHECK_THROWS_AS(F::embedding_bag(i + 4, w, offsets({0})), IndexError);
  CHECK_THROWS_AS(F::embedding_bag(i - 1, w, offsets({0}).mode(kMax)), IndexError);
  CHECK_THROWS_AS(F::embedding_bag(i, w, offsets({1, 2})), Error);
  CHECK_THROWS_AS(F::embedding_bag(i, w, offsets({0, 4})), Error);
  CHECK_THROWS_AS(F::embedding_bag(i, w, offsets({0, 2, 1})), Error);
  CHECK_THROWS_AS(F::embedding_bag(i, w, offsets({0}).mode(kMax).scale_grad_by_freq(true)), Error);
  CHECK_THROWS_AS(F::embedding_bag(i, w, offsets({0}).per_sample_weights(ones({3}))), Error);
  CHECK_THROWS_AS(F::embedding_bag(i, w, offsets({0}).mode(kSum).per_sample_weights(ones({2}))),
                  ShapeError);
  CHECK_THROWS_AS(
      F::embedding_bag(i, w, offsets({0}).mode(kSum).per_sample_weights(ones({3}, kFloat64))),
      DTypeError);
  CHECK_THROWS_AS(F::embedding_bag(i, w, offsets({0}).padding_idx(5)), IndexError);
  CHECK_THROWS_AS(F::embedding_bag(i, w, offsets({0}).offsets(zeros({1}))), DTypeError);
  CHECK_THROWS_AS(F::embedding_bag(i, w.to("reference"), offsets({0})), DeviceMismatchError);
  CHECK_THROWS_AS(F::embedding_bag(i + 4, w, offsets({0}).max_norm(0.1)), IndexError);
  CHECK_THROWS_AS(F::embedding(i + 4, w, F::EmbeddingFuncOptions().max_norm(0.1)), IndexError);
  CHECK(w.equal(ones({5, 3})));
  CHECK_THROWS_AS(nn::EmbeddingBagOptions(2, 2).mode(kNone), Error);
  CHECK_THROWS_AS(F::embedding(i, w, F::EmbeddingFuncOptions().padding_idx(-6)), IndexError);
  CHECK_THROWS_AS(F::embedding(Tensor(), w), Error);
  CHECK_THROWS_AS(nn::Embedding(nn::EmbeddingOptions(4, 3)._weight(w)), ShapeError);
  CHECK_THROWS_AS(nn::EmbeddingBag(nn::EmbeddingBagOptions(5, 3).padding_idx(5)), Error);
  CHECK_THROWS_AS(nn::Embedding::from_pretrained(ones({3})), ShapeError);
}
