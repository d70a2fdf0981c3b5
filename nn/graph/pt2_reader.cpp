// Source of the format: torch/_export/serde/schema.py of PyTorch 2.15, version 8.20.
#include "pt2_reader.h"

#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <ambit/ops/shape.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "call.h"
#include "core/files/lack_of_memory.h"
#include "json.h"
#include "pt2_file.h"

namespace ambit::graph {
namespace {

using Kind = Argument::Kind;

constexpr int64_t kMajor = 8;       // of the schema
constexpr int kMostNested = 16;     // blocks in blocks
constexpr size_t kMostLacking = 40;  // that an error lists

template <class... T>
[[noreturn]] void fail(fmt::format_string<T...> text, T&&... args) {
  throw SerializationError(fmt::format(text, std::forward<T>(args)...));
}

std::optional<DType> dtype_of_code(int64_t code) {
  constexpr DType kKnown[] = {kUInt8, kInt8, kInt16, kInt32, kInt64, kFloat16, kFloat32, kFloat64};
  if (code >= 1 && code <= 8) return kKnown[code - 1];
  if (code == 12) return kBool;
  if (code == 13) return kBFloat16;
  return {};
}

const char* name_of_code(int64_t code) {
  switch (code) {
    case 9: return "complex32";
    case 10: return "complex64";
    case 11: return "complex128";
    case 28: return "uint16";
    case 34: return "uint32";
    case 35: return "uint64";
    default: return code >= 29 && code <= 33 ? "float8" : "unknown";
  }
}

// Everything that a file needs and ambit lacks; an error lists it all at once.
class Lacking {
 public:
  void add(std::string what) {
    if (items_.size() <= kMostLacking) items_.insert(std::move(what));
  }
  void check(const std::string& path) const {
    if (items_.empty()) return;
    throw NotImplementedError(fmt::format("graph::load: expected functions and dtypes that ambit "
                                          "has in '{}', got also {}",
                                          one_line(path), printable(fmt::format("{}", fmt::join(items_, ", ")))));
  }

 private:
  std::set<std::string> items_;
};

class BlockReader {
 public:
  BlockReader(Json::Ref graph, Lacking& lacking, int depth) : lacking_(lacking), graph_(graph) {
    if (depth > kMostNested) fail("expected at most {} nested blocks of calls", kMostNested);
    graph.at("tensor_values").each([&](Json::Ref meta) { metas_.emplace(meta.key(), meta); });
    graph.at("inputs").each([&](Json::Ref input) {
      const uint32_t v = declare(input.first());
      if (v != kNone) block_.inputs.push_back(v);
    });
    graph.at("nodes").each([&](Json::Ref node) { read_node(node, depth); });
  }

  Block take() {
    graph_.at("outputs").each([&](Json::Ref out) { block_.outputs.push_back(argument(out)); });
    find_last_uses(block_);
    return std::move(block_);
  }
  Block& block() { return block_; }

  uint32_t value(std::string_view name) const {
    const auto found = names_.find(std::string(name));
    if (found == names_.end()) fail("expected a value before its use, got '{}'", name);
    return found->second;
  }

