// Source of the format: onnx.proto and docs/IR.md of ONNX 1.23. Longer than other files, because
// one class reads a model: its functions share the values and types that are known so far.
#include "model_reader.h"

#include <ambit/detail/printable.h>
#include <ambit/ops/creation.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "literals.h"
#include "operators.h"
#include "scope.h"
#include "tensors.h"

namespace ambit::graph::onnx {
namespace {

using Kind = Argument::Kind;

constexpr int64_t kFirstOpset = 13, kLastOpset = 28;
constexpr int kMostNested = 16;         // nesting levels of graphs and of functions
constexpr size_t kMostCalls = 1 << 18;  // number of calls after functions are expanded
constexpr int64_t kMostHost = 1024;     // elements of a constant that is read as numbers

class ModelReader {
 public:
  ModelReader(const std::string& path, proto::ModelProto& model, Lacking& lacking)
      : tensors_(path), model_(model), lacking_(lacking) {}

  LoadedProgram read() {
    const int64_t opset = opset_of(model_.opset_import());
    if (!model_.has_graph()) fail("expected a graph, got none");
    for (const proto::FunctionProto& f : model_.functions()) {
      functions_.emplace(f.domain() + ":" + f.name() + ":" + f.overload(), &f);
    }
    Scope scope{root_, nullptr, 0, opset};
    read_inputs(scope, *model_.mutable_graph(), true);
    read_calls(scope, *model_.mutable_graph());
    find_last_uses(root_.block);
    out_.program.outputs = root_.block.outputs;
    add_state();
    out_.program.block = std::move(root_.block);
    if (lacking_.count() == 0) keep_model();
    return std::move(out_);
  }

 private:
  template <class List>
  int64_t opset_of(const List& imports) {
    for (const proto::OperatorSetIdProto& import : imports) {
      if (!import.domain().empty() && import.domain() != "ai.onnx") continue;
      const int64_t version = import.version();
      if (version < kFirstOpset || version > kLastOpset) {
        lacking_.add(
            fmt::format("opset {} (ambit has {} to {})", version, kFirstOpset, kLastOpset));
      }
      return version;
    }
    return kLastOpset;
  }

  // --- values

  Value typed(const Scope& scope, const std::string& name) {
    Value v;
    v.name = printable(name);
    v.is_open = true;
    const auto found = scope.types.find(name);
    if (found == scope.types.end()) return v;
    const proto::TypeProto::Tensor& type = found->second->type().tensor_type();
    v.dtype = dtype_of_code(type.elem_type());
    if (!v.dtype || !type.has_shape()) return v;
    v.is_open = false;
    for (const auto& dim : type.shape().dim()) {
      if (dim.has_dim_value() && dim.dim_value() >= 0) {
        v.sizes.push_back({dim.dim_value(), {}});
        continue;
      }
      std::string symbol;
      for (const char c : dim.dim_param()) symbol += c == '\'' || c == ',' || c == ')' ? '_' : c;
      if (symbol.empty()) symbol = fmt::format("{}_{}", v.name, v.sizes.size());
      v.sizes.push_back({-1, fmt::format("Symbol('{}')", symbol)});
    }
    return v;
  }

  void declare(Scope& scope, const std::string& name) {
    const uint32_t v = scope.body.add(typed(scope, name));
    scope.declare(name, {nullptr, &scope.body, v});
  }

  Constant* add_constant(proto::TensorProto& tensor, const std::string& name) {
    Constant& c = constants_.emplace_back();
    c.name = name;
    if (!dtype_of_code(tensor.data_type())) {
      lacking_.add_dtype(name_of_code(tensor.data_type()), printable(name));
      c.tensor = zeros({}, TensorOptions(kFloat32).device(kCPU));
    } else {
      c.tensor = tensors_.read(tensor);
    }
    if (!is_copy_) c.source = &tensor;
    return &c;
  }

  uint32_t value_of(Scope& scope, const Meaning& meaning) {
    if (!meaning.constant) return scope.body.import(*meaning.body, meaning.value);
    Constant& c = *meaning.constant;
    if (c.value < 0) {
      Value v;
      v.name = printable(c.name);
      v.dtype = c.tensor.dtype();
      for (const int64_t size : c.tensor.sizes()) v.sizes.push_back({size, {}});
      c.value = root_.add(std::move(v));
      root_.block.inputs.push_back(static_cast<uint32_t>(c.value));
    }
    return scope.body.import(root_, static_cast<uint32_t>(c.value));
  }

