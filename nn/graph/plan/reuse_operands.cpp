#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "rewrite.h"

namespace ambit::graph {
namespace {

using Kind = Argument::Kind;

bool is_value(const Argument& a) { return a.kind == Kind::value; }
uint32_t index(const Argument& a) { return static_cast<uint32_t>(a.integer); }

// Return the in-place form of an elementwise function, whose result may overwrite its operand; null
// for other functions.
const Function* in_place(const Node& node) {
  constexpr std::string_view kNames[] = {
      "relu.default", "sigmoid.default", "tanh.default", "gelu.default", "silu.default",
      "mish.default", "add.Tensor",      "add.Scalar",   "sub.Tensor",   "mul.Tensor",
      "mul.Scalar",   "div.Tensor",      "div.Scalar"};
  const std::string_view name = node.function->name;
  if (std::find(std::begin(kNames), std::end(kNames), name) == std::end(kNames)) return nullptr;
  const size_t dot = name.find('.');
  const Function* const found =
      find_function(std::string(name.substr(0, dot)) + "_" + std::string(name.substr(dot)));
  const bool fits = found && found->parameters == std::string_view(node.function->parameters);
  return fits ? found : nullptr;
}

// Return true if the call copied its operand in the trace but may return the operand itself in a
// run, because an input has other strides or a slice has one image.
bool may_alias(const Node& node, const Trace& traced) {
  constexpr std::string_view kNames[] = {"contiguous.", "reshape.", "flatten.", "to.",
                                         "_unsafe_view."};
  const std::string_view name = node.function->name;
  if (std::none_of(std::begin(kNames), std::end(kNames),
                   [&](std::string_view start) { return name.starts_with(start); })) {
    return false;
  }
  if (!is_value(node.arguments[0])) return true;
  const Tensor& from = traced.values[index(node.arguments[0])].tensor;
  const Tensor& to = traced.values[node.outputs[0]].tensor;
  return !from.defined() || !to.defined() || from.storage().get() != to.storage().get();
}

}  // namespace

void reuse_operands(Program& program, const Trace& traced) {
  Block& block = program.block;
  for (const Node& node : block.nodes) {
    if (may_alias(node, traced)) return;
  }
  constexpr size_t kAlways = SIZE_MAX;
  std::map<const StorageImpl*, size_t> last;  // the last node that uses each storage
  const auto use = [&](uint32_t v, size_t i) {
    const Tensor& t = traced.values[v].tensor;
    if (!t.defined()) return;
    size_t& at = last[t.storage().get()];
    at = std::max(at, i);
  };
  for (size_t i = 0; i < block.nodes.size(); ++i) {
    for (const Argument& a : block.nodes[i].arguments)
      each_value(a, [&](uint32_t v) { use(v, i); });
  }
  for (const uint32_t v : block.inputs) use(v, kAlways);
  for (const Argument& a : block.outputs) each_value(a, [&](uint32_t v) { use(v, kAlways); });
  for (const Argument& a : program.outputs) each_value(a, [&](uint32_t v) { use(v, kAlways); });
  const auto may_write = [&](const Argument& a, const Tensor& out, size_t i) {
    if (!is_value(a)) return false;
    const Tensor& t = traced.values[index(a)].tensor;
    return t.defined() && last[t.storage().get()] == i && t.dtype() == out.dtype() &&
           t.sizes() == out.sizes() && t.strides() == out.strides() &&
           t.nbytes() == t.storage()->size_bytes();
  };
  for (size_t i = 0; i < block.nodes.size(); ++i) {
    Node& node = block.nodes[i];
    const Function* const function = in_place(node);
    if (!function) continue;
    std::vector<Argument>& a = node.arguments;
    const Tensor& out = traced.values[node.outputs[0]].tensor;
    const bool is_sum = node.function->name == std::string_view("add.Tensor") && is_value(a[1]) &&
                        a[2].kind == Kind::integer && a[2].integer == 1;
    if (is_sum && !may_write(a[0], out, i) && may_write(a[1], out, i)) std::swap(a[0], a[1]);
    if (!may_write(a[0], out, i)) continue;
    if (a.size() > 1 && is_value(a[1]) && index(a[0]) == index(a[1])) continue;
    node.function = function;
  }
}

}  // namespace ambit::graph
