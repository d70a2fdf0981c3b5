// Calls of each op of autocast's table, by category, and PyTorch's lists.
#pragma once

#include <ambit/ambit.h>

#include <functional>
#include <tuple>
#include <vector>

namespace autocast_calls {

using namespace ambit;
namespace F = nn::functional;

// Call of one op with operands of a dtype: two matrices [4,4] with elements in (0, 1).
struct OpCall {
  const char* name;
  std::function<Tensor(const Tensor& a, const Tensor& b)> call;
};

inline Tensor square_of(Device device, DType dtype, double from = 0.1) {
  return linspace(from, 0.9, 16).view({4, 4}).to(device, dtype).clone();  // not a view
}
inline Tensor labels(const Tensor& like) { return arange(4).to(like.device()); }

// Every row of the table that is not as_is; one call for all convolutions.
inline const std::vector<OpCall> kLowerPrecisionCalls = {
    {"matmul", [](auto& a, auto& b) { return matmul(a, b); }},
    {"mm", [](auto& a, auto& b) { return mm(a, b); }},
    {"bmm", [](auto& a, auto& b) { return bmm(a.unsqueeze(0), b.unsqueeze(0)); }},
    {"mv", [](auto& a, auto& b) { return mv(a, b[0]); }},
    {"linear", [](auto& a, auto& b) { return linear(a, b, b[0]); }},
    {"linear_map", [](auto& a, auto& b) { return linear_map(a, b, b[0], UnaryOp::relu); }},
    {"_addmm_activation", [](auto& a, auto& b) { return _addmm_activation(b[0], a, b); }},
    {"addmm", [](auto& a, auto& b) { return addmm(a, a, b); }},
    {"addmv", [](auto& a, auto& b) { return addmv(a[0], a, b[0]); }},
    {"addr", [](auto& a, auto& b) { return addr(a, a[0], b[0]); }},
    {"baddbmm", [](auto& a, auto& b) { return baddbmm(a, a.unsqueeze(0), b.unsqueeze(0)); }},
    {"addbmm", [](auto& a, auto& b) { return addbmm(a, a.unsqueeze(0), b.unsqueeze(0)); }},
    {"einsum",
     [](auto& a, auto& b) {
       return einsum("ij,kj->ik", {a, b});
     }},
    {"einsum of products",
     [](auto& a, auto& b) {
       return einsum("ij,ij->ij", {a, b});
     }},
    {"conv1d", [](auto& a, auto& b) { return conv1d(a.unsqueeze(0), b.unsqueeze(2)); }},
    {"conv_transpose1d",
     [](auto& a, auto& b) { return conv_transpose1d(a.unsqueeze(0), b.unsqueeze(2)); }},
    {"conv_tbc", [](auto& a, auto& b) { return conv_tbc(a.unsqueeze(0), b.unsqueeze(0), b[0]); }},
    {"conv2d",
     [](auto& a, auto& b) {
       return conv2d(a.view({1, 1, 4, 4}), b.view({4, 1, 2, 2}), b[0]);
     }},
    {"convolution_map",
     [](auto& a, auto& b) {
       return convolution_map(a.view({1, 1, 4, 4}), b.view({4, 1, 2, 2}), b[0], {}, UnaryOp::relu);
     }},
    {"cudnn_convolution_add_relu",
     [](auto& a, auto& b) {
       return cudnn_convolution_add_relu(a.view({1, 1, 4, 4}), b.view({4, 1, 2, 2}),
                                         ones({1, 4, 3, 3}, a.options()), {}, b[0], 1, 0, 1, 1);
     }},
    {"conv_transpose2d",
     [](auto& a, auto& b) {
       return conv_transpose2d(a.view({1, 1, 4, 4}), b.view({1, 4, 2, 2}), b[0]);
     }},
    {"conv3d",
     [](auto& a, auto& b) {
       return conv3d(a.view({1, 1, 1, 4, 4}), b.view({4, 1, 1, 2, 2}), b[0]);
     }},
    {"conv_transpose3d",
     [](auto& a, auto& b) {
       return conv_transpose3d(a.view({1, 1, 1, 4, 4}), b.view({1, 4, 1, 2, 2}), b[0]);
     }},
    {"linalg_vecdot", [](auto& a, auto& b) { return linalg_vecdot(a, b); }},
    {"chain_matmul",
     [](auto& a, auto& b) {
       return chain_matmul({a, b, a});
     }},
    {"linalg_multi_dot",
     [](auto& a, auto& b) {
       return linalg_multi_dot({a, b, a});
     }},
    {"rnn_tanh_cell", [](auto& a, auto& b) { return rnn_tanh_cell(a, b, a, b, a[0], b[0]); }},
    {"rnn_relu_cell", [](auto& a, auto& b) { return rnn_relu_cell(a, b, a, b, a[0], b[0]); }},
    {"scaled_dot_product_attention",
     [](auto& a, auto& b) {
       const Tensor q = a.view({1, 1, 4, 4});
       return scaled_dot_product_attention(q, b.view({1, 1, 4, 4}), q);
     }},
    {"lstm_cell",
     [](auto& a, auto& b) {
       nn::LSTMCell cell(4, 4);
       cell->to(a.device());
       return std::get<0>(cell(a, std::tuple(b, b)));
     }},
    {"gru_cell",
     [](auto& a, auto& b) {
       nn::GRUCell cell(4, 4);
       cell->to(a.device());
       return cell(a, b);
     }},
    {"prelu", [](auto& a, auto& b) { return F::prelu(neg(a), b[0]); }},
};

inline const std::vector<OpCall> kFloat32Calls = {
    {"acos", [](auto& a, auto&) { return acos(a); }},
    {"asin", [](auto& a, auto&) { return asin(a); }},
    {"cosh", [](auto& a, auto&) { return cosh(a); }},
    {"erfinv", [](auto& a, auto&) { return erfinv(a); }},
    {"exp", [](auto& a, auto&) { return exp(a); }},
    {"expm1", [](auto& a, auto&) { return expm1(a); }},
    {"log", [](auto& a, auto&) { return log(a); }},
    {"log10", [](auto& a, auto&) { return log10(a); }},
    {"log1p", [](auto& a, auto&) { return log1p(a); }},
    {"log2", [](auto& a, auto&) { return log2(a); }},
    {"reciprocal", [](auto& a, auto&) { return reciprocal(a); }},
    {"rsqrt", [](auto& a, auto&) { return rsqrt(a); }},
    {"sinh", [](auto& a, auto&) { return sinh(a); }},
    {"square", [](auto& a, auto&) { return square(a); }},
    {"tan", [](auto& a, auto&) { return tan(a); }},
    {"pow", [](auto& a, auto& b) { return pow(a, b); }},
    {"pow of a number", [](auto& a, auto&) { return pow(a, 3); }},
    {"pow with a number", [](auto& a, auto&) { return pow(2, a); }},
    {"softplus", [](auto& a, auto&) { return F::softplus(a); }},
    {"sum", [](auto& a, auto&) { return sum(a); }},
    {"sum along a dim", [](auto& a, auto&) { return sum(a, {1}); }},
    {"prod", [](auto& a, auto&) { return prod(a); }},
    {"prod along a dim", [](auto& a, auto&) { return prod(a, 1); }},
    {"cumsum", [](auto& a, auto&) { return cumsum(a, 0); }},
    {"cumprod", [](auto& a, auto&) { return cumprod(a, 0); }},
    {"logsumexp", [](auto& a, auto&) { return logsumexp(a, {1}); }},
    {"norm", [](auto& a, auto&) { return norm(a); }},
    {"linalg_vector_norm", [](auto& a, auto&) { return linalg_vector_norm(a); }},
    {"linalg_matrix_norm", [](auto& a, auto&) { return linalg_matrix_norm(a); }},
    {"linalg_norm", [](auto& a, auto&) { return linalg_norm(a); }},
    {"dist", [](auto& a, auto& b) { return dist(a, b); }},
    {"renorm", [](auto& a, auto&) { return renorm(a, 2, 0, 1); }},
    {"cdist", [](auto& a, auto& b) { return cdist(a, b); }},
    {"pdist", [](auto& a, auto&) { return pdist(a); }},
    {"softmax", [](auto& a, auto&) { return softmax(a, 1); }},
    {"log_softmax", [](auto& a, auto&) { return log_softmax(a, 1); }},
    {"layer_norm", [](auto& a, auto& b) { return layer_norm(a, {4}, b[0], b[1]); }},
    {"rms_norm", [](auto& a, auto& b) { return rms_norm(a, {4}, b[0]); }},
    {"group_norm", [](auto& a, auto& b) { return group_norm(a, 2, b[0], b[1]); }},
    {"frobenius_norm", [](auto& a, auto&) { return frobenius_norm(a); }},
    {"nuclear_norm", [](auto& a, auto&) { return nuclear_norm(a); }},
    {"upsample_nearest1d", [](auto& a, auto&) { return upsample_nearest1d(a.unsqueeze(0), {6}); }},
    {"_upsample_nearest_exact1d",
     [](auto& a, auto&) { return _upsample_nearest_exact1d(a.unsqueeze(0), {6}); }},
    {"upsample_linear1d",
     [](auto& a, auto&) { return upsample_linear1d(a.unsqueeze(0), {6}, false); }},
    {"upsample_nearest2d",
     [](auto& a, auto&) {
       return upsample_nearest2d(a.view({1, 1, 4, 4}), {6, 3});
     }},
    {"_upsample_nearest_exact2d",
     [](auto& a, auto&) {
       return _upsample_nearest_exact2d(a.view({1, 1, 4, 4}), {6, 3});
     }},
    {"upsample_bilinear2d",
     [](auto& a, auto&) {
       return upsample_bilinear2d(a.view({1, 1, 4, 4}), {6, 3}, true);
     }},
    {"upsample_bicubic2d",
     [](auto& a, auto&) {
       return upsample_bicubic2d(a.view({1, 1, 4, 4}), {6, 3}, false);
     }},
    {"_upsample_bilinear2d_aa",
     [](auto& a, auto&) {
       return _upsample_bilinear2d_aa(a.view({1, 1, 4, 4}), {2, 3}, false);
     }},
    {"_upsample_bicubic2d_aa",
     [](auto& a, auto&) {
       return _upsample_bicubic2d_aa(a.view({1, 1, 4, 4}), {2, 3}, false);
     }},
    {"upsample_nearest3d",
     [](auto& a, auto&) {
       return upsample_nearest3d(a.view({1, 1, 2, 2, 4}), {3, 2, 3});
     }},
    {"_upsample_nearest_exact3d",
     [](auto& a, auto&) {
       return _upsample_nearest_exact3d(a.view({1, 1, 2, 2, 4}), {3, 2, 3});
     }},
    {"upsample_trilinear3d",
     [](auto& a, auto&) {
       return upsample_trilinear3d(a.view({1, 1, 2, 2, 4}), {3, 2, 3}, false);
     }},
    {"nll_loss", [](auto& a, auto&) { return nll_loss(a, labels(a)); }},
    {"cross_entropy", [](auto& a, auto&) { return cross_entropy(a, labels(a)); }},
    {"mse_loss", [](auto& a, auto& b) { return mse_loss(a, b); }},
    {"ctc_loss",
     [](auto& a, auto&) {
       return ctc_loss(a.unsqueeze(1), tensor({{1, 2}}).to(a.device()), IntArrayRef{4},
                       IntArrayRef{2});
     }},
    {"l1_loss", [](auto& a, auto& b) { return F::l1_loss(a, b); }},
    {"smooth_l1_loss", [](auto& a, auto& b) { return F::smooth_l1_loss(a, b); }},
    {"huber_loss", [](auto& a, auto& b) { return F::huber_loss(a, b); }},
    {"kl_div", [](auto& a, auto& b) { return F::kl_div(a, b); }},
    {"poisson_nll_loss", [](auto& a, auto& b) { return F::poisson_nll_loss(a, b); }},
    {"soft_margin_loss", [](auto& a, auto& b) { return F::soft_margin_loss(a, b); }},
    {"multi_margin_loss", [](auto& a, auto&) { return F::multi_margin_loss(a, labels(a)); }},
    {"multilabel_margin_loss",
     [](auto& a, auto&) {
       return F::multilabel_margin_loss(a, labels(a).unsqueeze(0).expand({4, 4}));
     }},
    {"margin_ranking_loss", [](auto& a, auto& b) { return F::margin_ranking_loss(a, b, sign(a)); }},
    {"hinge_embedding_loss", [](auto& a, auto& b) { return F::hinge_embedding_loss(a, sign(b)); }},
    {"cosine_embedding_loss",
     [](auto& a, auto& b) { return F::cosine_embedding_loss(a, b, ones_like(a[0])); }},
    {"triplet_margin_loss", [](auto& a, auto& b) { return F::triplet_margin_loss(a, b, b.t()); }},
    {"cosine_similarity", [](auto& a, auto& b) { return F::cosine_similarity(a, b); }},
    {"fft", [](auto& a, auto&) { return view_as_real(fft_fft(a)); }},
    {"fft to real", [](auto& a, auto&) { return fft_irfftn(a); }},
    {"stft",
     [](auto& a,
        auto&
            b) { return a.stft(3, 1, {}, b[0].slice(0, 0, 3), true, "reflect", false, {}, false); }},
    {"binary_cross_entropy", [](auto& a, auto& b) { return F::binary_cross_entropy(a, b); }},
    {"binary_cross_entropy_with_logits",
     [](auto& a, auto& b) { return F::binary_cross_entropy_with_logits(a, b); }},
};

// Ops whose operands must have equal dtypes, or that promote themselves.
inline const std::vector<OpCall> kWidestCalls = {
    {"addcdiv", [](auto& a, auto& b) { return addcdiv(a, a, b); }},
    {"addcmul", [](auto& a, auto& b) { return addcmul(a, a, b); }},
    {"atan2", [](auto& a, auto& b) { return atan2(a, b); }},
    {"cross", [](auto& a, auto& b) { return cross(a.slice(1, 0, 3), b.slice(1, 0, 3), 1); }},
    {"dot", [](auto& a, auto& b) { return dot(a[0], b[0]); }},
    {"vdot", [](auto& a, auto& b) { return vdot(a[0], b[0]); }},
    {"bilinear",
     [](auto& a, auto& b) {
       return F::bilinear(a, a, b.view({1, 4, 4}), b[0].slice(0, 0, 1));
     }},
    {"tensordot", [](auto& a, auto& b) { return tensordot(a, b, {1}, {0}); }},
    {"scatter_add",
     [](auto& a, auto& b) { return scatter_add(a, 0, labels(a).unsqueeze(0), b.slice(0, 0, 1)); }},
    {"index_put", [](auto& a, auto& b) { return index_put(a, {labels(a)}, b); }},
    {"index_add", [](auto& a, auto& b) { return index_add(a, 0, labels(a), b); }},
    {"index_copy", [](auto& a, auto& b) { return index_copy(a, 0, labels(a), b); }},
    {"grid_sampler",
     [](auto& a, auto& b) {
       return grid_sampler(a.view({1, 1, 4, 4}), b.view({1, 2, 4, 2}), 0, 0, false);
     }},
};

// Ops that run in the operands' dtype, or in the dtype to which the operands promote.
inline const std::vector<OpCall> kAsIsCalls = {
    {"add", [](auto& a, auto& b) { return a + b; }},
    {"mul", [](auto& a, auto& b) { return a * b; }},
    {"relu", [](auto& a, auto&) { return relu(a); }},
    {"tanh", [](auto& a, auto&) { return tanh(a); }},
    {"gelu", [](auto& a, auto&) { return gelu(a); }},
    {"mean", [](auto& a, auto&) { return mean(a); }},
    {"cat",
     [](auto& a, auto& b) {
       return cat({a, b});
     }},
    {"max_pool2d",
     [](auto& a, auto&) {
       return max_pool2d(a.view({1, 1, 4, 4}), 2);
     }},
    {"exp in place", [](auto& a, auto&) { return a.clone().exp_(); }},
};

// PyTorch 2.15's list for CUDA, from the macros of its ATen/autocast_mode.h, without internal ops:
// _convolution, native_layer_norm, nll_loss2d, fused cells.
// clang-format off
inline constexpr const char* kTorchLowerPrecision[] = {
    "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "prelu", "addmm", "addmv", "addr", "matmul", "einsum", "mm", "mv",
    "linalg_vecdot", "linear", "addbmm", "baddbmm", "bmm", "chain_matmul", "linalg_multi_dot",
    "lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell", "scaled_dot_product_attention",
};
inline constexpr const char* kTorchFloat32[] = {
    "acos", "asin", "cosh", "erfinv", "exp", "expm1", "log", "log10", "log2", "log1p", "reciprocal",
    "rsqrt", "sinh", "tan", "pow", "pow of a number", "pow with a number", "softplus", "layer_norm",
    "rms_norm", "group_norm", "frobenius_norm", "nuclear_norm", "cosine_similarity",
    "poisson_nll_loss", "cosine_embedding_loss", "nll_loss", "hinge_embedding_loss", "kl_div",
    "l1_loss", "smooth_l1_loss", "huber_loss", "mse_loss", "margin_ranking_loss",
    "multilabel_margin_loss", "soft_margin_loss", "triplet_margin_loss", "multi_margin_loss",
    "binary_cross_entropy_with_logits", "dist", "pdist", "cdist", "renorm", "logsumexp",
    "upsample_nearest1d", "_upsample_nearest_exact1d", "upsample_nearest2d",
    "_upsample_nearest_exact2d", "upsample_nearest3d", "_upsample_nearest_exact3d",
    "upsample_linear1d", "upsample_bilinear2d", "_upsample_bilinear2d_aa", "upsample_trilinear3d",
    "upsample_bicubic2d", "_upsample_bicubic2d_aa", "prod", "prod along a dim", "softmax",
    "log_softmax", "cumprod", "cumsum", "linalg_vector_norm", "linalg_matrix_norm", "sum",
    "sum along a dim", "norm",
};
inline constexpr const char* kTorchWidest[] = {
    "addcdiv", "addcmul", "atan2", "bilinear", "cross", "dot", "vdot", "grid_sampler", "index_put",
    "tensordot", "scatter_add",
};
// clang-format on

}  // namespace autocast_calls
