// Plans: the same outputs as the graph's, without allocations. One file, because its cases share
// the comparison of a plan with its graph.
#include <ambit/detail/planned_memory.h>
#include <ambit/error.h>
#include <ambit/graph/capture.h>
#include <ambit/graph/plan.h>
#include <ambit/memory.h>
#include <ambit/nn/nn.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>
#include <ambit/random.h>

#include <functional>
#include <string_view>
#include <thread>

#include "captured_networks.h"
#include "graph_files.h"
#include "tests/devices.h"

using namespace ambit;

namespace {

std::vector<Tensor> copies(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> out;
  for (const Tensor& t : tensors) out.push_back(t.defined() ? t.clone() : t);
  return out;
}

// The bound of docs/from-python.md for graphs: a relative error of 1e-4, an absolute one of 1e-5.
bool is_close(const Tensor& a, const Tensor& b) {
  return a.is_floating_point() ? allclose(a, b, 1e-4, 1e-5, /*equal_nan=*/true) : equal(a, b);
}

// On cuda, cuDNN may choose another algorithm for a later call.
bool is_same(const Tensor& a, const Tensor& b) {
  return a.device().is_cuda() ? is_close(a, b) : equal(a, b);
}

void check_equal(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    INFO(i);
    REQUIRE(a[i].defined() == b[i].defined());
    if (!a[i].defined()) continue;
    CHECK(a[i].dtype() == b[i].dtype());
    CHECK(is_same(a[i], b[i]));
  }
}

void check_equal_state(const graph::GraphImpl& a, const graph::GraphImpl& b) {
  const StateDict x = a.state_dict(), y = b.state_dict();
  REQUIRE(x.size() == y.size());
  for (size_t i = 0; i < x.size(); ++i) {
    INFO(x[i].first);
    CHECK(is_same(x[i].second, y[i].second));
  }
}

std::shared_ptr<graph::GraphImpl> clone_of(const graph::GraphImpl& net) {
  return std::dynamic_pointer_cast<graph::GraphImpl>(net.clone());
}

// Run a plan three times, next to the graph itself: outputs, inputs and state must be equal.
void check_exact(graph::GraphImpl& net, const std::vector<Tensor>& inputs) {
  const NoGradGuard no_grad;
  const std::shared_ptr<graph::GraphImpl> planned = clone_of(net);
  const graph::Plan plan = graph::plan(*planned, copies(inputs), {.exact = true});
  check_equal_state(net, *planned);  // planning changes nothing
  for (int run = 0; run < 3; ++run) {
    INFO("run ", run);
    const std::vector<Tensor> a = copies(inputs), b = copies(inputs);
    manual_seed(static_cast<uint64_t>(run));
    const std::vector<Tensor> expected = net.forward(a);
    manual_seed(static_cast<uint64_t>(run));
    check_equal(plan.run(b), expected);
    check_equal(b, a);
    check_equal_state(net, *planned);
  }
}

// Statistics of a batch norm in training are computed from sums that a plan rounds differently.
void check_close_state(const graph::GraphImpl& a, const graph::GraphImpl& b) {
  const StateDict x = a.state_dict(), y = b.state_dict();
  REQUIRE(x.size() == y.size());
  for (size_t i = 0; i < x.size(); ++i) {
    INFO(x[i].first);
    CHECK(is_close(x[i].second, y[i].second));
  }
}

// As check_exact, for default plans, whose sums are rounded differently.
void check_close(graph::GraphImpl& net, const std::vector<Tensor>& inputs, int64_t slice = 0) {
  const NoGradGuard no_grad;
  const std::shared_ptr<graph::GraphImpl> planned = clone_of(net);
  const graph::Plan plan = graph::plan(*planned, copies(inputs), {.slice = slice});
  for (int run = 0; run < 3; ++run) {
    INFO("run ", run);
    const std::vector<Tensor> a = copies(inputs), b = copies(inputs);
    manual_seed(static_cast<uint64_t>(run));
    const std::vector<Tensor> expected = net.forward(a);
    manual_seed(static_cast<uint64_t>(run));
    const std::vector<Tensor> got = plan.run(b);
    REQUIRE(got.size() == expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      INFO(i, '\n', plan.text());
      REQUIRE(got[i].defined() == expected[i].defined());
      if (!got[i].defined()) continue;
      CHECK(got[i].dtype() == expected[i].dtype());
      CHECK(is_close(got[i], expected[i]));
    }
    check_equal(b, a);
    check_close_state(net, *planned);
  }
}

