// The kernels of the reference backend, for other backends to lean on: plain loops over memory that
// the host can follow, one function per op. What each computes is written in <ambit/kernels.h>, in
// the same order. A backend whose memory the host reaches may register them as they are; another
// calls them on aliases of its tensors.
#pragma once

#include <ambit/params.h>
#include <ambit/tensor.h>

namespace ambit::reference {

/// Return a CPU tensor that is laid out as `t` in the storage at `bytes`, which is where the host
/// finds the bytes of t.storage()->data(). It owns nothing: they must outlast it.
AMBIT_API Tensor alias(const Tensor& t, void* bytes);
/// Return how many of the loops below have run in this process, for whatever device: a kernel that
/// moves it is no kernel of its backend's own.
AMBIT_API uint64_t runs();

// copy.cpp, random.cpp
AMBIT_API void copy(Tensor& y, const Tensor& x);
AMBIT_API void fill(Tensor& y, const Scalar& value);
AMBIT_API void random(Tensor& y, const RandomParams& p);

// unary.cpp, binary.cpp, compare.cpp
AMBIT_API void unary(Tensor& y, const Tensor& x, const UnaryOp& op);
AMBIT_API void binary(Tensor& y, const Tensor& a, const Tensor& b, const BinaryOp& op);
AMBIT_API void compare(Tensor& y, const Tensor& a, const Tensor& b, const CompareOp& op);
AMBIT_API void where(Tensor& y, const Tensor& condition, const Tensor& a, const Tensor& b);

// reduce.cpp
AMBIT_API void reduce(Tensor& y, const Tensor& x, const ReduceOp& op);
AMBIT_API void arg_reduce(Tensor& value, Tensor& index, const Tensor& x, int64_t dim, bool largest);
AMBIT_API void cumsum(Tensor& y, const Tensor& x, int64_t dim);

// index.cpp
AMBIT_API void gather(Tensor& y, const Tensor& x, const Tensor& index, int64_t dim);
AMBIT_API void scatter(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim);
AMBIT_API void scatter_add(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim);
AMBIT_API void nonzero(Tensor& y, const Tensor& x);
AMBIT_API void index_select(Tensor& y, const Tensor& x, const Tensor& index, int64_t dim);
AMBIT_API void index_add(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim);

// matmul.cpp
AMBIT_API void matmul(Tensor& y, const Tensor& a, const Tensor& b);
AMBIT_API void linear(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b);

// conv.cpp
AMBIT_API void conv2d(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b,
                      const Conv2dParams& p);
AMBIT_API void conv2d_input_grad(Tensor& dx, const Tensor& dy, const Tensor& w,
                                 const Conv2dParams& p);
AMBIT_API void conv2d_weight_grad(Tensor& dw, const Tensor& dy, const Tensor& x,
                                  const Conv2dParams& p);

// pool.cpp
AMBIT_API void max_pool2d(Tensor& y, Tensor& index, const Tensor& x, const Pool2dParams& p);
AMBIT_API void max_pool2d_grad(Tensor& dx, const Tensor& dy, const Tensor& index,
                               const Pool2dParams& p);
AMBIT_API void avg_pool2d(Tensor& y, const Tensor& x, const Pool2dParams& p);
AMBIT_API void avg_pool2d_grad(Tensor& dx, const Tensor& dy, const Pool2dParams& p);

// softmax.cpp, batch_norm.cpp
AMBIT_API void softmax(Tensor& y, const Tensor& x, int64_t dim, bool log);
AMBIT_API void softmax_grad(Tensor& dx, const Tensor& dy, const Tensor& y, int64_t dim, bool log);
AMBIT_API void batch_norm(Tensor& y, Tensor& mean, Tensor& invstd, Tensor& running_mean,
                          Tensor& running_var, const Tensor& x, const Tensor& w, const Tensor& b,
                          const BatchNormParams& p);
AMBIT_API void batch_norm_grad(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy,
                               const Tensor& x, const Tensor& w, const Tensor& mean,
                               const Tensor& invstd, const BatchNormParams& p);

// loss.cpp, optim.cpp
AMBIT_API void nll_loss(Tensor& y, Tensor& weight_sum, const Tensor& x, const Tensor& target,
                        const Tensor& w, int64_t ignore_index);
AMBIT_API void cross_entropy(Tensor& y, Tensor& weight_sum, const Tensor& x, const Tensor& target,
                             const Tensor& w, int64_t ignore_index);
AMBIT_API void cross_entropy_grad(Tensor& dx, const Tensor& g, const Tensor& x,
                                  const Tensor& target, const Tensor& w, int64_t ignore_index);
AMBIT_API void sgd_step(TensorList p, TensorList buf, TensorList g, const SgdParams& params);
AMBIT_API void adam_step(TensorList p, TensorList m, TensorList v, TensorList g,
                         const AdamParams& params);

}  // namespace ambit::reference
