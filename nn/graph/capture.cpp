// graph::capture(): the rest is in libambit_capture.so.
#include <ambit/error.h>
#include <ambit/graph/capture.h>
#include <fmt/format.h>

#include <set>

#include "nn/graph/capture/library.h"
#include "pt2_reader.h"

namespace ambit::graph {
namespace {

std::vector<capturing::NamedState> state_of(const nn::Module& net) {
  std::vector<capturing::NamedState> out;
  for (const auto& item : net.named_parameters()) {
    out.push_back({item.key(), item.value(), true, true});
  }
  std::set<std::string> saved;
  for (const auto& [name, tensor] : net.state_dict()) saved.insert(name);
  for (const auto& item : net.named_buffers()) {
    out.push_back({item.key(), item.value(), false, saved.contains(item.key())});
  }
  return out;
}

void check(const Tensor& t, const std::string& what) {
  if (!t.defined()) throw Error(fmt::format("graph::capture: expected {}, got none", what));
  if (t.device().is_cpu()) return;
  throw Error(fmt::format("graph::capture: expected {} on cpu, got {}", what, t.device().str()));
}

}  // namespace

Graph capture(const nn::Module& net, const std::function<std::vector<Tensor>(TensorList)>& forward,
              TensorList inputs) {
  const std::vector<capturing::NamedState> state = state_of(net);
  for (const auto& s : state) check(s.tensor, fmt::format("the tensor '{}'", s.name));
  for (size_t i = 0; i < inputs.size(); ++i) check(inputs[i], fmt::format("the input {}", i));
  capturing::Captured captured = capturing::library().capture(state, forward, inputs);
  LoadedProgram loaded = read_document(std::move(captured.document), captured.state);
  return Graph(std::make_shared<const Program>(std::move(loaded.program)), loaded.state);
}

}  // namespace ambit::graph
