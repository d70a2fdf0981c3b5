// `ambit info`: the build, devices and backends, and refused plugins; for a file, its contents.
#include <ambit/backend/communicator.h>
#include <ambit/backend/kernels.h>
#include <ambit/backend/plugin.h>
#include <ambit/backend/registry.h>
#include <ambit/build_info.h>
#include <ambit/detail/printable.h>
#include <ambit/plugins.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "file_info.h"
#include "terminal.h"

namespace {

using namespace ambit;
// Keeps insertion order, which is that of the output.
using json = nlohmann::ordered_json;
using Facts = std::vector<std::pair<std::string, std::string>>;

json json_of(const Facts& facts) {
  json all = json::object();
  for (const auto& [name, value] : facts) all[one_line(name)] = one_line(value);
  return all;
}

// Call `work`, which queries a backend; set `failure` to the message of an exception of any type,
// so that one broken driver does not hide the other devices.
template <class Work>
void ask(const Work& work, std::string& failure) {
  try {
    work();
  } catch (const std::exception& e) {
    failure = one_line(e.what() ? e.what() : "none");
  } catch (...) {
    failure = "an exception of an unknown type";
  }
}

json json_of(Device device) {
  json j = {{"device", device.str()}};
  std::string failure;
  const auto describe = [&] {
    const Backend& backend = backend_of(device);
    const DeviceProperties properties = backend.properties(device.index());
    const MemoryStats memory = backend.memory_stats(device.index());
    j["name"] = one_line(properties.name);
    j["total_memory_bytes"] = properties.total_memory;
    j["memory_in_use_bytes"] = memory.in_use;
    j["memory_cached_bytes"] = memory.cached;
    j["details"] = json_of(properties.details);
  };
  ask(describe, failure);
  if (!failure.empty()) j["error"] = failure;
  return j;
}

// Count the kernels that the backend has itself, as composites, or not at all.
json kernels_of(DeviceKind kind) {
  int own = 0, composite = 0, missing = 0;
  for (const OpBase* op : all_ops()) {
    ++(op->has_kernel(kind) ? own : op->has_composite() ? composite : missing);
  }
  return {{"own", own}, {"composite", composite}, {"missing", missing}};
}

json gather() {
  load_all_backends();
  distributed::load_all_communicators();
  json info = {{"ambit", json_of(build_info())}};
  for (const std::string& name : backend_names()) {
    const Device first(name);
    json devices = json::array();
    const int count = first.is_meta() ? 0 : device_count(name);
    for (int i = 0; i < count; ++i) devices.push_back(json_of(Device(first.kind(), i)));
    // Plugins of other builds are refused when they are loaded.
    json backend = {{"name", name},
                    {"file", printable(backend_library(first.kind()))},
                    {"build", AMBIT_BUILD_TAG},
                    {"devices", std::move(devices)}};
    if (!first.is_meta()) {
      if (count == 0) {
        std::string reason;
        ask([&] { reason = one_line(backend_of(first).reason_for_none()); }, reason);
        backend["reason_for_none"] = reason;
      }
      backend["kernels"] = kernels_of(first.kind());
    }
    info["backends"].push_back(std::move(backend));
  }
  info["plugins"] = json::array();
  for (const LoadAttempt& attempt : load_report()) {
    info["plugins"].push_back({{"file", printable(attempt.file)},
                               {"loaded", attempt.loaded},
                               {"result", attempt.result}});
  }
  return info;
}

std::string text_of_bytes(size_t bytes) {
  if (bytes < (size_t{1} << 20)) return fmt::format("{} bytes", bytes);
  if (bytes < (size_t{1} << 30))
    return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30));
}

std::string text_of(const json& facts, const char* indent) {
  size_t width = 0;
  for (const auto& [name, value] : facts.items()) width = std::max(width, name.size());
  std::string text;
  for (const auto& [name, value] : facts.items()) {
    text += fmt::format("{}{:{}}  {}\n", indent, name, width, value.get<std::string>());
  }
  return text;
}

std::string text_of_device(const json& device) {
  const std::string name = device["device"];
  if (device.contains("error")) {
    return fmt::format("  {}: {}\n", name, red(device["error"].get<std::string>()));
  }
  const size_t total = device["total_memory_bytes"];
  return fmt::format("  {}: {}, {}, {} in use\n{}", name, device["name"].get<std::string>(),
                     total == 0 ? "memory unknown" : text_of_bytes(total),
                     text_of_bytes(device["memory_in_use_bytes"]),
                     text_of(device["details"], "    "));
}

std::string text_of(const json& info) {
  std::string text = "ambit\n" + text_of(info["ambit"], "  ");
  for (const json& backend : info["backends"]) {
    text += fmt::format("\nbackend {}: {} ({})\n", backend["name"].get<std::string>(),
                        backend["file"].get<std::string>(), backend["build"].get<std::string>());
    if (backend["name"] == "meta") {
      text += "  shapes only, no memory\n";
    } else if (backend["devices"].empty()) {
      const std::string reason = backend["reason_for_none"];
      text += fmt::format("  no devices{}{}\n", reason.empty() ? "" : ": ", reason);
    }
    for (const json& device : backend["devices"]) text += text_of_device(device);
    if (backend.contains("kernels")) {
      const json& kernels = backend["kernels"];
      text += fmt::format("  kernels: {} of its own, {} composite, {} missing\n",
                          kernels["own"].get<int>(), kernels["composite"].get<int>(),
                          kernels["missing"].get<int>());
    }
  }
  text += info["plugins"].empty() ? "\nno plugins found\n" : "\nplugins\n";
  for (const json& plugin : info["plugins"]) {
    text +=
        fmt::format("  {}\n    {}{}\n", plugin["file"].get<std::string>(),
                    plugin["loaded"] ? "" : red("refused: "), plugin["result"].get<std::string>());
  }
  return text;
}

}  // namespace

void add_info(CLI::App& tool, int& exit_code) {
  const auto as_json = std::make_shared<bool>(false);
  const auto file = std::make_shared<std::string>();
  CLI::App& command = *tool.add_subcommand("info",
                                           "Show the version, the libraries, the devices, and "
                                           "every plugin tried; or the contents of a file");
  command.footer(
      "Plugins are searched in $AMBIT_BACKEND_PATH, a colon-separated list of files and "
      "folders,\n"
      "and in ambit/backends next to ambit's library.\n\nExit codes: 0 success, 1 a file "
      "whose tensors cannot be read, 2 wrong usage.");
  command.add_option("file", *file, "A file of weights: print its kind and its tensors");
  command.add_flag("--json", *as_json, "Print the same as JSON");
  command.callback([as_json, file, &exit_code] {
    const json info = file->empty() ? gather() : gather_file_info(*file);
    if (info.contains("error")) exit_code = 1;
    if (*as_json) {
      fmt::print("{}\n", info.dump(2, ' ', false, json::error_handler_t::replace));
    } else {
      fmt::print("{}", file->empty() ? text_of(info) : text_of_file_info(info));
    }
  });
}
