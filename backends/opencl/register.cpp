// The OpenCL backend: GPUs of any vendor, and PoCL, which runs on the host's cores. Kernels are
// OpenCL C, compiled for the device on first use; other kernels are composites.
#include <ambit/backend/plugin.h>

#include <memory>

#include "backend.h"
#include "kernels.h"

namespace ambit::opencl {

void load(Registry& registry) {
  devices();  // an invalid AMBIT_OPENCL appears in the load report
  registry.add_backend(std::make_unique<OpenClBackend>());
#define AMBIT_ADD(name) registry.add(kernels::name, name);
  AMBIT_OPENCL_KERNELS(AMBIT_ADD)
#undef AMBIT_ADD
}

}  // namespace ambit::opencl

AMBIT_PLUGIN(opencl, ambit::opencl::load)
