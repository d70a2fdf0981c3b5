// Ops that copy the elements to other places: turned, repeated, on diagonals, or several tensors
// put together. Views are in shape.h, with cat, stack, flip and repeat. Dims may be negative, then
// they count from the end. Any dtype, which stays; those of several tensors promote. Errors of all:
// IndexError (a dim out of range), ShapeError; DeviceMismatchError; Error for an undefined tensor.
// Gradients: every input but numbers of repeats.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// Move the elements shifts[i] places along dims[i]; those beyond the end come back at the front.
/// No dims: one shift, of the flattened tensor. Errors also: ShapeError unless there is a shift for
/// each dim. Source: torch.roll.
AMBIT_API Tensor roll(const Tensor& self, IntArrayRef shifts, IntArrayRef dims = {});
/// Turn the plane of two dims k times by 90 degrees, from the first of them to the second.
/// Errors also: ShapeError unless dims are two different ones. Source: torch.rot90.
AMBIT_API Tensor rot90(const Tensor& self, int64_t k = 1, IntArrayRef dims = {0, 1});
/// Reverse the columns, dim 1, of two dims or more.
AMBIT_API Tensor fliplr(const Tensor& self);
/// Reverse the rows, dim 0, of one dim or more.
AMBIT_API Tensor flipud(const Tensor& self);
/// Repeat each index i of dim repeats[i] times: {a, b} by {1, 2} -> {a, b, b}. repeats int64 or
/// int32 [N] or [1], >= 0; no dim: of the flattened tensor. output_size, the sum of the repeats,
/// saves waiting for it. Errors also: ShapeError for another number of repeats, or another sum;
/// DTypeError; Error for a negative number. Source: torch.repeat_interleave.
AMBIT_API Tensor repeat_interleave(const Tensor& self, const Tensor& repeats,
                                   std::optional<int64_t> dim = {},
                                   std::optional<int64_t> output_size = {});
AMBIT_API Tensor repeat_interleave(const Tensor& self, int64_t repeats,
                                   std::optional<int64_t> dim = {},
                                   std::optional<int64_t> output_size = {});
/// Return each index i repeats[i] times, in order: {1, 2} -> {0, 1, 1}, of repeats' dtype.
AMBIT_API Tensor repeat_interleave(const Tensor& repeats, std::optional<int64_t> output_size = {});
/// Do as repeat, with ones in front of dims where these are fewer than self's.
AMBIT_API Tensor tile(const Tensor& self, IntArrayRef dims);
/// Do as narrow, as a copy.
AMBIT_API Tensor narrow_copy(const Tensor& self, int64_t dim, int64_t start, int64_t length);

/// Of a vector [N] make the matrix with it on the given diagonal, else 0; of a matrix copy that
/// diagonal. [N] -> [N + |diagonal|, N + |diagonal|]. Errors also: ShapeError for other dims.
AMBIT_API Tensor diag(const Tensor& self, int64_t diagonal = 0);
/// Put the last dim on a diagonal of dims dim1 and dim2 of out, else 0: [..,N] -> [.., N +
/// |offset|, N + |offset|]. Errors also: ShapeError for dim1 and dim2 the same and a 0-dim tensor.
AMBIT_API Tensor diag_embed(const Tensor& self, int64_t offset = 0, int64_t dim1 = -2,
                            int64_t dim2 = -1);
/// Do as diag with the flattened tensor.
AMBIT_API Tensor diagflat(const Tensor& self, int64_t offset = 0);
/// Copy the lower triangles of matrices [..,M,N], with the given diagonal (> 0: more of the upper),
/// else 0. In place self keeps them. Errors also: ShapeError for less than two dims.
AMBIT_API Tensor tril(const Tensor& self, int64_t diagonal = 0);
AMBIT_API const Tensor& tril_(const Tensor& self, int64_t diagonal = 0);
/// Copy the upper triangles of matrices [..,M,N], as tril.
AMBIT_API Tensor triu(const Tensor& self, int64_t diagonal = 0);
AMBIT_API const Tensor& triu_(const Tensor& self, int64_t diagonal = 0);

/// Join columns: along dim 1, vectors along dim 0, after atleast_1d.
AMBIT_API Tensor hstack(TensorList tensors);
/// Join rows: along dim 0, after atleast_2d.
AMBIT_API Tensor vstack(TensorList tensors);
/// Do as vstack, under its other name.
AMBIT_API Tensor row_stack(TensorList tensors);
/// Join along dim 2, after atleast_3d.
AMBIT_API Tensor dstack(TensorList tensors);
/// Do as hstack, with vectors and numbers as columns.
AMBIT_API Tensor column_stack(TensorList tensors);
/// Put matrices (vectors as rows, numbers as [1,1]) on the diagonal of one, else 0: the sums of
/// their rows and columns. None: [1,0]. Errors also: ShapeError for more dims.
AMBIT_API Tensor block_diag(TensorList tensors);
/// Return all combinations of an element of each vector as rows, the last one running fastest:
/// [A], [B], [C] -> [A B C, 3]; of one vector itself. Errors also: ShapeError for other dims and
/// for none; DTypeError for different dtypes.
AMBIT_API Tensor cartesian_prod(TensorList tensors);
/// Return all choices of r elements of a vector [N] as rows, in the order of itertools:
/// [C(N, r), r], or with_replacement [C(N + r - 1, r), r]. r = 0: [0]. Errors also: ShapeError for
/// other dims; Error for r < 0; OutOfMemoryError where no host could hold their indices.
AMBIT_API Tensor combinations(const Tensor& self, int64_t r = 2, bool with_replacement = false);

}  // namespace ambit
