// The CUDA backend's entry.
#include <ambit/autograd.h>
#include <ambit/backend/plugin.h>

#include <initializer_list>
#include <memory>

#include "backends/cuda/libraries/cusolver.h"
#include "backends/cuda/runtime/backend.h"
#include "backends/cuda/runtime/call.h"
#include "kernels.h"

namespace ambit::cuda {
namespace {

/// Whether a kernel needs cuSOLVER and cuBLAS.
constexpr bool is_linear_algebra(const OpBase& op) {
  namespace k = kernels;
  for (const OpBase* one :
       std::initializer_list<const OpBase*>{&k::lu_factor, &k::lu_solve, &k::cholesky, &k::qr,
                                            &k::eigh, &k::svd, &k::triangular_solve}) {
    if (&op == one) return true;
  }
  return false;
}

/// What a kernel is registered as: inside a Call; of linear algebra, where its libraries are
/// missing, what devices without such a kernel run, the CPU's on copies.
template <auto& op, auto kernel, class Signature = decltype(kernel)>
struct Registered;
template <auto& op, auto kernel, class... A>
struct Registered<op, kernel, void (*)(A...)> {
  static void run(A... args) {
    if constexpr (is_linear_algebra(op)) {
      if (!cusolver::missing().empty()) {
        const NoGradGuard no_grad;
        return op.composite()(args...);
      }
    }
    Framed<op, kernel>::run(args...);
  }
};

}  // namespace

void load(Registry& registry) {
  registry.add_backend(std::make_unique<CudaBackend>(cusolver::version));
  // All but linear algebra take elements of 16 bits as they are.
#define AMBIT_ADD(name)                                             \
  registry.add(kernels::name, Registered<kernels::name, name>::run, \
               is_linear_algebra(kernels::name) ? DTypeSet() : dtypes::kReduced);
  AMBIT_CUDA_KERNELS(AMBIT_ADD)
#undef AMBIT_ADD
}

}  // namespace ambit::cuda

AMBIT_PLUGIN(cuda, ambit::cuda::load)
