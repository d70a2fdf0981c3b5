// `ambit ops`: the kernels of each backend, determined by calling them; and the kernels that each
// public function runs.
#include <ambit/backend/kernels.h>
#include <ambit/backend/registry.h>
#include <ambit/error.h>
#include <ambit/fallback.h>
#include <ambit/plugins.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "coverage.h"
#include "function_kernels.h"
#include "table.h"

namespace {

using namespace ambit;
using nlohmann::ordered_json;

const char* const kFooter =
    R"(Each op is called on the first device of each backend, with the smallest operands, for every dtype
that it is defined for.
  native      the backend's own kernel
  registered  a kernel of the backend, which was not called: it has no devices
  upcast      a kernel of the backend, for float16 and bfloat16 operands converted to float32
  reference   a kernel of the backend that runs the loop of the backend `reference`
  composite   other ops, on the device
  fallback    the CPU's kernel, with copies (AMBIT_FALLBACK)
  missing     nothing runs: the call throws
  failed      the kernel throws another error

With --public: the functions that programs call, and the ops that each runs with contiguous operands
on the cpu, such as `unary gelu` with the function of a family; without an op it is a view, or
computed on the host. An in-place name_ that is not listed runs the ops of name.

Exit codes: 0 nothing failed, 1 a kernel failed, 2 wrong usage, no such backend or function.)";

/// Return all dtypes, the widest first.
std::vector<DType> columns() {
  std::vector<DType> all;
  for (const DType d : dtypes::kEvery) all.insert(all.begin(), d);
  return all;
}

/// Return the first device of each backend that has one.
std::vector<Device> first_devices() {
  std::vector<Device> devices = all_devices();
  std::erase_if(devices, [](Device d) { return d.index() != 0; });
  return devices;
}

/// Return the backends of the library at `path`, including those without devices.
std::vector<Device> devices_of_library(const std::string& path) {
  load_backend(path);
  std::vector<Device> devices;
  for (const std::string& name : backend_names()) {
    const Device device(name);
    std::error_code none;  // "libambit" is not a file
    if (std::filesystem::equivalent(backend_library(device.kind()), path, none)) {
      devices.push_back(device);
    }
  }
  return devices;
}

std::vector<Device> devices_of(const std::string& backend) {
  if (backend.empty()) return first_devices();
  if (backend.ends_with(".so")) return devices_of_library(backend);
  const Device device(backend);
  backend_of(device);  // throws for meta
  return {device};
}

bool has_devices(const Coverage& c) { return backend_of(c.device).device_count() > 0; }

/// Table of one backend: one row per op, one column per dtype.
Rows rows_of(const Coverage& coverage) {
  Rows rows = {{"op"}};
  const std::vector<DType> dtypes = columns();
  for (const DType d : dtypes) rows[0].push_back(name(d));
  for (const OpBase* op : all_ops()) {
    const OpCoverage& found = coverage.ops.at(op->name());
    rows.push_back({op->name()});
    for (const DType d : dtypes) {
      const auto verdict = found.by_dtype.find(d);
      rows.back().push_back(verdict == found.by_dtype.end() ? "" : name(verdict->second));
    }
  }
  return rows;
}

/// Table of several backends: one column per backend.
Rows rows_of(const std::vector<Coverage>& backends) {
  Rows rows = {{"op"}};
  for (const Coverage& c : backends) rows[0].push_back(c.device.type());
  for (const OpBase* op : all_ops()) {
    rows.push_back({op->name()});
    for (const Coverage& c : backends) rows.back().push_back(summary(c.ops.at(op->name())));
  }
  return rows;
}

ordered_json json_of(const std::vector<Coverage>& backends) {
  ordered_json all;
  for (const Coverage& c : backends) {
    ordered_json& backend = all[std::string(c.device.type())];
    backend = {{"device", nullptr}, {"file", c.library}};
    if (has_devices(c)) {
      backend["device"] = c.device.str();
    } else {
      backend["reason_for_none"] = backend_of(c.device).reason_for_none();
    }
    for (const OpBase* op : all_ops()) {
      const OpCoverage& found = c.ops.at(op->name());
      for (const auto& [dtype, verdict] : found.by_dtype) {
        backend["ops"][op->name()][name(dtype)] = name(verdict);
      }
      for (const std::string& note : found.notes) backend["notes"].push_back(note);
    }
  }
  return all;
}

