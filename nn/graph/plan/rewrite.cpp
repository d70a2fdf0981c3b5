#include "rewrite.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "fused.h"

namespace ambit::graph {
namespace {

using Kind = Argument::Kind;

Argument value_of(uint32_t v) { return Argument::of(Kind::value, v); }
bool is_value(const Argument& a) { return a.kind == Kind::value; }
bool is_none(const Argument& a) { return a.kind == Kind::none; }
uint32_t index(const Argument& a) { return static_cast<uint32_t>(a.integer); }

bool is_one_of(const Node& node, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), node.function->name) != names.end();
}

bool is_convolution(const Node& node) {
  if (is_one_of(node, {"conv1d.default", "conv2d.default", "conv3d.default"})) return true;
  return is_one_of(node, {"convolution.default"}) && node.arguments[6].kind == Kind::flag &&
         node.arguments[6].integer == 0;
}
bool is_linear(const Node& node) { return is_one_of(node, {"linear.default"}); }

class Rewriter {
 public:
  Rewriter(const Program& program, const Trace& traced, const Mode& mode)
      : traced_(traced), mode_(mode) {
    out_.program = program;
    is_constant_ = traced.is_constant;
  }

  Rewritten run() {
    fold_numbers();
    fold_constants();
    count_uses();
    for (Node& node : nodes()) drop_indices(node);
    for (size_t i = 0; i < nodes().size(); ++i) fold_batch_norm(nodes()[i]);
    remove_empty();
    for (size_t i = 0; i < nodes().size(); ++i) fuse_activation(nodes()[i]);
    remove_empty();
    list_constants();
    refresh_last_uses(block());
    return std::move(out_);
  }

 private:
  Block& block() { return out_.program.block; }
  std::vector<Node>& nodes() { return block().nodes; }

  template <class Visit>
  static void each_use(Node& node, const Visit& visit) {
    for (Argument& a : node.arguments) each_argument(a, visit);
  }
  template <class Visit>
  static void each_argument(Argument& a, const Visit& visit) {
    if (is_value(a)) visit(a);
    for (Argument& item : a.items) each_argument(item, visit);
  }
  // As above, for all nodes and the outputs of the program.
  template <class Visit>
  void each_use(const Visit& visit) {
    for (Node& node : nodes()) each_use(node, visit);
    for (Argument& a : block().outputs) each_argument(a, visit);
    for (Argument& a : out_.program.outputs) each_argument(a, visit);
  }

  // Replace values by numbers where they follow from the sizes of the inputs.
  void fold_numbers() {
    const auto number = [&](uint32_t v) {
      return is_constant_[v] ? std::optional<Scalar>() : traced_.values[v].number;
    };
    each_use([&](Argument& a) {
      const std::optional<Scalar> n = number(index(a));
      if (!n) return;
      Argument made;
      if (n->is_floating_point()) {
        made.kind = Kind::real;
        made.real = n->to<double>();
      } else {
        made = Argument::of(n->dtype() == kBool ? Kind::flag : Kind::integer, n->to<int64_t>());
      }
      a = std::move(made);
    });
    std::erase_if(nodes(), [&](const Node& node) {
      return !node.outputs.empty() &&
             std::all_of(node.outputs.begin(), node.outputs.end(),
                         [&](uint32_t v) { return number(v).has_value(); });
    });
  }

  void fold_constants() {
    std::vector<Node> others;
    for (Node& node : nodes()) {
      const bool is_constant =
          !node.outputs.empty() && std::all_of(node.outputs.begin(), node.outputs.end(),
                                               [&](uint32_t v) { return is_constant_[v]; });
      (is_constant ? out_.prelude : others).push_back(std::move(node));
    }
    nodes() = std::move(others);
  }

  void count_uses() {
    uses_.assign(block().values.size(), 0);
    maker_.assign(block().values.size(), nullptr);
    each_use([&](const Argument& a) { ++uses_[index(a)]; });
    for (const Update& u : out_.program.updates) ++uses_[u.from];
    for (Node& node : nodes()) {
      for (const uint32_t v : node.outputs) maker_[v] = &node;
    }
  }

  // Max pooling whose indices are not used is faster without them.
  void drop_indices(Node& node) {
    for (const char* dims : {"1", "2", "3"}) {
      const std::string name = std::string("max_pool") + dims + "d";
      if (node.function->name != name + "_with_indices.default") continue;
      if (node.outputs.size() > 1 && uses_[node.outputs[1]] > 0) return;
      node.function = find_function(name + ".default");
      node.outputs.resize(1);
    }
  }

  bool is_constant(const Argument& a) const {
    return is_none(a) || (is_value(a) && is_constant_[index(a)]);
  }

  // Return the layer that makes the operand of `node`, if nothing else uses it.
  Node* layer_before(const Node& node) const {
    const Argument& operand = node.arguments[0];
    if (!is_value(operand) || uses_[index(operand)] != 1) return nullptr;
    Node* const layer = maker_[index(operand)];
    if (!layer || !(is_convolution(*layer) || is_linear(*layer))) return nullptr;
    return layer;
  }

