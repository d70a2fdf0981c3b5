// Registers the CUDA backend.
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

// Types, because with UBSan g++ cannot compare kernels' addresses in constant expressions.
template <auto& op>
struct Named;
template <auto& op, auto&... others>
constexpr bool is_one_of = (std::is_same_v<Named<op>, Named<others>> || ...);

/// True for kernels that need cuSOLVER and cuBLAS.
template <auto& op>
constexpr bool is_linear_algebra =
    is_one_of<op, kernels::lu_factor, kernels::lu_solve, kernels::cholesky, kernels::qr,
              kernels::eigh, kernels::svd, kernels::triangular_solve>;

/// The function to register: it runs the kernel in a Call. If the libraries of linear algebra are
/// missing, it runs the op's composite instead, which calls the CPU's kernel on copies.
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
  // All kernels except linear algebra support reduced floating-point types without upcast.
#define AMBIT_ADD(name)                                             \
  registry.add(kernels::name, Registered<kernels::name, name>::run, \
               is_linear_algebra<kernels::name> ? DTypeSet() : dtypes::kReducedFloating);
  AMBIT_CUDA_KERNELS(AMBIT_ADD)
#undef AMBIT_ADD
}

}  // namespace ambit::cuda

AMBIT_PLUGIN(cuda, ambit::cuda::load)
