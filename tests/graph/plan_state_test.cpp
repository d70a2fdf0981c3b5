// Plans: parameters and buffers that share memory, packed forms after errors, inputs with other
// strides than planned.
#include <ambit/detail/packed_constants.h>
#include <ambit/graph/capture.h>
#include <ambit/graph/plan.h>
#include <ambit/nn/nn.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/random.h>
#include <ambit/ops/shape.h>

#include <stdexcept>
#include <string>

#include "graph_files.h"

using namespace ambit;

namespace {

struct ShiftedNormImpl : nn::Module {
  nn::BatchNorm1d bn = register_module("bn", nn::BatchNorm1d(4));
  Tensor shift = register_buffer("shift", zeros({4}));
  Tensor forward(const Tensor& x) {
    const Tensor y = bn(x);
    return y + exp(shift);
  }
};
AMBIT_MODULE(ShiftedNorm);

// Return the graph in training, where shift has the memory of the running mean: the norm writes it.
graph::Graph shifted_norm(const Tensor& x) {
  ShiftedNorm net;
  net->eval();
  const graph::Graph out = graph::capture(net, x);
  Tensor shift = out->named_buffers()["shift"];
  shift.set_data(out->named_buffers()["bn.running_mean"]);
  out->train();
  return out;
}

}  // namespace

TEST_CASE("a plan computes calls on a buffer again that a call writes under another name") {
  const NoGradGuard no_grad;
  const Tensor x = rand({8, 4}) + 3;
  for (const bool exact : {true, false}) {
    const graph::Graph eager = shifted_norm(x), planned = shifted_norm(x);
    const graph::Plan plan = graph::plan(planned, x, {.exact = exact});
    INFO(plan.text());
    for (int run = 0; run < 3; ++run) {
      INFO(exact, " ", run);
      CHECK(equal(plan.run(x), eager->forward(x)));
      CHECK(equal(planned->named_buffers()["shift"], eager->named_buffers()["bn.running_mean"]));
    }
  }
}

TEST_CASE("buffers of one memory may have other sizes and dtypes") {
  const NoGradGuard no_grad;
  const Tensor x = rand({8, 4});
  const graph::Graph net = shifted_norm(x);
  Tensor shift = net->named_buffers()["shift"], mean = net->named_buffers()["bn.running_mean"],
         steps = net->named_buffers()["bn.num_batches_tracked"];
  const Tensor memory = rand({16});
  shift.set_data(memory.slice(0, 0, 8, 2));
  mean.set_data(memory.slice(0, 8, 12));
  steps.set_data(memory.slice(0, 14, 16).view(kInt64).squeeze(0));
  steps.zero_();
  CHECK(allclose(graph::plan(net, x).run(x), net->forward(x), 1e-6, 1e-6));
}

TEST_CASE("packed weights of linear layers follow the parameters") {
  const NoGradGuard no_grad;
  nn::Sequential net(nn::Linear(70, 33), nn::ReLU(), nn::Linear(33, 40), nn::GELU(),
                     nn::Linear(nn::LinearOptions(40, 5).bias(false)));
  net->eval();
  const Tensor x = randn({12, 70});
  const graph::Graph graph = graph::capture(net, x);
  for (const int64_t slice : {12, 7}) {  // 12 rows; 7 and 5
    const graph::Plan plan = graph::plan(graph, x, {.slice = slice});
    for (int i = 0; i < 3; ++i) {
      INFO(slice, " ", i);
      // Sums of at most 70 products, in another order.
      CHECK(allclose(plan.run(x), net->forward(x), 1e-4, 1e-5));
      for (const Tensor& p : net->parameters()) p.add_(randn_like(p), 0.1);
    }
    CHECK(plan.memory().find("packed weights: ") != std::string::npos);
  }
  CHECK(equal(graph::plan(graph, x, {.exact = true}).run(x), net->forward(x)));
}

TEST_CASE("a form is packed again after an error in the kernel that packs it") {
  const Tensor w = rand({16});
  const PackedConstants::Key key{7};
  PackedConstants forms;
  forms.reset({w.data_ptr()});
  try {
    const PackedConstants::Scope scope(forms);
    CHECK(PackedConstants::find(w.data_ptr(), key, 64).is_new);
    throw std::runtime_error("before the form is filled");
  } catch (const std::runtime_error&) {
  }
  CHECK(forms.bytes() == 0);
  for (const bool is_new : {true, false}) {
    const PackedConstants::Scope scope(forms);
    const PackedConstants::Form form = PackedConstants::find(w.data_ptr(), key, 64);
    CHECK(form.data != nullptr);
    CHECK(form.is_new == is_new);
  }
  CHECK(forms.bytes() == 64);
}

TEST_CASE("a plan never writes to inputs whose strides make a copy a view") {
  const NoGradGuard no_grad;
  for (const std::string name : {"contiguous", "contiguous_d"}) {
    const graph::Graph net = graph::load(graph_file(name));
    const std::vector<Tensor> planned = tensors_of(graph_record(name)["inputs"], kCPU);
    CHECK_FALSE(planned[0].is_contiguous());
    const std::vector<Tensor> others = {planned[0].contiguous(),
                                        planned[1].contiguous(MemoryFormat::ChannelsLast)},
                              before = {others[0].clone(), others[1].clone()};
    for (const bool exact : {true, false}) {
      INFO(name, " ", exact);
      const graph::Plan plan = graph::plan(net, planned, {.exact = exact});
      const std::vector<Tensor> expected = net->forward(before), got = plan.run(others);
      for (size_t i = 0; i < got.size(); ++i) CHECK(equal(got[i], expected[i]));
      for (size_t i = 0; i < 2; ++i) CHECK(equal(others[i], before[i]));
    }
  }
}