  // A new constant, computed by the prelude.
  Argument constant(const Function& function, const std::string& name,
                    std::vector<Argument> arguments, const Tensor& like) {
    const auto v = static_cast<uint32_t>(block().values.size());
    Value value{.name = name, .dtype = like.dtype()};
    value.is_open = true;
    block().values.push_back(std::move(value));
    out_.prelude.push_back(
        {.function = &function, .name = name, .arguments = std::move(arguments), .outputs = {v}});
    is_constant_.push_back(true);
    uses_.push_back(1);
    maker_.push_back(nullptr);
    return value_of(v);
  }

  void fold_batch_norm(Node& node) {
    const bool without_training = is_one_of(node, {"_native_batch_norm_legit_no_training.default"});
    if (!without_training && !is_one_of(node, {"batch_norm.default"})) return;
    const std::vector<Argument>& a = node.arguments;  // input weight bias mean var [training] ..
    if (is_none(a[3]) || is_none(a[4])) return;
    if (!without_training &&
        (a[5].kind != Kind::flag || mode_.training.value_or(a[5].integer != 0))) {
      return;
    }
    const Argument& eps = a[without_training ? 6 : 7];
    if (is_value(eps)) return;
    for (size_t i = 1; i < 5; ++i) {
      if (!is_constant(a[i])) return;
    }
    for (size_t i = 1; i < node.outputs.size(); ++i) {
      if (uses_[node.outputs[i]] > 0) return;
    }
    Node* const layer = layer_before(node);
    if (!layer || !is_constant(layer->arguments[1]) || !is_constant(layer->arguments[2])) return;
    if (index(layer->arguments[1]) >= traced_.values.size()) return;  // folded already
    const Tensor& weight = traced_.values[index(layer->arguments[1])].tensor;
    const Tensor& out = traced_.values[index(a[0])].tensor;
    // The channels of the norm must be those of the layer; float16 and bfloat16 weights would
    // lose precision by folding.
    if (is_reduced_floating(weight.dtype()) || out.size(1) != weight.size(0)) return;
    const bool has_batch = is_linear(*layer) ? out.dim() == 2 : out.dim() == weight.dim();
    if (!has_batch) return;
    const Argument old_weight = layer->arguments[1], old_bias = layer->arguments[2];
    layer->arguments[1] =
        constant(kFoldedWeight, layer->name + "_weight", {old_weight, a[1], a[4], eps}, weight);
    layer->arguments[2] = constant(kFoldedBias, layer->name + "_bias",
                                   {old_bias, a[1], a[4], eps, a[3], a[2]}, weight);
    take_over(*layer, node);
  }

  // Let `layer` compute the result of `node`, which becomes empty.
  void take_over(Node& layer, Node& node) {
    layer.outputs = {node.outputs[0]};
    maker_[node.outputs[0]] = &layer;
    node.function = nullptr;
  }

  static std::string_view activation_of(const Node& node) {
    if (is_one_of(node, {"relu.default", "relu_.default"})) return "relu";
    if (!is_one_of(node, {"gelu.default", "gelu_.default"})) return {};
    return node.arguments[1].text == "tanh" ? "gelu_tanh" : "gelu";
  }

  void fuse_activation(Node& node) {
    const std::string_view activation = activation_of(node);
    if (activation.empty()) return;
    Node* const layer = layer_before(node);
    if (!layer) return;
    const Tensor& out = traced_.values[node.outputs[0]].tensor;
    if (!out.is_floating_point()) return;
    Argument text;
    text.kind = Kind::text;
    text.text = activation;
    std::vector<Argument>& a = layer->arguments;
    if (is_linear(*layer)) {
      layer->function = &kLinearMap;
    } else {
      if (layer->function->name == std::string_view("convolution.default")) {
        a.erase(a.begin() + 6, a.begin() + 8);  // transposed, output_padding
      }
      layer->function = &kConvolutionMap;
    }
    a.push_back(std::move(text));
    take_over(*layer, node);
  }

  void remove_empty() {
    std::erase_if(nodes(), [](const Node& node) { return !node.function; });
    count_uses();
  }

  // List the results of the prelude that other calls use.
  void list_constants() {
    std::vector<bool> is_made(block().values.size());
    for (const Node& node : out_.prelude) {
      for (const uint32_t v : node.outputs) is_made[v] = true;
    }
    for (const Update& u : out_.program.updates) use_constant(u.from, is_made);
    each_use([&](const Argument& a) { use_constant(index(a), is_made); });
  }
  void use_constant(uint32_t v, std::vector<bool>& is_made) {
    if (!is_made[v]) return;
    is_made[v] = false;
    out_.constants.push_back(v);
    block().inputs.push_back(v);
  }

  const Trace& traced_;
  const Mode& mode_;
  Rewritten out_;
  std::vector<bool> is_constant_;  // by value
  std::vector<size_t> uses_;       // number of uses of each value; outputs count, too
  std::vector<Node*> maker_;       // node that makes each value; null for inputs and constants
};

}  // namespace

Rewritten rewrite(const Program& program, const Trace& traced, const Mode& mode) {
  return Rewriter(program, traced, mode).run();
}

void refresh_last_uses(Block& block) {
  for (Node& node : block.nodes) node.last_used.clear();
  find_last_uses(block);
}

}  // namespace ambit::graph
