// A plugin's library: open it, verify its PluginInfo, call its code. Callers must hold the loader
// lock. Private to core.
#pragma once

#include <ambit/backend/plugin.h>
#include <ambit/error.h>

#include <string>
#include <vector>

namespace ambit {

/// A library was refused for lack of memory.
class NoMemoryToLoad : public BackendError {
 public:
  using BackendError::BackendError;
};

/// Open one file and check its PluginInfo. It is never closed, since its code may already run,
/// perhaps in threads of its own. Errors: BackendError, NoMemoryToLoad.
const PluginInfo& open_plugin(const std::string& path);

/// Register the plugin's backends and return the report's descriptions: "cuda: 2 devices". Errors:
/// BackendError for any type that its code throws; NoMemoryToLoad and std::bad_alloc for lack of
/// memory, possibly after it was loaded.
std::vector<std::string> load_plugin(const std::string& path, const PluginInfo& plugin);

}  // namespace ambit
