// Composite defaults: kernel ops written in other ops, for devices whose backend has no kernel of
// its own. Signatures and meaning are those of kernels.h. They run without recording, on the device
// of their tensors, and fill the given outputs. Each is defined beside the op it serves.
#pragma once

#include <ambit/params.h>
#include <ambit/tensor.h>

namespace ambit::composite {

void index_select(Tensor& y, const Tensor& x, const Tensor& index, int64_t dim);
void index_add(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim);

void linear(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b);

void conv2d_input_grad(Tensor& dx, const Tensor& dy, const Tensor& w, const Conv2dParams& p);
void conv2d_weight_grad(Tensor& dw, const Tensor& dy, const Tensor& x, const Conv2dParams& p);

void avg_pool2d(Tensor& y, const Tensor& x, const Pool2dParams& p);
void avg_pool2d_grad(Tensor& dx, const Tensor& dy, const Pool2dParams& p);

void softmax(Tensor& y, const Tensor& x, int64_t dim, bool log);
void softmax_grad(Tensor& dx, const Tensor& dy, const Tensor& y, int64_t dim, bool log);
void batch_norm(Tensor& y, Tensor& mean, Tensor& invstd, Tensor& running_mean, Tensor& running_var,
                const Tensor& x, const Tensor& w, const Tensor& b, const BatchNormParams& p);
void batch_norm_grad(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy, const Tensor& x,
                     const Tensor& w, const Tensor& mean, const Tensor& invstd,
                     const BatchNormParams& p);

void nll_loss(Tensor& y, Tensor& weight_sum, const Tensor& x, const Tensor& target, const Tensor& w,
              int64_t ignore_index);
void cross_entropy(Tensor& y, Tensor& weight_sum, const Tensor& x, const Tensor& target,
                   const Tensor& w, int64_t ignore_index);
void cross_entropy_grad(Tensor& dx, const Tensor& g, const Tensor& x, const Tensor& target,
                        const Tensor& w, int64_t ignore_index);
void sgd_step(TensorList p, TensorList buf, TensorList g, const SgdParams& params);
void adam_step(TensorList p, TensorList m, TensorList v, TensorList g, const AdamParams& params);

}  // namespace ambit::composite
