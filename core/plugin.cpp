// The loader: where plugins are looked for, what is checked before their code is believed, and the
// report of what came of each file.
#include <ambit/error.h>
#include <ambit/plugin.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>

#include "registry.h"

namespace ambit {
namespace {

namespace fs = std::filesystem;

struct Loader {
  // Recursive: a plugin's load() may name devices, which may load plugins.
  std::recursive_mutex mutex;
  std::vector<LoadAttempt> report;
  std::set<std::string> searched;  // names that the search path was walked for, with that path
};

// Leaked, as the plugins themselves: their code may run until the process ends.
Loader& loader() {
  static auto* l = new Loader;
  return *l;
}

struct LibraryCloser {
  void operator()(void* handle) const { dlclose(handle); }
};
using Library = std::unique_ptr<void, LibraryCloser>;

// The text of a C string that may be anything: what is no text is not shown.
std::string printable(const char* text) {
  if (!text) return "none";
  std::string s(text, strnlen(text, 100));
  std::replace_if(
      s.begin(), s.end(), [](unsigned char c) { return c < 32 || c > 126; }, '?');
  return s;
}

// Check a library's word about itself, the parts that never move first. Errors: BackendError.
const PluginInfo& check_info(const PluginInfo* info) {
  if (!info) throw BackendError("expected ambit_plugin() to return its PluginInfo, got null");
  if (info->magic != kPluginMagic) {
    throw BackendError(
        fmt::format("expected the magic {:#x} of a plugin, got {:#x}", kPluginMagic, info->magic));
  }
  if (info->abi != kPluginAbi || info->size != sizeof(PluginInfo)) {
    throw BackendError(
        fmt::format("expected plugin ABI {} with {} bytes of PluginInfo, got ABI {} with {}; build "
                    "it against this ambit",
                    kPluginAbi, sizeof(PluginInfo), info->abi, info->size));
  }
  if (!info->build_tag || std::strcmp(info->build_tag, AMBIT_BUILD_TAG) != 0) {
    throw BackendError(fmt::format("expected the build \"{}\", got \"{}\"", AMBIT_BUILD_TAG,
                                   printable(info->build_tag)));
  }
  if (!info->load) throw BackendError("expected a load function in PluginInfo, got null");
  return *info;
}

// Load one file and return what it brought: "cuda: 2 devices". Errors: BackendError.
std::string load_file(const std::string& path) {
  if (!fs::exists(path)) throw BackendError("expected a file, got none of that name");
  Library library(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!library) throw BackendError(fmt::format("expected a loadable library, got: {}", dlerror()));
  using Entry = const PluginInfo* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library.get(), "ambit_plugin"));
  if (!entry) throw BackendError("expected the entry ambit_plugin(), got a library without it");
  const PluginInfo& info = check_info(entry());
  Registry registry(path);
  try {
    info.load(registry);
  } catch (const std::exception& e) {
    // The exception's type may live in the library: nothing of it may survive the dlclose.
    throw BackendError(fmt::format("expected load() to succeed, got an error: {}", e.what()));
  } catch (...) {
    throw BackendError("expected load() to succeed, got an exception of an unknown type");
  }
  const std::vector<std::string> brought = registry.commit();
  static_cast<void>(library.release());  // for ever: kernels of it are in the table
  return fmt::format("{}", fmt::join(brought, ", "));
}

// Try a file unless it was tried before; return its attempt.
LoadAttempt try_file(const std::string& path) {
  Loader& l = loader();
  std::error_code ignored;
  const fs::path canonical = fs::weakly_canonical(path, ignored);
  const std::string file = canonical.empty() ? path : canonical.string();
  const std::lock_guard lock(l.mutex);
  for (const LoadAttempt& known : l.report) {
    if (known.file == file) return known;
  }
  const size_t at = l.report.size();
  l.report.push_back(
      {file, false, "being loaded"});  // a plugin that asks again is not loaded twice
  LoadAttempt attempt{file, false, ""};
  try {
    attempt.result = load_file(file);
    attempt.loaded = true;
  } catch (const std::exception& e) {
    attempt.result = e.what();
  }
  return l.report[at] = attempt;
}

// Where libambit itself lies: plugins are installed beside it.
fs::path own_folder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void*>(&own_folder), &info) || !info.dli_fname) return {};
  std::error_code ignored;
  return fs::weakly_canonical(info.dli_fname, ignored).parent_path();
}

// What $AMBIT_BACKEND_PATH lists, then the installed folder: files or folders.
std::vector<fs::path> search_path() {
  std::vector<fs::path> places;
  if (const char* value = std::getenv("AMBIT_BACKEND_PATH")) {
    std::string_view rest = value;
    while (!rest.empty()) {
      const size_t colon = rest.find(':');
      if (const auto place = rest.substr(0, colon); !place.empty()) places.emplace_back(place);
      rest = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
    }
  }
  places.push_back(own_folder() / "ambit" / "backends");
  return places;
}

bool is_plugin_name(const std::string& name) {
  return name.starts_with("libambit_") && name.ends_with(".so");
}

// All candidates of the search path, those of one folder by name, the simulator last: it stands in
// for what the others do not bring.
std::vector<fs::path> candidates() {
  std::vector<fs::path> files;
  for (const fs::path& place : search_path()) {
    std::error_code error;
    if (!fs::is_directory(place, error)) {
      // A file that was asked for by name and is not there is worth a line in the report; the
      // installed folder need not exist.
      if (place.extension() == ".so" || fs::exists(place, error)) files.push_back(place);
      continue;
    }
    std::vector<fs::path> found;
    for (fs::directory_iterator it(place, error), end; !error && it != end; it.increment(error)) {
      if (is_plugin_name(it->path().filename())) found.push_back(it->path());
    }
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  std::stable_partition(files.begin(), files.end(),
                        [](const fs::path& f) { return f.filename() != "libambit_sim.so"; });
  return files;
}

}  // namespace

void load_backend(const std::string& path) {
  if (const LoadAttempt attempt = try_file(path); !attempt.loaded) {
    throw BackendError(fmt::format("{}: {}", attempt.file, attempt.result));
  }
}

void load_all_backends() noexcept {
  try {
    for (const fs::path& file : candidates()) try_file(file);
  } catch (...) {
    // Out of memory, or a folder that vanished: what was loaded so far stays.
  }
}

void load_backends_for(std::string_view name) {
  const char* path = std::getenv("AMBIT_BACKEND_PATH");
  {
    Loader& l = loader();
    const std::lock_guard lock(l.mutex);
    if (!l.searched.insert(fmt::format("{} in {}", name, path ? path : "")).second) return;
  }
  const std::string wanted = fmt::format("libambit_{}.so", name);
  for (const fs::path& file : candidates()) {
    if (file.filename() == wanted) try_file(file);
  }
  if (!has_devices(name)) load_all_backends();
}

std::vector<LoadAttempt> load_report() {
  Loader& l = loader();
  const std::lock_guard lock(l.mutex);
  return l.report;
}

}  // namespace ambit
