// The table of autocast: the dtype that each op runs in inside an autocast scope (autocast.h), and
// the macros that apply it. The lists are PyTorch's for CUDA and apply to every device; comments
// explain the differences. PyTorch's lists for the CPU keep more in float32 (3-d pooling, padding,
// linear algebra, quantiles), because it has no kernels of reduced floating-point types there.
// Every kernel, and every function of the kernels that are families, must have a row, or
// core/dispatch/autocast.cpp does not compile. A composed op needs a row only if it is cast as a
// whole; using the macro without a row does not compile either.
#pragma once

#include <ambit/autocast.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace ambit::autocast {

/// The dtype in which an op computes in an autocast scope.
enum class Policy : uint8_t {
  lower_precision,  ///< in the device's reduced floating-point dtype
  float32,          ///< in float32
  widest,  ///< in the widest dtype of its operands; for ops that do not promote by themselves
  as_is,   ///< in the dtypes given; most ops promote by themselves
};

// clang-format off
inline constexpr std::string_view kLowerPrecision[] = {
    "matmul", "linear", "linear_map", "addmm", "_addmm_activation", "addmv", "addr", "baddbmm",
    "addbmm", "einsum",
    "linalg_vecdot",
    "convolution", "convolution_map", "attention", "lstm_cell", "gru_cell", "prelu",
};
inline constexpr std::string_view kFloat32Ops[] = {
    "acos", "asin", "cosh", "erfinv", "exp", "expm1", "log", "log10", "log1p", "log2",
    "reciprocal", "rsqrt", "sinh", "square", "tan", "pow", "softplus",
    "sum", "prod", "cumsum", "cumprod", "logsumexp", "norm", "dist", "renorm", "cdist", "pdist",
    "softmax", "interpolate",
    "layer_norm", "native_layer_norm", "group_norm", "rms_norm",
    "nll_loss", "cross_entropy", "mse_loss", "ctc_loss", "l1_loss", "smooth_l1_loss", "huber_loss",
    "kl_div", "poisson_nll_loss", "soft_margin_loss", "multi_margin_loss",
    "multilabel_margin_loss", "margin_ranking_loss", "hinge_embedding_loss",
    "cosine_embedding_loss", "triplet_margin_loss", "cosine_similarity",
    // Transforms: PyTorch casts them on the CPU, except ihfft2, hfftn and ihfftn.
    "fft", "stft",
    "binary_cross_entropy_with_logits",
    // PyTorch refuses it on CUDA, since its gradient overflows float16; float32 does not overflow.
    "binary_cross_entropy",
};
inline constexpr std::string_view kWidest[] = {
    "cross", "dot", "vdot", "bilinear", "tensordot", "scatter_add", "index_put", "index_add",
    "index_copy", "grid_sampler",
};
inline constexpr std::string_view kAsIs[] = {
    // kernels
    "copy", "fill", "random", "unary", "binary", "binary_scalar", "ternary", "clamp", "clamp_grad",
    "compare", "compare_scalar", "where", "masked_fill", "reduce", "arg_reduce", "scan",
    "cum_extremum", "sort", "topk", "searchsorted", "gather", "scatter", "scatter_reduce",
    "nonzero",
    "index_select", "embedding_bag", "fft_pairs", "fft_real", "lu_factor", "lu_solve", "cholesky",
    "qr",
    "eigh", "eig", "svd", "triangular_solve", "max_pool", "avg_pool", "sgd_step", "adam_step",
    "unscale",
    // Accepts float16 and bfloat16 images with float32 weights and statistics; computes in float32.
    "batch_norm",
    // Quantises its rows to int8 from any dtype.
    "linear_int8",
    // gradients: in the dtypes of the forward
    "convolution_input_grad", "convolution_weight_grad", "max_pool_grad", "avg_pool_grad",
    "softmax_grad", "batch_norm_grad", "layer_norm_grad", "group_norm_grad", "attention_grad",
    "lstm_cell_grad", "gru_cell_grad", "cross_entropy_grad", "embedding_bag_grad",
    "interpolate_grad", "ctc_loss_grad",
    // functions of one operand
    "neg", "abs", "sign", "exp2", "sqrt", "sin", "cos", "atan", "tanh", "sigmoid",
    "relu", "asinh", "acosh", "atanh", "erf", "erfc", "lgamma", "digamma", "i0", "i1", "sinc",
    "frac", "floor", "ceil", "round", "trunc", "bitwise_not", "logical_not", "gelu",
    "gelu_tanh", "logit", "erfcx", "i0e", "i1e", "ndtri", "signbit", "isnan", "isinf", "isfinite",
    "silu", "mish", "selu", "logsigmoid", "hardsigmoid", "hardswish",
    // of two operands
    "add", "sub", "mul", "div", "floor_divide", "trunc_divide", "remainder", "fmod", "maximum",
    "minimum", "atan2", "fmax", "fmin", "hypot", "copysign", "nextafter", "xlogy", "logaddexp",
    "logaddexp2", "heaviside", "zeta", "gcd", "lcm", "left_shift", "right_shift", "bitwise_and",
    "bitwise_or", "bitwise_xor", "relu_grad", "sigmoid_grad", "tanh_grad", "gelu_grad",
    "gelu_tanh_grad", "silu_grad", "mish_grad", "selu_grad", "logsigmoid_grad", "hardsigmoid_grad",
    "hardswish_grad", "elu", "celu", "leaky_relu", "smooth_l1", "huber", "logit_loss",
    // of three operands
    "add_scaled", "lerp", "elu_grad", "celu_grad", "leaky_relu_grad", "softplus_grad",
    "smooth_l1_grad",
    "huber_grad", "logit_loss_grad", "maximum_grad", "minimum_grad", "pow_base_grad",
    "pow_exponent_grad", "logaddexp_grad", "abs_grad", "square_grad", "reciprocal_grad",
    "rsqrt_grad", "sqrt_grad", "expm1_grad", "log1p_grad", "tan_grad", "atan_grad", "asin_grad",
    "asinh_grad", "sin_grad", "cos_grad", "sinh_grad", "cosh_grad", "erf_grad", "erfinv_grad",
    "lgamma_grad", "i0_grad", "softsign_grad", "div_grad", "hypot_grad",
    "atan2_grad", "atan2_other_grad", "binary_cross_entropy_grad", "glu_grad",
    // reductions
    "mean", "max", "min", "any", "all", "nansum", "abs_sum", "var", "var_unbiased", "std",
    "std_unbiased",
};
// clang-format on