using Check = void (*)(graph::GraphImpl& net, const std::vector<Tensor>& inputs);

// Check every exported network on every device, as exported and in evaluation.
void for_each_exported(Check check) {
  for (const std::string& name : graph_names()) {
    if (name.starts_with("indexing")) continue;  // nonzero()
    INFO(name);
    const Value record = graph_record(name);
    for_each_device([&](Device device) {
      const graph::Graph net = graph::load(graph_file(name), device);
      check(*net, tensors_of(record["inputs"], device));
      net->eval();
      check(*net, tensors_of(record["inputs"], device));
    });
  }
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

graph::Graph small_graph(const Tensor& x) {
  nn::Sequential net(nn::Conv2d(3, 8, 3), nn::ReLU(), nn::MaxPool2d(2), nn::Conv2d(8, 4, 3),
                     nn::ReLU(), nn::Flatten(), nn::Linear(16, 5));
  net->eval();
  return graph::capture(net, x);
}

struct TwiceImpl : nn::Module {
  nn::Conv2d conv = register_module("conv", nn::Conv2d(2, 2, 1));
  Tensor forward(const Tensor& x) {
    const Tensor y = conv(x), z = y + x, u = sigmoid(z);
    return cat({y, relu(y), tanh(z) * u + z, relu(x)}, 1);
  }
};
AMBIT_MODULE(Twice);

struct MixedImpl : nn::Module {
  int64_t kind = 0;
  nn::Linear fc = register_module("fc", nn::Linear(6, 6));
  Tensor forward(const Tensor& x) {
    const Tensor y = fc(x);
    switch (kind) {
      case 0:
        return y - y.mean(0);
      case 1:
        return softmax(y, 0);
      case 2:
        return y.t().contiguous().view({6, 6});
      case 3:
        return y.matmul(y);
      case 4:
        return y.flip({0});
      case 5:
        return y.view({12, 3}).slice(0, 0, 6);
      case 6:
        return cat({y, y}, 0).slice(0, 3, 9);
      default:
        return y * arange(6, kFloat32).unsqueeze(1);
    }
  }
};
AMBIT_MODULE(Mixed);

template <class E>
std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const E& e) {
    return e.what();
  }
  return "no such error";
}

}  // namespace

TEST_CASE("exact plans of exported networks compute what the graph computes, bit for bit") {
  for_each_exported(check_exact);
}

TEST_CASE("exact plans of captured networks compute what the graph computes, bit for bit") {
  for (const CapturedNetwork& c : captured_networks()) {
    INFO(c.name);
    const graph::Graph net = graph::capture(*c.net, c.forward, c.inputs);
    check_exact(*net, c.inputs);
    check_exact(*net, c.other_inputs());
  }
}

TEST_CASE("plans of exported networks compute what the graph computes") {
  for_each_exported(
      [](graph::GraphImpl& net, const std::vector<Tensor>& inputs) { check_close(net, inputs); });
}

TEST_CASE("plans of captured networks compute what the graph computes, in slices, too") {
  size_t sliced = 0;
  for (const CapturedNetwork& c : captured_networks()) {
    INFO(c.name);
    const graph::Graph net = graph::capture(*c.net, c.forward, c.inputs);
    check_close(*net, c.other_inputs());
    check_close(*net, c.inputs, 1);
    sliced += has(graph::plan(net, c.inputs, {.slice = 1}).memory(), " images at a time");
  }
  CHECK(sliced > 10);
}

