// Source of the format: onnx.proto and docs/IR.md of ONNX 1.23. PyTorch's exporter writes opset 18
// by default, so every runtime reads it. Later opsets add operators such as Gelu and
// RMSNormalization; here they are written as several nodes, which runtimes fuse.
#include "model_writer.h"

#include <ambit/autograd.h>
#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "flat_block.h"
#include "forms.h"
#include "nn/graph/lacking.h"
#include "nn/graph/sizes.h"
#include "pruning.h"

namespace ambit::graph::onnx {
namespace {

using Kind = Argument::Kind;

constexpr int64_t kOpset = 18, kIrVersion = 8;

std::string place_of(const Node& node) {
  std::string out = node.module.empty() ? "" : "/" + node.module;
  std::replace(out.begin(), out.end(), '.', '/');
  return out;
}

bool has_operands(const Node& node) {
  bool out = false;
  for (const Argument& a : node.arguments) each_value(a, [&](uint32_t) { out = true; });
  return out;
}

bool is_random(std::string_view function) {
  return function.starts_with("rand") || function.starts_with("bernoulli");
}

class ModelWriter {
 public:
  ModelWriter(const Program& program, const std::vector<Tensor>& state,
              std::optional<bool> training)
      : program_(program),
        state_(state),
        training_(training),
        block_(flat_block(program)),
        aliases_(block_),
        needed_(needed_calls(block_, aliases_)),
        made_by_(block_.values.size(), -1),
        last_use_(block_.values.size(), -1),
        is_used_(block_.values.size()),
        refs_(block_.values.size()),
        graph_(*out_.model.mutable_graph()),
        emitter_(graph_) {
    find_uses();
  }

  WrittenModel write(const std::string& path) {
    graph_.set_name("ambit");
    check_updates();
    declare();
    for (size_t i = 0; i < block_.nodes.size(); ++i) {
      if (needed_[i]) write_call(i);
    }
    lacking_.check(path);
    write_outputs();
    const std::unordered_set<std::string> used = remove_unused(graph_);
    std::erase_if(out_.initializers, [&](const Initializer& i) { return !used.contains(i.name); });
    add_types(used);
    out_.model.set_ir_version(kIrVersion);
    out_.model.set_producer_name("ambit");
    out_.model.set_producer_version(AMBIT_VERSION);
    proto::OperatorSetIdProto& opset = *out_.model.add_opset_import();
    opset.set_domain("");
    opset.set_version(kOpset);
    return std::move(out_);
  }

 private:
  // Return the position in block_ of a value of the program; inputs keep their order.
  uint32_t flat(uint32_t value) const {
    const auto& inputs = program_.block.inputs;
    const auto at = std::find(inputs.begin(), inputs.end(), value) - inputs.begin();
    return block_.inputs.at(static_cast<size_t>(at));
  }

  void find_uses() {
    const auto use = [&](int64_t by) {
      return [this, by](uint32_t v) {
        is_used_[v] = true;
        last_use_[v] = std::max(last_use_[v], by);
      };
    };
    for (size_t i = 0; i < block_.nodes.size(); ++i) {
      for (const uint32_t v : block_.nodes[i].outputs) made_by_[v] = static_cast<int64_t>(i);
      if (!needed_[i]) continue;
      for (const Argument& a : block_.nodes[i].arguments)
        each_value(a, use(static_cast<int64_t>(i)));
    }
    for (const Argument& a : block_.outputs) each_value(a, use(std::ssize(block_.nodes)));
  }

  // A model changes no tensor: refuse updates, except those that do nothing in evaluation.
  void check_updates() {
    for (size_t i = 0; i < program_.updates.size(); ++i) {
      const Update& u = program_.updates[i];
      if (u.counts_steps) continue;
      const auto is_batch_norm = [&](const Node& node) {
        return std::string_view(node.function->name).find("batch_norm") != std::string_view::npos &&
               std::find(node.outputs.begin(), node.outputs.end(), u.from) != node.outputs.end();
      };
      const auto& nodes = program_.block.nodes;
      if (training_ == false && std::any_of(nodes.begin(), nodes.end(), is_batch_norm)) continue;
      lacking_.add(fmt::format("an update of '{}'", program_.block.values[u.to].name));
    }
  }

  void add_type(proto::ValueInfoProto& info, const Value& v) const {
    proto::TypeProto::Tensor& type = *info.mutable_type()->mutable_tensor_type();
    type.set_elem_type(code_of(v.dtype.value_or(kInt64)));
    proto::TensorShapeProto& shape = *type.mutable_shape();
    for (const Size& size : v.sizes) {
      if (!v.dtype) break;  // a number
      auto& dim = *shape.add_dim();
      if (size.expression.empty()) {
        dim.set_dim_value(size.number);
      } else {
        const std::string text = graph::str(size);
        const bool is_known = text.find('?') == text.npos;
        if (is_known) dim.set_dim_param(text);
      }
    }
  }

