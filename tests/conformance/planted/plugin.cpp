// libambit_planted.so: two simulated devices whose backend has the bug that $AMBIT_PLANTED_BUG
// names, or none.
#include <ambit/backend/plugin.h>
#include <ambit/error.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include "backend.h"
#include "bug.h"
#include "kernels.h"

namespace planted {
namespace {

// A misspelt name would select no bug.
void check_bug(const char* name) {
  const auto lists = [&](const auto& bugs) {
    return std::any_of(std::begin(bugs), std::end(bugs),
                       [&](const Bug& bug) { return std::string(bug.name) == name; });
  };
  if (lists(kRuntimeBugs) || lists(kEndings) || lists(kKernelBugs)) return;
  throw ambit::BackendError(std::string("AMBIT_PLANTED_BUG: expected a bug of bug.h, got ") + name);
}

void load(ambit::Registry& registry) {
  if (const char* bug = std::getenv("AMBIT_PLANTED_BUG")) check_bug(bug);
  if (has("exit_on_load")) _exit(0);
  registry.add_backend(std::make_unique<PlantedBackend>());
  add_kernels(registry);
}

}  // namespace
}  // namespace planted

AMBIT_PLUGIN(planted, planted::load)