TEST_CASE("a batch norm in evaluation becomes part of the layer before") {
  const NoGradGuard no_grad;
  nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(3, 8, 3).bias(false)), nn::BatchNorm2d(8),
                     nn::ReLU(), nn::Conv2d(8, 4, 3), nn::BatchNorm2d(4), nn::GELU(), nn::Flatten(),
                     nn::Linear(144, 5), nn::BatchNorm1d(5));
  for (const auto& item : net->named_buffers()) {
    if (item.key().ends_with("running_mean")) item.value().uniform_(-1, 1);
    if (item.key().ends_with("running_var")) item.value().uniform_(0.5, 2);
  }
  for (const auto& item : net->named_parameters()) item.value().uniform_(-1, 1);
  const Tensor x = rand({4, 3, 10, 10});
  net->eval();
  const graph::Graph graph = graph::capture(net, x);
  const graph::Plan plan = graph::plan(graph, x);
  INFO(plan.text());
  CHECK_FALSE(has(plan.text(), "batch_norm.default"));
  CHECK(has(plan.text(), "activation='relu'"));
  CHECK(has(plan.text(), "activation='gelu'"));
  // Sums of up to 144 products: the folded norm scales each product instead of the sum.
  CHECK(allclose(plan.run(x), net->forward(x), 1e-4, 1e-5));
  graph->named_buffers()["1.running_var"].mul_(3);  // the folded weight is recomputed
  graph->named_parameters()["4.bias"].add_(1);
  CHECK(allclose(plan.run(x), graph->forward(x), 1e-4, 1e-5));

  graph->train();  // statistics of the batch cannot be folded
  CHECK(has(graph::plan(graph, x).text(), "batch_norm.default"));
}

TEST_CASE("a result that is used twice is not overwritten") {
  Twice net;
  const Tensor x = randn({3, 2, 4, 4});
  const graph::Graph graph = graph::capture(net, x);
  check_close(*graph, {x});
  const graph::Plan plan = graph::plan(graph, x);
  INFO(plan.text());
  CHECK(has(plan.text(), "tanh_.default") == false);  // z is used again
  CHECK(has(plan.text(), "mul_.Tensor"));
}

TEST_CASE("slices of a batch give the results of the whole batch in less memory") {
  const NoGradGuard no_grad;
  const Tensor x = rand({23, 3, 10, 10});
  const graph::Graph net = small_graph(x);
  const Tensor expected = net(x);
  const size_t whole = graph::plan(net, x, {.slice = 23}).memory_bytes();
  for (const int64_t slice : {1, 5, 8, 22}) {
    INFO(slice);
    const graph::Plan plan = graph::plan(net, x, {.slice = slice});
    CHECK(allclose(plan.run(x), expected, 1e-4, 1e-5));
    CHECK(has(plan.memory(), std::to_string(slice) + " of 23 images at a time: "));
    if (slice < 9) CHECK(plan.memory_bytes() < whole);
    const Tensor first = plan.run(x), second = plan.run(x * 2);
    CHECK(allclose(first, expected, 1e-4, 1e-5));
    CHECK(allclose(second, net(x * 2), 1e-4, 1e-5));
  }
}

TEST_CASE("networks that mix the images of a batch are not computed in slices") {
  const NoGradGuard no_grad;
  const Tensor x = randn({6, 6});
  for (int64_t kind = 0; kind < 8; ++kind) {
    INFO(kind);
    Mixed net;
    net->kind = kind;
    const graph::Graph graph = graph::capture(net, x);
    const graph::Plan plan = graph::plan(graph, x, {.slice = 2});
    CHECK_FALSE(has(plan.memory(), "images at a time"));
    CHECK(allclose(plan.run(x), graph->forward(x), 1e-4, 1e-5));
  }
}

