// Ops that only change the shape; other rearrangements of elements are in arrange.h. A "view" is an
// alias of self's memory: writes are visible on both sides. Negative dims count from the end. Any
// dtype, which is kept. Errors of all: IndexError (a dim or index out of range), ShapeError; Error
// for an undefined tensor. Gradients: every input. In place (`name_`), self itself becomes the view
// and is returned: other handles to it change too, its views and its memory do not. Errors: also
// AutogradError for a leaf that requires grad, outside of NoGradGuard.
#pragma once

#include <ambit/tensor.h>

#include <string_view>

namespace ambit {

/// View the elements, in row-major order, with other sizes; one of them may be -1 and is inferred.
/// Errors: also ShapeError if self's strides allow no alias.
AMBIT_API Tensor view(const Tensor& self, IntArrayRef sizes);
/// View the bytes as elements of another dtype. If its size differs, the last dim, which must be
/// contiguous, is scaled accordingly. Errors: also ShapeError if the bytes are not a whole number
/// of elements, or strides and offset are not divisible. bool only for bytes of 0 and 1. No
/// gradient.
AMBIT_API Tensor view(const Tensor& self, DType dtype);
/// Same as view if possible, else return a contiguous copy of those sizes.
AMBIT_API Tensor reshape(const Tensor& self, IntArrayRef sizes);
/// View with two dims exchanged: out[.., j, .., i, ..] = self[.., i, .., j, ..]. A 0-dim tensor is
/// unchanged.
/// @{
AMBIT_API Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1);
AMBIT_API const Tensor& transpose_(const Tensor& self, int64_t dim0, int64_t dim1);
/// @}
/// numpy's names of transpose.
/// @{
AMBIT_API Tensor swapaxes(const Tensor& self, int64_t axis0, int64_t axis1);
AMBIT_API const Tensor& swapaxes_(const Tensor& self, int64_t axis0, int64_t axis1);
AMBIT_API Tensor swapdims(const Tensor& self, int64_t dim0, int64_t dim1);
AMBIT_API const Tensor& swapdims_(const Tensor& self, int64_t dim0, int64_t dim1);
/// @}
/// View with the matrices of the last two dims transposed: [...,M,N] -> [...,N,M]; complex numbers
/// are copied and conjugated. A real 0-dim tensor is unchanged. Errors: also ShapeError for a
/// vector.
AMBIT_API Tensor adjoint(const Tensor& self);
/// View with permuted dims: dim i of out is dim dims[i] of self. Errors: also ShapeError unless
/// dims names each dim once.
AMBIT_API Tensor permute(const Tensor& self, IntArrayRef dims);
/// View with dim source[i] of self moved to destination[i]; the other dims keep their order.
/// Errors: also ShapeError unless both lists have equal length and no duplicates.
/// @{
AMBIT_API Tensor movedim(const Tensor& self, IntArrayRef source, IntArrayRef destination);
AMBIT_API Tensor movedim(const Tensor& self, int64_t source, int64_t destination);
/// @}
/// numpy's name of movedim.
/// @{
AMBIT_API Tensor moveaxis(const Tensor& self, IntArrayRef source, IntArrayRef destination);
AMBIT_API Tensor moveaxis(const Tensor& self, int64_t source, int64_t destination);
/// @}
/// View a matrix [M,N] as [N,M]; fewer dims are unchanged. Errors: also ShapeError for more.
/// @{
AMBIT_API Tensor t(const Tensor& self);
AMBIT_API const Tensor& t_(const Tensor& self);
/// @}
/// View without the dims of size 1: [1,M,1,N] -> [M,N].
/// @{
AMBIT_API Tensor squeeze(const Tensor& self);
AMBIT_API const Tensor& squeeze_(const Tensor& self);
/// @}
/// View without this dim if it has size 1, else with the same sizes.
/// @{
AMBIT_API Tensor squeeze(const Tensor& self, int64_t dim);
AMBIT_API const Tensor& squeeze_(const Tensor& self, int64_t dim);
/// @}
/// View without the dims in `dims` whose size is 1. Errors: also ShapeError for a duplicate dim.
/// @{
AMBIT_API Tensor squeeze(const Tensor& self, IntArrayRef dims);
AMBIT_API const Tensor& squeeze_(const Tensor& self, IntArrayRef dims);
/// @}
/// View with a dim of size 1 inserted as dim `dim` of out, in [-n - 1, n] for n dims: [M,N] ->
/// [M,1,N] for dim 1 or -2.
/// @{
AMBIT_API Tensor unsqueeze(const Tensor& self, int64_t dim);
AMBIT_API const Tensor& unsqueeze_(const Tensor& self, int64_t dim);
/// @}
/// View with at least one dim: [] -> [1].
AMBIT_API Tensor atleast_1d(const Tensor& self);
/// View each tensor of a list with at least one dim.
AMBIT_API std::vector<Tensor> atleast_1d(TensorList tensors);
/// View with at least two dims: [] -> [1,1], [N] -> [1,N].
AMBIT_API Tensor atleast_2d(const Tensor& self);
/// View each tensor of a list with at least two dims.
AMBIT_API std::vector<Tensor> atleast_2d(TensorList tensors);
/// View with at least three dims: [] -> [1,1,1], [N] -> [1,N,1], [M,N] -> [M,N,1].
AMBIT_API Tensor atleast_3d(const Tensor& self);
/// View each tensor of a list with at least three dims.
AMBIT_API std::vector<Tensor> atleast_3d(TensorList tensors);
/// View with dims of size 1 expanded to `sizes` by stride 0; `sizes` may have more dims at the
/// front; -1 keeps a size. The result must not be written in place. Gradient: summed over expanded
/// dims. Source: torch.Tensor.expand.
AMBIT_API Tensor expand(const Tensor& self, IntArrayRef sizes);
/// numpy's name of expand.
AMBIT_API Tensor broadcast_to(const Tensor& self, IntArrayRef sizes);
/// Expand all tensors to their broadcast shape.
AMBIT_API std::vector<Tensor> broadcast_tensors(TensorList tensors);
/// Expand each of n vectors (or 0-dim tensors) along its own dim: out[k][i_0, .., i_n-1] =
/// tensors[k][i_k]. With indexing "xy" the first two dims of out are exchanged, so that x varies
/// along columns. Errors: also ShapeError for more dims and for no tensors; DTypeError for
/// different dtypes; DeviceMismatchError; Error for any other indexing. Source: torch.meshgrid,
/// numpy.meshgrid.
AMBIT_API std::vector<Tensor> meshgrid(TensorList tensors, std::string_view indexing = "ij");
/// View one index along dim, which is removed: self[.., index, ..], index in [-n, n) for size n.
/// Errors: also ShapeError for a 0-dim tensor, as in slice, narrow, unbind, split and chunk.
AMBIT_API Tensor select(const Tensor& self, int64_t dim, int64_t index);
/// View the indices start, start + step, ... before end along dim, default all. Negative ones count
/// from the end, then both are clamped as in Python, so a slice may be empty. Errors: also Error
/// for step < 1.
AMBIT_API Tensor slice(const Tensor& self, int64_t dim, std::optional<int64_t> start = {},
                       std::optional<int64_t> end = {}, int64_t step = 1);
