// What the CUDA backend brings: one line per kernel. A wrong signature does not compile.
#include <ambit/backend/kernels.h>
#include <ambit/backend/plugin.h>

#include <memory>

#include "backends/cuda/runtime/backend.h"
#include "backends/cuda/runtime/call.h"
#include "kernels.h"

namespace ambit::cuda {

void load(Registry& registry) {
  registry.add_backend(std::make_unique<CudaBackend>());

  add<kernels::copy, copy>(registry);
  add<kernels::fill, fill>(registry);
  add<kernels::random, random>(registry);

  add<kernels::unary, unary>(registry);
  add<kernels::binary, binary>(registry);
  add<kernels::compare, compare>(registry);
  add<kernels::where, where>(registry);

  add<kernels::reduce, reduce>(registry);
  add<kernels::arg_reduce, arg_reduce>(registry);
  add<kernels::cumsum, cumsum>(registry);

  add<kernels::gather, gather>(registry);
  add<kernels::scatter, scatter>(registry);
  add<kernels::scatter_add, scatter_add>(registry);
  add<kernels::nonzero, nonzero>(registry);
  add<kernels::index_select, index_select>(registry);
  add<kernels::index_add, index_add>(registry);

  add<kernels::matmul, matmul>(registry);
  add<kernels::linear, linear>(registry);

  add<kernels::conv2d, conv2d>(registry);
  add<kernels::conv2d_input_grad, conv2d_input_grad>(registry);
  add<kernels::conv2d_weight_grad, conv2d_weight_grad>(registry);
  add<kernels::max_pool2d, max_pool2d>(registry);
  add<kernels::max_pool2d_grad, max_pool2d_grad>(registry);
  add<kernels::avg_pool2d, avg_pool2d>(registry);
  add<kernels::avg_pool2d_grad, avg_pool2d_grad>(registry);

  add<kernels::softmax, softmax>(registry);
  add<kernels::softmax_grad, softmax_grad>(registry);
  add<kernels::batch_norm, batch_norm>(registry);
  add<kernels::batch_norm_grad, batch_norm_grad>(registry);

  add<kernels::nll_loss, nll_loss>(registry);
  add<kernels::cross_entropy, cross_entropy>(registry);
  add<kernels::cross_entropy_grad, cross_entropy_grad>(registry);

  add<kernels::sgd_step, sgd_step>(registry);
  add<kernels::adam_step, adam_step>(registry);
}

}  // namespace ambit::cuda

AMBIT_PLUGIN(cuda, ambit::cuda::load)
