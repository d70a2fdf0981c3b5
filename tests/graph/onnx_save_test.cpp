// Graphs written as ONNX models: the same numbers after ambit reads them, and in onnxruntime and
// ONNX's reference evaluator.
#include <ambit/autograd.h>
#include <ambit/error.h>
#include <ambit/graph/capture.h>
#include <ambit/nn/nn.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/random.h>

#include <set>

#include "captured_networks.h"
#include "graph_files.h"

using namespace ambit;

namespace {

std::string file_in(const TemporaryFolder& folder, const std::string& name) {
  std::string file = name;
  for (char& c : file) c = c == ' ' ? '_' : c;
  return (folder.path() / (file + ".onnx")).string();
}

void check_close(const std::vector<Tensor>& got, const std::vector<Tensor>& expected) {
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    INFO(i);
    CHECK(got[i].sizes() == expected[i].sizes());
    CHECK(got[i].dtype() == expected[i].dtype());
    // Other formulas and orders of sums: about 10 roundings of 2^-24 in each of up to 40 layers are
    // 2.4e-5 of the largest values, which are up to 4 times the results.
    CHECK(allclose(got[i], expected[i], 1e-4, 1e-5, true));
  }
}

// Write inputs and outputs, numbered by position, for the script that compares them.
void write_case(const std::string& file, const std::vector<Tensor>& inputs,
                const std::vector<Tensor>& outputs) {
  StateDict tensors;
  const auto add = [&](const char* kind, const std::vector<Tensor>& list) {
    for (size_t i = 0; i < list.size(); ++i) {
      tensors.emplace_back(kind + std::to_string(i), list[i].clone());
    }
  };
  add("input", inputs);
  add("output", outputs);
  save(tensors, file.substr(0, file.size() - 5) + ".safetensors");
}

struct Saved {
  std::string name, file;
  std::vector<Tensor> inputs, outputs;
};

std::vector<Tensor> defined(const std::vector<Tensor>& list) {
  std::vector<Tensor> out;
  for (const Tensor& t : list) {
    if (t.defined()) out.push_back(t);
  }
  return out;
}

// Write all networks and modules as models.
std::vector<Saved> save_captured(const TemporaryFolder& folder) {
  std::vector<CapturedNetwork> all = captured_networks();
  for (CapturedNetwork& e : captured_modules()) all.push_back(std::move(e));
  std::vector<Saved> out;
  for (const CapturedNetwork& e : all) {
    const std::string file = file_in(folder, e.name);
    graph::save(graph::capture(*e.net, e.forward, e.inputs), file);
    const std::vector<Tensor> inputs = e.other_inputs();
    out.push_back({e.name, file, inputs, e.run(inputs)});
  }
  return out;
}

// As above, for graphs that PyTorch exported, in evaluation; `refused` gets the names of those that
// cannot be written.
std::vector<Saved> save_exported(const TemporaryFolder& folder, std::set<std::string>& refused) {
  std::vector<Saved> out;
  const NoGradGuard no_grad;
  for (const std::string& name : graph_names()) {
    const graph::Graph net = graph::load(graph_file(name));
    net->eval();
    const std::string file = file_in(folder, name);
    try {
      graph::save(net, file);
    } catch (const NotImplementedError&) {
      refused.insert(name);
      continue;
    }
    const std::vector<Tensor> inputs = tensors_of(graph_record(name)["inputs"], kCPU);
    out.push_back({name, file, inputs, defined(net->forward(inputs))});
  }
  return out;
}

// Load models, change their parameters and write them again.
std::vector<Saved> save_copies(const TemporaryFolder& folder, const std::vector<Saved>& all) {
  std::vector<Saved> out;
  const NoGradGuard no_grad;
  for (const Saved& saved : all) {
    const graph::Graph net = graph::load(saved.file);
    for (const Tensor& p : net->parameters()) p.mul_(0.75);
    const std::string file = file_in(folder, "copy of " + saved.name);
    graph::save(net, file);
    out.push_back({saved.name, file, saved.inputs, net->forward(saved.inputs)});
  }
  return out;
}

