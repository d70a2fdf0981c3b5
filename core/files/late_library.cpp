#include <ambit/detail/late_library.h>
#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <libintl.h>

#include <filesystem>
#include <map>
#include <mutex>
#include <new>
#include <string_view>
#include <system_error>

#include "core/devices/registry.h"

namespace ambit {
namespace {

// Return true if a text of dlerror() reports a lack of memory. A file that cannot be mapped counts,
// because the text may omit the cause. A static TLS block that is too small does not count, because
// a retry fails too.
bool mentions_no_memory(std::string_view text) {
  // The C library translates its messages.
  const auto mentions = [text](const char* words) {
    return text.find(dgettext("libc", words)) != std::string_view::npos;
  };
  return mentions("Cannot allocate memory") ||
         mentions("failed to map segment from shared object") ||
         mentions("cannot map zero-fill pages") || mentions("out of memory");
}

// Errors: Error, OutOfMemoryError.
const void* open_late_library(const std::string& name) {
  const std::string file = fmt::format("{}/ambit/libambit_{}.so", library_folder(), name);
  const OpenedLibrary library = open_library(file);
  if (!library.handle) {
    const std::string text =
        fmt::format("{}: expected to open {}, got: {}", name, printable(file), library.reason);
    if (library.no_memory) throw OutOfMemoryError(text);
    throw Error(text);
  }
  const std::string entry = "ambit_" + name;
  const auto table = reinterpret_cast<const void* (*)()>(dlsym(library.handle, entry.c_str()));
  if (!table) {
    throw Error(fmt::format("{}: expected the function {} in {}", name, entry, printable(file)));
  }
  return table();
}

}  // namespace

OpenedLibrary open_library(const std::string& file) {
  return opened_library(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE));
}

OpenedLibrary opened_library(void* handle) {
  OpenedLibrary opened{.handle = handle};
  if (handle) return opened;
  const char* const text = dlerror();
  if (!text) throw std::bad_alloc();
  opened.no_memory = mentions_no_memory(text);
  opened.reason = one_line(text);
  return opened;
}

const void* late_library(const std::string& name) {
  static std::mutex mutex;
  static auto* const opened = new std::map<std::string, const void*>;  // leaked: used until exit
  const std::lock_guard lock(mutex);
  const auto known = opened->find(name);
  if (known != opened->end()) return known->second;
  return opened->emplace(name, open_late_library(name)).first->second;
}

std::string library_folder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void*>(&library_folder), &info) || !info.dli_fname) return {};
  std::error_code ignored;
  return std::filesystem::weakly_canonical(info.dli_fname, ignored).parent_path();
}

}  // namespace ambit
