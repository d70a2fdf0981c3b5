// Which attributes a descriptor has, and of what.
#pragma once

#include <cudnn_graph.h>

#include <cstddef>
#include <cstdint>

namespace ambit::cuda::host::cudnn {

struct Attribute {
  cudnnBackendDescriptorType_t owner;
  cudnnBackendAttributeName_t name;
  cudnnBackendAttributeType_t type;
  int64_t most;  // elements
  cudnnBackendDescriptorType_t refers_to = CUDNN_BACKEND_TENSOR_DESCRIPTOR;
};

/// Return the attribute, null for one that such a descriptor does not have.
const Attribute* find_attribute(cudnnBackendDescriptorType_t owner,
                                cudnnBackendAttributeName_t name);

/// Return the bytes of one element, 0 for a type that the emulation does not know.
size_t bytes_of(cudnnBackendAttributeType_t type);

bool is_operation(cudnnBackendDescriptorType_t type);

}  // namespace ambit::cuda::host::cudnn