/// Return the row of an op. For constant expressions: without a row it does not compile.
constexpr Policy policy_of(std::string_view op) {
  const auto has = [op](const auto& list) {
    for (const std::string_view name : list) {
      if (name == op) return true;
    }
    return false;
  };
  if (has(kLowerPrecision)) return Policy::lower_precision;
  if (has(kFloat32Ops)) return Policy::float32;
  if (has(kWidest)) return Policy::widest;
  if (has(kAsIs)) return Policy::as_is;
  throw "add this op to a table of detail/autocast.h";
}

/// True if this thread is in an autocast scope of any device and not inside an op that was cast.
AMBIT_API bool is_active() noexcept;

/// Disables autocast in a scope: an op with cast operands runs in one, and so does backward.
class AMBIT_API Suspended {
 public:
  Suspended() noexcept;
  ~Suspended();
  Suspended(const Suspended&) = delete;
  Suspended& operator=(const Suspended&) = delete;

 private:
  bool was_active_;
};

/// Cast an operand by its policy; returns it unchanged if its device is not in an autocast scope.
AMBIT_API Tensor to_lower_precision(const Tensor& t);
AMBIT_API Tensor to_float32(const Tensor& t);
AMBIT_API Tensor to_dtype(const Tensor& t, DType dtype);
/// Return the wider of `current` and t's dtype if t's device is in an autocast scope; else
/// `current`.
AMBIT_API DType wider(DType current, const Tensor& t);

/// Cast one argument of an op: a tensor or a list of tensors; other arguments are passed on.
template <Policy policy>
struct Cast {
  DType widest;

  Tensor operator()(const Tensor& t) const {
    if constexpr (policy == Policy::lower_precision) return to_lower_precision(t);
    if constexpr (policy == Policy::float32) return to_float32(t);
    if constexpr (policy == Policy::widest) return to_dtype(t, widest);
  }
  std::vector<Tensor> operator()(TensorList list) const {
    std::vector<Tensor> cast;
    cast.reserve(list.size());
    for (const Tensor& t : list) cast.push_back((*this)(t));
    return cast;
  }
  template <class T>
  requires(!std::is_convertible_v<const T&, TensorList>) const T& operator()(const T& other) const {
    return other;
  }
};

inline DType widest_of(DType current, const Tensor& t) { return wider(current, t); }
inline DType widest_of(DType current, TensorList list) {
  for (const Tensor& t : list) current = wider(current, t);
  return current;
}
template <class T>
requires(!std::is_convertible_v<const T&, TensorList>) DType widest_of(DType current, const T&) {
  return current;
}

/// Call `op` with its arguments cast, with autocast disabled inside.
template <Policy policy, class Op, class... A>
auto call(Op&& op, const A&... arguments) {
  static_assert(policy != Policy::as_is);
  [[maybe_unused]] DType widest = kBFloat16;
  if constexpr (policy == Policy::widest) ((widest = widest_of(widest, arguments)), ...);
  const Cast<policy> cast{widest};
  const Suspended suspended;
  return op(cast(arguments)...);
}

/// First statement of an op `f`: in an autocast scope, call it again with cast operands.
#define AMBIT_AUTOCAST_AS(row, f, ...)                                                     \
  if (::ambit::autocast::is_active()) [[unlikely]] {                                       \
    return ::ambit::autocast::call<::ambit::autocast::policy_of(row)>(                     \
        [&](const auto&... cast_arguments) { return f(cast_arguments...); }, __VA_ARGS__); \
  }
/// As above, if the row has the function's name.
#define AMBIT_AUTOCAST(f, ...) AMBIT_AUTOCAST_AS(#f, f, __VA_ARGS__)

}  // namespace ambit::autocast
