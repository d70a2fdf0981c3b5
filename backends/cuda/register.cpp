// The CUDA backend's entry.
#include <ambit/autograd.h>
#include <ambit/backend/plugin.h>

#include <memory>
#include <type_traits>

#include "backends/cuda/libraries/cusolver.h"
#include "backends/cuda/runtime/backend.h"
#include "backends/cuda/runtime/call.h"
#include "kernels.h"
#include "kernels/report_unless.h"

namespace ambit::cuda {
namespace {

// Types, since for UBSan g++ compares no addresses of kernels while it compiles.
template <auto& op>
struct Named;
template <auto& op, auto&... others>
constexpr bool is_one_of = (std::is_same_v<Named<op>, Named<others>> || ...);

/// Whether a kernel needs cuSOLVER and cuBLAS.
template <auto& op>
constexpr bool is_linear_algebra =
    is_one_of<op, kernels::lu_factor, kernels::lu_solve, kernels::cholesky, kernels::qr,
              kernels::eigh, kernels::svd, kernels::triangular_solve>;

/// What a kernel is registered as: inside a Call; of linear algebra, where its libraries are
/// missing, what devices without such a kernel run, the CPU's on copies.
template <auto& op, auto kernel, class Signature = decltype(kernel)>
struct Registered;
template <auto& op, auto kernel, class... A>
struct Registered<op, kernel, void (*)(A...)> {
  static void run(A... args) {
    if constexpr (is_linear_algebra<op>) {
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
  registry.add_backend(std::make_unique<CudaBackend>(cusolver::version, report_unless));
  // All but linear algebra take elements of 16 bits as they are.
#define AMBIT_ADD(name)                                             \
  registry.add(kernels::name, Registered<kernels::name, name>::run, \
               is_linear_algebra<kernels::name> ? DTypeSet() : dtypes::kReduced);
  AMBIT_CUDA_KERNELS(AMBIT_ADD)
#undef AMBIT_ADD
}

}  // namespace ambit::cuda

AMBIT_PLUGIN(cuda, ambit::cuda::load)