  // Declare the names of parameters and buffers first, then the names of inputs and outputs.
  void declare() {
    std::unordered_map<const TensorImpl*, Ref> known;  // tied tensors are one initializer
    std::vector<size_t> constants;
    for (size_t i = 0; i < state_.size(); ++i) {
      const State& s = program_.state[i];
      const uint32_t v = flat(s.value);
      if (!is_used_[v]) continue;
      const auto tied = known.find(state_[i].impl());
      if (tied != known.end()) {
        refs_[v] = tied->second;
      } else if (s.is_parameter || s.is_persistent) {
        refs_[v] = {emitter_.unique(s.name), state_[i].dtype()};
        out_.initializers.push_back({refs_[v].name, state_[i]});
        known.emplace(state_[i].impl(), refs_[v]);
      } else {
        constants.push_back(i);
      }
    }
    for (const Input& input : program_.inputs) {
      const uint32_t v = flat(input.value);
      const Value& value = block_.values[v];
      refs_[v] = {emitter_.unique(value.name), value.dtype.value_or(kInt64)};
      proto::ValueInfoProto& info = *graph_.add_input();
      info.set_name(refs_[v].name);
      add_type(info, value);
    }
    const size_t first = block_.outputs.size() - program_.outputs.size();
    for (size_t i = first; i < block_.outputs.size(); ++i) {
      const Argument& a = block_.outputs[i];
      const bool is_value = a.kind == Kind::value;
      const std::string name = is_value ? block_.values[static_cast<size_t>(a.integer)].name
                                        : fmt::format("output_{}", i);
      output_names_.push_back(emitter_.unique(name));
    }
    for (const size_t i : constants)
      refs_[flat(program_.state[i].value)] = emitter_.constant(state_[i]);
    for (const Input& input : program_.inputs) {  // within the graph, numbers are 1-D tensors
      Ref& r = refs_[flat(input.value)];
      if (!block_.values[flat(input.value)].dtype) r = emitter_.reshape(r, {1});
    }
  }

  void write_call(size_t i) {
    const Node& node = block_.nodes[i];
    const auto place = [&] {
      return fmt::format("(call '{}'{})", node.name,
                         node.module.empty() ? "" : " of " + node.module);
    };
    const size_t before = lacking_.count();
    emitter_.enter(place_of(node));
    if (node.counts_steps) return;
    if (changes_argument(node)) check_in_place(i, place());
    const Form* form = find_form(node.function->name);
    try {
      if (!form && !has_operands(node) && !is_random(node.function->name)) {
        compute(node);
      } else if (form) {
        Site site(emitter_, block_, node, refs_, training_, is_used_);
        form->write(site);
      } else {
        lacking_.add(fmt::format("{} {}", node.function->name, place()));
      }
    } catch (const NoForm& e) {
      lacking_.add(fmt::format("{} with {} {}", node.function->name, e.what(), place()));
    }
    if (lacking_.count() != before) {
      // Check further calls as if this one had a form.
      for (const uint32_t v : node.outputs) {
        refs_[v] = {"lacking", block_.values[v].dtype.value_or(kInt64)};
      }
    }
    if (changes_argument(node)) rebind(node);
    for (const uint32_t v : node.outputs) {
      const Value& value = block_.values[v];
      if (value.dtype && refs_[v].dtype == *value.dtype) types_.emplace(refs_[v].name, value);
    }
  }

  // Compute a call without operands now: its results are constants.
  void compute(const Node& node) {
    const NoGradGuard no_grad;
    Mode mode;
    mode.device = kCPU;
    Call call(node, {}, mode);
    node.function->run(call);
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      const Slot& slot = call.results().at(k);
      refs_[node.outputs[k]] =
          slot.number ? emitter_.constant(full({1}, *slot.number)) : emitter_.constant(slot.tensor);
    }
  }

