// Functions with a given output, name_out(out, arguments...): compute name(arguments...) and write
// the result into out, which is resized if its shape differs. Out may be one of the arguments.
// Several outputs come first, in the order of the results. Errors of all, before anything is
// written: Error for an undefined out, AutogradError if out or an argument requires grad while
// recording (gradients would not flow through), DTypeError if the result cannot be cast to out's
// dtype (floats to integers, numbers to bool), DeviceMismatchError if out is on a different device
// from the result; Error for outputs that share memory; and those of name().
#pragma once

#include <ambit/ops/aliases.h>
#include <ambit/ops/bessel.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/fft.h>
#include <ambit/ops/index.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <ambit/ops/special.h>

#include <concepts>
#include <tuple>
#include <utility>

namespace ambit {
namespace detail {

/// Check an output before its function runs. Errors: Error, AutogradError.
AMBIT_API void check_out(const char* op, const Tensor& out);
/// Write a result into an output.
AMBIT_API void write_out(const char* op, Tensor& out, const Tensor& result);
/// Check several outputs and their results before any is written. Errors: those of write_out; Error
/// for outputs that share memory.
AMBIT_API void check_outs(const char* op, ArrayRef<const Tensor*> outs,
                          ArrayRef<const Tensor*> results);

/// `Out(op, out) << compute()`: out is checked before anything is computed, by C++'s order of
/// evaluation. Not a lambda, since every program would compile hundreds of them.
class Out {
 public:
  Out(const char* op, Tensor& out) : op_(op), out_(out) { check_out(op, out); }
  Tensor& operator<<(const Tensor& result) const {
    write_out(op_, out_, result);
    return out_;
  }

