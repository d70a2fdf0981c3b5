// Source of the format: torch/_export/serde/schema.py of PyTorch 2.15, version 8.20.
#include "recorder.h"

#include <ambit/autograd.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace ambit::graph::capturing {
namespace {

int code_of(DType d) {
  constexpr DType kKnown[] = {kUInt8, kInt8, kInt16, kInt32, kInt64, kFloat16, kFloat32, kFloat64};
  for (int i = 0; i < 8; ++i) {
    if (kKnown[i] == d) return i + 1;
  }
  if (is_complex(d)) return d == kComplexFloat ? 10 : 11;
  if (is_wide_unsigned(d)) return d == kUInt16 ? 28 : d == kUInt32 ? 34 : 35;
  return d == kBool ? 12 : 13;
}

json sizes_json(IntArrayRef list) {
  json out = json::array();
  for (const int64_t n : list) out.push_back(integer(n));
  return out;
}

std::string identifier(std::string_view prefix, const std::string& name) {
  std::string out(prefix);
  for (const char c : name) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return out;
}

// True for arguments after the * in the function's schema.
bool is_keyword(std::string_view target, std::string_view name) {
  constexpr std::string_view kAlways[] = {"alpha", "approximate",   "correction", "dtype",
                                          "scale", "rounding_mode", "stable"};
  return std::find(std::begin(kAlways), std::end(kAlways), name) != std::end(kAlways) ||
         (name == "keepdim" && target.ends_with(".correction")) ||
         (name != "self" && target == "sort.stable");
}

json node(std::string_view target, std::vector<Named> arguments, json outputs,
          const std::string& module) {
  json inputs = json::array();
  for (auto& [name, content] : arguments) {
    constexpr int kPositional = 1, kKeyword = 2;
    json one;
    one["name"] = name;
    one["arg"] = std::move(content);
    one["kind"] = is_keyword(target, name) ? kKeyword : kPositional;
    inputs.push_back(std::move(one));
  }
  json out;
  out["target"] = fmt::format("torch.ops.aten.{}", target);
  out["inputs"] = std::move(inputs);
  out["outputs"] = std::move(outputs);
  out["metadata"] = json::object();
  if (!module.empty()) {
    out["metadata"]["nn_module_stack"] = fmt::format("{},{},torch.nn.modules.module.Module",
                                                     identifier("L__self___", module), module);
  }
  out["is_hop_single_tensor_return"] = nullptr;
  return out;
}

}  // namespace

json one(const char* kind, json content) {
  json out;
  out[kind] = std::move(content);
  return out;
}
json ints(IntArrayRef list) {
  return one("as_ints", std::vector<int64_t>(list.begin(), list.end()));
}
json integer(int64_t n) { return one("as_int", n); }
json flag(bool on) { return one("as_bool", on); }
json text(std::string_view t) { return one("as_string", std::string(t)); }
json none() { return one("as_none", true); }
json type(DType d) { return one("as_scalar_type", code_of(d)); }
json real(double x) {
  if (x != x) return one("as_float", "NaN");
  if (x - x != 0) return one("as_float", x > 0 ? "Infinity" : "-Infinity");
  return one("as_float", x);
}
json number(const Scalar& s, DType of) {
  if (is_floating_point(of) || s.is_floating_point()) return real(s.to<double>());
  return of == kBool && s.isBoolean() ? flag(s.to<bool>()) : integer(s.to<int64_t>());
}

json Recorder::value(const std::string& name) { return one("as_tensor", one("name", name)); }

Recorder::Recorder(const std::vector<NamedState>& state, TensorList inputs) {
  kernel_ = "forward";
  for (const bool is_parameter : {true, false}) {
    for (const NamedState& s : state) {
      if (s.is_parameter != is_parameter || !s.tensor.defined()) continue;
      const std::string name = declare(identifier(is_parameter ? "p_" : "b_", s.name),
                                       s.tensor.dtype(), s.tensor.sizes());
      json spec;
      spec["arg"]["name"] = name;
      spec[is_parameter ? "parameter_name" : "buffer_name"] = s.name;
      if (!is_parameter) spec["persistent"] = s.is_persistent;
      add_input(name, one(is_parameter ? "parameter" : "buffer", std::move(spec)), s.tensor);
      state_.emplace(s.name, s.tensor);
      const size_t dot = s.name.rfind('.');
      module_of_.emplace(s.tensor.storage().get(), dot == s.name.npos ? "" : s.name.substr(0, dot));
    }
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = declare(inputs.size() == 1 ? "x" : fmt::format("x{}", i),
                                     inputs[i].dtype(), inputs[i].sizes());
    json spec;
    spec["arg"] = value(name);
    user_inputs_.emplace_back(name, json());
    add_input(name, one("user_input", std::move(spec)), inputs[i]);
  }
}

json Recorder::meta_of(DType d, IntArrayRef sizes, bool requires_grad) const {
  Dims strides(sizes.size());
  int64_t next = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = next;
    next *= std::max<int64_t>(sizes[i], 1);
  }
  json out;
  out["dtype"] = code_of(d);
  out["sizes"] = sizes_json(sizes);
  out["requires_grad"] = requires_grad;
  out["device"] = {{"type", "cpu"}, {"index", nullptr}};
  out["strides"] = sizes_json(strides);
  out["storage_offset"] = integer(0);
  out["layout"] = 7;
  return out;
}

