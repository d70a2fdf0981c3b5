// torch::linalg is ambit's; also libtorch's functions with a given output:
// `torch::linalg::inv_out(out, x)` is linalg_inv_out(out, x).
#pragma once

#include <ambit/ops/linalg.h>
#include <ambit/ops/out.h>
#include <ambit/ops/products.h>
#include <torch/types.h>

#include <utility>

namespace ambit::linalg {

#define AMBIT_TORCH_LINALG_OUT(name)                                              \
  template <class... Args>                                                        \
  requires requires(Args && ... args) { linalg_##name##_out((Args &&) args...); } \
  decltype(auto) name##_out(Args&&... args) {                                     \
    return linalg_##name##_out(std::forward<Args>(args)...);                      \
  }
AMBIT_TORCH_LINALG_OUT(cholesky)
AMBIT_TORCH_LINALG_OUT(eig)
AMBIT_TORCH_LINALG_OUT(eigh)
AMBIT_TORCH_LINALG_OUT(eigvals)
AMBIT_TORCH_LINALG_OUT(eigvalsh)
AMBIT_TORCH_LINALG_OUT(householder_product)
AMBIT_TORCH_LINALG_OUT(inv)
AMBIT_TORCH_LINALG_OUT(ldl_factor_ex)
AMBIT_TORCH_LINALG_OUT(ldl_solve)
AMBIT_TORCH_LINALG_OUT(lu)
AMBIT_TORCH_LINALG_OUT(lu_factor)
AMBIT_TORCH_LINALG_OUT(matrix_norm)
AMBIT_TORCH_LINALG_OUT(matrix_power)
AMBIT_TORCH_LINALG_OUT(matrix_rank)
AMBIT_TORCH_LINALG_OUT(norm)
AMBIT_TORCH_LINALG_OUT(qr)
AMBIT_TORCH_LINALG_OUT(slogdet)
AMBIT_TORCH_LINALG_OUT(solve)
AMBIT_TORCH_LINALG_OUT(solve_ex)
AMBIT_TORCH_LINALG_OUT(solve_triangular)
AMBIT_TORCH_LINALG_OUT(svd)
AMBIT_TORCH_LINALG_OUT(svdvals)
AMBIT_TORCH_LINALG_OUT(tensorinv)
AMBIT_TORCH_LINALG_OUT(tensorsolve)
AMBIT_TORCH_LINALG_OUT(vector_norm)
#undef AMBIT_TORCH_LINALG_OUT
/// As linalg_multi_dot_out(), with the output last; libtorch has this order only here.
inline Tensor& multi_dot_out(TensorList tensors, Tensor& out) {
  return linalg_multi_dot_out(out, tensors);
}
AMBIT_OUT(pinv)  // its rcond differs here

}  // namespace ambit::linalg
