// An accelerator without hardware: memory that the host cannot access, asynchronous work, and
// faults on request. Tests on it find errors that would appear only on a real accelerator. Results
// are those of `reference`, whose loops it runs.
#include <ambit/backend/kernels.h>
#include <ambit/backend/plugin.h>
#include <ambit/backend/reference.h>
#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include <cstdlib>
#include <memory>

#include "backend.h"
#include "launch.h"
#include "requests.h"

namespace ambit::sim {
namespace {

void add_kernels(Registry& registry) {
#define AMBIT_ADD(name) add<kernels::name, reference::name>(registry);
  AMBIT_KERNELS(AMBIT_ADD)
#undef AMBIT_ADD
}

}  // namespace

void load(Registry& registry) {
  const char* value = std::getenv("AMBIT_SIM");
  const std::string text = value && *value ? value : "sim:1";
  bool added = false;
  for (const Request& request : parse_requests(text)) {
    // Existing devices need no stand-in; a backend of the same name without devices is replaced.
    if (device_count(request.name) > 0) continue;
    registry.add_backend(std::make_unique<SimBackend>(request));
    add_kernels(registry);
    added = true;
  }
  if (!added) {
    throw BackendError(
        fmt::format("AMBIT_SIM: expected the name of a kind without real devices, got \"{}\"",
                    printable(text)));
  }
}

}  // namespace ambit::sim

AMBIT_PLUGIN(sim, ambit::sim::load, .stand_in = true)