TEST_CASE("a run allocates nothing on the device") {
  for_each_device([](Device device) {
    const NoGradGuard no_grad;
    const Tensor x = rand({4, 3, 10, 10});
    const graph::Graph net = small_graph(x);
    net->to(device);
    const Tensor there = x.to(device);
    for (const graph::PlanOptions& options :
         {graph::PlanOptions{.exact = true}, {}, graph::PlanOptions{.slice = 3}}) {
      const graph::Plan plan = graph::plan(net, there, options);
      CHECK(plan.memory_bytes() > 0);
      const MemoryStats before = memory_stats(device);
      for (int i = 0; i < 10; ++i) plan.run(there);
      const MemoryStats after = memory_stats(device);
      CHECK(after.system_allocations == before.system_allocations);
      CHECK(after.in_use == before.in_use);
      // Kernels of cpu and cuda have scratch memory.
      if (!device.is_cpu() && !device.is_cuda()) CHECK(after.allocated == before.allocated);
    }
  });
}

TEST_CASE("outputs stay valid: a run does not write to those of earlier runs") {
  const NoGradGuard no_grad;
  const Tensor x = rand({4, 3, 10, 10});
  const graph::Graph net = small_graph(x);
  const graph::Plan plan = graph::plan(net, x, {.exact = true});
  std::vector<Tensor> kept;
  for (int i = 0; i < 4; ++i) kept.push_back(plan.run(x * i));
  for (int i = 0; i < 4; ++i) CHECK(equal(kept[static_cast<size_t>(i)], net(x * i)));
  const void* const address = kept[3].data_ptr();
  kept.clear();
  const Tensor first = plan.run(x), second = plan.run(x * 2);
  CHECK(first.data_ptr() != second.data_ptr());
  CHECK(equal(first, net(x)));
  CHECK(address != nullptr);
}

struct WithConstantImpl : nn::Module {
  nn::Linear fc = register_module("fc", nn::Linear(3, 2));
  std::vector<Tensor> forward(const Tensor& x) { return {fc(x), fc->weight * 2}; }
};
AMBIT_MODULE(WithConstant);

TEST_CASE("an output that depends on parameters alone is a tensor of its own") {
  const NoGradGuard no_grad;
  WithConstant net;
  const Tensor x = rand({4, 3});
  const graph::Graph graph = graph::capture(
      *net, [&](TensorList in) { return net->forward(in[0]); }, x);
  const graph::Plan plan = graph::plan(graph, x);
  const std::vector<Tensor> expected = graph->forward(TensorList(x));
  plan.run(TensorList(x))[1].mul_(3);
  CHECK(equal(plan.run(TensorList(x))[1], expected[1]));
}

TEST_CASE("a plan follows set_data() to another part of the same memory") {
  const NoGradGuard no_grad;
  const Tensor x = rand({2, 3, 10, 10});
  const graph::Graph net = small_graph(x);
  Tensor weight = net->named_parameters()["0.weight"];
  const Tensor both = stack({weight, weight * -2});
  weight.set_data(both.select(0, 0));
  for (const bool exact : {true, false}) {
    weight.set_data(both.select(0, 0));
    const graph::Plan plan = graph::plan(net, x, {.exact = exact});
    plan.run(x);
    weight.set_data(both.select(0, 1));
    CHECK(allclose(plan.run(x), net(x), 1e-5, 1e-6));
  }
}

TEST_CASE("runs in slices use the memory of outputs again") {
  const NoGradGuard no_grad;
  const Tensor x = rand({23, 3, 10, 10});
  const graph::Plan plan = graph::plan(small_graph(x), x, {.slice = 5});
  const auto allocated_by_run = [&] {
    const auto before = memory_stats(kCPU).allocated;
    plan.run(x);
    return memory_stats(kCPU).allocated - before;
  };
  allocated_by_run();
  const auto for_kernels = allocated_by_run();
  const Tensor in_use = plan.run(x);
  CHECK(allocated_by_run() > for_kernels);
}

TEST_CASE("outputs outlive the plan") {
  const NoGradGuard no_grad;
  const Tensor x = rand({4, 3, 10, 10});
  const graph::Graph net = small_graph(x);
  const Tensor y = graph::plan(net, x, {.exact = true}).run(x);
  CHECK(equal(y, net(x)));
}

