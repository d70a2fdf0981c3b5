// Graphs written back to .pt2 files: the same graph in ambit, and in PyTorch 2.15 the same numbers.
#include <ambit/autograd.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <ambit/optim/sgd.h>

#include <functional>

#include "graph_files.h"
#include "tests/devices.h"

using namespace ambit;

namespace {

// Return all tensors, including those that a state dict omits.
StateDict state(const graph::Graph& net) {
  StateDict all = net->state_dict();
  for (const auto& [name, buffer] : net->named_buffers()) all.emplace_back(name, buffer);
  return all;
}

void check_same_graph(const graph::Graph& got, const graph::Graph& expected) {
  CHECK(got->text() == expected->text());
  const StateDict a = state(got), b = state(expected);
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    INFO(a[i].first);
    CHECK(a[i].first == b[i].first);
    CHECK(equal(a[i].second, b[i].second.cpu()));
    CHECK(a[i].second.requires_grad() == b[i].second.requires_grad());
  }
  CHECK(got->parameters().size() == expected->parameters().size());  // tied ones count once
}

void train_one_step(const graph::Graph& net, const std::vector<Tensor>& inputs) {
  optim::SGD sgd(net->parameters(), optim::SGDOptions(0.05));
  square(net->forward(inputs)[0]).mean().backward();
  sgd.step();
  sgd.zero_grad();
}

std::string error_of_save(const graph::Graph& net, const std::string& path) {
  try {
    graph::save(net, path);
  } catch (const SerializationError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a saved graph loads as the same graph") {
  const TemporaryFolder folder;
  for (const std::string& name : graph_names()) {
    INFO(name);
    const graph::Graph net = graph::load(graph_file(name));
    graph::save(net, folder / "a.pt2");
    check_same_graph(graph::load(folder / "a.pt2"), net);
    graph::save(graph::load(folder / "a.pt2"), folder / "b.pt2");
    CHECK(read_bytes(folder / "b.pt2") == read_bytes(folder / "a.pt2"));
  }
}

TEST_CASE("a graph that was trained, moved and cloned is saved with its current tensors") {
  const TemporaryFolder folder;
  for_each_device([&](Device device) {
    for (const char* name : {"gpt", "mlp", "resnet_train_d"}) {
      INFO(name);
      const graph::Graph net = graph::load(graph_file(name));
      const Tensor before = net->parameters()[0].detach().clone();
      net->parameters()[1].requires_grad_(false);
      net->to(device);
      train_one_step(net, tensors_of(graph_record(name)["inputs"], device));
      const graph::Graph copy(std::dynamic_pointer_cast<graph::GraphImpl>(net->clone()));
      graph::save(copy, folder / "a.pt2");
      const graph::Graph back = graph::load(folder / "a.pt2");
      check_same_graph(back, net);
      CHECK_FALSE(allclose(back->parameters()[0], before));
    }
  });
}

TEST_CASE("a graph is saved in the mode of the last train() or eval()") {
  const TemporaryFolder folder;
  const Tensor x = tensors_of(graph_record("resnet_eval")["inputs"], kCPU)[0];
  for (const char* name : {"resnet_train", "resnet_train_d", "resnet_eval"}) {
    INFO(name);
    const graph::Graph net = graph::load(graph_file(name));
    for (const bool training : {false, true}) {
      net->train(training);
      graph::save(net, folder / "a.pt2");
      const graph::Graph back = graph::load(folder / "a.pt2");
      CHECK(back->is_training() == training);
      CHECK(equal(back(x), net(x)));
    }
  }
}

TEST_CASE("a failed save states the cause and keeps the old file") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.pt2", "old");
  const graph::Graph net = graph::load(graph_file("mlp"));
  CHECK(error_of_save(net, folder / "a.safetensors") ==
        "graph::save: expected a name that ends in .pt2 or .onnx, got '" +
            (folder / "a.safetensors") + "': ambit::save() writes parameters and buffers alone");
  CHECK(error_of_save(net, folder / "no/a.pt2").find("cannot") != std::string::npos);
  net->to(kBFloat16);
  CHECK(error_of_save(net, path) ==
        "graph::save: cannot write '" + path +
            "': expected '0.weight' as float32[9, 6], as the program was exported, got "
            "bfloat16[9, 6]");
  net->to(kFloat32);
  net->to("meta");
  CHECK(error_of_save(net, path).find("expected tensors with values, got one on meta") !=
        std::string::npos);
  CHECK(read_bytes(path) == "old");
}

TEST_CASE("PyTorch 2.15 loads saved graphs and has the same results") {
  if (python_with_torch().empty()) return;
  const TemporaryFolder folder;
  const auto add =
      [&](const std::string& name, const char* suffix,
          const std::function<void(const graph::Graph&, const std::vector<Tensor>&)>& change) {
        const graph::Graph net = graph::load(graph_file(name));
        change(net, tensors_of(graph_record(name)["inputs"], kCPU));
        const std::string file = folder / (name + suffix + ".pt2");
        graph::save(net, file);
        write_record(file, tensors_of(graph_record(name)["inputs"], kCPU));
      };
  for (const std::string& name : graph_names()) {
    add(name, "", [](const graph::Graph&, const std::vector<Tensor>&) {});
  }
  for (const char* name : {"net", "mlp", "lstm", "gpt", "resnet_train", "resnet_train_d"}) {
    add(name, "_trained", train_one_step);
  }
  for (const char* name : {"mlp", "resnet_train", "resnet_train_d", "classifier", "gpt"}) {
    add(name, "_evaluated", [](const graph::Graph& net, const std::vector<Tensor>& inputs) {
      train_one_step(net, inputs);
      net->eval();
    });
  }
  add("resnet_eval", "_training",
      [](const graph::Graph& net, const std::vector<Tensor>&) { net->train(); });
  CHECK(succeeds("OMP_NUM_THREADS=1 '" + python_with_torch() + "' '" AMBIT_SAVED_GRAPHS "' '" +
                 folder.path().string() + "'"));
}