/// View the indices from start to start + length (excluded) along dim; a negative start counts from
/// the end. Errors: also IndexError if any is out of range; nothing is clamped.
AMBIT_API Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length);
/// As above, with start as a one-element integer tensor; waits for the device. Errors: also
/// DTypeError; ShapeError for a different number of elements.
AMBIT_API Tensor narrow(const Tensor& self, int64_t dim, const Tensor& start, int64_t length);
/// View sliding windows of `size` along dim, `step` apart: out[.., i, .., k] = self[.., i step + k,
/// ..], with a new last dim. [.., N, ..] -> [.., (N - size) / step + 1, .., size]; a 0-dim tensor
/// has at most one window of size 1. Errors: also ShapeError for a size < 0 or above N; Error for
/// step < 1. Gradient: summed where windows overlap.
AMBIT_API Tensor unfold(const Tensor& self, int64_t dim, int64_t size, int64_t step);
/// View the elements with i_dim2 - i_dim1 = offset as a new last dim; offset > 0 is above the main
/// diagonal: [M,N] -> [min(M, N)] for 0. Empty if offset is out of range. Errors: also ShapeError
/// for dim1 = dim2.
AMBIT_API Tensor diagonal(const Tensor& self, int64_t offset = 0, int64_t dim1 = 0,
                          int64_t dim2 = 1);