std::string refusal(const graph::Graph& net, const std::string& file) {
  try {
    graph::save(net, file);
  } catch (const NotImplementedError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a model that a captured graph is written to computes the same") {
  const TemporaryFolder folder;
  const NoGradGuard no_grad;
  for (const Saved& saved : save_captured(folder)) {
    INFO(saved.name);
    check_close(graph::load(saved.file)->forward(saved.inputs), saved.outputs);
  }
}

TEST_CASE("a model that was loaded and changed is written again") {
  const TemporaryFolder folder;
  const NoGradGuard no_grad;
  for (const Saved& saved : save_copies(folder, save_captured(folder))) {
    INFO(saved.name);
    const std::vector<Tensor> got = graph::load(saved.file)->forward(saved.inputs);
    REQUIRE(got.size() == saved.outputs.size());
    for (size_t i = 0; i < got.size(); ++i) CHECK(allclose(got[i], saved.outputs[i], 0, 0, true));
  }
}

TEST_CASE("a graph that PyTorch exported becomes a model, unless a call has no form") {
  const TemporaryFolder folder;
  const NoGradGuard no_grad;
  std::set<std::string> refused;
  for (const Saved& saved : save_exported(folder, refused)) {
    INFO(saved.name);
    check_close(graph::load(saved.file)->forward(saved.inputs), saved.outputs);
  }
  // The refused graphs change buffers and inputs, or have cumprod, histc, as_strided or autocast.
  CHECK(refused == std::set<std::string>{"conversions", "indexing", "indexing_d", "reductions",
                                         "reductions_d", "shapes", "shapes_d", "shared", "shared_d",
                                         "writes_d"});
}

TEST_CASE("onnxruntime and ONNX's evaluator compute the same") {
  const std::string python = python_with_onnx();
  if (python.empty()) return;
  const TemporaryFolder folder;
  std::set<std::string> refused;
  const std::vector<Saved> captured = save_captured(folder);
  for (const Saved& s : captured) write_case(s.file, s.inputs, s.outputs);
  for (const Saved& s : save_copies(folder, captured)) write_case(s.file, s.inputs, s.outputs);
  for (const Saved& s : save_exported(folder, refused)) write_case(s.file, s.inputs, s.outputs);
  CHECK(succeeds("OMP_NUM_THREADS=1 '" + python + "' '" AMBIT_SAVED_ONNX "' '" +
                 folder.path().string() + "'"));
}

TEST_CASE("a model has the names of parameters, buffers, inputs and outputs") {
  const TemporaryFolder folder;
  nn::Sequential net(nn::Conv2d(3, 4, 3), nn::BatchNorm2d(4), nn::ReLU());
  net->eval();
  const graph::Graph captured = graph::capture(net, randn({1, 3, 6, 6}));
  graph::save(captured, folder / "a.onnx");
  const graph::Graph model = graph::load(folder / "a.onnx");
  CHECK(model->input_names() == captured->input_names());
  CHECK(model->output_names() == captured->output_names());
  std::vector<std::string> names, buffers;
  for (const auto& item : model->named_parameters()) names.push_back(item.key());
  for (const auto& item : model->named_buffers()) {
    if (item.key().find("running") != std::string::npos) buffers.push_back(item.key());
  }
  CHECK(names == std::vector<std::string>{"0.weight", "0.bias", "1.weight", "1.bias"});
  CHECK(buffers == std::vector<std::string>{"1.running_mean", "1.running_var"});
  CHECK(equal(model->named_parameters()["0.weight"], net->named_parameters()["0.weight"]));
}

TEST_CASE("a loaded graph is written with its dynamic sizes") {
  const TemporaryFolder folder;
  const graph::Graph net = graph::load(graph_file("net"));
  net->eval();
  graph::save(net, folder / "a.onnx");
  const graph::Graph model = graph::load(folder / "a.onnx");
  const NoGradGuard no_grad;
  for (const int64_t batch : {2, 7}) {
    const Tensor x = randn({batch, 3, 32, 32});
    check_close({model(x)}, {net(x)});
  }
  CHECK(model->text().starts_with("graph(x: float32[s77, 3, 32, 32]):\n"));
}

TEST_CASE("a tied parameter is one initializer") {
  const TemporaryFolder folder;
  nn::Sequential net(nn::Linear(4, 4), nn::Linear(4, 4));
  net[1]->as<nn::LinearImpl>()->weight = net[0]->as<nn::LinearImpl>()->weight;
  const graph::Graph captured = graph::capture(net, randn({2, 4}));
  graph::save(captured, folder / "a.onnx");
  const graph::Graph model = graph::load(folder / "a.onnx");
  CHECK(model->named_parameters().size() == 3);
  const Tensor x = randn({2, 4});
  CHECK(allclose(model(x), captured(x), 1e-6,
                 1e-6));  // both compute the same float32 formulas on 4 terms
}

TEST_CASE("calls without a form are all listed, with the module, and nothing is written") {
  const TemporaryFolder folder;
  const std::string file = folder.write("a.onnx", "old");
  nn::Sequential net(nn::Linear(4, 4),
                     nn::Functional([](const Tensor& x) { return lgamma(x).erfinv(); }));
  const std::string error = refusal(graph::capture(net, rand({2, 4})), file);
  CHECK(error == "graph::save: expected calls that have a form in ONNX in '" + file +
                     "', got also erfinv.default (call 'erfinv'), lgamma.default (call 'lgamma')");
  CHECK(read_bytes(file) == "old");
  const graph::Graph trained = graph::load(graph_file("mlp"));
  trained->train();
  CHECK(refusal(trained, file).find("call eval() first") != std::string::npos);
  CHECK(read_bytes(file) == "old");
}

TEST_CASE("a model that cannot be written states the cause and keeps the old file") {
  const TemporaryFolder folder;
  const std::string file = folder.write("a.onnx", "old");
  nn::Sequential net(nn::Linear(4, 3));
  const graph::Graph captured = graph::capture(net, randn({2, 4}));
  CHECK_THROWS_AS(graph::save(captured, folder / "no/a.onnx"), SerializationError);
  captured->to(kBFloat16);
  CHECK_THROWS_WITH_AS(graph::save(captured, file), doctest::Contains("expected '0.weight' as"),
                       SerializationError);
  captured->to(kFloat32);
  captured->to("meta");
  CHECK_THROWS_WITH_AS(graph::save(captured, file),
                       doctest::Contains("expected tensors with values"), SerializationError);
  CHECK(read_bytes(file) == "old");
}
