// Programs as text and as pictures.
#include <ambit/graph/graph.h>

#include <fmt/format.h>

#include <set>

#include "call.h"
#include "sizes.h"

namespace ambit::graph {
namespace {

std::string joined(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += (out.empty() ? "" : ", ") + item;
  return out;
}

using Kind = Argument::Kind;

class Printer {
 public:
  explicit Printer(const Program& program) {
    for (const State& s : program.state) state_.emplace(s.value, s.name);
  }
  Printer() = default;

  std::string value(const Block& block, int64_t index) const {
    const auto state = state_.find(static_cast<uint32_t>(index));
    return state != state_.end() ? state->second : block.values[static_cast<size_t>(index)].name;
  }

  std::string argument(const Block& block, const Argument& a) const {
    switch (a.kind) {
      case Kind::none:
        return "None";
      case Kind::flag:
        return a.integer != 0 ? "True" : "False";
      case Kind::integer:
        return std::to_string(a.integer);
      case Kind::real:
        return fmt::format("{}", a.real);
      case Kind::text:
        return fmt::format("'{}'", a.text);
      case Kind::dtype:
        return name(static_cast<DType>(a.integer));
      case Kind::format: {
        constexpr const char* kNames[] = {"contiguous", "preserve", "channels_last",
                                          "channels_last_3d"};
        return kNames[a.integer];
      }
      case Kind::device:
        return "device";
      case Kind::value:
        return value(block, a.integer);
      case Kind::block:
        return fmt::format("{} calls", a.block->nodes.size());
      case Kind::list:
        break;
    }
    std::vector<std::string> items;
    for (const Argument& item : a.items) items.push_back(argument(block, item));
    return "[" + joined(items) + "]";
  }

  // Return the arguments that differ from their defaults; arguments after an omitted one are
  // printed with their names.
  std::string arguments(const Block& block, const Node& node) const {
    std::vector<bool> is_required;
    const std::vector<Argument> defaults = default_arguments(*node.function, is_required);
    std::string_view names = node.function->parameters;
    std::string out;
    for (size_t i = 0; i < node.arguments.size(); ++i) {
      const std::string_view name = names.substr(0, names.find_first_of(" ="));
      if (i < defaults.size()) names.remove_prefix(std::min(names.find(' '), names.size() - 1) + 1);
      const std::string text = argument(block, node.arguments[i]);
      const bool is_required_here = i >= defaults.size() || is_required[i];
      if (!is_required_here && text == argument(block, defaults[i])) continue;
      const bool is_plain = node.arguments[i].kind == Kind::value || i >= defaults.size();
      out += fmt::format("{}{}{}{}", out.empty() ? "" : ", ", is_plain ? "" : name,
                         is_plain ? "" : "=", text);
    }
    return out;
  }

  void text(const Block& block, const std::string& indent, std::string& out) const {
    for (const Node& node : block.nodes) {
      std::vector<std::string> results;
      for (const uint32_t v : node.outputs) {
        const Value& value = block.values[v];
        if (!value.name.empty()) results.push_back(fmt::format("{}: {}", value.name, str(value)));
      }
      out += fmt::format("{}{}{}{}({}){}{}\n", indent, joined(results),
                         results.empty() ? "" : " = ", node.function->name, arguments(block, node),
                         node.module.empty() ? "" : "  # ", node.module);
      for (const Argument& a : node.arguments) {
        if (a.block) Printer().text(*a.block, indent + "  ", out);
      }
    }
  }

 private:
  std::map<uint32_t, std::string> state_;
};

// Text inside of quotes.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + '"';
}

void add_values(const Argument& a, std::set<int64_t>& out) {
  if (a.kind == Kind::value) out.insert(a.integer);
  for (const Argument& item : a.items) add_values(item, out);
}

}  // namespace

std::string text(const Program& program) {
  const Block& block = program.block;
  const Printer printer(program);
  std::string out = "graph(";
  for (const Input& input : program.inputs) {
    const Value& v = block.values[input.value];
    out += fmt::format("{}{}: {}", out.back() == '(' ? "" : ", ", v.name, str(v));
  }
  out += "):\n";
  printer.text(block, "  ", out);
  for (const Update& u : program.updates) {
    out += fmt::format("  {} <- {}\n", printer.value(block, u.to), printer.value(block, u.from));
  }
  std::vector<std::string> results;
  for (const Argument& a : program.outputs) results.push_back(printer.argument(block, a));
  return out + "  return " + joined(results) + "\n";
}

std::string GraphImpl::text() const { return graph::text(*program_); }

std::string GraphImpl::dot() const {
  const Block& block = program_->block;
  const Printer printer(*program_);
  std::string out = "digraph graph_ {\n  node [shape=box];\n";
  std::vector<int64_t> maker(block.values.size(), -1);
  for (const Input& input : program_->inputs) {
    const Value& v = block.values[input.value];
    out += fmt::format("  {} [shape=oval, label={}];\n", quoted("in " + v.name),
                       quoted(fmt::format("{}\n{}", v.name, str(v))));
  }
  const auto edges = [&](const Argument& a, const std::string& to) {
    std::set<int64_t> used;
    add_values(a, used);
    for (const int64_t v : used) {
      const auto from = static_cast<size_t>(v);
      const Value& value = block.values[from];
      if (maker[from] >= 0) {
        out += fmt::format("  n{} -> {} [label={}];\n", maker[from], to, quoted(str(value)));
      } else if (printer.value(block, v) == value.name) {  // an input that is not a parameter
        out += fmt::format("  {} -> {};\n", quoted("in " + value.name), to);
      }
    }
  };
  for (size_t i = 0; i < block.nodes.size(); ++i) {
    const Node& node = block.nodes[i];
    std::string label = node.function->name;
    if (!node.module.empty()) label += "\n" + node.module;
    out += fmt::format("  n{} [label={}];\n", i, quoted(label));
    for (const Argument& a : node.arguments) edges(a, fmt::format("n{}", i));
    for (const uint32_t v : node.outputs) maker[v] = static_cast<int64_t>(i);
  }
  for (size_t i = 0; i < program_->outputs.size(); ++i) {
    out += fmt::format("  out{} [shape=oval, label=output];\n", i);
    edges(program_->outputs[i], fmt::format("out{}", i));
  }
  return out + "}\n";
}

}  // namespace ambit::graph
