#include "file_info.h"

#include <ambit/checkpoint.h>
#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <ambit/serialize.h>
#include <fmt/format.h>

#include <algorithm>

#include "terminal.h"

namespace {

using namespace ambit;
using json = nlohmann::ordered_json;

std::string key_text(const Value& key) {
  return key.kind() == Value::Kind::string    ? key.to_string()
         : key.kind() == Value::Kind::integer ? std::to_string(key.to_int())
                                              : key.kind_name();
}

// Lists the tensors, and the values that ambit cannot represent, under dotted names. `left`: number
// of values that may still be visited, since a file may contain one value a million times.
void list(json& tensors, json& opaque, const std::string& name, const Value& value, size_t& left) {
  if (left == 0) return;
  --left;
  const std::string below = name.empty() ? "" : name + ".";
  if (value.kind() == Value::Kind::tensor) {
    const Tensor& t = value.to_tensor();
    tensors[name] = ambit::name(t.dtype()) + str(t.sizes());
  } else if (value.kind() == Value::Kind::opaque) {
    opaque[name] = value.to_opaque().type;
  } else if (value.is_dict()) {
    for (const auto& [key, item] : value.entries()) {
      list(tensors, opaque, below + key_text(key), item, left);
    }
  } else if (value.isList() || value.isTuple()) {
    size_t i = 0;
    for (const Value& item : value.items()) {
      list(tensors, opaque, below + std::to_string(i++), item, left);
    }
  }
}

std::string lines(const json& values) {
  std::string text;
  for (const auto& [name, what] : values.items()) {
    text += fmt::format("  {}: {}\n", printable(name), printable(what.get<std::string>()));
  }
  return text;
}

}  // namespace

json gather_file_info(const std::string& path) {
  json info = {{"file", path}, {"kind", file_kind(path)}};
  try {
    json tensors = json::object(), opaque = json::object();
    size_t left = 100'000;
    list(tensors, opaque, "", load_checkpoint(path), left);
    info["tensors"] = std::move(tensors);
    info["opaque"] = std::move(opaque);
  } catch (const SerializationError& e) {
    info["error"] = e.what();
  }
  return info;
}

std::string text_of_file_info(const json& info) {
  std::string text =
      fmt::format("{}: {}\n", info["file"].get<std::string>(), info["kind"].get<std::string>());
  if (info.contains("error")) return text + red(info["error"].get<std::string>()) + "\n";
  text += lines(info["tensors"]);
  if (!info["opaque"].empty()) text += "not represented by ambit\n" + lines(info["opaque"]);
  return text;
}
