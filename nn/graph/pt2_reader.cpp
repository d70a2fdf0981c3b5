// Source of the format: torch/_export/serde/schema.py of PyTorch 2.15, version 8.20.
#include "pt2_reader.h"

#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <ambit/ops/shape.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>

#include "block_reader.h"
#include "call.h"
#include "core/files/lack_of_memory.h"
#include "pt2_file.h"

namespace ambit::graph {
namespace {

using Kind = Argument::Kind;

constexpr int64_t kMajor = 8;  // major version of the schema

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
      lacking_.add_dtype(name_of_code(code), name);
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

// Returns the tensor of that name, and sets whether it requires a gradient.
using Source = std::function<Tensor(std::string_view name, bool& requires_grad)>;

class ProgramReader {
 public:
  ProgramReader(Source source, Json::Ref root, Lacking& lacking)
      : root_(root),
        module_(root.at("graph_module")),
        blocks_(module_.at("graph"), lacking, 0),
        source_(std::move(source)),
        lacking_(lacking) {}

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
      if (a.kind != Kind::value) return lacking_.add("inputs without a name");
      const auto v = static_cast<uint32_t>(a.integer);
      const Value& value = blocks_.block().values[v];
      if (!value.dtype && value.sizes.size() != 1) {
        return lacking_.add("numbers other than integers as inputs");
      }
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
    const Tensor t = source_(name, state.requires_grad);
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

  // True if the example input v had row-major strides: the program may be valid only for these.
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

  // True if a call changes the value v, its first argument, in place.
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
    return std::any_of(all.begin(), all.end(),
                       [&](const State& s) { return s.value == counter.integer && is_counter(s); });
  }

  Json::Ref root_, module_;
  BlockReader blocks_;
  Source source_;
  Lacking& lacking_;
  LoadedProgram out_;
};

LoadedProgram read_json(std::string document, Source source, Lacking& lacking) {
  const Json json(document, {"stack_trace", "torch_fn", "module_call_graph", "guards_code"});
  const Json::Ref root = json.root();
  const int64_t major = root.at("schema_version").at("major").integer();
  if (major != kMajor) fail("expected version {} of the format, got {}", kMajor, major);
  LoadedProgram loaded = ProgramReader(std::move(source), root, lacking).read();
  loaded.program.document = std::move(document);
  return loaded;
}

LoadedProgram read_file(const std::string& path) {
  const InputFile input(path);
  Lacking lacking;
  try {
    Pt2File file(input);
    std::string document = file.text(fmt::format("models/{}.json", file.model()));
    Tensors weights(file, "weights", "weights_config", lacking);
    Tensors constants(file, "constants", "constants_config", lacking);
    const auto source = [&](std::string_view name, bool& requires_grad) {
      Tensors& from = weights.has(name) ? weights : constants;
      if (!from.has(name)) fail("expected the tensor '{}' in the file, got none", name);
      return from.read(name, requires_grad);
    };
    LoadedProgram loaded = read_json(std::move(document), source, lacking);
    lacking.check(path);
    file.fill();
    return loaded;
  } catch (const SerializationError& e) {
    lacking.check(path);  // a lack is the cause of `e`, so this error is more useful
    throw SerializationError(
        fmt::format("graph::load: cannot read '{}': {}", one_line(path), one_line(e.what())));
  }
}

}  // namespace

LoadedProgram read_pt2(const std::string& path) {
  return named_in_lack_of_memory("graph::load", path, [&] { return read_file(path); });
}

LoadedProgram read_document(std::string document, const std::map<std::string, Tensor>& tensors) {
  Lacking lacking;
  const auto source = [&](std::string_view name, bool& requires_grad) {
    const Tensor& t = tensors.at(std::string(name));
    requires_grad = t.requires_grad();
    return t;
  };
  LoadedProgram loaded = read_json(std::move(document), source, lacking);
  lacking.check("capture");
  return loaded;
}

}  // namespace ambit::graph
