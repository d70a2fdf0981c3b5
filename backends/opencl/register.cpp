// Devices by OpenCL: GPUs of any vendor, and PoCL, which runs on the host's cores. Kernels are
// OpenCL C, compiled for the device at their first use; ambit composes the others from them.
#include <ambit/backend/plugin.h>

#include <memory>

#include "backend.h"
#include "kernels.h"

namespace ambit::opencl {

void load(Registry& registry) {
  devices();  // a wrong AMBIT_OPENCL is the reason in the load report
  registry.add_backend(std::make_unique<OpenClBackend>());
#define AMBIT_ADD(name) registry.add(kernels::name, name);
  AMBIT_OPENCL_KERNELS(AMBIT_ADD)
#undef AMBIT_ADD
}

}  // namespace ambit::opencl

AMBIT_PLUGIN(opencl, ambit::opencl::load)
