// The CPU backend's entry.
#include <ambit/backend/registry.h>

#include <memory>

#include "backend.h"
#include "kernels.h"

namespace ambit::cpu {

void load(Registry& registry) {
  registry.add_backend(std::make_unique<CpuBackend>());
#define AMBIT_ADD(name) registry.add(kernels::name, name);
  AMBIT_CPU_KERNELS(AMBIT_ADD)
#undef AMBIT_ADD
}

}  // namespace ambit::cpu
