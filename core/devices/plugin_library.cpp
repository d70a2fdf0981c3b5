#include "plugin_library.h"

#include <ambit/detail/late_library.h>
#include <ambit/detail/printable.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstring>
#include <map>
#include <new>
#include <string_view>

#include "plugin_file.h"
#include "registry.h"

namespace ambit {
namespace {

// How often each file was opened. Leaked, like the libraries.
std::map<std::string, int>& times_opened() {
  static auto* times = new std::map<std::string, int>;
  return *times;
}

// Return the printable start of a C string with unknown content.
std::string text_of(const char* text) {
  return text ? printable({text, strnlen(text, 100)}) : "none";
}

// Check a library's PluginInfo, starting with the members that never move. Errors: BackendError.
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
                                   text_of(info->build_tag)));
  }
  if (!info->name || !is_valid_name(info->name)) {
    throw BackendError(
        fmt::format("expected a plugin name [a-z][a-z0-9_]*, got \"{}\"", text_of(info->name)));
  }
  if (!info->load) throw BackendError("expected a load function in PluginInfo, got null");
  return *info;
}

// Call code of the library at `path`. Errors: BackendError for any type that it throws;
// NoMemoryToLoad and std::bad_alloc for lack of memory.
template <class Code>
auto guarded(const std::string& path, const char* what, const Code& code) {
  try {
    return code();
  } catch (const std::bad_alloc&) {
    throw;  // not the library's fault
  } catch (const OutOfMemoryError& e) {
    throw NoMemoryToLoad(
        fmt::format("expected {} to succeed, got an error: {}", what, one_line(e.what())));
  } catch (const std::exception& e) {
    const std::string_view text = e.what() ? e.what() : "none";
    const std::string by_registry = printable_lines(path) + ": ";  // its message is complete
    if (text.starts_with(by_registry)) {
      throw BackendError(std::string(text.substr(by_registry.size())));
    }
    throw BackendError(
        fmt::format("expected {} to succeed, got an error: {}", what, one_line(text)));
  } catch (...) {
    throw BackendError(
        fmt::format("expected {} to succeed, got an exception of an unknown type", what));
  }
}

// Return a name to open a file by. The system's loader identifies libraries by name: after a
// refused file was replaced, it would return the old one.
std::string new_name(const std::string& file) {
  std::string name;
  for (int i = 0; i < times_opened()[file]; ++i) name += "/.";
  return name + file;
}

}  // namespace

const PluginInfo& open_plugin(const std::string& path) {
  check_plugin_file(path);
  const std::string name = new_name(path);
  int& opened = times_opened()[path];  // must not fail once the library is open
  const OpenedLibrary library = open_library(name);
  if (!library.handle) {
    const std::string reason = "expected a loadable library, got: " + library.reason;
    if (library.no_memory) throw NoMemoryToLoad(reason);
    throw BackendError(reason);
  }
  ++opened;
  using Entry = const PluginInfo* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library.handle, "ambit_plugin"));
  if (!entry) throw BackendError("expected the entry ambit_plugin(), got a library without it");
  return check_info(guarded(path, "ambit_plugin()", entry));
}

std::vector<std::string> load_plugin(const std::string& path, const PluginInfo& plugin) {
  Registry registry(path);
  return guarded(path, "load()", [&] {
    plugin.load(registry);
    return registry.commit();
  });
}

}  // namespace ambit
