// Registers the CPU backend.
#include <ambit/backend/registry.h>

#include <algorithm>
#include <memory>

#include "backend.h"
#include "kernels.h"
#include "matmul/matmul_bfloat16.h"
#include "runtime/instruction_sets.h"

namespace ambit::cpu {

namespace {

/// Return the reduced floating-point and complex dtypes that the kernel supports without upcast.
DTypeSet native_dtypes(const OpBase& op) {
  const auto is_among = [&op](std::initializer_list<const OpBase*> list) {
    return std::ranges::count(list, &op) > 0;
  };
  namespace k = kernels;
  if (is_among({&k::matmul, &k::linear, &k::linear_map, &k::convolution, &k::convolution_map,
                &k::convolution_input_grad, &k::convolution_weight_grad})) {
    return native_products();
  }
  if (is_among({&k::max_pool, &k::max_pool_grad, &k::batch_norm, &k::batch_norm_grad})) {
    return {kBFloat16};
  }
  if (is_among({&k::unary, &k::binary})) return dtypes::kReducedFloating | dtypes::kComplex;
  if (is_among({&k::random, &k::binary_scalar, &k::ternary, &k::clamp, &k::clamp_grad, &k::reduce,
                &k::searchsorted, &k::embedding_bag})) {
    return dtypes::kReducedFloating;
  }
  return {};
}

}  // namespace

void load(Registry& registry) {
  limit_instruction_sets();  // before native_dtypes() calls oneDNN
  registry.add_backend(std::make_unique<CpuBackend>());
#define AMBIT_ADD(name) registry.add(kernels::name, name, native_dtypes(kernels::name));
  AMBIT_CPU_KERNELS(AMBIT_ADD)
#undef AMBIT_ADD
}

}  // namespace ambit::cpu