std::string Recorder::declare(std::string_view base, DType d, IntArrayRef sizes) {
  std::string stem(base.substr(0, base.find('.')));
  const int count = used_names_[stem]++;
  std::string name = count == 0 ? stem : fmt::format("{}_{}", stem, count);
  while (values_.contains(name)) name += "_";
  values_[name] = meta_of(d, sizes, false);
  return name;
}

void Recorder::add_input(const std::string& name, json spec, const Tensor& t) {
  values_[name]["requires_grad"] = t.requires_grad();
  inputs_.push_back(value(name));
  specs_.push_back(std::move(spec));
  const void* key = t.storage().get();
  if (t.numel() == 0 || contents_.contains(key)) return;  // a tied tensor keeps its first name
  given_.emplace(key, name);
  store(t, name);
}

void Recorder::enter(const char* kernel) {
  kernel_ = kernel;
  module_.clear();
}

void Recorder::refuse(std::string_view what) const {
  throw NotImplementedError(fmt::format("graph::capture: expected {}, got the kernel {}{}", what,
                                        kernel_,
                                        module_.empty() ? "" : " of the module " + module_));
}

std::vector<std::string> Recorder::call_many(std::string_view target, std::vector<Named> arguments,
                                             const std::vector<std::pair<DType, Dims>>& results) {
  std::vector<std::string> names;
  json outputs = json::array();
  for (const auto& [d, sizes] : results) {
    names.push_back(declare(results.size() == 1 ? target : "getitem", d, sizes));
    outputs.push_back(value(names.back()));
  }
  nodes_.push_back(node(target, std::move(arguments), std::move(outputs), module_));
  nodes_.back()["name"] = results.size() == 1 ? names[0] : fmt::format("call_{}", nodes_.size());
  return names;
}

std::string Recorder::call(std::string_view target, std::vector<Named> arguments, DType d,
                           IntArrayRef sizes) {
  return call_many(target, std::move(arguments), {{d, Dims(sizes)}})[0];
}

std::string Recorder::add_constant(const Tensor& t) {
  const NoGradGuard no_grad;
  const std::string label = fmt::format("lifted_tensor_{}", constants_++);
  const std::string name = declare("c_" + label, t.dtype(), t.sizes());
  json spec;
  spec["arg"]["name"] = name;
  spec["tensor_constant_name"] = label;
  // Constants precede the inputs of the user, as torch.export orders them.
  const auto at = static_cast<json::difference_type>(inputs_.size() - user_inputs_.size());
  inputs_.insert(inputs_.begin() + at, value(name));
  specs_.insert(specs_.begin() + at, one("tensor_constant", std::move(spec)));
  state_.emplace(label, t.detach().clone());
  return name;
}

void Recorder::forget(const Tensor& y) {
  if (y.defined()) contents_[y.storage().get()] = Content{"", y.dtype(), Dims(y.sizes()), y};
}

bool Recorder::is_forgotten(const Tensor& t) const {
  const auto found = contents_.find(t.storage().get());
  return found != contents_.end() && found->second.name.empty();
}

Captured Recorder::finish(const std::vector<Tensor>& outputs) {
  json results = json::array(), result_specs = json::array(), leaves = json::array();
  const json leaf = {{"type", nullptr}, {"context", nullptr}, {"children_spec", json::array()}};
  enter("forward");
  for (const Tensor& t : outputs) {
    const json result = t.defined() ? tensor(t) : none();
    results.push_back(result);
    result_specs.push_back(one("user_output", one("arg", result)));
    leaves.push_back(leaf);
  }
  const auto tuple = [](json children) {
    return json{
        {"type", "builtins.tuple"}, {"context", "null"}, {"children_spec", std::move(children)}};
  };
  json in_leaves = json::array(), names = json::array();
  for (const auto& [name, unused] : user_inputs_) {
    in_leaves.push_back(leaf);
    names.push_back(name);
  }
  const json keywords = {
      {"type", "builtins.dict"}, {"context", "[]"}, {"children_spec", json::array()}};
  const json in_spec = {1, tuple(json{tuple(in_leaves), keywords})};
  const json out_spec = {1, outputs.size() == 1 ? leaf : tuple(leaves)};
  json root;
  json& module = root["graph_module"];
  module["graph"] = {{"inputs", inputs_},
                     {"outputs", results},
                     {"nodes", nodes_},
                     {"tensor_values", values_},
                     {"sym_int_values", json::object()},
                     {"sym_bool_values", json::object()},
                     {"sym_float_values", json::object()},
                     {"custom_obj_values", json::object()},
                     {"is_single_tensor_return", false}};
  module["signature"] = {{"input_specs", specs_}, {"output_specs", result_specs}};
  json signature = {{"inputs", json::array()},
                    {"outputs", json::array()},
                    {"in_spec", in_spec.dump()},
                    {"out_spec", out_spec.dump()},
                    {"forward_arg_names", names}};
  json call = json::object();
  call["fqn"] = "";
  call["signature"] = std::move(signature);
  module["module_call_graph"] = json::array();
  module["module_call_graph"].push_back(std::move(call));
  module["metadata"] = json::object();
  module["treespec_namedtuple_fields"] = json::object();
  root["opset_version"] = {{"aten", 10}};
  root["range_constraints"] = json::object();
  root["schema_version"] = {{"major", 8}, {"minor", 20}};
  root["verifiers"] = json::array();
  root["verifiers"].push_back("TRAINING");
  root["torch_version"] = "2.15.0";
  root["guards_code"] = json::array();
  return {root.dump(), state_};
}

}  // namespace ambit::graph::capturing
