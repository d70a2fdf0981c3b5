// Ops that only change the shape. Views alias their input; what cannot be an alias says so.
// Errors of all: IndexError (dim or index out of range), ShapeError. Gradients: every input.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

/// View with other sizes; one of them may be -1. Errors: ShapeError where strides allow no alias.
AMBIT_API Tensor view(const Tensor& self, IntArrayRef sizes);
/// View where possible, else a copy.
AMBIT_API Tensor reshape(const Tensor& self, IntArrayRef sizes);
AMBIT_API Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1);
AMBIT_API Tensor permute(const Tensor& self, IntArrayRef dims);
/// Transpose a matrix; fewer dims stay.
AMBIT_API Tensor t(const Tensor& self);
AMBIT_API Tensor squeeze(const Tensor& self);
AMBIT_API Tensor squeeze(const Tensor& self, int64_t dim);
AMBIT_API Tensor unsqueeze(const Tensor& self, int64_t dim);
/// View with sizes of 1 repeated by stride 0; -1 keeps a size.
AMBIT_API Tensor expand(const Tensor& self, IntArrayRef sizes);
AMBIT_API Tensor select(const Tensor& self, int64_t dim, int64_t index);
/// View of start, start + step, ... before end along dim; both are clamped, negative from the end.
/// Errors: Error for step < 1.
AMBIT_API Tensor slice(const Tensor& self, int64_t dim, std::optional<int64_t> start = {},
                       std::optional<int64_t> end = {}, int64_t step = 1);
AMBIT_API Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length);
/// Join dims start_dim..end_dim into one; a view where possible.
AMBIT_API Tensor flatten(const Tensor& self, int64_t start_dim = 0, int64_t end_dim = -1);
/// View with any geometry inside the storage; strides and offset in elements.
AMBIT_API Tensor as_strided(const Tensor& self, IntArrayRef sizes, IntArrayRef strides,
                            std::optional<int64_t> storage_offset = {});
AMBIT_API std::vector<Tensor> unbind(const Tensor& self, int64_t dim = 0);
/// Views of split_size along dim, the last one smaller where it does not divide.
AMBIT_API std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim = 0);
AMBIT_API std::vector<Tensor> split(const Tensor& self, IntArrayRef split_sizes, int64_t dim);
/// At most `chunks` views of equal size along dim.
AMBIT_API std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim = 0);

/// Copy. The result is contiguous.
AMBIT_API Tensor clone(const Tensor& self);
/// self if it is contiguous, else a copy.
AMBIT_API Tensor contiguous(const Tensor& self);
/// self if device and dtype are already so (unless `copy`), else a copy.
AMBIT_API Tensor to(const Tensor& self, Device device, DType dtype, bool non_blocking = false,
                    bool copy = false);
/// Copies tiled along each dim.
AMBIT_API Tensor repeat(const Tensor& self, IntArrayRef repeats);
/// Copy with the order along dims reversed.
AMBIT_API Tensor flip(const Tensor& self, IntArrayRef dims);
/// Join along an existing dim; the other sizes must agree, dtypes promote.
AMBIT_API Tensor cat(TensorList tensors, int64_t dim = 0);
/// Join along a new dim.
AMBIT_API Tensor stack(TensorList tensors, int64_t dim = 0);

}  // namespace ambit
