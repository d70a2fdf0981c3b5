// Ops that only change the shape; what makes new arrangements of the elements is in arrange.h.
// "View": an alias of self's memory, through which writes are seen on both sides. Dims may be
// negative, then they count from the end. Any dtype, which stays.
// Errors of all: IndexError (a dim or index out of range), ShapeError; Error for an undefined
// tensor. Gradients: every input.
// In place (`name_`) self itself becomes that view, and is returned: other handles on it change
// with it, its views and its memory stay as they are. Errors also: AutogradError for a leaf that
// requires grad, outside of NoGradGuard.
#pragma once

#include <ambit/tensor.h>

#include <string_view>

namespace ambit {

/// View the elements, in row-major order, with other sizes of the same number of elements; one of
/// them may be -1, which is found out. Errors also: ShapeError where self's strides allow no alias.
AMBIT_API Tensor view(const Tensor& self, IntArrayRef sizes);
/// View the bytes as elements of another dtype. One of another size makes the last dim, which must
/// be contiguous, shorter or longer in proportion. Errors also: ShapeError where its bytes are no
/// whole number of elements, or where strides and offset do not divide. bool shows bytes of 0 and 1
/// only. No gradient.
AMBIT_API Tensor view(const Tensor& self, DType dtype);
/// Do as view where an alias is possible, else return a contiguous copy of those sizes.
AMBIT_API Tensor reshape(const Tensor& self, IntArrayRef sizes);
/// View with two dims exchanged: out[.., j, .., i, ..] = self[.., i, .., j, ..].
/// sizes and strides at dim0 and dim1 trade places; a 0-dim tensor stays as it is.
AMBIT_API Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1);
AMBIT_API const Tensor& transpose_(const Tensor& self, int64_t dim0, int64_t dim1);
/// Do as transpose, under numpy's names.
AMBIT_API Tensor swapaxes(const Tensor& self, int64_t axis0, int64_t axis1);
AMBIT_API const Tensor& swapaxes_(const Tensor& self, int64_t axis0, int64_t axis1);
AMBIT_API Tensor swapdims(const Tensor& self, int64_t dim0, int64_t dim1);
AMBIT_API const Tensor& swapdims_(const Tensor& self, int64_t dim0, int64_t dim1);
/// View the matrices of the last two dims transposed: [...,M,N] -> [...,N,M]. A 0-dim tensor stays
/// as it is. Errors also: ShapeError for a vector.
AMBIT_API Tensor adjoint(const Tensor& self);
/// View with the dims in another order: dim i of out is dim dims[i] of self, with its size and
/// stride. Errors also: ShapeError unless dims names each dim once.
AMBIT_API Tensor permute(const Tensor& self, IntArrayRef dims);
/// View with dim source[i] of self at destination[i] of out; the other dims keep their order.
/// Errors also: ShapeError unless both lists are as long and name a dim once at most.
AMBIT_API Tensor movedim(const Tensor& self, IntArrayRef source, IntArrayRef destination);
AMBIT_API Tensor movedim(const Tensor& self, int64_t source, int64_t destination);
/// Do as movedim, under numpy's name.
AMBIT_API Tensor moveaxis(const Tensor& self, IntArrayRef source, IntArrayRef destination);
AMBIT_API Tensor moveaxis(const Tensor& self, int64_t source, int64_t destination);
/// View a matrix [M,N] transposed, [N,M]; fewer dims stay. Errors also: ShapeError for more.
AMBIT_API Tensor t(const Tensor& self);
AMBIT_API const Tensor& t_(const Tensor& self);
/// View without the dims of size 1: [1,M,1,N] -> [M,N].
AMBIT_API Tensor squeeze(const Tensor& self);
AMBIT_API const Tensor& squeeze_(const Tensor& self);
/// View without this dim if it has size 1, else with the same sizes.
AMBIT_API Tensor squeeze(const Tensor& self, int64_t dim);
AMBIT_API const Tensor& squeeze_(const Tensor& self, int64_t dim);
/// View with a dim of size 1 inserted, which becomes dim `dim` of out, in [-n - 1, n] for n dims:
/// [M,N] -> [M,1,N] for dim 1 or -2.
AMBIT_API Tensor unsqueeze(const Tensor& self, int64_t dim);
AMBIT_API const Tensor& unsqueeze_(const Tensor& self, int64_t dim);
/// View with one dim at least: [] -> [1].
AMBIT_API Tensor atleast_1d(const Tensor& self);
AMBIT_API std::vector<Tensor> atleast_1d(TensorList tensors);
/// View with two dims at least: [] -> [1,1], [N] -> [1,N].
AMBIT_API Tensor atleast_2d(const Tensor& self);
AMBIT_API std::vector<Tensor> atleast_2d(TensorList tensors);
/// View with three dims at least: [] -> [1,1,1], [N] -> [1,N,1], [M,N] -> [M,N,1].
AMBIT_API Tensor atleast_3d(const Tensor& self);
AMBIT_API std::vector<Tensor> atleast_3d(TensorList tensors);
/// View with dims of size 1 repeated, by stride 0, up to `sizes`, which may have more dims in
/// front; -1 keeps a size. The result may be read, not written in place. Gradient: summed over what
/// is repeated. Source: torch.Tensor.expand.
AMBIT_API Tensor expand(const Tensor& self, IntArrayRef sizes);
/// Do as expand, under numpy's name.
AMBIT_API Tensor broadcast_to(const Tensor& self, IntArrayRef sizes);
/// Expand all to the shape that they broadcast to.
AMBIT_API std::vector<Tensor> broadcast_tensors(TensorList tensors);
/// Expand each of n vectors (or 0-dim tensors) along a dim of its own: out[k][i_0, .., i_n-1] =
/// tensors[k][i_k]. With indexing "xy" the first two dims of out are exchanged: x runs along
/// columns. Errors also: ShapeError for more dims and for none; DTypeError for different dtypes;
/// DeviceMismatchError; Error for another indexing. Source: torch.meshgrid, numpy.meshgrid.
AMBIT_API std::vector<Tensor> meshgrid(TensorList tensors, std::string_view indexing = "ij");
/// View of one index along dim, which goes: self[.., index, ..], index in [-n, n) of size n.
/// Errors also: ShapeError for a 0-dim tensor, as in slice, narrow, unbind, split and chunk.
AMBIT_API Tensor select(const Tensor& self, int64_t dim, int64_t index);
/// View of the indices start, start + step, ... before end along dim, by default all. Negative ones
/// count from the end, then both are clamped as in Python: a slice may be empty, never wrong.
/// Errors also: Error for step < 1.
AMBIT_API Tensor slice(const Tensor& self, int64_t dim, std::optional<int64_t> start = {},
                       std::optional<int64_t> end = {}, int64_t step = 1);