  const Meaning& meaning_of(const Scope& scope, const std::string& name) {
    const Meaning* found = scope.find(name);
    if (!found) fail("expected a value before its use, got '{}'", printable(name));
    return *found;
  }

  void add_state() {
    StateNames names;
    for (const Constant& c : constants_) {
      if (c.value < 0) continue;
      State s;
      s.name = names.unique(c.name);
      s.value = static_cast<uint32_t>(c.value);
      s.is_persistent = c.is_initializer;
      s.is_parameter = s.requires_grad =
          c.is_initializer && !c.is_statistic && c.tensor.is_floating_point() && c.tensor.dim() > 0;
      out_.program.state.push_back(std::move(s));
      out_.state.push_back(c.tensor);
    }
  }

  // Keep the model for graph::save(), without the elements that are in the state.
  void keep_model() {
    size_t index = 0;
    for (const Constant& c : constants_) {
      const bool is_state = c.value >= 0;
      if (c.source && is_state) refer_to_state(*c.source, index);
      if (c.source && !is_state) set_elements(*c.source, c.tensor);
      index += is_state;
    }
    out_.program.model = model_.SerializeAsString();
  }

  // --- graphs

  void read_inputs(Scope& scope, proto::GraphProto& graph, bool is_outermost) {
    if (scope.depth > kMostNested) fail("expected at most {} nested graphs", kMostNested);
    for (const auto* list : {&graph.value_info(), &graph.output(), &graph.input()}) {
      for (const proto::ValueInfoProto& info : *list) scope.types[info.name()] = &info;
    }
    if (!graph.sparse_initializer().empty()) lacking_.add("sparse initializers");
    for (proto::TensorProto& t : *graph.mutable_initializer()) {
      Constant* c = add_constant(t, t.name());
      c->is_initializer = true;
      scope.declare(t.name(), {c, nullptr, 0});
    }
    for (const proto::ValueInfoProto& info : graph.input()) {
      if (scope.names.contains(info.name())) continue;  // an initializer
      declare(scope, info.name());
      const auto v = static_cast<uint32_t>(scope.body.block.values.size() - 1);
      scope.body.block.inputs.push_back(v);
      if (!is_outermost) continue;
      if (!info.type().has_tensor_type()) {
        lacking_.add(fmt::format("an input that is not a tensor ('{}')", printable(info.name())));
      } else if (!scope.body.block.values[v].dtype) {
        lacking_.add_dtype(name_of_code(info.type().tensor_type().elem_type()), info.name());
      }
      out_.program.inputs.push_back({v, false, false});
    }
  }

  void read_calls(Scope& scope, proto::GraphProto& graph) {
    for (proto::NodeProto& node : *graph.mutable_node()) read_node(scope, node);
    for (const proto::ValueInfoProto& info : graph.output()) {
      const uint32_t v = value_of(scope, meaning_of(scope, info.name()));
      scope.body.block.outputs.push_back(Argument::of(Kind::value, v));
    }
  }

  void read_node(Scope& scope, proto::NodeProto& node) {
    if (++calls_ > kMostCalls) fail("expected at most {} calls, got more", kMostCalls);
    const bool is_standard = node.domain().empty() || node.domain() == "ai.onnx";
    if (is_standard && node.op_type() == "Constant") return read_constant(scope, node);
    const auto f = functions_.find(node.domain() + ":" + node.op_type() + ":" + node.overload());
    if (f != functions_.end()) return expand(scope, node, *f->second);
    const Operator* op = is_standard ? find_operator(node.op_type(), scope.opset) : nullptr;
    if (!op) {
      lacking_.add(fmt::format("{}{}{} (call '{}')", node.domain(),
                               node.domain().empty() ? "" : ".", node.op_type(), place_of(node)));
      for (const std::string& name : node.output()) declare(scope, name);
      return;
    }
    Node call;
    call.function = &op->function;
    call.name = place_of(node);
    std::vector<bool> is_missing;
    call.arguments = default_arguments(op->function, is_missing);
    read_operands(scope, node, *op, call, is_missing);
    read_attributes(scope, node, call, is_missing);
    if (std::find(is_missing.begin(), is_missing.end(), true) != is_missing.end()) {
      fail("expected all inputs and attributes of {} (call '{}'), got fewer", op->function.name,
           call.name);
    }
    for (const std::string& name : node.output()) {
      declare(scope, name);
      call.outputs.push_back(static_cast<uint32_t>(scope.body.block.values.size() - 1));
    }
    scope.body.block.nodes.push_back(std::move(call));
  }

