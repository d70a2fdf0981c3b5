// The CPU backend's entry.
#include <ambit/backend/registry.h>

#include <memory>

#include "backend.h"
#include "kernels.h"
#include "matmul/matmul_bfloat16.h"

namespace ambit::cpu {

void load(Registry& registry) {
  registry.add_backend(std::make_unique<CpuBackend>());
  // Those that take 16 bits as they are.
  const auto native = [](const OpBase& op) {
    return &op == &kernels::matmul || &op == &kernels::linear ? native_products() : DTypeSet();
  };
#define AMBIT_ADD(name) registry.add(kernels::name, name, native(kernels::name));
  AMBIT_CPU_KERNELS(AMBIT_ADD)
#undef AMBIT_ADD
}

}  // namespace ambit::cpu
