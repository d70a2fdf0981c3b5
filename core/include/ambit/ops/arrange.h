// Ops that copy elements to other positions: rolled, rotated, repeated, on diagonals, or several
// tensors joined. Views, cat, stack, flip and repeat are in shape.h. Negative dims count from the
// end. Any dtype is kept; dtypes of several tensors promote. Errors of all: IndexError (a dim out
// of range), ShapeError; DeviceMismatchError; Error for an undefined tensor. Gradients: every input
// except repeat counts.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Roll the elements by shifts[i] along dims[i]; elements beyond the end wrap around. Without dims:
/// one shift, of the flattened tensor. Errors: also ShapeError unless there is one shift for each
/// dim. Source: torch.roll.
AMBIT_API Tensor roll(const Tensor& self, IntArrayRef shifts, IntArrayRef dims = {});
/// Rotate the plane of two dims k times by 90 degrees, from the first dim to the second. Errors:
/// also ShapeError unless dims are two different ones. Source: torch.rot90.
AMBIT_API Tensor rot90(const Tensor& self, int64_t k = 1, IntArrayRef dims = {0, 1});
/// Reverse the columns (dim 1) of a tensor with two or more dims.
AMBIT_API Tensor fliplr(const Tensor& self);
/// Reverse the rows (dim 0) of a tensor with one or more dims.
AMBIT_API Tensor flipud(const Tensor& self);
/// Repeat each index i of dim repeats[i] times: {a, b} by {1, 2} -> {a, b, b}. repeats int64 or
/// int32 [N] or [1], >= 0; without dim: of the flattened tensor. output_size, if given, must be the
/// sum of the repeats and avoids waiting for the device. Errors: also ShapeError for a wrong number
/// of repeats or a wrong sum; DTypeError; Error for a negative number. Source:
/// torch.repeat_interleave.
/// @{
AMBIT_API Tensor repeat_interleave(const Tensor& self, const Tensor& repeats,
                                   std::optional<int64_t> dim = {},
                                   std::optional<int64_t> output_size = {});
AMBIT_API Tensor repeat_interleave(const Tensor& self, int64_t repeats,
                                   std::optional<int64_t> dim = {},
                                   std::optional<int64_t> output_size = {});
/// @}
/// Return each index i repeats[i] times, in order: {1, 2} -> {0, 1, 1}, of repeats' dtype.
AMBIT_API Tensor repeat_interleave(const Tensor& repeats, std::optional<int64_t> output_size = {});
/// Same as repeat, but missing dims at the front of `dims` count as 1.
AMBIT_API Tensor tile(const Tensor& self, IntArrayRef dims);
/// Same as narrow, but copies.
AMBIT_API Tensor narrow_copy(const Tensor& self, int64_t dim, int64_t start, int64_t length);

/// Build a matrix with the vector [N] on the given diagonal and 0 elsewhere: [N + |diagonal|, N +
/// |diagonal|]; or copy that diagonal of a matrix. Errors: also ShapeError for other dims.
AMBIT_API Tensor diag(const Tensor& self, int64_t diagonal = 0);
/// Put the last dim on a diagonal of dims dim1 and dim2 of out, 0 elsewhere: [..,N] -> [.., N +
/// |offset|, N + |offset|]. Errors: also ShapeError for dim1 = dim2 and for a 0-dim tensor.
AMBIT_API Tensor diag_embed(const Tensor& self, int64_t offset = 0, int64_t dim1 = -2,
                            int64_t dim2 = -1);
/// Same as diag of the flattened tensor.
AMBIT_API Tensor diagflat(const Tensor& self, int64_t offset = 0);
/// Copy the lower triangles of matrices [..,M,N] up to the given diagonal (> 0: includes more of
/// the upper), 0 elsewhere. In place, the rest of self becomes 0. Errors: also ShapeError for less
/// than two dims.
/// @{
AMBIT_API Tensor tril(const Tensor& self, int64_t diagonal = 0);
AMBIT_API const Tensor& tril_(const Tensor& self, int64_t diagonal = 0);
/// @}
/// Copy the upper triangles of matrices [..,M,N], like tril.
/// @{
AMBIT_API Tensor triu(const Tensor& self, int64_t diagonal = 0);
AMBIT_API const Tensor& triu_(const Tensor& self, int64_t diagonal = 0);
/// @}

/// Join columns: along dim 1, vectors along dim 0, after atleast_1d.
AMBIT_API Tensor hstack(TensorList tensors);
/// Join rows: along dim 0, after atleast_2d.
AMBIT_API Tensor vstack(TensorList tensors);
/// Alias of vstack.
AMBIT_API Tensor row_stack(TensorList tensors);
/// Join along dim 2, after atleast_3d.
AMBIT_API Tensor dstack(TensorList tensors);
/// Same as hstack, with vectors and 0-dim tensors as columns.
AMBIT_API Tensor column_stack(TensorList tensors);
/// Build a block-diagonal matrix of matrices (vectors are rows, 0-dim tensors [1,1]), 0 elsewhere.
/// No tensors: [1,0]. Errors: also ShapeError for more dims.
AMBIT_API Tensor block_diag(TensorList tensors);
/// Return the Cartesian product of vectors as rows, the last vector varying fastest: [A], [B], [C]
/// -> [A B C, 3]; a single vector is returned itself. Errors: also ShapeError for other dims and
/// for no tensors; DTypeError for different dtypes.
AMBIT_API Tensor cartesian_prod(TensorList tensors);
/// Return all combinations of r elements of a vector [N] as rows, in the order of Python's
/// itertools: [C(N, r), r], or with_replacement [C(N + r - 1, r), r]. r = 0: [0]. Errors: also
/// ShapeError for other dims; Error for r < 0; OutOfMemoryError if the indices do not fit in host
/// memory.
AMBIT_API Tensor combinations(const Tensor& self, int64_t r = 2, bool with_replacement = false);

}  // namespace ambit
