#include "split_rules.h"

#include <ambit/backend/kernels.h>

namespace ambit {

// The shapes are those of kernels.h. Ops that move or compute elements one by one, `random` and
// `reduce` are not listed. Never split a unit the op works on: a line, a normalised row, a factored
// matrix, a convolution's image, a pooled channel, an attention head.
std::span<const SplitRule> split_rules() {
  using namespace kernels;
  constexpr int8_t W = SplitRule::kWhole, S = SplitRule::kSum, D = SplitRule::kSharedDim;
  static constinit const SplitRule kSplitRules[] = {
      {&arg_reduce, {D, D, D}},
      {&scan, {D, D}},
      {&cum_extremum, {D, D, D}},
      {&sort, {D, D, D}},
      {&topk, {D, D, D}},
      {&searchsorted, {0, 0, 0}},
      {&searchsorted, {1, W, 1}},
      {&scatter_add, {D, D, D}},
      {&scatter_reduce, {D, D, D}},
      {&index_add, {D, W, D}},
      {&embedding_bag, {1, 1, 1, W, W, W}},
      {&embedding_bag_grad, {1, 1, 1, W, W, W}},
      {&matmul, {0, 0, 0}},
      {&matmul, {1, 1, W}},
      {&matmul, {2, W, 2}},
      {&matmul, {S, 2, 1}},
      {&linear, {0, 0, W, W}},
      {&linear, {1, W, 0, 0}},
      {&linear_map, {0, 0, W, W}},
      {&linear_map, {1, W, 0, 0}},
      {&linear_int8, {0, 0, W, W, W}},
      {&fft_pairs, {0, 0}},
      {&fft_pairs, {2, 2}},
      {&fft_real, {0, 0}},
      {&fft_real, {2, 2}},
      {&lu_factor, {0, 0, 0, 0}},
      {&lu_solve, {0, 0, 0, 0}},
      {&cholesky, {0, 0, 0}},
      {&qr, {0, 0, 0}},
      {&eigh, {0, 0, 0, 0}},
      {&eig, {0, 0, 0, 0}},
      {&svd, {0, 0, 0, 0, 0}},
      {&triangular_solve, {0, 0, 0}},
      {&convolution, {0, 0, W, W}},
      {&convolution_map, {0, 0, W, W}},
      {&convolution_input_grad, {0, 0, W}},
      {&convolution_weight_grad, {S, 0, 0}},
      {&max_pool, {0, 0, 0}},
      {&max_pool, {1, 1, 1}},
      {&max_pool_grad, {0, 0, 0}},
      {&max_pool_grad, {1, 1, 1}},
      {&avg_pool, {0, 0}},
      {&avg_pool, {1, 1}},
      {&avg_pool_grad, {0, 0}},
      {&avg_pool_grad, {1, 1}},
      {&interpolate, {0, 0}},
      {&interpolate, {1, 1}},
      {&interpolate_grad, {0, 0}},
      {&interpolate_grad, {1, 1}},
      {&softmax, {D, D}},
      {&softmax_grad, {D, D, D}},
      {&batch_norm, {1, 0, 0, 0, 0, 1, 0, 0}},
      {&batch_norm_grad, {1, 0, 0, 1, 1, 0, 0, 0}},
      {&layer_norm, {0, 0, 0, 0, W, W}},
      {&layer_norm_grad, {0, S, S, 0, 0, W, 0, 0}},
      {&group_norm, {0, 0, 0, 0, W, W}},
      {&group_norm_grad, {0, S, S, 0, 0, W, 0, 0}},
      {&attention, {0, 1, 0, 0, 0, 0}},
      {&attention, {1, 2, 1, 1, 1, 1}},
      {&attention_grad, {0, 0, 0, 0, 0, 0, 0, 0, 0, 1}},
      {&attention_grad, {1, 1, 1, 1, 1, 1, 1, 1, 1, 2}},
      {&lstm_cell, {0, 0, 0, 0, 0, 0}},
      {&lstm_cell_grad, {0, 0, 0, 0, 0, 0, 0}},
      {&gru_cell, {0, 0, 0, 0, 0}},
      {&gru_cell_grad, {0, 0, 0, 0, 0, 0}},
      {&nll_loss, {0, S, 0, 0, W}},
      {&cross_entropy, {0, S, 0, 0, W}},
      {&cross_entropy_grad, {0, 0, 0, 0, W}},
      {&ctc_loss, {0, 0, 1, 0, 0, 0}},
      {&ctc_loss_grad, {1, 0, 1, 0, 0, 0, 0, 0}},
  };
  return kSplitRules;
}

}  // namespace ambit
