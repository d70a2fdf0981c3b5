// The kernels of the CPU, with the signatures of ambit/kernels.h, where they are described.
#pragma once

#include <ambit/backend/kernels.h>

namespace ambit::cpu {

// copy.cpp, random.cpp
void copy(Tensor& y, const Tensor& x);
void fill(Tensor& y, const Scalar& value);
void random(Tensor& y, const RandomParams& p);

// elementwise.cpp
void unary(Tensor& y, const Tensor& x, const UnaryOp& op);
void binary(Tensor& y, const Tensor& a, const Tensor& b, const BinaryOp& op);
void compare(Tensor& y, const Tensor& a, const Tensor& b, const CompareOp& op);
void where(Tensor& y, const Tensor& condition, const Tensor& a, const Tensor& b);

// reduce.cpp, scan.cpp
void reduce(Tensor& y, const Tensor& x, const ReduceOp& op);
void arg_reduce(Tensor& value, Tensor& index, const Tensor& x, int64_t dim, bool largest);
void cumsum(Tensor& y, const Tensor& x, int64_t dim);

// index.cpp
void gather(Tensor& y, const Tensor& x, const Tensor& index, int64_t dim);
void scatter(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim);
void scatter_add(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim);
void nonzero(Tensor& y, const Tensor& x);
void index_select(Tensor& y, const Tensor& x, const Tensor& index, int64_t dim);
void index_add(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim);

// matmul.cpp
void matmul(Tensor& y, const Tensor& a, const Tensor& b);
void linear(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b);

// conv.cpp
void conv2d(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b, const Conv2dParams& p);
void conv2d_input_grad(Tensor& dx, const Tensor& dy, const Tensor& w, const Conv2dParams& p);
void conv2d_weight_grad(Tensor& dw, const Tensor& dy, const Tensor& x, const Conv2dParams& p);

// max_pool.cpp, pool.cpp
void max_pool2d(Tensor& y, Tensor& index, const Tensor& x, const Pool2dParams& p);
void max_pool2d_grad(Tensor& dx, const Tensor& dy, const Tensor& index, const Pool2dParams& p);
void avg_pool2d(Tensor& y, const Tensor& x, const Pool2dParams& p);
void avg_pool2d_grad(Tensor& dx, const Tensor& dy, const Pool2dParams& p);

// softmax.cpp, norm.cpp
void softmax(Tensor& y, const Tensor& x, int64_t dim, bool log);
void softmax_grad(Tensor& dx, const Tensor& dy, const Tensor& y, int64_t dim, bool log);
void batch_norm(Tensor& y, Tensor& mean, Tensor& invstd, Tensor& running_mean, Tensor& running_var,
                const Tensor& x, const Tensor& w, const Tensor& b, const BatchNormParams& p);
void batch_norm_grad(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy, const Tensor& x,
                     const Tensor& w, const Tensor& mean, const Tensor& invstd,
                     const BatchNormParams& p);

// loss.cpp, optim.cpp
void nll_loss(Tensor& y, Tensor& weight_sum, const Tensor& x, const Tensor& target, const Tensor& w,
              int64_t ignore_index);
void cross_entropy(Tensor& y, Tensor& weight_sum, const Tensor& x, const Tensor& target,
                   const Tensor& w, int64_t ignore_index);
void cross_entropy_grad(Tensor& dx, const Tensor& g, const Tensor& x, const Tensor& target,
                        const Tensor& w, int64_t ignore_index);
void sgd_step(TensorList p, TensorList buf, TensorList g, const SgdParams& params);
void adam_step(TensorList p, TensorList m, TensorList v, TensorList g, const AdamParams& params);

}  // namespace ambit::cpu
