// The contract of backends: every kernel op, one typed line each. Outputs first, then inputs, then
// parameters. Kernels may assume: all tensors on one device, outputs allocated with the right shape
// and dtype, and what each comment states. "strided": any strides, including 0 (broadcast inputs)
// and overlapping inputs; "contiguous": core passes contiguous tensors. Outputs never overlap
// inputs, except as the same elements with the same geometry (in-place elementwise ops). Sizes may
// be 0. Ops without "composite" are the minimum that a backend must implement. The dtypes that an
// op computes with are data: op.dtypes(); `ambit ops` prints them. A kernel must support every
// dtype and function of its op. For float16 and bfloat16, which are in no such list, it gets
// float32 instead, or the bits as int16 (detail/upcast_call.h), unless it was registered to accept
// them. copy always accepts them. For uint16, uint32 and uint64 it gets signed integers.
#pragma once

#include <ambit/backend/op.h>
#include <ambit/params.h>

#include <optional>
#include <span>

namespace ambit {
/// The inputs j that result i of a scan covers: j <= i; exclusive: j < i, with the op's identity as
/// the first result; reverse: j >= i or j > i.
struct ScanParams {
  int64_t dim = 0;         ///< in [0, n) of n dims
  bool reverse = false;    ///< from the end of the dim
  bool exclusive = false;  ///< result i does not cover input i
};
}  // namespace ambit