  void read_operands(Scope& scope, const proto::NodeProto& node, const Operator& op, Node& call,
                     std::vector<bool>& is_missing) {
    std::vector<Argument> list;
    int position = 0;
    for (const std::string& name : node.input()) {
      const int i = position++;
      Argument a;
      if (!name.empty()) {
        const Meaning& meaning = meaning_of(scope, name);
        Constant* c = meaning.constant;
        const bool is_host = op.inputs != Operator::kList && i < 32 && (op.host >> i & 1) != 0;
        if (c && i > 2 && op.function.name == std::string_view("BatchNormalization")) {
          c->is_statistic = true;
        }
        if (c && is_host && c->tensor.numel() <= kMostHost) {
          a = literal(c->tensor);
        } else if (c || meaning.body) {
          a = Argument::of(Kind::value, value_of(scope, meaning));
        }
      }
      if (op.inputs == Operator::kList) {
        list.push_back(std::move(a));
      } else if (i >= op.inputs) {
        fail("expected at most {} inputs of {} (call '{}'), got {}", op.inputs, op.function.name,
             call.name, node.input_size());
      } else {
        is_missing[static_cast<size_t>(i)] = is_missing[static_cast<size_t>(i)] && name.empty();
        call.arguments[static_cast<size_t>(i)] = std::move(a);
      }
    }
    if (op.inputs != Operator::kList) return;
    call.arguments[0].kind = Kind::list;
    call.arguments[0].items = std::move(list);
    is_missing[0] = false;
  }

  void read_attributes(Scope& scope, proto::NodeProto& node, Node& call,
                       std::vector<bool>& is_missing) {
    std::map<int, std::vector<uint32_t>> captured;  // in the order of the parameters
    for (proto::AttributeProto& attribute : *node.mutable_attribute()) {
      const int i = parameter_index(*call.function, attribute.name());
      if (i < 0) {
        lacking_.add(fmt::format("the attribute {} of {}", attribute.name(), node.op_type()));
        continue;
      }
      Argument a = read_attribute(scope, attribute, captured[i]);
      if (a.kind == Kind::none) continue;
      call.arguments[static_cast<size_t>(i)] = std::move(a);
      is_missing[static_cast<size_t>(i)] = false;
    }
    for (const auto& [i, values] : captured) {
      for (const uint32_t v : values) call.arguments.push_back(Argument::of(Kind::value, v));
    }
  }

  Argument read_attribute(Scope& scope, proto::AttributeProto& attribute,
                          std::vector<uint32_t>& captured) {
    if (!attribute.ref_attr_name().empty()) {
      const auto found = scope.attributes.find(attribute.ref_attr_name());
      return found == scope.attributes.end() ? Argument() : found->second;
    }
    Argument a;
    a.kind = Kind::list;
    switch (attribute.type()) {
      case 1:
        return real(static_cast<double>(attribute.f()));
      case 2:
        return is_dtype(attribute.name()) ? dtype(attribute)
                                          : Argument::of(Kind::integer, attribute.i());
      case 3:
        return text(attribute.s());
      case 4: {
        const Constant* c = add_constant(*attribute.mutable_t(), attribute.name());
        if (c->tensor.numel() != 1) fail("expected one element of '{}'", attribute.name());
        a.items = {Argument::of(Kind::dtype, static_cast<int64_t>(c->tensor.dtype())),
                   literal(c->tensor.reshape({}))};
        return a;
      }
      case 5:
        return read_body(scope, *attribute.mutable_g(), captured);
      case 6:
        for (const float f : attribute.floats()) a.items.push_back(real(static_cast<double>(f)));
        return a;
      case 7:
        for (const int64_t n : attribute.ints()) a.items.push_back(Argument::of(Kind::integer, n));
        return a;
      case 8:
        for (const std::string& s : attribute.strings()) a.items.push_back(text(s));
        return a;
      default:
        lacking_.add(fmt::format("the kind of the attribute {}", attribute.name()));
        return {};
    }
  }

  Argument dtype(const proto::AttributeProto& attribute) {
    if (attribute.i() == 0) return {};
    const std::optional<DType> d = dtype_of_code(attribute.i());
    if (!d) lacking_.add_dtype(name_of_code(attribute.i()), attribute.name());
    return Argument::of(Kind::dtype, static_cast<int64_t>(d.value_or(kFloat32)));
  }

