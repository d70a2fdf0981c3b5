// Tensors that a pickle rebuilds from storages. Private to core.
#pragma once

#include <ambit/tensor.h>
#include <ambit/value.h>

#include <vector>

#include "pickle_items.h"

namespace ambit::pickle {

// The arguments are those of functions of torch._utils. A tensor that ambit cannot represent
// becomes an opaque value. Errors: SerializationError naming the problem.

/// _rebuild_tensor(storage, offset, sizes, strides); _rebuild_tensor_v2 has (..., requires_grad,
/// backward_hooks[, metadata]) after them.
Value rebuild_tensor(const std::vector<Item>& given, bool keep_requires_grad, Budget& budget);
/// _rebuild_tensor_v3(storage, offset, sizes, strides, requires_grad, backward_hooks, dtype
/// [, metadata]): the storage has bytes.
Value rebuild_new_tensor(const std::vector<Item>& given, Budget& budget);
/// _rebuild_meta_tensor_no_storage(dtype, sizes, strides, requires_grad)
Value rebuild_meta(const std::vector<Item>& given);

/// Reverse the bytes of each element of a contiguous tensor on the CPU.
void reverse_bytes(const Tensor& t);

}  // namespace ambit::pickle