namespace ambit::kernels {
// --- memory
/// y = x, between any two dtypes of dtypes::kEvery; to bool: x != 0; reduced floating-point types
/// may be converted through float32. Floats are truncated to int32 (int64 for y int64): NaN and
/// values out of its range give its smallest number. Narrower integers then wrap. strided.
extern AMBIT_API Op<void(Tensor& y, const Tensor& x)> copy;
/// y[...] = value, converted by the same rules. strided.
extern AMBIT_API Op<void(Tensor& y, const Scalar& value)> fill;
/// y[i] = random number i of the stream, i in row-major order; see philox.h. contiguous.
extern AMBIT_API Op<void(Tensor& y, const RandomParams& p)> random;

// --- elementwise; all operands have y's shape (already broadcast, with strides 0), all strided
/// y = op(x). Functions, their dtypes and y's dtype: function_table.h, here and below.
extern AMBIT_API Op<void(Tensor& y, const Tensor& x, const UnaryOp& op)> unary;
/// y = op(a, b), one dtype for all three. Integers wrap. Throws Error for operands
/// that a function refuses, such as a division by 0.
extern AMBIT_API Op<void(Tensor& y, const Tensor& a, const Tensor& b, const BinaryOp& op)> binary;
/// As above, for x and a number that is converted to the dtype by fill's rules. composite
extern AMBIT_API
    Op<void(Tensor& y, const Tensor& x, const ScalarOperand& number, const BinaryOp& op)>
        binary_scalar;
/// y = op(a, b, c), one dtype for all; if c is undefined, `number` is used, converted by fill's
/// rules. Intermediate products of floats may be rounded or fused. composite
extern AMBIT_API Op<void(Tensor& y, const Tensor& a, const Tensor& b, const Tensor& c,
                         const Scalar& number, const TernaryOp& op)>
    ternary;
/// y = minimum(maximum(x, min), max), one dtype, as in BinaryOp; a missing bound is not applied.
/// composite
extern AMBIT_API Op<void(Tensor& y, const Tensor& x, const std::optional<Scalar>& min,
                         const std::optional<Scalar>& max)>
    clamp;
/// dx = dy if min < x < max, else 0; one floating dtype. Where x is NaN: dy if passes_nan or
/// neither bound is given, else 0. composite
extern AMBIT_API
    Op<void(Tensor& dx, const Tensor& dy, const Tensor& x, const std::optional<Scalar>& min,
            const std::optional<Scalar>& max, bool passes_nan)>
        clamp_grad;
/// y = op(a, b), y bool, a and b of one dtype.
extern AMBIT_API Op<void(Tensor& y, const Tensor& a, const Tensor& b, const CompareOp& op)> compare;
/// y = op(x, number), y bool, the number converted to x's dtype. composite
extern AMBIT_API Op<void(Tensor& y, const Tensor& x, const Scalar& number, const CompareOp& op)>
    compare_scalar;
/// y = condition ? a : b, condition bool, the others of one dtype.
extern AMBIT_API Op<void(Tensor& y, const Tensor& condition, const Tensor& a, const Tensor& b)>
    where;
/// y = mask == masked ? value : x, mask bool, the others of one dtype. composite
extern AMBIT_API
    Op<void(Tensor& y, const Tensor& x, const Tensor& mask, const Scalar& value, bool masked)>
        masked_fill;

// --- reductions
/// y = op over every dim where y's size is 1 and x's is not; y and x have the same number of dims.
/// strided x, contiguous y. sum, prod: y of x's dtype (x bool: y int64); narrower integers may be
/// summed into int64 y; mean: floats; max, min: x's dtype, not empty, NaN propagates; any, all: y
/// bool, any x.
extern AMBIT_API Op<void(Tensor& y, const Tensor& x, const ReduceOp& op)> reduce;
/// index = position along dim of the maximum (or minimum), the first one of equals, NaN counts as
/// the extremum; int64, size 1 at dim. value, if defined, is that element. strided x.
extern AMBIT_API Op<void(Tensor& value, Tensor& index, const Tensor& x, int64_t dim, bool largest)>
    arg_reduce;
/// y[.., i, ..] = op over j of x[.., j, ..], same dtype; the identities are 0, 1 and -inf. strided
/// x, contiguous y.
extern AMBIT_API Op<void(Tensor& y, const Tensor& x, const ScanParams& p, const ScanOp& op)> scan;
/// y[.., i, ..] = largest (or smallest) of x[.., j, ..], j <= i; index int64 = its j, the last one
/// of equals; NaN propagates. strided x, the others contiguous. composite
extern AMBIT_API Op<void(Tensor& y, Tensor& index, const Tensor& x, int64_t dim, bool largest)>
    cum_extremum;

// --- sorting; NaN counts as the largest number, in either order. strided x, the others contiguous
/// y = x sorted along dim, index int64 = original positions along dim; stable, also if descending.
/// composite
extern AMBIT_API Op<void(Tensor& y, Tensor& index, const Tensor& x, int64_t dim, bool descending)>
    sort;
/// The first k elements of sort: y and index have size k along dim, 0 < k <= x's size; descending
/// if largest. composite
extern AMBIT_API Op<void(Tensor& y, Tensor& index, const Tensor& x, int64_t dim, bool largest)>
    topk;
/// index [R,M] int64 = insertion position of x [R,M] in the row of sorted [R,N] or [1,N], by binary
/// search in [0, N) with mid = low + (high - low) / 2: continue right of mid if !(sorted[mid] >=
/// x), or if `right`, !(sorted[mid] > x), so that NaN goes to the end. x contiguous too. composite
extern AMBIT_API Op<void(Tensor& index, const Tensor& sorted, const Tensor& x, bool right)>
    searchsorted;

// --- indexing; index int64, strided; an index out of range: IndexError, nothing written for it
/// y[i][j][k] = x[i][index[i][j][k]][k] for dim 1, and likewise for others. y has index's shape.
/// strided x.
extern AMBIT_API Op<void(Tensor& y, const Tensor& x, const Tensor& index, int64_t dim)> gather;
/// y[i][index[i][j][k]][k] = src[i][j][k]; for duplicate indices the result is undefined.
extern AMBIT_API Op<void(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim)> scatter;
/// y[i][index[i][j][k]][k] += src[i][j][k].
extern AMBIT_API Op<void(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim)>
    scatter_add;
/// y[i][index[i][j][k]][k] = op(itself, src[i][j][k]), once for each index. composite
extern AMBIT_API
    Op<void(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim, const ScatterOp& op)>
        scatter_reduce;
/// y [n, dim(x)] int64 = coordinates of the n true elements of x, row-major. x bool, contiguous;
/// core has counted n.
extern AMBIT_API Op<void(Tensor& y, const Tensor& x)> nonzero;
/// y = the rows `index` [n] of x along dim. strided x. composite
extern AMBIT_API Op<void(Tensor& y, const Tensor& x, const Tensor& index, int64_t dim)>
    index_select;
/// y += the rows of src, at `index` [n] of dim: the gradient of index_select. composite
extern AMBIT_API Op<void(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim)> index_add;
/// y [B,D] = for each bag b the sum, mean or maximum of rows w[index[i]] of w [V,D], times
/// factors[i] (sum, mean; may be undefined: ones), over offsets[b] <= i < offsets[b + 1] with
/// index[i] not padding; 0 for an empty bag. best [B,D] int64, defined for the maximum only: the i
/// of the first maximum, where a NaN counts only as the first row; -1 for an empty bag. index [n],
/// offsets [B+1] non-decreasing in [0, n], otherwise y is undefined. Floats; contiguous. composite
extern AMBIT_API Op<void(Tensor& y, Tensor& best, const Tensor& w, const Tensor& index,
                         const Tensor& offsets, const Tensor& factors, const EmbeddingBagParams& p)>
    embedding_bag;
/// dw [V,D] from dy [B,D]: the sum over i of factors[i] * dy[b]; mean: divided by the number of i
/// in b; maximum: dy[b,d] for i = best[b,d]; 0 for rows in no bag. composite
extern AMBIT_API Op<void(Tensor& dw, const Tensor& dy, const Tensor& best, const Tensor& index,
                         const Tensor& offsets, const Tensor& factors, const EmbeddingBagParams& p)>
    embedding_bag_grad;

// --- linear algebra
/// y [B,M,N] = a [B,M,K] b [B,K,N], 0 if K is 0. strided a and b, contiguous y; not bool.
extern AMBIT_API Op<void(Tensor& y, const Tensor& a, const Tensor& b)> matmul;
/// y [M,N] = x [M,K] w[N,K]^T + b [N]; b may be undefined. strided x and w. composite
extern AMBIT_API Op<void(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b)> linear;
/// y = map(linear), floats; NaN propagates. composite
extern AMBIT_API Op<void(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b,
                         const ActivationParams& map)>
    linear_map;
/// y [M,N] = (sum over k of q[m,k] w[n,k]) * (s[m] * scale[n]) + b [N], with an exact integer sum,
/// for x [M,K] quantised by rows to q and s, as by quantize_rows (ops/quantized.h); w [N,K] int8,
/// scale [N], b may be undefined, the rest float32; K <= 2^17, so that sums fit int32. contiguous.
/// composite
extern AMBIT_API
    Op<void(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& scale, const Tensor& b)>
        linear_int8;
/// y [B,N,C,2] = scale times the discrete Fourier transform of x [B,N,C,2] along N;
/// pairs are real and imaginary parts: y[b,k,c] = scale * sum over j of exp(-2 pi i j k / N)
/// x[b,j,c], or of exp(2 pi i j k / N) x[b,j,c] if inverse. Floats; contiguous. composite
extern AMBIT_API Op<void(Tensor& y, const Tensor& x, bool inverse, double scale)> fft_pairs;
/// y [B,N/2+1,C,2] = elements 0 to N / 2 of the transform of fft_pairs, not inverse, of the real
/// numbers x [B,N,C]. inverse: y [B,N,C] = the inverse transform of N pairs, which is real; x
/// [B,N/2+1,C,2] are the first of them, pair N - k is the conjugate of pair k, and the imaginary
/// parts of pairs 0 and N / 2 count as 0. N > 0; floats; contiguous. composite
extern AMBIT_API Op<void(Tensor& y, const Tensor& x, bool inverse, double scale)> fft_real;

// --- factorisations; floats; contiguous; batches [B,...] of matrices; K = min(M, N)
/// lu [B,M,N] = U, and L below its diagonal, of x [B,M,N] = P L U with partial pivoting; pivots
/// [B,K] int32, from 1: rows i and pivots[i] were exchanged, in order of i; info [B] int32: 0, or
/// the first i, from 1, with U[i][i] = 0. composite
extern AMBIT_API Op<void(Tensor& lu, Tensor& pivots, Tensor& info, const Tensor& x)> lu_factor;
/// y [B,N,R] = solution of A y = b [B,N,R], or A^T y = b if transpose, from A's lu [B,N,N] and
/// pivots [B,N] of lu_factor. A pivot outside [1, N]: IndexError. composite
extern AMBIT_API
    Op<void(Tensor& y, const Tensor& lu, const Tensor& pivots, const Tensor& b, bool transpose)>
        lu_solve;
/// y [B,N,N] = L of x = L L^T, or U of x = U^T U if upper; only that triangle of x is read, the
/// other one of y is 0. info [B] int32: 0, or the order of the first leading minor that is not
/// positive; y is then undefined. composite
extern AMBIT_API Op<void(Tensor& y, Tensor& info, const Tensor& x, bool upper)> cholesky;
/// q [B,M,C], r [B,C,N] = factors of x [B,M,N], with C = K or M; q may be undefined. r is 0 below
/// its diagonal; signs are those of Householder reflections. composite
extern AMBIT_API Op<void(Tensor& q, Tensor& r, const Tensor& x)> qr;
/// values [B,N] ascending, vectors [B,N,N] in columns (may be undefined) of symmetric x, of which
/// only the lower, or upper, triangle is read; info [B] int32: 0, or positive: no convergence.
/// composite
extern AMBIT_API
    Op<void(Tensor& values, Tensor& vectors, Tensor& info, const Tensor& x, bool upper)>
        eigh;
/// values [B,N,2], in any order, and vectors [B,N,N,2] in columns of norm 1 (may be undefined), as
/// real and imaginary parts, of square x [B,N,N,P]: real numbers if P = 1, such parts if P = 2.
/// info as in eigh. composite
extern AMBIT_API Op<void(Tensor& values, Tensor& vectors, Tensor& info, const Tensor& x)> eig;
/// u [B,M,C], s [B,K] descending, vh [B,D,N] of x [B,M,N], with C = D = K, or C = M and D = N; u
/// and vh may both be undefined. info as in eigh. composite
extern AMBIT_API Op<void(Tensor& u, Tensor& s, Tensor& vh, Tensor& info, const Tensor& x)> svd;
/// y [B,N,R] = solution of A y = b [B,N,R], A [B,N,N] triangular as p says. composite
extern AMBIT_API Op<void(Tensor& y, const Tensor& a, const Tensor& b, const TriangularParams& p)>
    triangular_solve;

// --- convolution and pooling; floats; contiguous
/// y [N,K,...] = cross-correlation of x [N,C,...] with w [K,C/groups,...], + b [K] if defined; one
/// to three spatial dims, the same number in all.
extern AMBIT_API
    Op<void(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b, const ConvParams& p)>
        convolution;
/// y = map(convolution); NaN propagates. composite
extern AMBIT_API Op<void(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b,
                         const ConvParams& p, const ActivationParams& map)>
    convolution_map;
/// dx [N,C,...] from dy [N,K,...] and w. Also the transposed convolution, with dy as its input;
/// output_padding only makes dx larger. composite
extern AMBIT_API Op<void(Tensor& dx, const Tensor& dy, const Tensor& w, const ConvParams& p)>
    convolution_input_grad;
/// dw [K,C/groups,...] from dy [N,K,...] and x. composite
extern AMBIT_API Op<void(Tensor& dw, const Tensor& dy, const Tensor& x, const ConvParams& p)>
    convolution_weight_grad;
/// y [N,C,out...] = maximum of each window of x [N,C,in...], in one to three spatial dims; the last
/// NaN propagates; index [N,C,out...] int32 = its row-major position in x[n,c], of the first of
/// equal elements; undefined if not needed. x[n,c] has less than 2^31 elements; every window
/// contains at least one.
extern AMBIT_API Op<void(Tensor& y, Tensor& index, const Tensor& x, const PoolParams& p)> max_pool;
/// dx [N,C,in...] = dy [N,C,out...] added at `index`, zero elsewhere.
extern AMBIT_API Op<void(Tensor& dx, const Tensor& dy, const Tensor& index, const PoolParams& p)>
    max_pool_grad;
/// y [N,C,out...] = mean of each window of x [N,C,in...]. composite
extern AMBIT_API Op<void(Tensor& y, const Tensor& x, const PoolParams& p)> avg_pool;
/// dx [N,C,in...] from dy [N,C,out...]. composite
extern AMBIT_API Op<void(Tensor& dx, const Tensor& dy, const PoolParams& p)> avg_pool_grad;
/// y [N,C,out...] = x [N,C,in...] resized in one to three spatial dims: along each, element i is
/// the weighted sum of elements of x given by interpolation.h. composite
extern AMBIT_API Op<void(Tensor& y, const Tensor& x, const InterpolateParams& p)> interpolate;
/// dx [N,C,in...] from dy [N,C,out...] with the same weights. composite
extern AMBIT_API Op<void(Tensor& dx, const Tensor& dy, const InterpolateParams& p)>
    interpolate_grad;

// --- normalisation; floats; contiguous
/// y = softmax of x along dim, or log_softmax if log. composite
extern AMBIT_API Op<void(Tensor& y, const Tensor& x, int64_t dim, bool log)> softmax;
/// dx = y * (dy - sum(dy * y)) along dim; if log: dx = dy - exp(y) * sum(dy). composite
extern AMBIT_API Op<void(Tensor& dx, const Tensor& dy, const Tensor& y, int64_t dim, bool log)>
    softmax_grad;
/// y = (x - mean) * invstd * w + b per channel (dim 1) of x [N,C,...]; w, b [C] may be undefined.
/// training: mean and invstd [C] are written from the batch (biased variance), and running_mean and
/// running_var [C], if defined, are updated (unbiased variance); otherwise mean and invstd are
/// written from the running statistics, which are float32 if x is float16 or bfloat16. composite
extern AMBIT_API
    Op<void(Tensor& y, Tensor& mean, Tensor& invstd, Tensor& running_mean, Tensor& running_var,
            const Tensor& x, const Tensor& w, const Tensor& b, const BatchNormParams& p)>
        batch_norm;
/// dx, dw [C], db [C]; dw and db are always defined. composite
extern AMBIT_API
    Op<void(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy, const Tensor& x, const Tensor& w,
            const Tensor& mean, const Tensor& invstd, const BatchNormParams& p)>
        batch_norm_grad;
/// y = (x - mean) * invstd * w + b per row of x [M,N], N > 0; w, b [N] may be undefined. mean and
/// invstd [M] are written: if centered, the row's mean and 1 / sqrt(its biased variance + eps);
/// else 0 and 1 / sqrt(mean(x^2) + eps), as in RMS normalisation. composite
extern AMBIT_API Op<void(Tensor& y, Tensor& mean, Tensor& invstd, const Tensor& x, const Tensor& w,
                         const Tensor& b, double eps, bool centered)>
    layer_norm;
/// dx [M,N], dw [N], db [N] from dy [M,N], with u = (x - mean) * invstd and g = dy * w: dx = invstd
/// * (g - mean(g) - u * mean(g * u)), mean(g) only if centered; dw, db always defined. composite
extern AMBIT_API Op<void(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy, const Tensor& x,
                         const Tensor& w, const Tensor& mean, const Tensor& invstd, bool centered)>
    layer_norm_grad;
/// y = (x - mean) * invstd * w + b for non-empty x [N,C,...], whose channels form G groups of C /
/// G: mean and invstd [N,G] are written: each group's mean and 1 / sqrt(its biased variance + eps);
/// w, b [C] may be undefined. composite
extern AMBIT_API Op<void(Tensor& y, Tensor& mean, Tensor& invstd, const Tensor& x, const Tensor& w,
                         const Tensor& b, double eps)>
    group_norm;
/// dx [N,C,...], dw [C], db [C] from dy, as in layer_norm_grad with means over a group; dw and db
/// always defined. composite
extern AMBIT_API Op<void(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy, const Tensor& x,
                         const Tensor& w, const Tensor& mean, const Tensor& invstd)>
    group_norm_grad;

// --- attention; floats; strided, except lse, which is contiguous; not empty
/// y [B,H,L,F] = softmax(s) v with s = scale * q k^T + mask of q [B,H,L,E], k [B,H,S,E], v
/// [B,H,S,F]; mask [B,H,L,S] may be undefined; causal: query i attends to keys up to i only. lse
/// [2,B,H,L]: max(s), and log(sum(exp(s - max(s)))); both NaN, like y, if all s are -inf. composite
extern AMBIT_API Op<void(Tensor& y, Tensor& lse, const Tensor& q, const Tensor& k, const Tensor& v,
                         const Tensor& mask, const AttentionParams& p)>
    attention;
/// dq, dk, dv from dy [B,H,L,F], y and lse: dq = scale * ds k, dk = scale * ds^T q, dv = w^T dy,
/// with w = exp((s - lse[0]) - lse[1]) and ds = w * (dy v^T - sum(dy * y)). composite
extern AMBIT_API Op<void(Tensor& dq, Tensor& dk, Tensor& dv, const Tensor& dy, const Tensor& q,
                         const Tensor& k, const Tensor& v, const Tensor& mask, const Tensor& y,
                         const Tensor& lse, const AttentionParams& p)>
    attention_grad;

// --- steps of recurrent networks; floats; contiguous
/// h, c [B,H] from gates a + b [B,4H] and c0 [B,H]: i, f, g, o = sigmoid, sigmoid, tanh, sigmoid of
/// their quarters, stored in gates [B,4H]; c = f * c0 + i * g, h = o * tanh(c). composite
extern AMBIT_API Op<void(Tensor& h, Tensor& c, Tensor& gates, const Tensor& a, const Tensor& b,
                         const Tensor& c0)>
    lstm_cell;
/// da [B,4H], equal to db, and dc0 [B,H] from dh and dc [B,H], of which one may be undefined
/// (zeros). composite
extern AMBIT_API Op<void(Tensor& da, Tensor& dc0, const Tensor& dh, const Tensor& dc,
                         const Tensor& gates, const Tensor& c, const Tensor& c0)>
    lstm_cell_grad;
/// h [B,H] from a and b [B,3H] and h0 [B,H]: r, z = sigmoid of the first two thirds of a + b, n =
/// tanh(third part of a + r * third part of b); h = n + z * (h0 - n). gates [B,4H] stores r, z, n
/// and the third part of b. composite
extern AMBIT_API
    Op<void(Tensor& h, Tensor& gates, const Tensor& a, const Tensor& b, const Tensor& h0)>
        gru_cell;
/// da, db [B,3H] and dh0 [B,H] from dh [B,H]. composite
extern AMBIT_API Op<void(Tensor& da, Tensor& db, Tensor& dh0, const Tensor& dh, const Tensor& gates,
                         const Tensor& h0)>
    gru_cell_grad;

// --- losses
/// y [N] = -w[t] * x[n, t] and weight_sum [] = sum of w[t] over n with t != ignore_index; x [N,C]
/// log-probabilities, target [N] int64, w [C] may be undefined (ones); 0 for ignored rows.
/// contiguous. composite
extern AMBIT_API Op<void(Tensor& y, Tensor& weight_sum, const Tensor& x, const Tensor& target,
                         const Tensor& w, int64_t ignore_index)>
    nll_loss;
/// As above, for logits x, in one pass: y = w[t] * -log(softmax(x[n])[t]). contiguous. composite
extern AMBIT_API Op<void(Tensor& y, Tensor& weight_sum, const Tensor& x, const Tensor& target,
                         const Tensor& w, int64_t ignore_index)>
    cross_entropy;
/// dx [N,C] = g[n] * w[t] * (softmax(x[n]) - onehot(t)), ignored rows 0. strided g [N], the others
/// contiguous. composite
extern AMBIT_API Op<void(Tensor& dx, const Tensor& g, const Tensor& x, const Tensor& target,
                         const Tensor& w, int64_t ignore_index)>
    cross_entropy_grad;
/// y [N] = CTC loss: -log of the probability of the first target_lengths[n] labels of row n of
/// target [N,S], given the first lengths[n] steps of x [T,N,C], log-probabilities; inf if no path
/// exists. alpha [N,T,2S+1]: the log-probability of all paths up to time t in state l of the labels
/// with blanks between them; -inf beyond the lengths. Lengths [N] int64, within T and S; target
/// int64, in [0, C) within its length. contiguous. composite
extern AMBIT_API Op<void(Tensor& y, Tensor& alpha, const Tensor& x, const Tensor& target,
                         const Tensor& lengths, const Tensor& target_lengths, int64_t blank)>
    ctc_loss;
/// dx [T,N,C] = g[n] * (exp(x) - the posterior probability of that label at that time), the latter
/// 0 where y is inf; 0 from lengths[n] on. strided g [N], the others contiguous. composite
extern AMBIT_API Op<void(Tensor& dx, const Tensor& g, const Tensor& x, const Tensor& target,
                         const Tensor& lengths, const Tensor& target_lengths, const Tensor& y,
                         const Tensor& alpha, int64_t blank)>
    ctc_loss_grad;

// --- optimizers; lists of equal length and one float dtype, element i of each with the same sizes;
// contiguous
/// p[i], buf[i] updated in place by SGD with gradient g[i]; without momentum buf is empty.
/// composite
extern AMBIT_API Op<void(TensorList p, TensorList buf, TensorList g, const SgdParams& params)>
    sgd_step;
/// p[i] and its moments m[i] (of g[i]) and v[i] (of its square) updated in place by Adam, or AdamW
/// if the decay is decoupled. t is empty, or holds the number of earlier steps, float32 of sizes
/// []: the step is then number t[i] + 1 instead of params.step. composite
extern AMBIT_API Op<void(TensorList p, TensorList m, TensorList v, TensorList t, TensorList g,
                         const AdamParams& params)>
    adam_step;
/// g[i] *= factor, which is rounded to float32 unless g is float64; found, float32 of sizes [],
/// becomes 1 if an element of any g[i] was infinite or NaN, else it is unchanged. composite
extern AMBIT_API Op<void(TensorList g, Tensor& found, double factor)> unscale;

}  // namespace ambit::kernels