/// View of the indices from start up to start + length along dim; a negative start counts from the
/// end. Errors also: IndexError where they are not all there, since nothing is clamped.
AMBIT_API Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length);
/// The same from a start that is a tensor of one integer, for which it waits. Errors also:
/// DTypeError; ShapeError for another number of elements.
AMBIT_API Tensor narrow(const Tensor& self, int64_t dim, const Tensor& start, int64_t length);
/// View the windows of `size` along dim, `step` apart: out[.., i, .., k] = self[.., i step + k,
/// ..], one more dim at the end. [.., N, ..] -> [.., (N - size) / step + 1, .., size]; a 0-dim
/// tensor has one window of size 1 at most. Errors also: ShapeError for a size < 0 or above N;
/// Error for step < 1. Gradient: summed where windows overlap.
AMBIT_API Tensor unfold(const Tensor& self, int64_t dim, int64_t size, int64_t step);
/// View the elements with i_dim2 - i_dim1 = offset, as one dim at the end; above the main diagonal
/// for offset > 0: [M,N] -> [min(M, N)] for 0. None are left by offsets beyond. Errors also:
/// ShapeError for dim1 and dim2 the same.
AMBIT_API Tensor diagonal(const Tensor& self, int64_t offset = 0, int64_t dim1 = 0,
                          int64_t dim2 = 1);