  /// Read a union: an object with the kind of the argument as the name of its only member.
  Argument argument(Json::Ref holder, int depth = 0) {
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
    if (kind == "as_float") {
      Argument a;
      a.kind = Kind::real;
      a.real = content.real();
      return a;
    }
    if (kind == "as_string") {
      Argument a;
      a.kind = Kind::text;
      a.text = content.text();
      return a;
    }
    if (kind == "as_scalar_type") {
      const std::optional<DType> dtype = dtype_of_code(content.integer());
      if (!dtype) lacking_.add(fmt::format("dtype {}", name_of_code(content.integer())));
      return Argument::of(Kind::dtype, static_cast<int64_t>(dtype.value_or(kFloat32)));
    }
    if (kind == "as_memory_format") return memory_format(content.integer());
    if (kind == "as_layout") {
      if (content.integer() != 7) lacking_.add("sparse tensors");
      return {};
    }
    if (kind == "as_device") return Argument::of(Kind::device, 0);
    if (kind == "as_graph") {
      Argument a;
      a.kind = Kind::block;
      BlockReader inner(content.at("graph"), lacking_, depth + 1);
      a.block = std::make_shared<const Block>(inner.take());
      return a;
    }
    return list(kind, content);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  Argument of_value(std::string_view name) const { return Argument::of(Kind::value, value(name)); }

  static Argument memory_format(int64_t code) {
    constexpr MemoryFormat kKnown[] = {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast,
                                       MemoryFormat::ChannelsLast3d, MemoryFormat::Preserve};
    if (code < 1 || code > 4) fail("expected a memory format from 1 to 4, got {}", code);
    return Argument::of(Kind::format, static_cast<int64_t>(kKnown[code - 1]));
  }

  Argument list(std::string_view kind, Json::Ref content) {
    Argument a;
    a.kind = Kind::list;
    if (kind == "as_tensors") {
      content.each([&](Json::Ref r) { a.items.push_back(of_value(r.at("name").text())); });
    } else if (kind == "as_ints") {
      content.each([&](Json::Ref r) { a.items.push_back(Argument::of(Kind::integer, r.integer())); });
    } else if (kind == "as_bools") {
      content.each([&](Json::Ref r) { a.items.push_back(Argument::of(Kind::flag, r.flag())); });
    } else if (kind == "as_floats") {
      content.each([&](Json::Ref r) {
        a.items.emplace_back();
        a.items.back().kind = Kind::real;
        a.items.back().real = r.real();
      });
    } else if (kind == "as_sym_ints" || kind == "as_sym_floats" || kind == "as_sym_bools" ||
               kind == "as_optional_tensors") {
      content.each([&](Json::Ref r) { a.items.push_back(argument(r)); });
    } else {
      lacking_.add(fmt::format("arguments of the kind {}", kind.substr(0, 40)));
    }
    return a;
  }

  // Add the value that an input or output declares; none for a constant.
  uint32_t declare(Json::Ref content) {
    const std::string_view kind = content.key();
    std::string_view name;
    if (kind == "as_tensor") {
      name = content.at("name").text();
    } else if (kind.starts_with("as_sym_")) {
      const Json::Ref named = content.find("as_name");
      if (named) name = named.text();
    } else if (kind == "as_custom_obj") {
      lacking_.add("objects of custom classes");
    }
    return name.empty() ? kNone : declare(name);
  }

  uint32_t declare(std::string_view name) {
    const auto index = static_cast<uint32_t>(block_.values.size());
    if (!names_.emplace(name, index).second) fail("expected one value '{}', got two", name);
    Value& v = block_.values.emplace_back();
    v.name = printable(name);
    const auto meta = metas_.find(name);
    if (meta == metas_.end()) return index;
    const int64_t code = meta->second.at("dtype").integer();
    v.dtype = dtype_of_code(code);
    if (!v.dtype) {
      lacking_.add(fmt::format("dtype {} (of '{}')", name_of_code(code), v.name));
      v.dtype = kFloat32;
    }
    meta->second.at("sizes").each([&](Json::Ref size) { v.sizes.push_back(read_size(size)); });
    return index;
  }

  static Size read_size(Json::Ref size) {
    const Json::Ref expression = size.find("as_expr");
    if (expression) return {-1, std::string(expression.at("expr_str").text())};
    return {size.at("as_int").integer(), {}};
  }

  void read_node(Json::Ref json, int depth) {
    const std::string_view target = json.at("target").text();
    Node node;
    const Json::Ref name = json.find("name");
    if (name) node.name = printable(name.text());
    node.module = module_of(json);
    node.function = find_function(target);
    if (!node.function) {
      lacking_.add(fmt::format("{} (call '{}')", target, node.name));
    } else {
      read_arguments(node, json.at("inputs"), depth);
    }
    json.at("outputs").each([&](Json::Ref out) {
      const Json::Ref content = out.first();
      if (content.key() == "as_tensors") {
        content.each([&](Json::Ref t) { node.outputs.push_back(declare(t.at("name").text())); });
        return;
      }
      const uint32_t v = declare(content);
      node.outputs.push_back(v);
      if (v != kNone) return;
      node.outputs.back() = static_cast<uint32_t>(block_.values.size());
      block_.values.emplace_back();  // one that no call uses
    });
    if (node.name.empty() && !node.outputs.empty()) {
      node.name = block_.values[node.outputs[0]].name;
    }
    if (node.function) block_.nodes.push_back(std::move(node));
  }

  void read_arguments(Node& node, Json::Ref inputs, int depth) {
    std::vector<bool> is_missing;
    node.arguments = default_arguments(*node.function, is_missing);
    size_t position = 0;
    inputs.each([&](Json::Ref input) {
      const std::string_view name = input.at("name").text();
      size_t i = position++;
      if (!name.empty()) {
        const int found = parameter_index(*node.function, name);
        if (found < 0) {
          lacking_.add(fmt::format("the argument {} of {}", name, node.function->name));
          return;
        }
        i = static_cast<size_t>(found);
      }
      Argument a = argument(input.at("arg"), depth);
      if (i < node.arguments.size()) {
        node.arguments[i] = std::move(a);
        is_missing[i] = false;
      } else if (std::string_view(node.function->parameters).ends_with(" ...")) {
        node.arguments.push_back(std::move(a));
      } else {
        fail("expected at most {} arguments of {}", node.arguments.size(), node.function->name);
      }
    });
    if (std::find(is_missing.begin(), is_missing.end(), true) != is_missing.end()) {
      fail("expected all arguments of {} (call '{}'), got fewer", node.function->name, node.name);
    }
  }

  // The path of the innermost module: "L__self__,,Net;L__self___fc,fc,Linear" gives "fc".
  static std::string module_of(Json::Ref node) {
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

  Lacking& lacking_;
  Json::Ref graph_;
  Block block_;
  std::unordered_map<std::string_view, Json::Ref> metas_;
  std::unordered_map<std::string, uint32_t> names_;
};

// The tensors of a file by name: "data/weights/model_weights_config.json" and the same for
// constants.
class Tensors {
 public:
  Tensors(Pt2File& file, const std::string& kind, const std::string& config, Lacking& lacking)
      : file_(file), lacking_(lacking), folder_(fmt::format("data/{}/", kind)) {
    const std::string text = file.text(fmt::format("{}{}_{}.json", folder_, file.model(), config));
    json_ = std::make_unique<Json>(text, std::vector<std::string_view>());
    json_->root().at("config").each([&](Json::Ref r) { payloads_.emplace(r.key(), r); });
  }

  bool has(std::string_view name) const { return payloads_.contains(name); }

  Tensor read(std::string_view name, bool& requires_grad) {
    const Json::Ref payload = payloads_.at(name), meta = payload.at("tensor_meta");
    if (payload.at("use_pickle").flag() || !meta) {
      lacking_.add(fmt::format("pickled '{}'", name));
      return {};
    }
    const int64_t code = meta.at("dtype").integer();
    const std::optional<DType> dtype = dtype_of_code(code);
    if (!dtype) {
      lacking_.add(fmt::format("dtype {} (of '{}')", name_of_code(code), name));
      return {};
    }
    requires_grad = meta.at("requires_grad").flag();
    const Dims sizes = numbers(meta.at("sizes")), strides = numbers(meta.at("strides"));
    const int64_t offset = meta.at("storage_offset").at("as_int").integer();
    const std::string path(payload.at("path_name").text());
    // Parameters that are tied in Python have one entry and geometry, and are one tensor here.
    const std::string key = fmt::format("{} {} {} {}", path, str(sizes), str(strides), offset);
    const auto known = views_.find(key);
    if (known != views_.end()) return known->second;
    const Tensor all = file_.elements(folder_ + path, *dtype);
    Tensor t;
    try {
      t = all.as_strided(sizes, strides, offset).detach();
    } catch (const Error& e) {
      fail("expected '{}' inside its {} elements: {}", name, all.numel(), e.what());
    }
    return views_.emplace(key, t).first->second;
  }

 private:
  static Dims numbers(Json::Ref list) {
    constexpr size_t kMostDims = 64;
    Dims out;
    list.each([&](Json::Ref r) {
      if (out.size() == kMostDims) fail("expected at most {} dims, got more", kMostDims);
      out.push_back(r.at("as_int").integer());
    });
    return out;
  }

  Pt2File& file_;
  Lacking& lacking_;
  std::string folder_;
  std::unique_ptr<Json> json_;
  std::unordered_map<std::string_view, Json::Ref> payloads_;
  std::unordered_map<std::string, Tensor> views_;
};

class ProgramReader {
 public:
  ProgramReader(Pt2File& file, Json::Ref root, Lacking& lacking)
      : root_(root), module_(root.at("graph_module")), blocks_(module_.at("graph"), lacking, 0),
        weights_(file, "weights", "weights_config", lacking),
        constants_(file, "constants", "constants_config", lacking), lacking_(lacking) {}

  LoadedProgram read() {
    const Json::Ref signature = module_.at("signature");
    signature.at("input_specs").each([&](Json::Ref spec) { read_input(spec.first()); });
    Program& p = out_.program;
    std::vector<Json::Ref> specs;
    signature.at("output_specs").each([&](Json::Ref spec) { specs.push_back(spec.first()); });
    root_.at("range_constraints").each([&](Json::Ref range) {
      Range& r = p.ranges[std::string(range.key())];
      if (range.find("min_val").is(Json::Kind::integer)) r.min = range.find("min_val").integer();
      if (range.find("max_val").is(Json::Kind::integer)) r.max = range.find("max_val").integer();
    });
    if (blocks_.block().inputs.size() != p.state.size() + p.inputs.size()) {
      fail("expected {} inputs of the program, got {}", p.state.size() + p.inputs.size(),
           blocks_.block().inputs.size());
    }
    p.block = blocks_.take();
    if (specs.size() != p.block.outputs.size()) {
      fail("expected {} outputs of the program, got {}", specs.size(), p.block.outputs.size());
    }
    for (size_t i = 0; i < specs.size(); ++i) read_output(specs[i], p.block.outputs[i]);
    for (Input& input : p.inputs) input.is_written = is_written(input.value);
    for (Node& node : p.block.nodes) node.counts_steps = counts_steps(node);
    return std::move(out_);
  }

 private:
  void read_input(Json::Ref spec) {
    const std::string_view kind = spec.key();
    if (kind == "constant_input") return;
    if (kind == "user_input") {
      const Argument a = blocks_.argument(spec.at("arg"));
      if (a.kind != Kind::value || !blocks_.block().values[static_cast<size_t>(a.integer)].dtype) {
        return lacking_.add("numbers as inputs");
      }
      const auto v = static_cast<uint32_t>(a.integer);
      out_.program.inputs.push_back({v, is_contiguous(v), false});
      return;
    }
    State state;
    std::string_view name;
    if (kind == "parameter") {
      name = spec.at("parameter_name").text();
      state.is_parameter = state.is_persistent = true;
    } else if (kind == "buffer") {
      name = spec.at("buffer_name").text();
      state.is_persistent = spec.at("persistent").flag();
    } else if (kind == "tensor_constant") {
      name = spec.at("tensor_constant_name").text();
    } else {
      return lacking_.add(fmt::format("inputs of the kind {}", kind.substr(0, 40)));
    }
    state.name = name;
    state.value = blocks_.value(spec.at("arg").at("name").text());
    Tensors& from = weights_.has(name) ? weights_ : constants_;
    if (!from.has(name)) fail("expected the tensor '{}' in the file, got none", name);
    const Tensor t = from.read(name, state.requires_grad);
    out_.program.state.push_back(std::move(state));
    out_.state.push_back(t);
  }

  void read_output(Json::Ref spec, const Argument& output) {
    const std::string_view kind = spec.key();
    Program& p = out_.program;
    if (kind == "user_output" || kind == "loss_output") return p.outputs.push_back(output);
    if (output.kind != Kind::value) fail("expected a tensor as the output {}", kind);
    const auto from = static_cast<uint32_t>(output.integer);
    if (kind == "user_input_mutation") {
      p.updates.push_back({from, blocks_.value(spec.at("user_input_name").text()), false});
    } else if (kind == "buffer_mutation" || kind == "parameter_mutation") {
      const char* key = kind == "buffer_mutation" ? "buffer_name" : "parameter_name";
      const std::string_view name = spec.at(key).text();
      for (const State& s : p.state) {
        if (s.name != name) continue;
        return p.updates.push_back({from, s.value, is_counter(s)});
      }
      fail("expected a buffer or parameter '{}', got none", name);
    } else {
      lacking_.add(fmt::format("outputs of the kind {}", kind.substr(0, 40)));
    }
  }

  // True if the example had row-major strides, by which the program may be specialised.
  bool is_contiguous(uint32_t v) {
    const std::string& name = blocks_.block().values[v].name;
    const Json::Ref meta = module_.at("graph").at("tensor_values").find(name);
    std::vector<int64_t> strides, sizes;
    const auto hint = [](Json::Ref r) {
      const Json::Ref fixed = r.find("as_int");
      if (fixed) return fixed.integer();
      const Json::Ref guess = r.find("as_expr").find("hint").find("as_int");
      return guess ? guess.integer() : 1;
    };
    meta.find("strides").each([&](Json::Ref r) { strides.push_back(hint(r)); });
    meta.find("sizes").each([&](Json::Ref r) { sizes.push_back(hint(r)); });
    int64_t expected = 1;
    for (size_t i = std::min(strides.size(), sizes.size()); i-- > 0;) {
      if (sizes[i] != 1 && strides[i] != expected) return false;
      if (__builtin_mul_overflow(expected, sizes[i], &expected)) return false;
    }
    return true;
  }

  // True if a call changes its first argument, the value, in place.
  bool is_written(uint32_t v) const {
    for (const Node& node : out_.program.block.nodes) {
      const std::string_view name = node.function->name;
      const size_t dot = name.find('.');
      if (dot == 0 || dot == name.npos || name[dot - 1] != '_' || node.arguments.empty()) continue;
      const Argument& a = node.arguments[0];
      if (a.kind == Kind::value && a.integer == v) return true;
    }
    return false;
  }

  static bool is_counter(const State& s) { return s.name.ends_with("num_batches_tracked"); }

  // True for a call that increments the counter of a batch norm.
  bool counts_steps(const Node& node) const {
    const Argument& counter = node.arguments.empty() ? Argument() : node.arguments[0];
    if (node.function->name != std::string_view("add_.Tensor") || counter.kind != Kind::value) {
      return false;
    }
    const std::vector<State>& all = out_.program.state;
    return std::any_of(all.begin(), all.end(), [&](const State& s) {
      return s.value == counter.integer && is_counter(s);
    });
  }

  Json::Ref root_, module_;
  BlockReader blocks_;
  Tensors weights_, constants_;
  Lacking& lacking_;
  LoadedProgram out_;
};

LoadedProgram read_file(const std::string& path) {
  const InputFile input(path);
  Lacking lacking;
  try {
    Pt2File file(input);
    const Json json(file.text(fmt::format("models/{}.json", file.model())),
                    {"stack_trace", "torch_fn", "module_call_graph", "guards_code"});
    const Json::Ref root = json.root();
    const int64_t major = root.at("schema_version").at("major").integer();
    if (major != kMajor) fail("expected version {} of the format, got {}", kMajor, major);
    LoadedProgram loaded = ProgramReader(file, root, lacking).read();
    lacking.check(path);
    return loaded;
  } catch (const SerializationError& e) {
    lacking.check(path);  // more telling than what follows from it
    throw SerializationError(fmt::format("graph::load: cannot read '{}': {}", one_line(path),
                                         one_line(e.what())));
  }
}

}  // namespace

LoadedProgram read_pt2(const std::string& path) {
  return named_in_lack_of_memory("graph::load", path, [&] { return read_file(path); });
}

}  // namespace ambit::graph