/// Every kernel op of this file, in order, as row(name). Everything that declares, registers, lists
/// or tests all kernels is generated from this list.
// clang-format off
#define AMBIT_KERNELS(row)                                                                        \
  row(copy) row(fill) row(random) row(unary) row(binary) row(binary_scalar) row(ternary)          \
  row(clamp) row(clamp_grad) row(compare) row(compare_scalar) row(where) row(masked_fill)         \
  row(reduce) row(arg_reduce) row(scan) row(cum_extremum) row(sort) row(topk) row(searchsorted)   \
  row(gather) row(scatter) row(scatter_add) row(scatter_reduce) row(nonzero) row(index_select)    \
  row(index_add) row(embedding_bag) row(embedding_bag_grad) row(matmul) row(linear)               \
  row(linear_map) row(linear_int8) row(fft_pairs) row(fft_real) row(lu_factor) row(lu_solve)      \
  row(cholesky) row(qr) row(eigh) row(eig) row(svd) row(triangular_solve) row(convolution)        \
  row(convolution_map) row(convolution_input_grad) row(convolution_weight_grad) row(max_pool)     \
  row(max_pool_grad) row(avg_pool) row(avg_pool_grad) row(interpolate) row(interpolate_grad)      \
  row(softmax) row(softmax_grad) row(batch_norm) row(batch_norm_grad) row(layer_norm)             \
  row(layer_norm_grad) row(group_norm) row(group_norm_grad) row(attention) row(attention_grad)    \
  row(lstm_cell) row(lstm_cell_grad) row(gru_cell) row(gru_cell_grad) row(nll_loss)               \
  row(cross_entropy) row(cross_entropy_grad) row(ctc_loss) row(ctc_loss_grad) row(sgd_step)       \
  row(adam_step) row(unscale)
// clang-format on

namespace ambit {
namespace kernels {
#define AMBIT_REFERENCE(name) std::tie(name),
/// All kernel ops as a tuple of references, with their types.
inline constexpr auto all = std::tuple_cat(AMBIT_KERNELS(AMBIT_REFERENCE) std::tuple<>());
#undef AMBIT_REFERENCE
}  // namespace kernels

/// Return all kernel ops, type-erased.
AMBIT_API std::span<OpBase* const> all_ops();
}  // namespace ambit
