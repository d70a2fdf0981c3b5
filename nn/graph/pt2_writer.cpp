// Sources of the format: torch/export/pt2_archive/_package.py and torch/_export/serde/schema.py of
// PyTorch 2.15. torch.export.load() needs an entry with sample inputs; an empty one gives a program
// without them.
#include "pt2_writer.h"

#include <ambit/error.h>
#include <ambit/value.h>

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "core/files/atomic_file.h"
#include "core/files/fail.h"
#include "core/files/lack_of_memory.h"
#include "core/files/pytorch/file_storages.h"
#include "core/files/pytorch/zip_writer.h"
#include "lacking.h"

namespace ambit::graph {
namespace {

using nlohmann::json;

constexpr std::string_view kFolder = "archive/";
constexpr const char* kEntries[][2] = {{"data/sample_inputs/model.pt", ""},
                                       {"archive_format", "pt2"},
                                       {"archive_version", "0"},
                                       {".data/version", "6\n"},
                                       {"byteorder", "little"}};

json number(int64_t n) {
  json out;
  out["as_int"] = n;
  return out;
}

json numbers(IntArrayRef list) {
  json out = json::array();
  for (const int64_t n : list) out.push_back(number(n));
  return out;
}

// The weights or the constants: the entries with their bytes, and the JSON that assigns names to
// the entries.
class Payloads {
 public:
  Payloads(std::string_view folder, std::string_view prefix, std::string_view config)
      : folder_(fmt::format("{}data/{}/", kFolder, folder)), prefix_(prefix), config_(config) {}

  // `meta`: the JSON that describes the tensor in the example.
  void add(const State& state, const Tensor& tensor, const json& meta) {
    items_.push_back({&state, tensor, meta});
  }

  void plan() {
    ambit::Value::List tensors;
    for (const Item& item : items_) tensors.emplace_back(item.tensor);
    storages_.plan(ambit::Value::list(std::move(tensors)));
    // Written as text, because PyTorch keeps the order of names and nlohmann::json sorts them.
    for (const Item& item : items_) {
      const pickle::Place& place = storages_.place_of(item.tensor);
      json meta = item.meta;
      meta["sizes"] = numbers(item.tensor.sizes());
      meta["strides"] = numbers(place.strides);
      meta["storage_offset"] = number(place.offset);
      meta["requires_grad"] = item.tensor.requires_grad();
      json payload;
      payload["path_name"] = fmt::format("{}{}", prefix_, place.key);
      payload["is_param"] = item.state->is_parameter;
      payload["use_pickle"] = false;
      payload["tensor_meta"] = std::move(meta);
      text_ += fmt::format("{}{}: {}", text_.empty() ? "" : ", ", json(item.state->name).dump(),
                           payload.dump());
    }
    text_ = fmt::format("{{\"config\": {{{}}}}}", text_);
  }

  void write(ZipWriter& zip) const {
    storages_.write(zip, fmt::format("{}{}", folder_, prefix_));
    zip.add(fmt::format("{}model_{}.json", folder_, config_), text_.data(), text_.size());
  }

 private:
  struct Item {
    const State* state;
    Tensor tensor;
    json meta;
  };

  std::string folder_;
  std::string_view prefix_, config_;
  std::vector<Item> items_;
  FileStorages storages_;
  std::string text_;
};

// Return true for a call of a function whose mode Graph::train() does not change.
bool has_one_mode(const json& node) {
  const std::string target = node.value("target", "");
  if (target.ends_with("_native_batch_norm_legit.no_stats")) return true;
  if (!target.ends_with("aten.batch_norm.default")) return false;
  for (const json& input : node.at("inputs")) {
    if (input.value("name", "") == "running_mean") return input.at("arg").contains("as_none");
  }
  return true;
}

void set_modes(json& graph, bool training) {
  for (json& node : graph.at("nodes")) {
    const bool keeps_mode = has_one_mode(node);
    for (json& input : node.at("inputs")) {
      json& argument = input.at("arg");
      if (argument.contains("as_graph")) set_modes(argument["as_graph"].at("graph"), training);
      const std::string name = input.value("name", "");
      const bool is_mode = name == "training" || name == "train";
      if (is_mode && !keeps_mode && argument.contains("as_bool")) argument["as_bool"] = training;
    }
  }
}

class Pt2Writer {
 public:
  Pt2Writer(const Program& program, const std::vector<Tensor>& state,
            std::optional<bool> training) {
    json root = json::parse(program.document);
    json& body = root.at("graph_module");
    const json& metas = body.at("graph").at("tensor_values");
    size_t i = 0;
    for (const json& spec : body.at("signature").at("input_specs")) {
      if (spec.contains("user_input") || spec.contains("constant_input")) continue;
      if (i == state.size()) fail("expected {} tensors in the program, got more", i);
      const json& content = spec.begin().value();
      const State& s = program.state[i];
      Payloads& to = s.is_persistent ? weights_ : constants_;
      to.add(s, state[i], metas.at(content.at("arg").at("name").get<std::string>()));
      ++i;
    }
    weights_.plan();
    constants_.plan();
    if (training) set_modes(body.at("graph"), *training);
    model_ = training ? root.dump() : program.document;
  }

  void write(ZipWriter& zip) const {
    weights_.write(zip);
    constants_.write(zip);
    add(zip, "models/model.json", model_);
    for (const auto& [name, content] : kEntries) add(zip, name, content);
    zip.finish();
  }

 private:
  static void add(ZipWriter& zip, std::string_view name, std::string_view content) {
    zip.add(fmt::format("{}{}", kFolder, name), content.data(), content.size());
  }

  Payloads weights_{"weights", "weight_", "weights_config"};
  Payloads constants_{"constants", "tensor_", "constants_config"};
  std::string model_;
};

}  // namespace

void write_pt2(const Program& program, const std::vector<Tensor>& state,
               std::optional<bool> training, const std::string& path) {
  const auto refuse = [&](const char* cause) {
    fail_about_file(fmt::format("graph::save: cannot write '{}': {}", path, cause));
  };
  named_in_lack_of_memory("graph::save", path, [&] {
    std::optional<Pt2Writer> writer;
    try {
      writer.emplace(program, state, training);
    } catch (const json::exception& e) {
      refuse(e.what());
    } catch (const SerializationError& e) {
      refuse(e.what());
    }
    AtomicFile file(path);
    ZipWriter zip([&](const void* data, uint64_t size_bytes) { file.write(data, size_bytes); });
    writer->write(zip);
    file.commit();
  });
}

}  // namespace ambit::graph
