#include <ambit/detail/late_library.h>
#include <ambit/error.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>

#include "core/devices/registry.h"

namespace ambit {
namespace {

// Errors: Error, of which dlerror's text is part.
const void* open_library(const std::string& name) {
  const std::string file = fmt::format("{}/ambit/libambit_{}.so", own_folder(), name);
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed: its code may run
  if (!library) {
    const std::string text = fmt::format("{}: expected to open {}, got: {}", name, file, dlerror());
    const std::string no_memory = std::generic_category().message(ENOMEM);
    if (text.ends_with(no_memory)) throw OutOfMemoryError(text);
    throw Error(text);
  }
  const std::string entry = "ambit_" + name;
  const auto table = reinterpret_cast<const void* (*)()>(dlsym(library, entry.c_str()));
  if (!table) throw Error(fmt::format("{}: expected the function {} in {}", name, entry, file));
  return table();
}

}  // namespace

const void* late_library(const std::string& name) {
  static std::mutex mutex;
  static auto* const opened = new std::map<std::string, const void*>;  // leaked: used until exit
  const std::lock_guard lock(mutex);
  const auto known = opened->find(name);
  if (known != opened->end()) return known->second;
  return opened->emplace(name, open_library(name)).first->second;
}

std::string own_folder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void*>(&own_folder), &info) || !info.dli_fname) return {};
  std::error_code ignored;
  return std::filesystem::weakly_canonical(info.dli_fname, ignored).parent_path();
}

}  // namespace ambit
