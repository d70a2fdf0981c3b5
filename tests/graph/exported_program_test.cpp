// Graphs that PyTorch 2.15 exported: outputs, changed buffers and losses of training, as PyTorch
// computes them.
#include <ambit/autograd.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <ambit/optim/sgd.h>

#include <cmath>

#include "graph_files.h"
#include "tests/devices.h"

using namespace ambit;

namespace {

// Float32 sums of up to 1,600 terms of magnitude 1 in another order differ by up to 1,600 * 2^-24 =
// 1e-4 of the terms; functions have errors of a few units in the last place.
constexpr double kRelative = 1e-4, kAbsolute = 1e-5;
// Losses after steps whose gradients differ by that much.
constexpr double kLossRelative = 1e-3;

// Statistics of batch norms in training, of size 0.1, after steps with weights that differ by that
// much.
constexpr double kTrainedAbsolute = 0.1 * kLossRelative;

void check_same(const Tensor& got, const Tensor& expected, double relative = kRelative,
                double absolute = kAbsolute) {
  REQUIRE(got.defined() == expected.defined());
  if (!expected.defined()) return;
  CHECK(got.dtype() == expected.dtype());
  REQUIRE(got.sizes() == expected.sizes());
  const Tensor a = got.detach().cpu().to(kFloat64), b = expected.cpu().to(kFloat64);
  const bool same = allclose(a, b, relative, absolute, true);
  INFO("largest difference ", (a - b).abs().max().item<double>());
  CHECK(same);
}

void check_buffers(const graph::Graph& net, const Value& expected, double relative = kRelative,
                   double absolute = kAbsolute) {
  const auto buffers = net->named_buffers();
  for (const auto& [name, value] : expected.entries()) {
    INFO(name.to_string());
    REQUIRE(buffers.contains(name.to_string()));
    check_same(buffers[name.to_string()], value.to_tensor(), relative, absolute);
  }
}

}  // namespace

TEST_CASE("graphs have PyTorch's outputs, and change buffers and inputs as PyTorch does") {
  for_each_device([](Device device) {
    for (const std::string& name : graph_names()) {
      INFO(name);
      const graph::Graph net = graph::load(graph_file(name), device);
      const Value record = graph_record(name);
      const NoGradGuard no_grad;
      const std::vector<Tensor> inputs = tensors_of(record["inputs"], device);
      const std::vector<Tensor> got = net->forward(inputs);
      const std::vector<Tensor> expected = tensors_of(record["outputs"], kCPU);
      REQUIRE(got.size() == expected.size());
      for (size_t i = 0; i < got.size(); ++i) {
        INFO("output ", i, " ", net->output_names()[i]);
        check_same(got[i], expected[i]);
      }
      const std::vector<Tensor> changed = tensors_of(record["changed"], kCPU);
      for (size_t i = 0; i < inputs.size(); ++i) check_same(inputs[i], changed[i]);
      check_buffers(net, record["buffers"]);
    }
  });
}

TEST_CASE("graphs train with PyTorch's losses") {
  for_each_device([](Device device) {
    size_t trained = 0;
    for (const std::string& name : graph_names()) {
      const Value record = graph_record(name);
      if (record["losses"].items().empty()) continue;
      ++trained;
      INFO(name);
      const graph::Graph net = graph::load(graph_file(name), device);
      {
        const NoGradGuard no_grad;  // as in graphs.py, it changes buffers
        net->forward(tensors_of(record["inputs"], device));
      }
      optim::SGD sgd(net->parameters(), optim::SGDOptions(record["lr"].to_double()));
      for (const Value& expected : record["losses"].items()) {
        sgd.zero_grad();
        const Tensor out = net->forward(tensors_of(record["inputs"], device))[0];
        const Tensor loss = square(out).mean();
        loss.backward();
        sgd.step();
        CHECK(loss.item<double>() == doctest::Approx(expected.to_double()).epsilon(kLossRelative));
      }
      check_buffers(net, record["trained"], kLossRelative, kTrainedAbsolute);
    }
    CHECK(trained >= 15);
  });
}
