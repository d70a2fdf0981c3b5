// Source of the format: torch/_export/serde/schema.py of PyTorch 2.15, version 8.20.
#include "block_reader.h"

#include <ambit/detail/printable.h>
#include <ambit/error.h>

#include <algorithm>
#include <utility>

#include "call.h"

namespace ambit::graph {

using Kind = Argument::Kind;

namespace {

constexpr int kMostNested = 16;  // blocks in blocks

Argument memory_format(int64_t code) {
  constexpr MemoryFormat kKnown[] = {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast,
                                     MemoryFormat::ChannelsLast3d, MemoryFormat::Preserve};
  if (code < 1 || code > 4) fail("expected a memory format from 1 to 4, got {}", code);
  return Argument::of(Kind::format, static_cast<int64_t>(kKnown[code - 1]));
}

Argument real(Json::Ref content) {
  Argument a;
  a.kind = Kind::real;
  a.real = content.real();
  return a;
}

Size read_size(Json::Ref size) {
  const Json::Ref expression = size.find("as_expr");
  if (expression) return {-1, std::string(expression.at("expr_str").text())};
  return {size.at("as_int").integer(), {}};
}

// The path of the innermost module: "L__self__,,Net;L__self___fc,fc,Linear" gives "fc".
std::string module_of(Json::Ref node) {
  const Json::Ref stack = node.find("metadata").find("nn_module_stack");
  if (!stack.is(Json::Kind::text)) return {};
  std::string_view last = stack.text();
  if (const size_t semicolon = last.rfind(';'); semicolon != last.npos) {
    last.remove_prefix(semicolon + 1);
  }
  const size_t first = last.find(','), second = last.find(',', first + 1);
  if (first == last.npos || second == last.npos) return {};
  return printable(last.substr(first + 1, second - first - 1));
}

}  // namespace

const char* name_of_code(int64_t code) {
  switch (code) {
    case 9:
      return "complex32";
    default:
      return code >= 29 && code <= 33 ? "float8" : "unknown";
  }
}

std::optional<DType> dtype_of_code(int64_t code) {
  constexpr DType kKnown[] = {kUInt8, kInt8, kInt16, kInt32, kInt64, kFloat16, kFloat32, kFloat64};
  if (code >= 1 && code <= 8) return kKnown[code - 1];
  if (code == 10) return kComplexFloat;
  if (code == 11) return kComplexDouble;
  if (code == 12) return kBool;
  if (code == 13) return kBFloat16;
  if (code == 28) return kUInt16;
  if (code == 34) return kUInt32;
  if (code == 35) return kUInt64;
  return {};
}

BlockReader::BlockReader(Json::Ref graph, Lacking& lacking, int depth)
    : lacking_(lacking), graph_(graph), depth_(depth) {
  if (depth > kMostNested) fail("expected at most {} nested blocks of calls", kMostNested);
  graph.at("tensor_values").each([&](Json::Ref meta) { metas_.emplace(meta.key(), meta); });
  graph.at("inputs").each([&](Json::Ref input) {
    const uint32_t v = declare(input.first());
    if (v == kNone) return;
    block_.inputs.push_back(v);
    Value& value = block_.values[v];
    const Json::Ref number = graph.find("sym_int_values").find(value.name);
    if (!value.dtype && number) value.sizes.push_back(read_size(number));
  });
  graph.at("nodes").each([&](Json::Ref node) { read_node(node); });
}

Block BlockReader::take() {
  graph_.at("outputs").each([&](Json::Ref out) { block_.outputs.push_back(argument(out)); });
  find_last_uses(block_);
  return std::move(block_);
}

uint32_t BlockReader::value(std::string_view name) const {
  const auto found = names_.find(name);
  if (found == names_.end()) fail("expected a value before its use, got '{}'", name);
  return found->second;
}

Argument BlockReader::argument(Json::Ref holder) {
  const Json::Ref content = holder.first();
  const std::string_view kind = content.is(Json::Kind::null) ? "as_none" : content.key();
  if (kind == "as_none") return {};
  if (kind == "as_tensor") return of_value(content.at("name").text());
  if (kind == "as_name") return of_value(content.text());
  if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool" ||
      kind == "as_optional_tensor") {
    return argument(content);
  }
  if (kind == "as_int") return Argument::of(Kind::integer, content.integer());
  if (kind == "as_bool") return Argument::of(Kind::flag, content.flag());
  if (kind == "as_float") return real(content);
  if (kind == "as_device") return Argument::of(Kind::device, 0);
  if (kind == "as_memory_format") return memory_format(content.integer());
  if (kind == "as_scalar_type") {
    const std::optional<DType> dtype = dtype_of_code(content.integer());
    if (!dtype) lacking_.add_dtype(name_of_code(content.integer()), "an argument");
    return Argument::of(Kind::dtype, static_cast<int64_t>(dtype.value_or(kFloat32)));
  }
  if (kind == "as_layout") {
    constexpr int64_t kStridedCode = 7;
    if (content.integer() != kStridedCode) lacking_.add("sparse tensors");
    return {};
  }
  Argument a;
  if (kind == "as_string") {
    a.kind = Kind::text;
    a.text = content.text();
    return a;
  }
  if (kind == "as_graph") {
    a.kind = Kind::block;
    BlockReader inner(content.at("graph"), lacking_, depth_ + 1);
    a.block = std::make_shared<const Block>(inner.take());
    return a;
  }
  return list(kind, content);
}

