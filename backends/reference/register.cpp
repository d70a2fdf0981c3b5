// Registers the reference backend, which has all kernels.
#include <ambit/backend/kernels.h>
#include <ambit/backend/reference.h>
#include <ambit/backend/registry.h>

#include <memory>

#include "backend.h"

namespace ambit::reference {

void load(Registry& registry) {
  registry.add_backend(std::make_unique<ReferenceBackend>());
#define AMBIT_ADD(name) registry.add(kernels::name, name);
  AMBIT_KERNELS(AMBIT_ADD)
#undef AMBIT_ADD
}

}  // namespace ambit::reference
