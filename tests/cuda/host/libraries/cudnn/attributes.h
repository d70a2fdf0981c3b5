// The attributes of each descriptor type, and their types.
#pragma once

#include <cudnn_graph.h>

#include <cstddef>
#include <cstdint>

namespace ambit::cuda::host::cudnn {

struct Attribute {
  cudnnBackendDescriptorType_t owner;
  cudnnBackendAttributeName_t name;
  cudnnBackendAttributeType_t type;
  int64_t most;  // maximal number of elements
  cudnnBackendDescriptorType_t refers_to = CUDNN_BACKEND_TENSOR_DESCRIPTOR;
};

/// Return the attribute, null if such a descriptor does not have it.
const Attribute* find_attribute(cudnnBackendDescriptorType_t owner,
                                cudnnBackendAttributeName_t name);

/// Return the bytes of one element, 0 for a type that the emulation does not support.
size_t bytes_of(cudnnBackendAttributeType_t type);

bool is_operation(cudnnBackendDescriptorType_t type);

}  // namespace ambit::cuda::host::cudnn
