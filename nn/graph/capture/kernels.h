// How each kernel is expressed by functions of torch.export. Private to nn/graph/capture.
#pragma once

#include <ambit/backend/kernels.h>

#include "recorder.h"

namespace ambit::graph::capturing {

/// Calls that write the outputs of one kernel. Kernels without an overload are refused.
class Writer {
 public:
  explicit Writer(Recorder& recorder) : r_(recorder) {}

  void unary(const Tensor& y, const Tensor& x, UnaryOp op);
  void binary(const Tensor& y, const Tensor& a, const Tensor& b, BinaryOp op);
  void binary_scalar(const Tensor& y, const Tensor& x, const ScalarOperand& n, BinaryOp op);
  void ternary(const Tensor& y, const Tensor& a, const Tensor& b, const Tensor& c, const Scalar& n,
               TernaryOp op);
  void compare(const Tensor& y, const Tensor& a, const Tensor& b, CompareOp op);
  void compare_scalar(const Tensor& y, const Tensor& x, const Scalar& n, CompareOp op);
  void clamp(const Tensor& y, const Tensor& x, const std::optional<Scalar>& min,
             const std::optional<Scalar>& max);
  void copy(const Tensor& y, const Tensor& x);
  void fill(const Tensor& y, const Scalar& n);
  void where(const Tensor& y, const Tensor& condition, const Tensor& a, const Tensor& b);
  void masked_fill(const Tensor& y, const Tensor& x, const Tensor& mask, const Scalar& n,
                   bool masked);
  void reduce(const Tensor& y, const Tensor& x, ReduceOp op);
  void arg_reduce(const Tensor& values, const Tensor& indices, const Tensor& x, int64_t dim,
                  bool largest);
  void scan(const Tensor& y, const Tensor& x, const ScanParams& p, ScanOp op);
  void sort(const Tensor& y, const Tensor& index, const Tensor& x, int64_t dim, bool descending);
  void topk(const Tensor& y, const Tensor& index, const Tensor& x, int64_t dim, bool largest);
  void gather(const Tensor& y, const Tensor& x, const Tensor& index, int64_t dim);
  void scatter(const Tensor& y, const Tensor& index, const Tensor& src, int64_t dim);
  void scatter_add(const Tensor& y, const Tensor& index, const Tensor& src, int64_t dim);
  void index_select(const Tensor& y, const Tensor& x, const Tensor& index, int64_t dim);
  void embedding_bag(const Tensor& y, const Tensor& best, const Tensor& w, const Tensor& index,
                     const Tensor& offsets, const Tensor& factors, const EmbeddingBagParams& p);
  void matmul(const Tensor& y, const Tensor& a, const Tensor& b);
  void linear(const Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b);
  void linear_map(const Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b,
                  const ActivationParams& map);

  void convolution(const Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b,
                   const ConvParams& p);
  void convolution_map(const Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b,
                       const ConvParams& p, const ActivationParams& map);
  void convolution_input_grad(const Tensor& dx, const Tensor& dy, const Tensor& w,
                              const ConvParams& p);
  void max_pool(const Tensor& y, const Tensor& index, const Tensor& x, const PoolParams& p);
  void avg_pool(const Tensor& y, const Tensor& x, const PoolParams& p);
  void interpolate(const Tensor& y, const Tensor& x, const InterpolateParams& p);
  void softmax(const Tensor& y, const Tensor& x, int64_t dim, bool log);
  void batch_norm(const Tensor& y, const Tensor& mean, const Tensor& invstd,
                  const Tensor& running_mean, const Tensor& running_var, const Tensor& x,
                  const Tensor& w, const Tensor& b, const BatchNormParams& p);
  void layer_norm(const Tensor& y, const Tensor& mean, const Tensor& invstd, const Tensor& x,
                  const Tensor& w, const Tensor& b, double eps, bool centered);
  void group_norm(const Tensor& y, const Tensor& mean, const Tensor& invstd, const Tensor& x,
                  const Tensor& w, const Tensor& b, double eps);
  void attention(const Tensor& y, const Tensor& lse, const Tensor& q, const Tensor& k,
                 const Tensor& v, const Tensor& mask, const AttentionParams& p);
  void lstm_cell(const Tensor& h, const Tensor& c, const Tensor& gates, const Tensor& a,
                 const Tensor& b, const Tensor& c0);
  void gru_cell(const Tensor& h, const Tensor& gates, const Tensor& a, const Tensor& b,
                const Tensor& h0);
  void nll_loss(const Tensor& y, const Tensor& weight_sum, const Tensor& x, const Tensor& target,
                const Tensor& w, int64_t ignore_index);
  void cross_entropy(const Tensor& y, const Tensor& weight_sum, const Tensor& x,
                     const Tensor& target, const Tensor& w, int64_t ignore_index);

 private:
  /// Write y as the only result of a call.
  void give(const Tensor& y, std::string_view target, std::vector<Named> arguments);
  std::string call_unary(const std::string& x, UnaryOp op, DType dtype, IntArrayRef sizes);
  void loss(const Tensor& y, const Tensor& weight_sum, const Tensor& target, const Tensor& w,
            int64_t ignore_index, std::string_view target_name, const Tensor& x);

  Recorder& r_;
};

}  // namespace ambit::graph::capturing