/// Do as diagonal, of the matrices of the last two dims where none are given.
AMBIT_API Tensor linalg_diagonal(const Tensor& A, int64_t offset = 0, int64_t dim1 = -2,
                                 int64_t dim2 = -1);
/// Join dims start_dim to end_dim, both included, into one of their product, as reshape does: a
/// view where possible. [] -> [1]; one dim alone returns self.
AMBIT_API Tensor flatten(const Tensor& self, int64_t start_dim = 0, int64_t end_dim = -1);
/// Flatten all dims, as reshape does.
AMBIT_API Tensor ravel(const Tensor& self);
/// View with dim taken apart into `sizes`, whose product is its size and one of which may be -1:
/// the opposite of flatten. Errors also: ShapeError for no sizes and for another product.
AMBIT_API Tensor unflatten(const Tensor& self, int64_t dim, IntArrayRef sizes);
/// View any geometry in self's storage: element (i, j, ..) is at offset + i strides[0] + j
/// strides[1] + .., in elements, offset by default self's. Errors also: ShapeError for strides < 0
/// and for what leaves the storage. Gradient: summed where elements of out are the same memory.
AMBIT_API Tensor as_strided(const Tensor& self, IntArrayRef sizes, IntArrayRef strides,
                            std::optional<int64_t> storage_offset = {});
AMBIT_API const Tensor& as_strided_(const Tensor& self, IntArrayRef sizes, IntArrayRef strides,
                                    std::optional<int64_t> storage_offset = {});
/// Give self these sizes, row-major or as `format` says, in the memory that it has; where that is
/// too small, in larger memory, which the elements are copied to, and which other tensors do not
/// share. New elements have any value. Errors also: AutogradError where self requires grad.
AMBIT_API const Tensor& resize_(const Tensor& self, IntArrayRef sizes,
                                std::optional<MemoryFormat> format = {});
/// The same with the sizes of another tensor; Preserve: with its strides' format.
AMBIT_API const Tensor& resize_as_(const Tensor& self, const Tensor& the_template,
                                   std::optional<MemoryFormat> format = {});
/// Return select(self, dim, i) of each index i.
AMBIT_API std::vector<Tensor> unbind(const Tensor& self, int64_t dim = 0);
/// Return views of split_size along dim, ceil(n / split_size) of size n, the last one smaller where
/// it does not divide; one empty view of an empty dim. Errors also: ShapeError for split_size < 1
/// (0 will do for an empty dim).
AMBIT_API std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim = 0);
/// Return views of these sizes along dim. Errors also: ShapeError unless they sum to its size.
AMBIT_API std::vector<Tensor> split(const Tensor& self, IntArrayRef split_sizes, int64_t dim);
/// Return views of ceil(n / chunks) along dim of size n, so `chunks` of them at most, the last one
/// smaller; of an empty dim exactly `chunks`. Errors also: ShapeError for chunks < 1.
AMBIT_API std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim = 0);
/// Do as split with sizes.
AMBIT_API std::vector<Tensor> split_with_sizes(const Tensor& self, IntArrayRef split_sizes,
                                               int64_t dim = 0);
/// Do as split, split with sizes and chunk: writes into the parts are recorded here, so there is
/// nothing unsafe about them.
AMBIT_API std::vector<Tensor> unsafe_split(const Tensor& self, int64_t split_size, int64_t dim = 0);
AMBIT_API std::vector<Tensor> unsafe_split_with_sizes(const Tensor& self, IntArrayRef split_sizes,
                                                      int64_t dim = 0);
