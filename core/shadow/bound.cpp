#include "bound.h"

#include <ambit/backend/kernels.h>

#include <unordered_map>

namespace ambit::shadow {
namespace {

using Function = Bound (*)(const Call&, size_t argument, const Operand& output);

template <Bound (*bound)(const Call&, const Operand&)>
Bound by_operand(const Call& call, size_t, const Operand& y) {
  return bound(call, y);
}

Bound random_bound(const Call& call, size_t, const Operand& y) {
  // Normal numbers differ by the last bits of sqrt, log and cos; all others are exact.
  if (call.parameter<RandomParams>(0).kind != RandomParams::Kind::normal) return {};
  const auto& p = call.parameter<RandomParams>(0);
  return {8, 16 * epsilon(y.dtype()) * (std::abs(p.low) + std::abs(p.high))};
}

Bound copy_bound(const Call& call, size_t, const Operand& y) {
  // float64 may be converted to a reduced floating-point type through float32.
  const bool twice = is_reduced_floating(y.dtype()) && call.operand(1).dtype() == kFloat64;
  return {twice ? 1. : 0.};
}

Bound scale_bound(const Call&, size_t, const Operand& y) {
  return {epsilon(y.dtype()) > 0 ? 2. : 0.};
}

const std::unordered_map<const OpBase*, Function>& functions() {
  using namespace kernels;
  static const auto* all = new std::unordered_map<const OpBase*, Function>{
      {&copy, copy_bound},
      {&random, random_bound},
      {&unary, by_operand<unary_bound>},
      {&binary, by_operand<binary_bound>},
      {&binary_scalar, by_operand<binary_scalar_bound>},
      {&ternary, by_operand<ternary_bound>},
      {&reduce, by_operand<reduce_bound>},
      {&scan, by_operand<scan_bound>},
      {&scatter_add, by_operand<scatter_add_bound>},
      {&scatter_reduce, by_operand<scatter_reduce_bound>},
      {&index_add, by_operand<index_add_bound>},
      {&embedding_bag, by_operand<embedding_bag_bound>},
      {&embedding_bag_grad, by_operand<embedding_bag_grad_bound>},
      {&matmul, by_operand<product_bound>},
      {&linear, by_operand<product_bound>},
      {&linear_map, by_operand<product_bound>},
      {&linear_int8, by_operand<linear_int8_bound>},
      {&fft_pairs, by_operand<fft_bound>},
      {&fft_real, by_operand<fft_bound>},
      {&convolution, by_operand<convolution_bound>},
      {&convolution_map, by_operand<convolution_bound>},
      {&convolution_input_grad, by_operand<convolution_input_grad_bound>},
      {&convolution_weight_grad, by_operand<convolution_weight_grad_bound>},
      {&max_pool_grad, by_operand<pool_bound>},
      {&avg_pool, by_operand<pool_bound>},
      {&avg_pool_grad, by_operand<pool_bound>},
      {&interpolate, by_operand<interpolate_bound>},
      {&interpolate_grad, by_operand<interpolate_bound>},
      {&softmax, by_operand<softmax_bound>},
      {&softmax_grad, by_operand<softmax_grad_bound>},
      {&batch_norm, norm_bound},
      {&layer_norm, norm_bound},
      {&group_norm, norm_bound},
      {&batch_norm_grad, norm_grad_bound},
      {&layer_norm_grad, norm_grad_bound},
      {&group_norm_grad, norm_grad_bound},
      {&attention, attention_bound},
      {&attention_grad, attention_grad_bound},
      {&lstm_cell, by_operand<cell_bound>},
      {&lstm_cell_grad, by_operand<cell_bound>},
      {&gru_cell, by_operand<cell_bound>},
      {&gru_cell_grad, by_operand<cell_bound>},
      {&nll_loss, loss_bound},
      {&cross_entropy, loss_bound},
      {&cross_entropy_grad, loss_bound},
      {&ctc_loss, ctc_bound},
      {&ctc_loss_grad, ctc_bound},
      {&sgd_step, sgd_bound},
      {&adam_step, adam_bound},
      {&unscale, scale_bound},
      {&lu_factor, factor_bound},
      {&lu_solve, factor_bound},
      {&cholesky, factor_bound},
      {&qr, factor_bound},
      {&eigh, factor_bound},
      {&eig, factor_bound},
      {&svd, factor_bound},
      {&triangular_solve, factor_bound},
  };
  return *all;
}

}  // namespace

Bound bound_of(const Call& call, size_t argument, const Operand& output) {
  const auto found = functions().find(&call.op());
  // All others move or select elements.
  return found == functions().end() ? Bound{} : found->second(call, argument, output);
}

}  // namespace ambit::shadow
