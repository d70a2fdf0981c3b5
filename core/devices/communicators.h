// The communicators registered by plugins. Private to core.
#pragma once

#include <ambit/backend/communicator.h>

#include <string>
#include <vector>

#include "registry.h"

namespace ambit {

struct NamedCommunicator {
  std::string name;
  distributed::CommunicatorFactory make = nullptr;
};

/// Errors: BackendError for a name that is taken; then none is added.
void add_communicators(const std::vector<NamedCommunicator>& more);

/// Load libambit_<name>.so if it is among the communicators.
void load_communicators_for(const std::string& name);

}  // namespace ambit
