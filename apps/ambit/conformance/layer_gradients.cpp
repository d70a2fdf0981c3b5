// Gradients of layers, losses, products and matrix factors.
#include <ambit/detail/fft.h>
#include <ambit/ops/attention.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/conv.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/images.h>
#include <ambit/ops/linalg.h>
#include <ambit/ops/loss.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/pool.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>

#include "gradients.h"

using namespace ambit;

namespace conformance {

std::vector<Gradient> layer_gradients() {
  constexpr ConvParams kPlain, kStrided{.stride = {2, 1}, .padding = {1, 2}},
      kGroups{.padding = {1, 1}, .dilation = {2, 2}, .groups = 2};
  const auto conv = [](const ConvParams& p) {
    return [p](const Tensors& x) { return conv2d(x[0], x[1], x[2], p); };
  };
  const auto conv_map = [&](UnaryOp op) {
    return [=](const Tensors& x) { return convolution_map(x[0], x[1], x[2], kStrided, op); };
  };
  const std::vector<Dims> kFiltered{{2, 3, 6, 5}, {4, 3, 3, 2}, {4}};
  const auto target = [](const Tensor& x) { return index_on(x, {1, 6, 0, -100, 3}); };
  return {
      {"matmul",
       "matmul",
       {{3, 5, 7}, {7, 4}},
       [](const Tensors& x) { return matmul(x[0], x[1]); }},
      {"matmul/transposed",
       "matmul",
       {{7, 5}, {4, 7}},
       [](const Tensors& x) { return matmul(x[0].t(), x[1].t()); }},
      {"linear",
       "linear",
       {{5, 7}, {4, 7}, {4}},
       [](const Tensors& x) { return linear(x[0], x[1], x[2]); }},
      {"linear_map/relu",
       "linear_map",
       {{5, 7}, {4, 7}, {4}},
       [](const Tensors& x) { return linear_map(x[0], x[1], x[2], UnaryOp::relu); }},
      {"linear_map/gelu",
       "linear_map",
       {{5, 7}, {4, 7}, {4}},
       [](const Tensors& x) { return linear_map(x[0], x[1], x[2], UnaryOp::gelu); }},
      {"linear_map/gelu_tanh",
       "linear_map",
       {{5, 7}, {4, 7}, {4}},
       [](const Tensors& x) { return linear_map(x[0], x[1], x[2], UnaryOp::gelu_tanh); }},
      {"conv2d", "convolution", {{2, 3, 6, 5}, {4, 3, 3, 2}, {4}}, conv(kPlain)},
      {"conv2d/strided", "convolution", {{2, 3, 6, 5}, {4, 3, 3, 2}, {4}}, conv(kStrided)},
      {"conv2d/groups", "convolution", {{2, 4, 6, 5}, {6, 2, 2, 2}, {6}}, conv(kGroups)},
      {"convolution_map/relu", "convolution_map", kFiltered, conv_map(UnaryOp::relu)},
      {"convolution_map/gelu", "convolution_map", kFiltered, conv_map(UnaryOp::gelu)},
      {"convolution_map/gelu_tanh", "convolution_map", kFiltered, conv_map(UnaryOp::gelu_tanh)},
      {"conv1d",
       "convolution",
       {{2, 4, 9}, {6, 2, 3}, {6}},
       [](const Tensors& x) { return conv1d(x[0], x[1], x[2], 2, 1, 2, 2); }},
      {"conv3d",
       "convolution",
       {{1, 2, 4, 3, 4}, {3, 2, 2, 3, 2}, {3}},
       [](const Tensors& x) {
         return conv3d(x[0], x[1], x[2], {2, 1, 1}, {1, 1, 0});
       }},
      {"conv_transpose3d",
       "convolution_input_grad",
       {{1, 3, 2, 2, 3}, {3, 2, 2, 3, 2}, {2}},
       [](const Tensors& x) {
         return conv_transpose3d(x[0], x[1], x[2], {2, 1, 1}, {1, 1, 0}, {1, 0, 0});
       }},
      {"max_pool2d",
       "max_pool",
       {{2, 3, 6, 5}},
       [](const Tensors& x) {
         return max_pool2d(x[0], {.kernel = {2, 2}});
       }},
      {"max_pool2d/overlapping",
       "max_pool",
       {{2, 3, 6, 5}},
       [](const Tensors& x) {
         return max_pool2d(x[0], {.kernel = {3, 2}, .stride = {1, 1}, .padding = {1, 1}});
       }},
      {"avg_pool2d",
       "avg_pool",
       {{2, 3, 6, 5}},
       [](const Tensors& x) {
         return avg_pool2d(x[0], {.kernel = {3, 2}, .stride = {1, 2}, .padding = {1, 1}});
       }},
      {"max_pool1d",
       "max_pool",
       {{2, 3, 9}},
       [](const Tensors& x) { return max_pool1d(x[0], 3, 2, 1); }},
      {"max_pool3d",
       "max_pool",
       {{2, 3, 4, 3, 5}},
       [](const Tensors& x) { return max_pool3d(x[0], 2, 1); }},
      {"avg_pool3d",
       "avg_pool",
       {{2, 3, 4, 3, 5}},
       [](const Tensors& x) {
         return avg_pool3d(x[0], {2, 1, 3}, 2, {1, 0, 1});
       }},
      {"interpolate",
       "interpolate",
       {{2, 3, 4, 5}},
       [](const Tensors& x) {
         return upsample_bilinear2d(x[0], {7, 8}, false);
       }},
      {"softmax", "softmax", {{5, 7}}, [](const Tensors& x) { return x[0].softmax(0); }},
      {"log_softmax", "softmax", {{5, 7}}, [](const Tensors& x) { return x[0].log_softmax(1); }},
      {"batch_norm",
       "batch_norm",
       {{4, 3, 2, 5}, {3}, {3}},
       [](const Tensors& x) {
         const Tensor mean = zeros({3}, x[0].options()), var = ones({3}, x[0].options());
         return batch_norm(x[0], x[1], x[2], mean, var, {}) + mean.sum() + var.sum();
       }},
      {"layer_norm",
       "layer_norm",
       {{4, 3, 5}, {3, 5}, {3, 5}},
       [](const Tensors& x) {
         return layer_norm(x[0], {3, 5}, x[1], x[2]);
       }},
      {"rms_norm",
       "layer_norm",
       {{4, 5}, {5}},
       [](const Tensors& x) { return rms_norm(x[0], {5}, x[1]); }},
      {"group_norm",
       "group_norm",
       {{4, 6, 5}, {6}, {6}},
       [](const Tensors& x) { return group_norm(x[0], 3, x[1], x[2]); }},
      {"attention",
       "attention",
       {{2, 3, 5, 4}, {2, 3, 7, 4}, {2, 3, 7, 6}, {5, 7}},
       [](const Tensors& x) {
         return scaled_dot_product_attention(x[0], x[1], x[2], x[3].detach());
       }},
      {"nll_loss",
       "nll_loss",
       {{5, 7}, {7}},
       [=](const Tensors& x) { return nll_loss(x[0], target(x[0]), x[1].detach()); }},
      {"cross_entropy",
       "cross_entropy",
       {{5, 7}},
       [=](const Tensors& x) { return cross_entropy(x[0], target(x[0])); }},
      {"mse_loss",
       "binary",
       {{5, 7}, {5, 7}},
       [](const Tensors& x) { return mse_loss(x[0], x[1]); }},
      {"dropout", "random", {{5, 7}}, [](const Tensors& x) { return dropout(x[0], 0.5); }},
  };
}

// Well-conditioned matrices with separated eigenvalues; results with an arbitrary sign are squared.
std::vector<Gradient> factor_gradients() {
  std::vector<Gradient> all;
  const auto shifted = [](const Tensor& x, double by) {
    const Tensor diagonal = arange(1, x.size(0) + 1, 1, x.options()) * by;
    return x + eye(x.size(0), x.options()) * diagonal;
  };
  const auto of_one = [&](const char* op, std::function<Tensor(const Tensor&)> f) {
    all.push_back({op, op, {{5, 5}}, [f](const Tensors& x) { return f(x[0]); }});
  };
  of_one("lu_factor",
         [=](const Tensor& x) { return std::get<0>(linalg_lu_factor(shifted(x, 4))); });
  of_one("cholesky",
         [=](const Tensor& x) { return linalg_cholesky(shifted(matmul(x, x.t()) / 5, 1)); });
  of_one("qr", [=](const Tensor& x) {
    const auto [q, r] = linalg_qr(shifted(x, 4));
    return q + r;
  });
  of_one("eigh", [=](const Tensor& x) {
    const auto [values, vectors] = linalg_eigh(shifted(x + x.t(), 8));
    return values + square(vectors);
  });
  of_one("eig", [=](const Tensor& x) {
    const auto [values, vectors] = linalg_eig(shifted(x, 8));
    return real(matmul(vectors * unsqueeze(square(values), -2), linalg_inv(vectors)));
  });
  of_one("svd", [=](const Tensor& x) {
    const auto [u, s, vh] = linalg_svd(shifted(x, 8), false);
    return square(u) + s + square(vh);
  });
  all.push_back({"fft_pairs", "fft_pairs", {{3, 6, 2}}, [](const Tensors& x) {
                   return fft_pairs(x[0], 1, false, 0.5) + fft_pairs(x[0], 0, true);
                 }});
  all.push_back({"fft_real", "fft_real", {{3, 6}}, [](const Tensors& x) {
                   return irfft_pairs(square(rfft_pairs(x[0], 1, 0.5)), 0, 5);
                 }});
  of_one("triangular_solve",
         [=](const Tensor& x) { return linalg_solve_triangular(shifted(x, 4), x, true); });
  all.push_back({"lu_solve", "lu_solve", {{5, 5}, {5, 2}}, [=](const Tensors& x) {
                   return linalg_solve(shifted(x[0], 4), x[1]) + linalg_det(shifted(x[0] / 8, 1));
                 }});
  return all;
}

}  // namespace conformance