std::string notes_of(const std::vector<Coverage>& backends) {
  std::string text;
  for (const Coverage& c : backends) {
    for (const OpBase* op : all_ops()) {
      for (const std::string& note : c.ops.at(op->name()).notes) {
        text += fmt::format("{}: {}\n", c.device.type().name(), note);
      }
    }
    if (!has_devices(c)) {
      const std::string reason = backend_of(c.device).reason_for_none();
      text += fmt::format("{}: no devices{}{}; its kernels were not called\n",
                          c.device.type().name(), reason.empty() ? "" : ", ", reason);
    }
  }
  return text.empty() ? text : "\n" + text;
}

bool any_failed(const std::vector<Coverage>& backends) {
  for (const Coverage& c : backends) {
    for (const auto& [op, found] : c.ops) {
      for (const auto& [dtype, verdict] : found.by_dtype) {
        if (verdict == Verdict::failed) return true;
      }
    }
  }
  return false;
}

int run(const std::string& backend, const std::string& format) {
  static_cast<void>(get_fallback());  // throws here for an invalid AMBIT_FALLBACK, not in a probe
  const std::vector<Device> devices = devices_of(backend);
  if (devices.empty()) throw Error(fmt::format("expected a device of {}, got none", backend));
  std::vector<Coverage> backends;
  for (const Device d : devices) backends.push_back(coverage_of(d));

  if (format == "json") {
    // A plugin's error messages may contain invalid UTF-8.
    fmt::print("{}\n",
               json_of(backends).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    const Rows rows = backends.size() == 1 ? rows_of(backends[0]) : rows_of(backends);
    fmt::print("{}{}", format == "md" ? markdown_table(rows) : plain_table(rows),
               notes_of(backends));
  }
  return any_failed(backends) ? 1 : 0;
}

/// Return the public function of that name; if there is none, all functions whose names contain it.
int run_public(const std::string& name, const std::string& format) {
  std::vector<FunctionKernels> found;
  for (const FunctionKernels& row : kFunctionKernels) {
    if (row.function == name)
      found.insert(found.begin(), row);
    else if (std::string_view(row.function).find(name) != std::string_view::npos)
      found.push_back(row);
  }
  if (found.empty())
    throw Error(fmt::format("expected a part of a public function's name, got \"{}\"", name));
  if (format == "json") {
    ordered_json all;
    for (const FunctionKernels& row : found) all[row.function] = row.kernels;
    fmt::print("{}\n", all.dump(2));
  } else {
    Rows rows = {{"function", "ops"}};
    for (const FunctionKernels& row : found) rows.push_back({row.function, row.kernels});
    fmt::print("{}", format == "md" ? markdown_table(rows) : plain_table(rows));
  }
  return 0;
}

}  // namespace

void add_ops(CLI::App& tool, int& exit_code) {
  struct Options {
    std::string backend, name, format = "table";
  };
  const auto options = std::make_shared<Options>();
  CLI::App& command = *tool.add_subcommand("ops", "Show the kernels of each backend");
  command.footer(kFooter);
  CLI::Option* const backend =
      command.add_option("--backend", options->backend,
                         "Show one backend by dtype: its name, or the file of a plugin");
  const CLI::Option* functions = command
                                     .add_option("--public", options->name,
                                                 "Show the ops that public functions run: of all "
                                                 "functions, or of those whose name contains this")
                                     ->expected(0, 1)
                                     ->excludes(backend);  // the table is for the cpu only
  command.add_option("--format", options->format, "table (the default), md or json")
      ->check(CLI::IsMember({"table", "md", "json"}));
  command.callback([options, functions, &exit_code] {
    exit_code = functions->count() > 0 ? run_public(options->name, options->format)
                                       : run(options->backend, options->format);
  });
}