/// Same as diagonal, by default of the matrices of the last two dims.
AMBIT_API Tensor linalg_diagonal(const Tensor& A, int64_t offset = 0, int64_t dim1 = -2,
                                 int64_t dim2 = -1);
/// Merge dims start_dim to end_dim, both included, into one, like reshape: a view if possible. []
/// -> [1]; a single dim returns self.
AMBIT_API Tensor flatten(const Tensor& self, int64_t start_dim = 0, int64_t end_dim = -1);
/// Flatten all dims, like reshape.
AMBIT_API Tensor ravel(const Tensor& self);
/// View with dim split into `sizes`, whose product is its size and one of which may be -1: the
/// inverse of flatten. Errors: also ShapeError for no sizes and for a different product.
AMBIT_API Tensor unflatten(const Tensor& self, int64_t dim, IntArrayRef sizes);
/// View self's storage with any geometry: element (i, j, ..) is at offset + i strides[0] + j
/// strides[1] + .., in elements; default offset: self's. Errors: also ShapeError for strides < 0
/// and elements outside the storage. Gradient: summed where elements of out share memory.
/// @{
AMBIT_API Tensor as_strided(const Tensor& self, IntArrayRef sizes, IntArrayRef strides,
                            std::optional<int64_t> storage_offset = {});
AMBIT_API const Tensor& as_strided_(const Tensor& self, IntArrayRef sizes, IntArrayRef strides,
                                    std::optional<int64_t> storage_offset = {});
/// @}
/// Resize self in place, row-major or in `format`, in its memory; if that is too small, in new
/// memory with the elements copied, which is not shared with other tensors. New elements are
/// uninitialised. Errors: also AutogradError if self requires grad.
AMBIT_API const Tensor& resize_(const Tensor& self, IntArrayRef sizes,
                                std::optional<MemoryFormat> format = {});
/// As resize_(), with the sizes of another tensor; format Preserve: also with its memory format.
AMBIT_API const Tensor& resize_as_(const Tensor& self, const Tensor& the_template,
                                   std::optional<MemoryFormat> format = {});
/// Return select(self, dim, i) for each index i.
AMBIT_API std::vector<Tensor> unbind(const Tensor& self, int64_t dim = 0);
/// Return views of split_size along dim, ceil(n / split_size) for size n, the last one smaller if
/// not divisible; one empty view for an empty dim. Errors: also ShapeError for split_size < 1 (0 is
/// allowed for an empty dim).
AMBIT_API std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim = 0);
/// Return views of these sizes along dim. Errors: also ShapeError unless they sum to its size.
AMBIT_API std::vector<Tensor> split(const Tensor& self, IntArrayRef split_sizes, int64_t dim);
/// Return at most `chunks` views of ceil(n / chunks) along dim of size n, the last one smaller; for
/// an empty dim exactly `chunks`. Errors: also ShapeError for chunks < 1.
AMBIT_API std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim = 0);
/// Same as split with sizes.
AMBIT_API std::vector<Tensor> split_with_sizes(const Tensor& self, IntArrayRef split_sizes,
                                               int64_t dim = 0);
/// Same as split, split with sizes and chunk: writes into the parts are recorded, so they are safe
/// here.
/// @{
AMBIT_API std::vector<Tensor> unsafe_split(const Tensor& self, int64_t split_size, int64_t dim = 0);
AMBIT_API std::vector<Tensor> unsafe_split_with_sizes(const Tensor& self, IntArrayRef split_sizes,
                                                      int64_t dim = 0);