TEST_CASE("a plan uses the current parameters") {
  const Tensor x = rand({2, 3, 10, 10});
  const graph::Graph net = small_graph(x);
  for (const bool exact : {true, false}) {
    const graph::Plan plan = graph::plan(net, x, {.exact = exact});
    const NoGradGuard no_grad;
    for (const Tensor& p : net->parameters()) p.mul_(1.5);
    CHECK(allclose(plan.run(x), net(x), 1e-5, 1e-6));
    for (const Tensor& p : net->parameters()) p.set_data(p * 0.5);  // other memory
    CHECK(allclose(plan.run(x), net(x), 1e-5, 1e-6));
  }
}

TEST_CASE("packed weights of convolutions follow the parameters") {
  const NoGradGuard no_grad;
  // Convolutions with many channels have kernels that keep weights in other layouts.
  nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(3, 32, 5).padding(2)), nn::ReLU(),
                     nn::Conv2d(nn::Conv2dOptions(32, 32, 3).padding(1)), nn::BatchNorm2d(32),
                     nn::Conv2d(nn::Conv2dOptions(32, 64, 3).stride(2)), nn::Flatten(),
                     nn::Linear(64 * 49, 4));
  net->eval();
  const Tensor x = rand({20, 3, 16, 16});
  const graph::Graph graph = graph::capture(net, x);
  for (const int64_t slice : {20, 8}) {
    const graph::Plan plan = graph::plan(graph, x, {.slice = slice});
    for (int i = 0; i < 3; ++i) {
      INFO(slice, " ", i);
      CHECK(allclose(plan.run(x), net->forward(x), 1e-4, 1e-5));
      for (const Tensor& p : net->parameters()) p.add_(randn_like(p), 0.01);
    }
    // Another plan of the same graph has its own packed weights.
    const graph::Plan other = graph::plan(graph, x, {.slice = 20});
    CHECK(allclose(other.run(x), plan.run(x), 1e-4, 1e-5));
  }
}

TEST_CASE("a plan refuses inputs that differ from the planned ones") {
  const Tensor x = rand({2, 3, 10, 10});
  const graph::Graph net = small_graph(x);
  const graph::Plan plan = graph::plan(net, x);
  const std::string expected =
      "plan: expected the input 'x' as planned, float32[2, 3, 10, 10], got ";
  CHECK(error_of<ShapeError>([&] {
          plan.run(rand({3, 3, 10, 10}));
        }) == expected + "float32[3, 3, 10, 10]");
  CHECK(error_of<DTypeError>([&] { plan.run(x.to(kFloat64)); }) ==
        expected + "float64[2, 3, 10, 10]");
  CHECK(error_of<Error>([&] { plan.run(std::vector{x, x}); }) == "plan: expected 1 inputs, got 2");
  CHECK(error_of<Error>([&] { plan.run(Tensor()); }) ==
        "plan: expected the input 'x', got an undefined tensor");
  CHECK(error_of<DeviceMismatchError>([&] { plan.run(x.to(kMeta)); }) ==
        "expected device cpu but got device meta");
  CHECK(error_of<DTypeError>([&] { graph::plan(net, x.to(kFloat64)); }).starts_with("Graph: "));
  net->to("reference");
  const std::string moved = error_of<Error>([&] { plan.run(x); });
  INFO(moved);
  CHECK(moved.find("on cpu, got float32") != moved.npos);
  CHECK(moved.ends_with("on reference:0: make a new plan after to()"));
}

TEST_CASE("a plan refuses sizes that depend on values, and names the call") {
  const graph::Graph net = graph::load(graph_file("indexing"));
  const std::vector<Tensor> inputs = tensors_of(graph_record("indexing")["inputs"], kCPU);
  const std::string text = error_of<NotImplementedError>([&] { graph::plan(net, inputs); });
  INFO(text);
  CHECK(
      text.starts_with("plan: expected sizes that do not depend on values, got others: nonzero: "));
  CHECK(text.find("(call 'index_2', index.Tensor)") != text.npos);
}

