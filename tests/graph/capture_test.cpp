// Graphs captured from modules: the same numbers as the module, also after a .pt2 file, and in
// PyTorch 2.15.
#include <ambit/autograd.h>
#include <ambit/error.h>
#include <ambit/graph/capture.h>
#include <ambit/nn/nn.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <ambit/ops/sort.h>
#include <ambit/random.h>

#include <string>
#include <tuple>
#include <utility>

#include "captured_networks.h"
#include "graph_files.h"

using namespace ambit;

namespace {

void check_equal(const std::vector<Tensor>& got, const std::vector<Tensor>& expected) {
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    INFO(i);
    CHECK(got[i].sizes() == expected[i].sizes());
    CHECK(got[i].dtype() == expected[i].dtype());
    // Sums of at most 100 terms of magnitude 1 in another order: 100 times half of 2^-23.
    CHECK(allclose(got[i], expected[i], 6e-6, 6e-6));
  }
}

std::vector<CapturedNetwork> all_captured() {
  std::vector<CapturedNetwork> all = captured_networks();
  for (CapturedNetwork& e : captured_modules()) all.push_back(std::move(e));
  return all;
}

}  // namespace

TEST_CASE("a captured graph has the results of the module, also from a file") {
  const TemporaryFolder folder;
  for (const CapturedNetwork& e : all_captured()) {
    INFO(e.name);
    const graph::Graph net = graph::capture(*e.net, e.forward, e.inputs);
    const std::vector<Tensor> inputs = e.other_inputs(), expected = e.run(inputs);
    const NoGradGuard no_grad;
    check_equal(net->forward(inputs), expected);
    const std::string file = (folder.path() / (e.name + ".pt2")).string();
    graph::save(net, file);
    check_equal(graph::load(file)->forward(inputs), expected);
  }
}

TEST_CASE("a captured graph shares the parameters of the module and trains") {
  nn::Sequential net(nn::Linear(4, 3), nn::Tanh());
  const graph::Graph captured = graph::capture(net, randn({2, 4}));
  CHECK(captured->named_parameters()["0.weight"].is_same(net->named_parameters()["0.weight"]));
  const Tensor x = randn({2, 4});
  captured->forward(x).sum().backward();
  const Tensor got = net->named_parameters()["0.weight"].grad().clone();
  net->zero_grad();
  net->forward(x).sum().backward();
  // Both sides compute the same float32 formulas on 8 terms.
  CHECK(allclose(got, net->named_parameters()["0.weight"].grad(), 1e-6, 1e-6));
}

TEST_CASE("calls with uint16, uint32 and uint64 are captured in their dtype") {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "net.pt2").string();
  const std::pair<const char*, Tensor (*)(const Tensor&)> functions[] = {
      {"eq", [](const Tensor& x) { return x == 3; }},
      {"lt", [](const Tensor& x) { return x < 3; }},
      {"mul", [](const Tensor& x) { return x * x; }},
      {"bitwise_or", [](const Tensor& x) { return bitwise_or(x, x); }},
      {"to float", [](const Tensor& x) { return x.to(kFloat32) * 2; }},
      {"to int64", [](const Tensor& x) { return x.to(kInt64) + 1; }},
      {"to int64 and back", [](const Tensor& x) { return x.to(kInt64).to(x.dtype()); }},
      {"sort", [](const Tensor& x) { return std::get<0>(sort(x)); }},
      {"cat",
       [](const Tensor& x) {
         return cat({x, x});
       }},
      {"transpose",
       [](const Tensor& x) {
         return x.view({2, 3}).t().contiguous();
       }},
      {"index_select",
       [](const Tensor& x) {
         return x.index_select(0, tensor({1, 0}));
       }},
      {"sum", [](const Tensor& x) { return x.sum(); }},
      {"max", [](const Tensor& x) { return max(x); }},
      {"clamp", [](const Tensor& x) { return clamp(x, 1, 5); }},
      {"where", [](const Tensor& x) { return where(x > 2, x, x * x); }},
      {"ones_like", [](const Tensor& x) { return x * ones_like(x); }},
  };
  for (const DType d : dtypes::kWideUnsigned) {
    // -1 and -2 modulo 2^bits: the largest numbers
    const Tensor example = tensor({1, -1, 3, -2, 0, 7}).to(d),
                 x = tensor({2, 5, 3, -1, 1, 4}).to(d);
    for (const auto& [what, function] : functions) {
      INFO(name(d) << ' ' << what);
      nn::Sequential net{nn::Functional(function)};
      const graph::Graph captured = graph::capture(net, example);
      graph::save(captured, file);
      const Tensor expected = function(x);
      for (const Tensor& got : {captured->forward(x), graph::load(file)->forward(x)}) {
        CHECK(got.dtype() == expected.dtype());
        CHECK(got.equal(expected));
      }
    }
  }
  nn::Sequential negative{nn::Functional([](const Tensor& x) { return -x; })};
  CHECK_THROWS_AS(graph::capture(negative, ones({2}, kUInt16)), DTypeError);
  CHECK((ones({2}, kUInt16) < 2).all().item<bool>());  // the kernels are the dispatcher's again
}

