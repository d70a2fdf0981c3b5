// The kernels of the CPU backend. Each row declares and registers a kernel with the signature in
// <ambit/backend/kernels.h>, which documents it. It is defined in the folder of its family.
#pragma once

#include <ambit/backend/kernels.h>

// clang-format off
#define AMBIT_CPU_KERNELS(row) \
  row(copy)                              \
  row(fill)                              \
  row(random)                            \
  row(unary)                             \
  row(binary)                            \
  row(binary_scalar)                     \
  row(ternary)                           \
  row(clamp)                             \
  row(clamp_grad)                        \
  row(compare)                           \
  row(compare_scalar)                    \
  row(where)                             \
  row(masked_fill)                       \
  row(reduce)                            \
  row(arg_reduce)                        \
  row(scan)                              \
  row(cum_extremum)                      \
  row(sort)                              \
  row(topk)                              \
  row(searchsorted)                      \
  row(gather)                            \
  row(scatter)                           \
  row(scatter_add)                       \
  row(scatter_reduce)                    \
  row(nonzero)                           \
  row(index_select)                      \
  row(index_add)                         \
  row(embedding_bag)                     \
  row(embedding_bag_grad)                \
  row(matmul)                            \
  row(linear)                            \
  row(linear_map)                        \
  row(linear_int8)                       \
  row(fft_pairs)                         \
  row(fft_real)                          \
  row(lu_factor)                         \
  row(lu_solve)                          \
  row(cholesky)                          \
  row(qr)                                \
  row(eigh)                              \
  row(eig)                               \
  row(svd)                               \
  row(triangular_solve)                  \
  row(convolution)                       \
  row(convolution_map)                   \
  row(convolution_input_grad)            \
  row(convolution_weight_grad)           \
  row(max_pool)                          \
  row(max_pool_grad)                     \
  row(avg_pool)                          \
  row(avg_pool_grad)                     \
  row(interpolate)                       \
  row(interpolate_grad)                  \
  row(softmax)                           \
  row(softmax_grad)                      \
  row(batch_norm)                        \
  row(batch_norm_grad)                   \
  row(layer_norm)                        \
  row(layer_norm_grad)                   \
  row(group_norm)                        \
  row(group_norm_grad)                   \
  row(attention)                         \
  row(attention_grad)                    \
  row(lstm_cell)                         \
  row(lstm_cell_grad)                    \
  row(gru_cell)                          \
  row(gru_cell_grad)                     \
  row(nll_loss)                          \
  row(cross_entropy)                     \
  row(cross_entropy_grad)                \
  row(ctc_loss)                          \
  row(ctc_loss_grad)                     \
  row(sgd_step)                          \
  row(adam_step)                         \
  row(unscale)
// clang-format on

namespace ambit::cpu {

#define AMBIT_DECLARE(name) Signature<kernels::name> name;
AMBIT_CPU_KERNELS(AMBIT_DECLARE)
#undef AMBIT_DECLARE

}  // namespace ambit::cpu