Argument BlockReader::list(std::string_view kind, Json::Ref content) {
  constexpr std::string_view kLists[] = {
      "as_tensors",  "as_ints",       "as_bools",     "as_floats",
      "as_sym_ints", "as_sym_floats", "as_sym_bools", "as_optional_tensors"};
  Argument a;
  a.kind = Kind::list;
  const auto* found = std::find(std::begin(kLists), std::end(kLists), kind);
  if (found == std::end(kLists)) {
    lacking_.add(fmt::format("arguments of the kind {}", kind.substr(0, 40)));
    return a;
  }
  const auto which = found - std::begin(kLists);
  content.each([&](Json::Ref r) {
    a.items.push_back(which == 0   ? of_value(r.at("name").text())
                      : which == 1 ? Argument::of(Kind::integer, r.integer())
                      : which == 2 ? Argument::of(Kind::flag, r.flag())
                      : which == 3 ? real(r)
                                   : argument(r));
  });
  return a;
}

// Add the value that an input or output declares; add none for a constant.
uint32_t BlockReader::declare(Json::Ref content) {
  const std::string_view kind = content.key();
  if (kind == "as_tensor") return declare(content.at("name").text());
  if (kind == "as_custom_obj") lacking_.add("objects of custom classes");
  const Json::Ref named = content.find("as_name");
  return kind.starts_with("as_sym_") && named ? declare(named.text()) : kNone;
}

uint32_t BlockReader::declare(std::string_view name) {
  const auto index = static_cast<uint32_t>(block_.values.size());
  if (!names_.emplace(name, index).second) fail("expected one value '{}', got two", name);
  Value v;
  v.name = printable(name);
  const auto meta = metas_.find(name);
  if (meta != metas_.end()) {
    const int64_t code = meta->second.at("dtype").integer();
    v.dtype = dtype_of_code(code);
    if (!v.dtype) lacking_.add_dtype(name_of_code(code), v.name);
    meta->second.at("sizes").each([&](Json::Ref size) { v.sizes.push_back(read_size(size)); });
  }
  block_.values.push_back(std::move(v));
  return index;
}

void BlockReader::read_node(Json::Ref json) {
  const std::string_view target = json.at("target").text();
  Node node;
  const Json::Ref name = json.find("name");
  if (name) node.name = printable(name.text());
  node.module = module_of(json);
  node.function = find_function(target);
  if (node.function) {
    read_arguments(node, json.at("inputs"));
  } else {
    lacking_.add(fmt::format("{} (call '{}')", target, node.name));
  }
  read_outputs(node, json.at("outputs"));
  if (node.name.empty() && !node.outputs.empty()) node.name = block_.values[node.outputs[0]].name;
  if (node.function) block_.nodes.push_back(std::move(node));
}

void BlockReader::read_outputs(Node& node, Json::Ref outputs) {
  outputs.each([&](Json::Ref out) {
    const Json::Ref content = out.first();
    if (content.key() == "as_tensors") {
      content.each([&](Json::Ref t) { node.outputs.push_back(declare(t.at("name").text())); });
      return;
    }
    node.outputs.push_back(declare(content));
    if (node.outputs.back() != kNone) return;
    node.outputs.back() = static_cast<uint32_t>(block_.values.size());
    block_.values.emplace_back();  // a value that no call uses
  });
}

void BlockReader::read_arguments(Node& node, Json::Ref inputs) {
  std::vector<bool> is_missing;
  node.arguments = default_arguments(*node.function, is_missing);
  size_t position = 0;
  inputs.each([&](Json::Ref input) {
    const std::string_view name = input.at("name").text();
    size_t i = position++;
    if (!name.empty()) {
      const int found = parameter_index(*node.function, name);
      if (found < 0) {
        return lacking_.add(fmt::format("the argument {} of {}", name, node.function->name));
      }
      i = static_cast<size_t>(found);
    }
    Argument a = argument(input.at("arg"));
    if (i < is_missing.size()) {
      node.arguments[i] = std::move(a);
      is_missing[i] = false;
    } else if (std::string_view(node.function->parameters).ends_with(" ...")) {
      node.arguments.push_back(std::move(a));
    } else {
      fail("expected at most {} arguments of {}", is_missing.size(), node.function->name);
    }
  });
  if (std::find(is_missing.begin(), is_missing.end(), true) != is_missing.end()) {
    fail("expected all arguments of {} (call '{}'), got fewer", node.function->name, node.name);
  }
}

}  // namespace ambit::graph
