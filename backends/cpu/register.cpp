// The CPU backend's entry: one typed line per kernel.
#include <ambit/backend/registry.h>

#include <memory>

#include "backends/cpu/runtime/backend.h"
#include "kernels.h"

namespace ambit::cpu {

void load(Registry& registry) {
  registry.add_backend(std::make_unique<CpuBackend>());
  registry.add(kernels::copy, cpu::copy);
  registry.add(kernels::fill, cpu::fill);
  registry.add(kernels::random, cpu::random);
  registry.add(kernels::unary, cpu::unary);
  registry.add(kernels::binary, cpu::binary);
  registry.add(kernels::compare, cpu::compare);
  registry.add(kernels::where, cpu::where);
  registry.add(kernels::reduce, cpu::reduce);
  registry.add(kernels::arg_reduce, cpu::arg_reduce);
  registry.add(kernels::cumsum, cpu::cumsum);
  registry.add(kernels::gather, cpu::gather);
  registry.add(kernels::scatter, cpu::scatter);
  registry.add(kernels::scatter_add, cpu::scatter_add);
  registry.add(kernels::nonzero, cpu::nonzero);
  registry.add(kernels::index_select, cpu::index_select);
  registry.add(kernels::index_add, cpu::index_add);
  registry.add(kernels::matmul, cpu::matmul);
  registry.add(kernels::linear, cpu::linear);
  registry.add(kernels::conv2d, cpu::conv2d);
  registry.add(kernels::conv2d_input_grad, cpu::conv2d_input_grad);
  registry.add(kernels::conv2d_weight_grad, cpu::conv2d_weight_grad);
  registry.add(kernels::max_pool2d, cpu::max_pool2d);
  registry.add(kernels::max_pool2d_grad, cpu::max_pool2d_grad);
  registry.add(kernels::avg_pool2d, cpu::avg_pool2d);
  registry.add(kernels::avg_pool2d_grad, cpu::avg_pool2d_grad);
  registry.add(kernels::softmax, cpu::softmax);
  registry.add(kernels::softmax_grad, cpu::softmax_grad);
  registry.add(kernels::batch_norm, cpu::batch_norm);
  registry.add(kernels::batch_norm_grad, cpu::batch_norm_grad);
  registry.add(kernels::nll_loss, cpu::nll_loss);
  registry.add(kernels::cross_entropy, cpu::cross_entropy);
  registry.add(kernels::cross_entropy_grad, cpu::cross_entropy_grad);
  registry.add(kernels::sgd_step, cpu::sgd_step);
  registry.add(kernels::adam_step, cpu::adam_step);
}

}  // namespace ambit::cpu