AMBIT_API std::vector<Tensor> unsafe_chunk(const Tensor& self, int64_t chunks, int64_t dim = 0);
/// Return exactly `sections` views along dim of size n, the first n % sections of them larger by
/// one. Errors also: ShapeError for sections < 1 and a 0-dim tensor. Source: numpy.array_split.
AMBIT_API std::vector<Tensor> tensor_split(const Tensor& self, int64_t sections, int64_t dim = 0);
/// Return the slices along dim before the first index, from each index to the next, and from the
/// last one on; they clamp, and may be empty, as slices do.
AMBIT_API std::vector<Tensor> tensor_split(const Tensor& self, IntArrayRef indices,
                                           int64_t dim = 0);
/// The same by an int64 tensor, for which it waits: sections [] or indices [K]. Errors also:
/// DTypeError.
AMBIT_API std::vector<Tensor> tensor_split(const Tensor& self,
                                           const Tensor& tensor_indices_or_sections,
                                           int64_t dim = 0);
/// Cut columns: along dim 1, of a vector along dim 0, as tensor_split. Errors also: ShapeError for
/// a 0-dim tensor and where `sections` does not divide the size.
AMBIT_API std::vector<Tensor> hsplit(const Tensor& self, int64_t sections);
AMBIT_API std::vector<Tensor> hsplit(const Tensor& self, IntArrayRef indices);
/// Cut rows: along dim 0 of two dims or more, as hsplit.
AMBIT_API std::vector<Tensor> vsplit(const Tensor& self, int64_t sections);
AMBIT_API std::vector<Tensor> vsplit(const Tensor& self, IntArrayRef indices);
/// Cut along dim 2 of three dims or more, as hsplit.
AMBIT_API std::vector<Tensor> dsplit(const Tensor& self, int64_t sections);
AMBIT_API std::vector<Tensor> dsplit(const Tensor& self, IntArrayRef indices);

/// Copy to memory of its own, on the same device; the result is contiguous.
AMBIT_API Tensor clone(const Tensor& self);
/// The same with the strides of a format, as Tensor::clone().
AMBIT_API Tensor clone(const Tensor& self, std::optional<MemoryFormat> format);
/// Return self if it is contiguous (row-major), else a copy that is.
AMBIT_API Tensor contiguous(const Tensor& self);
/// Return self if device and dtype are already so (unless `copy`), else a contiguous copy,
/// converted as static_cast does, to bool by x != 0. non_blocking: it may return before the data is
/// there, which whoever reads it then waits for; a copy to cpu comes in pinned memory. Errors also:
/// NotImplementedError from meta, which has no data. Gradient: self, moved and converted back.
AMBIT_API Tensor to(const Tensor& self, Device device, DType dtype, bool non_blocking = false,
                    bool copy = false);
/// Copy self repeats[i] times along dim i; more repeats than dims stand for dims of size 1 in
/// front: [M,N] by {R,S,T} -> [R, S M, T N]. Errors also: ShapeError for fewer repeats, or negative
/// ones.
AMBIT_API Tensor repeat(const Tensor& self, IntArrayRef repeats);
/// Copy with the order along each of dims reversed. Errors also: ShapeError for a dim twice.
AMBIT_API Tensor flip(const Tensor& self, IntArrayRef dims);
/// Join along an existing dim, whose size is then the sum; the other sizes must agree, dtypes
/// promote. Tensors of shape [0] are passed over, as in libtorch. Errors also: ShapeError for 0-dim
/// tensors and for none; DeviceMismatchError.
AMBIT_API Tensor cat(TensorList tensors, int64_t dim = 0);
/// Do as cat, under its other names.
AMBIT_API Tensor concat(TensorList tensors, int64_t dim = 0);
AMBIT_API Tensor concatenate(TensorList tensors, int64_t dim = 0);
/// Join n tensors of one shape along a new dim of size n, which becomes dim `dim` of out; dtypes
/// promote. Errors also: ShapeError for none; DeviceMismatchError.
AMBIT_API Tensor stack(TensorList tensors, int64_t dim = 0);

}  // namespace ambit