TEST_CASE("planning does not advance random numbers") {
  const graph::Graph net = graph::load(graph_file("mlp"));
  const std::vector<Tensor> inputs = tensors_of(graph_record("mlp")["inputs"], kCPU);
  net->train();
  manual_seed(1);
  const Tensor expected = rand({3});
  manual_seed(1);
  graph::plan(net, inputs, {.exact = true});
  CHECK(equal(rand({3}), expected));
}

TEST_CASE("the table of memory has a row for each module") {
  const NoGradGuard no_grad;
  const Tensor x = rand({4, 3, 10, 10});
  const graph::Graph net = small_graph(x);
  const graph::Plan plan = graph::plan(net, x, {.exact = true});
  const std::string text = plan.memory();
  INFO(text);
  CHECK(text.find(" in one block on cpu for ") != text.npos);
  CHECK(text.find("\nmodule ") != text.npos);
  CHECK(text.find("\n0 ") != text.npos);
  CHECK(text.find("\n3 ") != text.npos);
  // The output is not in the block, but in separate memory.
  CHECK(text.find("; outputs: 80 bytes\n") != text.npos);
  CHECK(plan.text() == net->text());
}

TEST_CASE("runs of several threads wait for each other") {
  const NoGradGuard no_grad;
  const Tensor x = rand({4, 3, 10, 10});
  const graph::Graph net = small_graph(x);
  const graph::Plan plan = graph::plan(net, x, {.exact = true});
  const Tensor expected = net(x);
  std::vector<Tensor> outputs(4);
  std::vector<std::thread> threads;
  for (Tensor& y : outputs) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) y = plan.run(x);
    });
  }
  for (std::thread& t : threads) t.join();
  for (const Tensor& y : outputs) CHECK(equal(y, expected));
}

TEST_CASE("blocks that live at the same time do not overlap") {
  manual_seed(5);
  for (int repeat = 0; repeat < 20; ++repeat) {
    const Tensor bytes = randint(1, 5000, {60}, kInt64), first = randint(0, 100, {60}, kInt64),
                 length = randint(1, 40, {60}, kInt64);
    std::vector<PlannedBlock> blocks;
    for (int64_t i = 0; i < 60; ++i) {
      PlannedBlock b;
      b.bytes = static_cast<size_t>(bytes[i].item<int64_t>());
      b.first = static_cast<uint32_t>(first[i].item<int64_t>());
      b.last = b.first + static_cast<uint32_t>(length[i].item<int64_t>());
      blocks.push_back(b);
    }
    const size_t total = arrange(blocks);
    size_t sum = 0;
    for (size_t i = 0; i < blocks.size(); ++i) {
      const PlannedBlock& a = blocks[i];
      sum += (a.bytes + 63) / 64 * 64;
      CHECK(a.offset % 64 == 0);
      CHECK(a.offset + a.bytes <= total);
      for (size_t j = 0; j < i; ++j) {
        const PlannedBlock& b = blocks[j];
        if (a.first >= b.last || b.first >= a.last) continue;
        CHECK((a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset));
      }
    }
    CHECK(total < sum);
  }
}

TEST_CASE("work that differs from the recorded run gets memory of its own") {
  PlannedMemory memory(kCPU);
  Tensor kept;
  const auto work = [&](int64_t n, bool keeps) {
    PlannedMemory::Run run(memory);
    run.step(0);
    Tensor a = full({n}, 1.0, kFloat32);
    if (keeps) kept = a;
    a = {};
    run.step(1);
    const Tensor b = full({64}, 2.0, kFloat32);
    CHECK(b.sum().item<double>() == 128);
  };
  work(64, false);
  memory.arrange();
  const size_t bytes = memory.arena_bytes();
  CHECK(bytes > 0);
  work(64, false);
  CHECK(memory.unplanned() == 0);
  work(65, false);  // another size
  CHECK(memory.unplanned() == 1);
  work(64, true);  // a tensor that lives longer: the second one cannot have its memory
  CHECK(memory.unplanned() > 1);
  CHECK(kept.sum().item<double>() == 64);
  work(64, false);
  CHECK(kept.sum().item<double>() == 64);
}
