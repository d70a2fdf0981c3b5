// A plugin's library: opened, believed only after what it says of itself fits, and its code called.
// Only who has the turn to load plugins may call these. Private to core.
#pragma once

#include <ambit/backend/plugin.h>
#include <ambit/error.h>

#include <string>
#include <vector>

namespace ambit {

/// The refusal of a library that there was no memory for.
class NoMemoryToLoad : public BackendError {
 public:
  using BackendError::BackendError;
};

/// Open one file and check what it says of itself. It is never closed: its code runs as soon as it
/// is open, in threads of its own perhaps. Errors: BackendError, NoMemoryToLoad.
const PluginInfo& open_plugin(const std::string& path);

/// Register what the plugin brings and return it, as the report shows it: "cuda: 2 devices".
/// Errors: BackendError, whatever type its code throws; NoMemoryToLoad and std::bad_alloc for want
/// of memory, then maybe when it is loaded.
std::vector<std::string> load_plugin(const std::string& path, const PluginInfo& plugin);

}  // namespace ambit