  Argument read_body(Scope& scope, proto::GraphProto& graph, std::vector<uint32_t>& captured) {
    Body body;
    body.outer = &scope.body;
    Scope inner{body, &scope, scope.depth + 1, scope.opset};
    inner.attributes = scope.attributes;
    read_inputs(inner, graph, false);
    read_calls(inner, graph);
    find_last_uses(body.block);
    captured = std::move(body.captured);
    Argument a;
    a.kind = Kind::block;
    a.block = std::make_shared<const Block>(std::move(body.block));
    return a;
  }

  void read_constant(Scope& scope, proto::NodeProto& node) {
    if (node.attribute_size() != 1 || node.output_size() != 1) {
      fail("expected one attribute and one output of Constant (call '{}')", place_of(node));
    }
    proto::AttributeProto& value = *node.mutable_attribute(0);
    if (value.type() == 4) {
      Constant* c = add_constant(*value.mutable_t(), node.output(0));
      return scope.declare(node.output(0), {c, nullptr, 0});
    }
    std::vector<uint32_t> captured;
    const Argument a = read_attribute(scope, value, captured);
    const bool is_list = a.kind == Kind::list;
    const std::vector<Argument> items = is_list ? a.items : std::vector<Argument>{a};
    std::vector<double> reals;
    std::vector<int64_t> integers;
    for (const Argument& item : items) {
      if (item.kind == Kind::real) reals.push_back(item.real);
      if (item.kind == Kind::integer) integers.push_back(item.integer);
    }
    Constant& c = constants_.emplace_back();
    c.name = node.output(0);
    if (reals.size() + integers.size() != items.size()) {
      lacking_.add(fmt::format("text (of '{}')", place_of(node)));
    }
    const bool is_real = value.name().starts_with("value_float");
    const Tensor t = is_real ? tensor(reals, TensorOptions(kFloat32)) : tensor(integers);
    c.tensor = is_list || t.numel() != 1 ? t : t.reshape({});
    scope.declare(node.output(0), {&c, nullptr, 0});
  }

  // Replace a call of a function of the model by the calls in its body.
  void expand(Scope& scope, proto::NodeProto& node, const proto::FunctionProto& f) {
    Scope inner{scope.body, nullptr, scope.depth + 1, opset_of(f.opset_import())};
    if (inner.depth > kMostNested) fail("expected at most {} nested functions", kMostNested);
    if (node.input_size() > f.input_size() || node.output_size() > f.output_size()) {
      fail("expected at most {} inputs and {} outputs of {} (call '{}')", f.input_size(),
           f.output_size(), printable(f.name()), place_of(node));
    }
    for (int i = 0; i < f.input_size(); ++i) {
      const bool is_given = i < node.input_size() && !node.input(i).empty();
      inner.declare(f.input(i), is_given ? meaning_of(scope, node.input(i)) : Meaning());
    }
    std::vector<uint32_t> captured;
    const bool is_in_copy = std::exchange(is_copy_, true);
    for (const proto::AttributeProto& a : f.attribute_proto()) {
      proto::AttributeProto copy = a;
      inner.attributes[a.name()] = read_attribute(scope, copy, captured);
    }
    is_copy_ = is_in_copy;
    for (proto::AttributeProto& a : *node.mutable_attribute()) {
      inner.attributes[a.name()] = read_attribute(scope, a, captured);
    }
    if (!captured.empty()) lacking_.add("functions with graphs as attributes");
    is_copy_ = true;
    for (const proto::NodeProto& original : f.node()) {
      proto::NodeProto copy = original;
      read_node(inner, copy);
    }
    is_copy_ = is_in_copy;
    for (int i = 0; i < node.output_size(); ++i) {
      scope.declare(node.output(i), meaning_of(inner, f.output(i)));
    }
  }

  TensorReader tensors_;
  proto::ModelProto& model_;
  Lacking& lacking_;
  std::deque<Constant> constants_;
  std::unordered_map<std::string, const proto::FunctionProto*> functions_;
  Body root_;
  size_t calls_ = 0;
  bool is_copy_ = false;  // the tensors now read are in a copy of a function's body
  LoadedProgram out_;
};

}  // namespace

LoadedProgram read_model(const std::string& path, proto::ModelProto& model, Lacking& lacking) {
  return ModelReader(path, model, lacking).read();
}

}  // namespace ambit::graph::onnx
