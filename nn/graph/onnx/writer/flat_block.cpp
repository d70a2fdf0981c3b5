#include "flat_block.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "forms.h"
#include "nn/graph/call.h"

namespace ambit::graph::onnx {
namespace {

using Kind = Argument::Kind;
using Replacements = std::unordered_map<uint32_t, Argument>;

void replace(Argument& a, const Replacements& by) {
  if (a.kind == Kind::value) {
    const auto found = by.find(static_cast<uint32_t>(a.integer));
    if (found != by.end()) a = found->second;
  }
  for (Argument& item : a.items) replace(item, by);
}

class Flattener {
 public:
  explicit Flattener(Block& out) : out_(out) {}

  /// Add the calls of a block, whose values `known` replaces, and return its outputs.
  std::vector<Argument> add(const Block& block, Replacements known) {
    for (Node node : block.nodes) {
      for (Argument& a : node.arguments) replace(a, known);
      std::vector<Argument> results;
      const bool is_block =
          node.function->name == std::string_view("higher_order.wrap_with_set_grad_enabled");
      if (is_block) {
        const Block& inner = *node.arguments.at(1).block;
        Replacements inputs;
        for (size_t i = 0; i < inner.inputs.size(); ++i) {
          inputs.emplace(inner.inputs[i], node.arguments.at(i + 2));
        }
        results = add(inner, inputs);
        for (size_t i = 0; i < node.outputs.size(); ++i) known[node.outputs[i]] = results.at(i);
        continue;
      }
      for (uint32_t& v : node.outputs) {
        const uint32_t copy = declare(block.values[v]);
        known[v] = Argument::of(Kind::value, copy);
        v = copy;
      }
      out_.nodes.push_back(std::move(node));
    }
    std::vector<Argument> outputs = block.outputs;
    for (Argument& a : outputs) replace(a, known);
    return outputs;
  }

  uint32_t declare(const Value& value) {
    out_.values.push_back(value);
    return static_cast<uint32_t>(out_.values.size() - 1);
  }

 private:
  Block& out_;
};

constexpr std::string_view kViews[] = {"view",
                                       "reshape",
                                       "reshape_as",
                                       "view_as",
                                       "flatten",
                                       "unflatten",
                                       "transpose",
                                       "swapaxes",
                                       "permute",
                                       "movedim",
                                       "t",
                                       "mT",
                                       "numpy_T",
                                       "unsqueeze",
                                       "squeeze",
                                       "expand",
                                       "expand_as",
                                       "broadcast_to",
                                       "select",
                                       "slice",
                                       "narrow",
                                       "unfold",
                                       "diagonal",
                                       "unbind",
                                       "chunk",
                                       "split",
                                       "tensor_split",
                                       "split_with_sizes",
                                       "as_strided",
                                       "real",
                                       "broadcast_tensors",
                                       "meshgrid"};
// Functions that may return their argument itself.
constexpr std::string_view kSame[] = {"alias",   "detach",  "contiguous",      "to",
                                      "type_as", "dropout", "feature_dropout", "_conj"};

template <size_t n>
bool is_one_of(std::string_view name, const std::string_view (&list)[n]) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

}  // namespace

Block flat_block(const Program& program) {
  Block out;
  Flattener flattener(out);
  Replacements known;
  for (const uint32_t v : program.block.inputs) {
    const uint32_t copy = flattener.declare(program.block.values[v]);
    known[v] = Argument::of(Kind::value, copy);
    out.inputs.push_back(copy);
  }
  out.outputs = flattener.add(program.block, known);
  return out;
}

bool changes_argument(const Node& node) { return is_in_place(node.function->name); }

Aliases::Aliases(const Block& block) : memory_(block.values.size()), identity_(memory_.size()) {
  std::iota(memory_.begin(), memory_.end(), 0);
  std::iota(identity_.begin(), identity_.end(), 0);
  for (const Node& node : block.nodes) {
    if (node.arguments.empty() || node.arguments[0].kind != Kind::value) continue;
    std::string_view name = node.function->name;
    name = name.substr(0, name.find('.'));
    const bool is_in_place = changes_argument(node);
    if (is_in_place) name.remove_suffix(1);
    const bool is_view = is_one_of(name, kViews);
    const auto from = static_cast<uint32_t>(node.arguments[0].integer);
    for (const uint32_t v : node.outputs) {
      if (is_view || is_in_place || is_one_of(name, kSame)) memory_[v] = memory_[from];
      if (!is_view && memory_[v] == memory_[from]) identity_[v] = identity_[from];
    }
  }
}

std::vector<bool> needed_calls(const Block& block, const Aliases& aliases) {
  std::vector<bool> needed(block.nodes.size()), values(block.values.size()),
      memory(block.values.size());
  const auto need = [&](uint32_t v) {
    values[v] = true;
    memory[aliases.memory(v)] = true;
  };
  for (const Argument& a : block.outputs) each_value(a, need);
  for (size_t i = block.nodes.size(); i-- > 0;) {
    const Node& node = block.nodes[i];
    for (const uint32_t v : node.outputs) {
      needed[i] = needed[i] || values[v] || (changes_argument(node) && memory[aliases.memory(v)]);
    }
    if (!needed[i]) continue;
    for (const Argument& a : node.arguments) each_value(a, need);
  }
  return needed;
}

}  // namespace ambit::graph::onnx