  // An in-place call gives all values that are the same tensor a new value. Refuse it if views of
  // the tensor are used later.
  void check_in_place(size_t i, const std::string& place) {
    const Node& node = block_.nodes[i];
    const std::string_view function = node.function->name;
    const bool keeps_elements = function == "unsqueeze_.default" || function == "detach_.default";
    if (node.arguments[0].kind != Kind::value || keeps_elements) return;
    const auto target = static_cast<uint32_t>(node.arguments[0].integer);
    for (const uint32_t given : block_.inputs) {
      if (aliases_.memory(given) != aliases_.memory(target)) continue;
      return lacking_.add(fmt::format("{} that changes '{}' {}", node.function->name,
                                      block_.values[given].name, place));
    }
    for (uint32_t v = 0; v < block_.values.size(); ++v) {
      const bool is_view = aliases_.memory(v) == aliases_.memory(target) &&
                           aliases_.identity(v) != aliases_.identity(target);
      const auto now = static_cast<int64_t>(i);
      if (is_view && made_by_[v] < now && now < last_use_[v]) {
        return lacking_.add(fmt::format("{} that changes a view {}", node.function->name, place));
      }
    }
  }

  void rebind(const Node& node) {
    if (node.outputs.empty() || node.arguments[0].kind != Kind::value) return;
    const auto target = static_cast<uint32_t>(node.arguments[0].integer);
    const DType d = refs_[target].dtype;
    const Ref r =
        lacking_.count() == 0 ? emitter_.cast(refs_[node.outputs[0]], d) : refs_[node.outputs[0]];
    for (uint32_t v = 0; v < refs_.size(); ++v) {
      if (aliases_.identity(v) == aliases_.identity(target)) refs_[v] = r;
    }
  }

  // Each output needs a distinct name: rename the value that a node computes, or add an Identity.
  void write_outputs() {
    const size_t first = block_.outputs.size() - program_.outputs.size();
    std::unordered_map<std::string, std::string> renamed;
    std::unordered_set<std::string> computed;
    for (const proto::NodeProto& node : graph_.node()) {
      if (node.op_type() == "Constant") continue;
      computed.insert(node.output().begin(), node.output().end());
    }
    emitter_.enter("");
    for (size_t k = 0; k < output_names_.size(); ++k) {
      const Argument& a = block_.outputs[first + k];
      Value value;
      Ref r;
      if (a.kind == Kind::value) {
        const auto v = static_cast<size_t>(a.integer);
        value = block_.values[v];
        r = value.dtype ? refs_[v] : emitter_.reshape(refs_[v], Dims());
      } else if (a.kind == Kind::integer || a.kind == Kind::real || a.kind == Kind::flag) {
        const bool is_real = a.kind == Kind::real;
        value.dtype = is_real ? kFloat64 : a.kind == Kind::flag ? kBool : kInt64;
        r = emitter_.number(is_real ? Scalar(a.real) : Scalar(a.integer), *value.dtype);
      } else {
        continue;  // None or a string
      }
      if (!value.dtype) {  // a number
        value.dtype = r.dtype;
        value.sizes.clear();
      }
      const std::string& name = output_names_[k];
      if (computed.contains(r.name) && !renamed.contains(r.name)) {
        renamed.emplace(r.name, name);
      } else {
        const Ref copy = emitter_.op("Identity", {r});
        renamed.emplace(copy.name, name);
      }
      proto::ValueInfoProto& info = *graph_.add_output();
      info.set_name(name);
      add_type(info, value);
    }
    rename_values(graph_, renamed);
    for (const auto& [from, to] : renamed) {
      types_.erase(from);
      types_.erase(to);
    }
  }

  // Add the types of the values between the nodes; only tools that show models use them.
  void add_types(const std::unordered_set<std::string>& used) {
    for (const proto::NodeProto& node : graph_.node()) {
      for (const std::string& name : node.output()) {
        const auto found = types_.find(name);
        if (found == types_.end() || !used.contains(name)) continue;
        proto::ValueInfoProto& info = *graph_.add_value_info();
        info.set_name(name);
        add_type(info, found->second);
      }
    }
  }

  const Program& program_;
  const std::vector<Tensor>& state_;
  std::optional<bool> training_;
  Block block_;
  Aliases aliases_;
  std::vector<bool> needed_;
  std::vector<int64_t> made_by_, last_use_;  // the first and the last call that has a value
  std::vector<bool> is_used_;
  std::vector<Ref> refs_;  // one for each value
  WrittenModel out_;
  proto::GraphProto& graph_;
  Emitter emitter_;
  std::vector<std::string> output_names_;
  std::unordered_map<std::string, Value> types_;  // key: name in the model
  Lacking lacking_{"graph::save: expected calls that have a form in ONNX in"};
};

}  // namespace

WrittenModel written_model(const Program& program, const std::vector<Tensor>& state,
                           std::optional<bool> training, const std::string& path) {
  return ModelWriter(program, state, training).write(path);
}

}  // namespace ambit::graph::onnx
