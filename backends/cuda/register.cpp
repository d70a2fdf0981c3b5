// The CUDA backend's entry.
#include <ambit/autograd.h>
#include <ambit/backend/plugin.h>

#include <algorithm>
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

/// The dtypes of 16 bits that a kernel takes as they are.
DTypeSet native_dtypes(const OpBase& op) {
  namespace k = kernels;
  // clang-format off
  const std::initializer_list<const OpBase*> taking{
      &k::fill, &k::unary, &k::binary, &k::binary_scalar, &k::clamp, &k::add_scaled, &k::compare,
      &k::compare_scalar, &k::reduce, &k::matmul, &k::linear, &k::linear_map, &k::linear_int8,
      &k::convolution, &k::convolution_map, &k::convolution_input_grad,
      &k::convolution_weight_grad, &k::max_pool,
      &k::max_pool_grad, &k::avg_pool, &k::avg_pool_grad, &k::softmax, &k::softmax_grad,
      &k::batch_norm, &k::batch_norm_grad, &k::layer_norm, &k::layer_norm_grad, &k::group_norm,
      &k::group_norm_grad, &k::attention, &k::attention_grad, &k::lstm_cell, &k::lstm_cell_grad,
      &k::gru_cell, &k::gru_cell_grad, &k::nll_loss, &k::cross_entropy, &k::cross_entropy_grad,
      &k::sgd_step, &k::adam_step};
  // clang-format on
  return std::ranges::count(taking, &op) > 0 ? dtypes::kReduced : DTypeSet();
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
#define AMBIT_ADD(name) \
  registry.add(kernels::name, Registered<kernels::name, name>::run, native_dtypes(kernels::name));
  AMBIT_CUDA_KERNELS(AMBIT_ADD)
#undef AMBIT_ADD
}

}  // namespace ambit::cuda

AMBIT_PLUGIN(cuda, ambit::cuda::load)