 private:
  const char* op_;
  Tensor& out_;
};

template <class F>
Tensor& fill_out(const char* op, Tensor& out, const F& compute) {
  return Out(op, out) << compute();
}

template <class F, class... Out>
std::tuple<Out&...> fill_outs(const char* op, const F& compute, Out&... out) {
  (check_out(op, out), ...);
  const auto results = compute();
  [&]<size_t... i>(std::index_sequence<i...>) {
    check_outs(op, {&out...}, {&std::get<i>(results)...});
    (write_out(op, out, std::get<i>(results)), ...);
  }
  (std::index_sequence_for<Out...>());
  return {out...};
}

}  // namespace detail

// clang-format off
/// Functions of one tensor; row(name).
#define AMBIT_OUT_FUNCTIONS(row)                                                                  \
  row(abs) row(absolute) row(neg) row(negative) row(sign) row(sgn) row(exp) row(exp2) row(expm1)  \
  row(log) row(log1p) row(log2) row(log10) row(sqrt) row(rsqrt) row(reciprocal) row(square)       \
  row(sin) row(cos) row(tan) row(asin) row(acos) row(atan) row(sinh) row(cosh) row(tanh)          \
  row(asinh) row(acosh) row(atanh) row(arcsin) row(arccos) row(arctan) row(arcsinh) row(arccosh)  \
  row(arctanh) row(sigmoid) row(erf) row(erfc) row(erfinv) row(lgamma) row(digamma) row(i0)       \
  row(sinc) row(frac) row(floor) row(ceil) row(round) row(trunc) row(fix) row(bitwise_not)        \
  row(logical_not) row(gelu) row(logit) row(mvlgamma) row(polygamma) row(deg2rad) row(rad2deg)    \
  row(nan_to_num) row(signbit) row(isposinf) row(isneginf) row(special_i1) row(special_zeta)      \
  row(add) row(sub) row(subtract) row(mul) row(multiply) row(div) row(divide) row(true_divide)    \
  row(floor_divide) row(remainder) row(fmod) row(pow) row(float_power) row(atan2) row(arctan2)    \
  row(hypot) row(copysign) row(nextafter) row(xlogy) row(heaviside) row(ldexp) row(gcd) row(lcm)  \
  row(maximum) row(minimum) row(fmax) row(fmin) row(logaddexp) row(logaddexp2) row(bitwise_and)   \
  row(bitwise_or) row(bitwise_xor) row(bitwise_left_shift) row(bitwise_right_shift) row(eq)       \
  row(ne) row(lt) row(le) row(gt) row(ge) row(not_equal) row(less) row(less_equal) row(greater)   \
  row(greater_equal) row(logical_and) row(logical_or) row(logical_xor) row(clamp) row(clip)       \
  row(clamp_min) row(clamp_max) row(addcmul) row(addcdiv) row(lerp) row(where)                    \
  row(sum) row(nansum) row(mean) row(nanmean) row(prod) row(var) row(std) row(norm) row(renorm)   \
  row(logsumexp) row(amax) row(amin) row(argmax) row(argmin) row(any) row(all) row(cumsum)        \
  row(softmax) row(log_softmax)                                                                   \
  row(matmul) row(mm) row(bmm) row(mv) row(dot) row(vdot) row(inner) row(outer) row(ger)          \
  row(addmm) row(addmv) row(addr) row(addbmm) row(baddbmm) row(tensordot) row(kron) row(cross)    \
  row(chain_matmul) row(matrix_power) row(inverse) row(cholesky) row(cholesky_inverse)            \
  row(cholesky_solve) row(logdet) row(pinverse)                                                   \
  row(cat) row(concat) row(stack) row(hstack) row(vstack) row(dstack) row(column_stack)           \
  row(row_stack) row(diag) row(tril) row(triu) row(index_select) row(gather) row(scatter)         \
  row(scatter_add) row(scatter_reduce) row(index_add) row(index_copy) row(index_reduce)           \
  row(masked_select) row(nonzero) row(take) row(take_along_dim)                                   \
  row(argsort) row(msort) row(cumprod) row(logcumsumexp) row(searchsorted) row(bucketize)         \
  row(histc) row(multinomial) row(normal) row(bernoulli) row(poisson) row(binomial)               \
  row(special_i0e) row(special_i1e) row(special_erfcx) row(special_ndtr) row(special_log_ndtr)    \
  row(special_ndtri) row(special_entr) row(special_xlog1py) row(igamma) row(igammac) row(isnan)   \
  row(isinf) row(relu) row(rsub) row(fill) row(angle) row(clone) row(dist) row(count_nonzero)     \
  row(flip) row(roll) row(rot90) row(repeat) row(repeat_interleave) row(diag_embed) row(diff)     \
  row(masked_fill) row(masked_scatter) row(index_fill) row(put) row(index) row(index_put)         \
  row(select_scatter) row(slice_scatter) row(diagonal_scatter) row(as_strided_scatter)            \
  row(block_diag) row(trace) row(bincount) row(isin) row(orgqr) row(ormqr) row(lu_solve)          \
  row(linalg_cholesky) row(linalg_cond) row(linalg_det) row(linalg_eigvals) row(linalg_eigvalsh)  \
  row(linalg_householder_product) row(linalg_inv) row(linalg_ldl_solve) row(linalg_lu_solve)       \
  row(linalg_matrix_exp)                                                                          \
  row(linalg_matrix_norm) row(linalg_matrix_power) row(linalg_matrix_rank) row(linalg_multi_dot)  \
  row(linalg_norm) row(linalg_pinv) row(linalg_solve) row(linalg_solve_triangular)                \
  row(linalg_svdvals) row(linalg_tensorinv) row(linalg_tensorsolve) row(linalg_vecdot)            \
  row(linalg_vector_norm) row(linalg_matrix_sqrth) row(hash_tensor) row(nonzero_static)           \
  row(median) row(nanmedian) row(segment_reduce)

/// Fourier transforms, functions of one tensor.
#define AMBIT_OUT_TRANSFORMS(row)                                                                 \
  row(fft_fft) row(fft_ifft) row(fft_rfft) row(fft_irfft) row(fft_hfft) row(fft_ihfft)            \
  row(fft_fft2) row(fft_ifft2) row(fft_rfft2) row(fft_irfft2) row(fft_hfft2) row(fft_ihfft2)      \
  row(fft_fftn) row(fft_ifftn) row(fft_rfftn) row(fft_irfftn) row(fft_hfftn) row(fft_ihfftn)

/// Functions of a list of tensors, which may be in braces; also in the table above.
#define AMBIT_OUT_LISTS(row)                                                                      \
  row(cat) row(concat) row(stack) row(hstack) row(vstack) row(dstack) row(column_stack)           \
  row(row_stack) row(block_diag) row(linalg_multi_dot)

/// Functions with two results: name_out(first, second, arguments...); row(name).
#define AMBIT_OUT_PAIRS(row)                                                                      \
  row(aminmax) row(max) row(min) row(median) row(nanmedian) row(mode) row(kthvalue) row(topk)     \
  row(sort) row(cummax) row(cummin) row(var_mean) row(std_mean) row(qr) row(triangular_solve) \
  row(frexp) row(geqrf) row(histogram) row(slogdet) row(linalg_cholesky_ex) row(linalg_eig)       \
  row(linalg_eigh) row(linalg_inv_ex) row(linalg_ldl_factor) row(linalg_lu_factor)                \
  row(linalg_qr)                                                                                  \
  row(linalg_slogdet) row(linalg_polar) row(native_dropout) row(linalg_solve_ex) row(symeig)

/// Functions with three results: name_out(first, second, third, arguments...); row(name).
#define AMBIT_OUT_TRIPLES(row)                                                                    \
  row(svd) row(linalg_svd) row(linalg_ldl_factor_ex) row(linalg_lu) row(linalg_lu_factor_ex)      \
  row(lu_unpack)                                                                                  \
  row(unique_consecutive) row(unique_dim) row(unique_dim_consecutive)
// clang-format on

/// Declare name_out for functions with one output; nn's functions use it, too. A braced list has no
/// type, so the third argument gets an overload for a list of dims.
#define AMBIT_OUT(name)                                                                    \
  /** Write the result of name into out and return out. */                                 \
  template <class... A>                                                                    \
  requires std::same_as<decltype(name(std::declval<A>()...)), Tensor> Tensor& name##_out(  \
      Tensor& out, A&&... a) {                                                             \
    return detail::Out(#name "_out", out) << name(std::forward<A>(a)...);                  \
  }                                                                                        \
  /** Same with dims that may be in braces. */                                             \
  template <class... A>                                                                    \
  requires std::same_as<                                                                   \
      decltype(name(std::declval<Tensor>(), IntArrayRef(), std::declval<A>()...)), Tensor> \
      Tensor& name##_out(Tensor& out, const Tensor& self, IntArrayRef dims, A&&... a) {    \
    return detail::Out(#name "_out", out) << name(self, dims, std::forward<A>(a)...);      \
  }
AMBIT_OUT_FUNCTIONS(AMBIT_OUT)
AMBIT_OUT_TRANSFORMS(AMBIT_OUT)
#define AMBIT_OUT_SPECIAL(name) AMBIT_OUT(special_##name)
AMBIT_BESSEL_FUNCTIONS(AMBIT_OUT_SPECIAL)
AMBIT_POLYNOMIALS(AMBIT_OUT_SPECIAL)
#undef AMBIT_OUT_SPECIAL
/// @cond
#define AMBIT_OUT_LIST(name)                                                                      \
  template <class... A>                                                                           \
  requires std::same_as<decltype(name(std::declval<TensorList>(), std::declval<A>()...)), Tensor> \
      Tensor& name##_out(Tensor& out, TensorList tensors, A&&... a) {                             \
    return detail::Out(#name "_out", out) << name(tensors, std::forward<A>(a)...);                \
  }
AMBIT_OUT_LISTS(AMBIT_OUT_LIST)
#undef AMBIT_OUT_LIST
/// @endcond
/// Declare name_out for functions with two outputs.
#define AMBIT_OUT_PAIR(name)                                                              \
  /** Write the two results of name into first and second; return both. */                \
  template <class... A>                                                                   \
  requires std::same_as<decltype(name(std::declval<A>()...)), std::tuple<Tensor, Tensor>> \
      std::tuple<Tensor&, Tensor&> name##_out(Tensor& first, Tensor& second, A&&... a) {  \
    return detail::fill_outs(                                                             \
        #name "_out", [&] { return name(std::forward<A>(a)...); }, first, second);        \
  }
AMBIT_OUT_PAIRS(AMBIT_OUT_PAIR)
/// Declare name_out for functions with three outputs.
#define AMBIT_OUT_TRIPLE(name)                                                                    \
  /** Write the three results of name into first, second and third; return them. */               \
  template <class... A>                                                                           \
  requires std::same_as<decltype(name(std::declval<A>()...)), std::tuple<Tensor, Tensor, Tensor>> \
      std::tuple<Tensor&, Tensor&, Tensor&> name##_out(Tensor& first, Tensor& second,             \
                                                       Tensor& third, A&&... a) {                 \
    return detail::fill_outs(                                                                     \
        #name "_out", [&] { return name(std::forward<A>(a)...); }, first, second, third);         \
  }
AMBIT_OUT_TRIPLES(AMBIT_OUT_TRIPLE)
AMBIT_OUT_TRIPLE(native_layer_norm)
AMBIT_OUT_TRIPLE(native_batch_norm)
AMBIT_OUT_TRIPLE(native_group_norm)

/// Write max() or min() of two tensors, elementwise, into out.
/// @{
inline Tensor& max_out(Tensor& out, const Tensor& self, const Tensor& other) {
  return maximum_out(out, self, other);
}
inline Tensor& min_out(Tensor& out, const Tensor& self, const Tensor& other) {
  return minimum_out(out, self, other);
}
/// @}

/// Write max() or min() of all elements, [], into out.
/// @{
inline Tensor& max_out(Tensor& out, const Tensor& self) {
  return detail::Out("max_out", out) << max(self);
}
inline Tensor& min_out(Tensor& out, const Tensor& self) {
  return detail::Out("min_out", out) << min(self);
}
/// @}

/// Write norm() over dims, which may be in braces, into out.
inline Tensor& norm_out(Tensor& out, const Tensor& self, const std::optional<Scalar>& p,
                        IntArrayRef dims, bool keepdim = false) {
  return detail::fill_out("norm_out", out, [&] { return norm(self, p, dims, keepdim); });
}

/// Creation functions with an output, of out's dtype and on its device: the values of the function
/// of the same name without `_out`.
/// @{
AMBIT_API Tensor& empty_out(Tensor& out, IntArrayRef sizes,
                            std::optional<MemoryFormat> format = {});
/// Resize out to `sizes`. The layout has no effect: new memory is contiguous.
AMBIT_API Tensor& empty_permuted_out(Tensor& out, IntArrayRef sizes, IntArrayRef physical_layout);
/// Resize out to `sizes`. The strides have no effect: new memory is contiguous.
AMBIT_API Tensor& empty_strided_out(Tensor& out, IntArrayRef sizes, IntArrayRef strides);
AMBIT_API Tensor& scalar_tensor_out(Tensor& out, const Scalar& value);
AMBIT_API Tensor& zeros_out(Tensor& out, IntArrayRef sizes);
AMBIT_API Tensor& ones_out(Tensor& out, IntArrayRef sizes);
AMBIT_API Tensor& full_out(Tensor& out, IntArrayRef sizes, const Scalar& value);
AMBIT_API Tensor& arange_out(Tensor& out, const Scalar& end);
AMBIT_API Tensor& arange_out(Tensor& out, const Scalar& start, const Scalar& end,
                             const Scalar& step = 1);
AMBIT_API Tensor& range_out(Tensor& out, const Scalar& start, const Scalar& end,
                            const Scalar& step = 1);
AMBIT_API Tensor& linspace_out(Tensor& out, const Scalar& start, const Scalar& end, int64_t steps);
AMBIT_API Tensor& logspace_out(Tensor& out, const Scalar& start, const Scalar& end, int64_t steps,
                               double base = 10);
#define AMBIT_BETWEEN(Start, End)                                                                 \
  /** Write linspace of 0-dim tensors or numbers into out; waits for the tensors. */              \
  AMBIT_API Tensor& linspace_out(Tensor& out, const Start& start, const End& end, int64_t steps); \
  /** Write logspace of 0-dim tensors or numbers into out; waits for the tensors. */              \
  AMBIT_API Tensor& logspace_out(Tensor& out, const Start& start, const End& end, int64_t steps,  \
                                 double base = 10);
AMBIT_BETWEEN(Tensor, Tensor)
AMBIT_BETWEEN(Tensor, Scalar)
AMBIT_BETWEEN(Scalar, Tensor)
#undef AMBIT_BETWEEN
AMBIT_API Tensor& tril_indices_out(Tensor& out, int64_t row, int64_t col, int64_t offset = 0);
AMBIT_API Tensor& triu_indices_out(Tensor& out, int64_t row, int64_t col, int64_t offset = 0);
AMBIT_API Tensor& eye_out(Tensor& out, int64_t n);
AMBIT_API Tensor& eye_out(Tensor& out, int64_t n, int64_t m);
AMBIT_API Tensor& rand_out(Tensor& out, IntArrayRef sizes,
                           const std::optional<Generator>& generator = {});
AMBIT_API Tensor& randn_out(Tensor& out, IntArrayRef sizes,
                            const std::optional<Generator>& generator = {});
AMBIT_API Tensor& randint_out(Tensor& out, int64_t high, IntArrayRef sizes,
                              const std::optional<Generator>& generator = {});
AMBIT_API Tensor& randint_out(Tensor& out, int64_t low, int64_t high, IntArrayRef sizes,
                              const std::optional<Generator>& generator = {});
AMBIT_API Tensor& randperm_out(Tensor& out, int64_t n,
                               const std::optional<Generator>& generator = {});
AMBIT_API Tensor& bartlett_window_out(Tensor& out, int64_t window_length, bool periodic = true);
AMBIT_API Tensor& blackman_window_out(Tensor& out, int64_t window_length, bool periodic = true);
AMBIT_API Tensor& hann_window_out(Tensor& out, int64_t window_length, bool periodic = true);
AMBIT_API Tensor& hamming_window_out(Tensor& out, int64_t window_length, bool periodic = true,
                                     double alpha = 0.54, double beta = 0.46);
AMBIT_API Tensor& kaiser_window_out(Tensor& out, int64_t window_length, bool periodic = true,
                                    double beta = 12);
AMBIT_API Tensor& fft_fftfreq_out(Tensor& out, int64_t n, double d = 1);
AMBIT_API Tensor& fft_rfftfreq_out(Tensor& out, int64_t n, double d = 1);
/// @}

/// Write the parts of split() into the tensors of out. Errors: also Error unless there is one for
/// each part.
/// @{
AMBIT_API void unsafe_split_out(TensorList out, const Tensor& self, int64_t split_size,
                                int64_t dim = 0);
AMBIT_API void unsafe_split_with_sizes_out(TensorList out, const Tensor& self,
                                           IntArrayRef split_sizes, int64_t dim = 0);
/// @}

}  // namespace ambit
