// Ops that only change the shape. "View": an alias of self's memory, through which writes are seen
// on both sides. Dims may be negative, then they count from the end. Any dtype, which stays.
// Errors of all: IndexError (a dim or index out of range), ShapeError; Error for an undefined
// tensor. Gradients: every input.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// View the elements, in row-major order, with other sizes of the same number of elements; one of
/// them may be -1, which is found out. Errors also: ShapeError where self's strides allow no alias.
AMBIT_API Tensor view(const Tensor& self, IntArrayRef sizes);
/// Do as view where an alias is possible, else return a contiguous copy of those sizes.
AMBIT_API Tensor reshape(const Tensor& self, IntArrayRef sizes);
/// View with two dims exchanged: out[.., j, .., i, ..] = self[.., i, .., j, ..].
/// sizes and strides at dim0 and dim1 trade places; a 0-dim tensor stays as it is.
AMBIT_API Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1);
/// View with the dims in another order: dim i of out is dim dims[i] of self, with its size and
/// stride. Errors also: ShapeError unless dims names each dim once.
AMBIT_API Tensor permute(const Tensor& self, IntArrayRef dims);
/// View a matrix [M,N] transposed, [N,M]; fewer dims stay. Errors also: ShapeError for more.
AMBIT_API Tensor t(const Tensor& self);
/// View without the dims of size 1: [1,M,1,N] -> [M,N].
AMBIT_API Tensor squeeze(const Tensor& self);
/// View without this dim if it has size 1, else with the same sizes.
AMBIT_API Tensor squeeze(const Tensor& self, int64_t dim);
/// View with a dim of size 1 inserted, which becomes dim `dim` of out, in [-n - 1, n] for n dims:
/// [M,N] -> [M,1,N] for dim 1 or -2.
AMBIT_API Tensor unsqueeze(const Tensor& self, int64_t dim);
/// View with dims of size 1 repeated, by stride 0, up to `sizes`, which may have more dims in
/// front; -1 keeps a size. The result may be read, not written in place. Gradient: summed over what
/// is repeated. Source: torch.Tensor.expand.
AMBIT_API Tensor expand(const Tensor& self, IntArrayRef sizes);
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
/// Join dims start_dim to end_dim, both included, into one of their product, as reshape does: a
/// view where possible. [] -> [1]; one dim alone returns self.
AMBIT_API Tensor flatten(const Tensor& self, int64_t start_dim = 0, int64_t end_dim = -1);
/// View any geometry in self's storage: element (i, j, ..) is at offset + i strides[0] + j
/// strides[1] + .., in elements, offset by default self's. Errors also: ShapeError for strides < 0
/// and for what leaves the storage. Gradient: summed where elements of out are the same memory.
AMBIT_API Tensor as_strided(const Tensor& self, IntArrayRef sizes, IntArrayRef strides,
                            std::optional<int64_t> storage_offset = {});
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

/// Copy to memory of its own, on the same device; the result is contiguous.
AMBIT_API Tensor clone(const Tensor& self);
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
/// Join n tensors of one shape along a new dim of size n, which becomes dim `dim` of out; dtypes
/// promote. Errors also: ShapeError for none; DeviceMismatchError.
AMBIT_API Tensor stack(TensorList tensors, int64_t dim = 0);

}  // namespace ambit