AMBIT_API std::vector<Tensor> unsafe_chunk(const Tensor& self, int64_t chunks, int64_t dim = 0);
/// @}
/// Return exactly `sections` views along dim of size n, the first n % sections of them larger by
/// one. Errors: also ShapeError for sections < 1 and a 0-dim tensor. Source: numpy.array_split.
AMBIT_API std::vector<Tensor> tensor_split(const Tensor& self, int64_t sections, int64_t dim = 0);
/// Return the slices along dim before the first index, between consecutive indices, and after the
/// last one; as for slice they clamp and may be empty.
AMBIT_API std::vector<Tensor> tensor_split(const Tensor& self, IntArrayRef indices,
                                           int64_t dim = 0);
/// As above, with an int64 tensor of the number of sections, [], or of the indices, [K]; waits for
/// the device. Errors: also DTypeError.
AMBIT_API std::vector<Tensor> tensor_split(const Tensor& self,
                                           const Tensor& tensor_indices_or_sections,
                                           int64_t dim = 0);
/// Split columns: along dim 1, for a vector along dim 0, like tensor_split. Errors: also ShapeError
/// for a 0-dim tensor and if `sections` does not divide the size.
/// @{
AMBIT_API std::vector<Tensor> hsplit(const Tensor& self, int64_t sections);
AMBIT_API std::vector<Tensor> hsplit(const Tensor& self, IntArrayRef indices);
/// @}
/// Split rows: along dim 0 of two or more dims, like hsplit.
/// @{
AMBIT_API std::vector<Tensor> vsplit(const Tensor& self, int64_t sections);
AMBIT_API std::vector<Tensor> vsplit(const Tensor& self, IntArrayRef indices);
/// @}
/// Split along dim 2 of three or more dims, like hsplit.
/// @{
AMBIT_API std::vector<Tensor> dsplit(const Tensor& self, int64_t sections);
AMBIT_API std::vector<Tensor> dsplit(const Tensor& self, IntArrayRef indices);
/// @}

/// Copy to new memory on the same device; the result is contiguous.
AMBIT_API Tensor clone(const Tensor& self);
/// As above, with the strides of a format, like Tensor::clone().
AMBIT_API Tensor clone(const Tensor& self, std::optional<MemoryFormat> format);
/// Return self if it is contiguous (row-major), else a contiguous copy.
AMBIT_API Tensor contiguous(const Tensor& self);
/// Return self if it already has this device and dtype (unless `copy`), else a contiguous copy,
/// converted as by static_cast, to bool by x != 0. non_blocking: may return before the copy is
/// complete; later reads wait for it; a copy to cpu is in pinned memory. Errors: also
/// NotImplementedError from meta, which has no data. Gradient: self, moved and converted back.
AMBIT_API Tensor to(const Tensor& self, Device device, DType dtype, bool non_blocking = false,
                    bool copy = false);
/// Tile self repeats[i] times along dim i; if there are more repeats than dims, dims of size 1 are
/// added at the front: [M,N] by {R,S,T} -> [R, S M, T N]. Errors: also ShapeError for fewer or
/// negative repeats.
AMBIT_API Tensor repeat(const Tensor& self, IntArrayRef repeats);
/// Copy with dims reversed. Errors: also ShapeError for a duplicate dim.
AMBIT_API Tensor flip(const Tensor& self, IntArrayRef dims);
/// Concatenate along an existing dim; the other sizes must be equal, dtypes promote. Tensors of
/// shape [0] are skipped, as in libtorch. Errors: also ShapeError for 0-dim tensors and for no
/// tensors; DeviceMismatchError.
AMBIT_API Tensor cat(TensorList tensors, int64_t dim = 0);
/// Aliases of cat.
/// @{
AMBIT_API Tensor concat(TensorList tensors, int64_t dim = 0);
AMBIT_API Tensor concatenate(TensorList tensors, int64_t dim = 0);
/// @}
/// Stack n tensors of one shape along a new dim `dim` of size n; dtypes promote. Errors: also
/// ShapeError for no tensors; DeviceMismatchError.
AMBIT_API Tensor stack(TensorList tensors, int64_t dim = 0);

}  // namespace ambit
