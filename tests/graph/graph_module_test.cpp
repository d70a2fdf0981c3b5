// Graphs as modules: names, devices, modes, copies, printing, and errors of inputs.
#include <ambit/autograd.h>
#include <ambit/error.h>
#include <ambit/memory.h>
#include <ambit/nn/nn.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <ambit/profiler.h>

#include "graph_files.h"
#include "tests/devices.h"

using namespace ambit;

namespace {

template <class E>
std::string error_of(const graph::Graph& net, const std::vector<Tensor>& inputs) {
  try {
    net->forward(inputs);
  } catch (const E& e) {
    return e.what();
  }
  return "no such error";
}

}  // namespace

TEST_CASE("parameters and buffers have the names of the original module") {
  const graph::Graph net = graph::load(graph_file("mlp"));
  CHECK(net->named_parameters().keys() ==
        std::vector<std::string>{"0.weight", "0.bias", "1.weight", "1.bias", "4.weight", "4.bias"});
  CHECK(net->named_buffers().keys() ==
        std::vector<std::string>{"1.running_mean", "1.running_var", "1.num_batches_tracked"});
  CHECK(net->parameters()[0].requires_grad());
  nn::Sequential same(nn::Linear(6, 9), nn::BatchNorm1d(9), nn::ReLU(), nn::Dropout(0.),
                      nn::Linear(9, 2));
  same->load_state_dict(net->state_dict());
  const Tensor x = ones({4, 6}) * arange(4, kFloat32).unsqueeze(1);
  same->eval();
  net->eval();
  CHECK(allclose(net(x), same->forward(x)));
}

TEST_CASE("tied parameters stay one, constants and unsaved buffers are not in the state dict") {
  const graph::Graph net = graph::load(graph_file("gpt"));
  const StateDict dict = net->state_dict();
  CHECK(std::none_of(dict.begin(), dict.end(), [](const auto& item) {
    return item.first == "scale" || item.first.find("lifted") != std::string::npos;
  }));
  CHECK(net->buffers().size() == 2);
  size_t embeddings = 0;
  for (const Tensor& p : net->parameters()) embeddings += p.sizes() == IntArrayRef{17, 8};
  CHECK(embeddings == 1);
}

TEST_CASE("a graph moves between devices and back") {
  const graph::Graph net = graph::load(graph_file("resnet_eval"));
  const Value record = graph_record("resnet_eval");
  const Tensor expected = net(tensors_of(record["inputs"], kCPU)[0]);
  for_each_device([&](Device device) {
    net->to(device);
    const Tensor got = net(tensors_of(record["inputs"], device)[0]);
    CHECK(got.device() == device);
    // Kernels of two devices: float32 sums of up to 400 terms in another order.
    CHECK(allclose(got.cpu(), expected, 1e-4, 1e-5));
  });
}

TEST_CASE("a graph keeps the modes in which it was exported until train() or eval()") {
  const graph::Graph trained = graph::load(graph_file("resnet_train"));
  const graph::Graph evaluated = graph::load(graph_file("resnet_eval"));
  CHECK(trained->is_training());
  CHECK_FALSE(evaluated->is_training());
  const Tensor x = tensors_of(graph_record("resnet_eval")["inputs"], kCPU)[0];
  const Tensor y = evaluated(x);
  trained->eval();
  CHECK_FALSE(trained->is_training());
  CHECK(allclose(trained(x), y));
  CHECK(trained->named_buffers()["bn1.num_batches_tracked"].item<int64_t>() == 0);
  evaluated->train();
  trained->train();
  CHECK(allclose(trained(x), evaluated(x)));
  CHECK(trained->named_buffers()["bn1.num_batches_tracked"].item<int64_t>() == 1);
  CHECK_FALSE(
      allclose(trained->named_buffers()["bn1.running_mean"],
               graph::load(graph_file("resnet_eval"))->named_buffers()["bn1.running_mean"]));
}

TEST_CASE("a clone has its own tensors, and a graph is a layer like others") {
  const graph::Graph net = graph::load(graph_file("gpt"));
  const auto copy = std::dynamic_pointer_cast<graph::GraphImpl>(net->clone());
  REQUIRE(copy);
  const std::vector<Tensor> inputs = tensors_of(graph_record("gpt")["inputs"], kCPU);
  const Tensor before = net->forward(inputs)[0].detach().clone();
  {
    const NoGradGuard no_grad;
    for (const Tensor& p : copy->parameters()) p.zero_();
  }
  CHECK(equal(net->forward(inputs)[0], before));
  CHECK(copy->forward(inputs)[0].abs().max().item<double>() == 0);
  CHECK(copy->parameters().size() == net->parameters().size());

  nn::Sequential both(graph::load(graph_file("mlp")), nn::Linear(2, 3));
  CHECK(both->forward(ones({4, 6})).sizes() == IntArrayRef{4, 3});
  CHECK(both->parameters().size() == 8);
  CHECK(both->named_parameters().keys()[0] == "0.0.weight");
  const auto cloned = both->clone();
  CHECK(cloned->parameters().size() == 8);
}