TEST_CASE("capture refuses modules that it cannot write") {
  const auto error = [](const nn::Sequential& net, const Tensor& x) -> std::string {
    try {
      graph::capture(net, x);
    } catch (const NotImplementedError& e) {
      return e.what();
    }
    return "";
  };
  const nn::Sequential norm(nn::BatchNorm1d(4)), dropout(nn::Dropout(0.5));
  CHECK(error(norm, randn({3, 4})).find("batch_norm of the module 0") != std::string::npos);
  CHECK(error(dropout, randn({3, 4})).find("the kernel random") != std::string::npos);
  // The windows of fractional pooling are random.
  const nn::Sequential fractions(
      nn::FractionalMaxPool2d(nn::FractionalMaxPool2dOptions(2).output_size(3)));
  CHECK(error(fractions, randn({1, 2, 5, 6})).find("the kernel random") != std::string::npos);
  // torch.export refuses both, too: the sizes of their intermediate tensors depend on values.
  nn::AdaptiveLogSoftmaxWithLoss adaptive(
      nn::AdaptiveLogSoftmaxWithLossOptions(6, 8, {3, 5}).div_value(2));
  const auto of_classes = [&](TensorList in) {
    return std::vector<Tensor>{adaptive->forward(in[0], in[1]).output};
  };
  CHECK_THROWS_AS(
      graph::capture(*adaptive, of_classes, {randn({2, 6}), tensor(std::vector<int64_t>{1, 4})}),
      NotImplementedError);
  nn::CTCLoss ctc;
  const auto of_labels = [&](TensorList in) {
    return std::vector<Tensor>{ctc->forward(in[0], in[1], tensor(std::vector<int64_t>{6, 5}),
                                            tensor(std::vector<int64_t>{3, 2}))};
  };
  CHECK_THROWS_WITH_AS(
      graph::capture(*adaptive, of_labels, {randn({6, 2, 5}), randint(1, 5, {2, 3}, kInt64)}),
      doctest::Contains("ctc_loss"), NotImplementedError);
  // Renormalisation writes to the table.
  nn::EmbeddingBag scaled(nn::EmbeddingBagOptions(7, 3).max_norm(0.5));
  const auto of_bags = [&](TensorList in) { return std::vector<Tensor>{scaled->forward(in[0])}; };
  CHECK_THROWS_AS(graph::capture(*scaled, of_bags, {randint(0, 7, {2, 4}, kInt64)}),
                  NotImplementedError);
  const auto diagonal = [](TensorList in) { return std::vector<Tensor>{in[0].diagonal() * 2}; };
  CHECK_THROWS_WITH_AS(graph::capture(*dropout, diagonal, {randn({3, 3})}),
                       doctest::Contains("no diagonals"), NotImplementedError);
  const auto counted = [](TensorList in) { return std::vector<Tensor>{nonzero(in[0])}; };
  CHECK_THROWS_AS(graph::capture(*dropout, counted, {randn({3})}), NotImplementedError);
  const auto branches = [](TensorList in) {
    return std::vector<Tensor>{in[0].sum().item<float>() > 0 ? in[0] + 1 : in[0].exp()};
  };
  CHECK_THROWS_WITH_AS(graph::capture(*dropout, branches, {ones({3})}),
                       doctest::Contains("another call of aten"), NotImplementedError);
  const auto reads = [](TensorList in) {
    return std::vector<Tensor>{in[0] * in[0].max().item<float>()};
  };
  CHECK_THROWS_AS(graph::capture(*dropout, reads, {ones({3})}), NotImplementedError);
  const auto changed = [](TensorList in) { return std::vector<Tensor>{in[0].add_(1)}; };
  CHECK_THROWS_AS(graph::capture(*dropout, changed, {randn({3})}), NotImplementedError);
  // The kernels are restored.
  CHECK(equal(ones({2}) + 1, full({2}, 2.0)));
}

TEST_CASE("PyTorch has the same results with captured graphs") {
  if (python_with_torch().empty()) return;
  const TemporaryFolder folder;
  for (const CapturedNetwork& e : all_captured()) {
    const std::string file = (folder.path() / (e.name + ".pt2")).string();
    graph::save(graph::capture(*e.net, e.forward, e.inputs), file);
    write_record(file, e.other_inputs());
  }
  CHECK(succeeds("OMP_NUM_THREADS=1 '" + python_with_torch() + "' '" AMBIT_SAVED_GRAPHS "' '" +
                 folder.path().string() + "'"));
}