TEST_CASE("the error of a wrong input states the expected dtype and sizes") {
  const graph::Graph net = graph::load(graph_file("net"));
  CHECK(error_of<Error>(net, {}) == "Graph: expected 1 inputs, got 0");
  CHECK(error_of<Error>(net, {Tensor()}).ends_with("got an undefined tensor"));
  const std::string expected = "Graph: expected the input 'x' as float32[s77, 3, 32, 32], got ";
  CHECK(error_of<DTypeError>(net, {zeros({2, 3, 32, 32}, kFloat64)}) ==
        expected + "float64[2, 3, 32, 32]");
  CHECK(error_of<ShapeError>(net, {zeros({2, 3, 31, 32})}) == expected + "float32[2, 3, 31, 32]");
  CHECK(error_of<ShapeError>(net, {zeros({3, 32, 32})}) == expected + "float32[3, 32, 32]");
  CHECK(error_of<ShapeError>(net, {zeros({65, 3, 32, 32})}) ==
        "Graph: expected s77 from 0 to 64, got 65");
  CHECK(net(zeros({64, 3, 32, 32})).sizes() == IntArrayRef{64, 10});
  const graph::Graph two = graph::load(graph_file("classifier"));
  CHECK_THROWS_WITH_AS(two(zeros({2, 7}, kInt64)),
                       doctest::Contains("expected a graph of one input and one output, got 2"),
                       Error);
}

TEST_CASE("an error inside of a graph names the call and the module") {
  const graph::Graph net = graph::load(graph_file("classifier"));
  const Tensor ids = full({2, 7}, 100, kInt64), lengths = full({2}, 3, kInt64);
  const std::string text = error_of<IndexError>(net, {ids, lengths});
  INFO(text);
  CHECK(text.ends_with("(call 'embedding' of embedding, embedding.default)"));
}

TEST_CASE("half-precision graphs accept inputs of their dtype") {
  const graph::Graph net = graph::load(graph_file("unet"));
  net->to(kBFloat16);
  const Tensor x = ones({2, 1, 8, 8}, kBFloat16);
  CHECK(net(x).dtype() == kBFloat16);
  CHECK(error_of<DTypeError>(net, {x.to(kFloat32)}) != "no such error");
}

TEST_CASE("a graph prints its calls with sizes, and as a picture") {
  const graph::Graph net = graph::load(graph_file("net"));
  const std::string text = net->text();
  CHECK(
      text.starts_with("graph(x: float32[s77, 3, 32, 32]):\n"
                       "  conv2d: float32[s77, 6, 28, 28] = conv2d.default(x, conv1.weight, "
                       "conv1.bias)  # conv1\n"));
  CHECK(text.ends_with("  return linear_2\n"));
  CHECK(text.find("max_pool2d.default(relu, kernel_size=[2, 2], stride=[2, 2])  # pool\n") !=
        std::string::npos);
  const std::string dot = net->dot();
  CHECK(dot.starts_with("digraph"));
  CHECK(dot.find("n0 -> n1 [label=\"float32[s77, 6, 28, 28]\"]") != std::string::npos);
  CHECK(graph::load(graph_file("shared"))->text().find("wrap_with_set_grad_enabled") !=
        std::string::npos);
  CHECK(net->input_names() == std::vector<std::string>{"x"});
}

TEST_CASE("an integer that was exported as dynamic is an input") {
  const graph::Graph net = graph::load(graph_file("counts"));
  CHECK(net->input_names() == std::vector<std::string>{"x", "n"});
  const Tensor x = ones({4, 3}), n = full({}, 5, kInt64);
  const std::vector<Tensor> out = net->forward({x, n});
  CHECK(out[0].sizes() == IntArrayRef{10, 3});
  CHECK(out[1].item<int64_t>() == 5);
  CHECK(out[2].item<int64_t>() == 11);
  CHECK(out[3].item<int64_t>() == 4);
  CHECK(out[5].sizes() == IntArrayRef{5});
  const std::string expected = "Graph: expected the input 'n' as int64[], an integer, got ";
  CHECK(error_of<DTypeError>(net, {x, n.to(kFloat32)}) == expected + "float32[]");
  CHECK(error_of<ShapeError>(net, {x, n.unsqueeze(0)}) == expected + "int64[1]");
  CHECK(error_of<ShapeError>(net, {x, full({}, 1, kInt64)}) ==
        "Graph: expected s86 from 2 to any size, got 1");
}

TEST_CASE("arguments whose values the program contains are not inputs") {
  const graph::Graph net = graph::load(graph_file("constants"));
  CHECK(net->input_names() == std::vector<std::string>{"x"});
  const std::vector<Tensor> out = net->forward(TensorList(ones({2, 3})));
  REQUIRE(out.size() == 6);
  CHECK(out[1].item<int64_t>() == 3);
  CHECK(out[2].item<double>() == 0.5);
  CHECK(out[3].dtype() == kBool);
  CHECK_FALSE(out[4].defined());
}

TEST_CASE("a new value of an input is copied to the caller's tensor, whatever its strides") {
  const graph::Graph net = graph::load(graph_file("writes_d"));
  const Tensor x = ones({4, 3}).t();
  CHECK(equal(net->forward({x, zeros({3, 4})})[0], full({3, 4}, 2.)));
  CHECK(equal(x, full({3, 4}, 2.)));
}

TEST_CASE("a contiguous copy of an input is freed after its last use") {
  const graph::Graph net = graph::load(graph_file("net"));
  const Tensor x = ones({64, 32, 32, 3}).permute({0, 3, 1, 2});
  const NoGradGuard no_grad;
  const auto peak = [&](const Tensor& input) {
    const auto before = static_cast<int64_t>(memory_stats(kCPU).in_use);
    profiler::Profile profile({.profile_memory = true});
    net(input);
    profile.stop();
    int64_t most = 0;
    for (const profiler::FunctionEvent& e : profile.events()) most = std::max(most, e.in_use);
    return most - before;
  };
  // The first convolution's output and its relu, 2 x 64 x 6 x 28 x 28 elements, need most. The copy
  // of the input, 64 x 3 x 32 x 32 elements, is no longer there then.
  CHECK(peak(x) < peak(x.contiguous()) + static_cast<int64_t>(x.nbytes() / 2));
}
