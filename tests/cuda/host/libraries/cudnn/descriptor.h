// cuDNN's descriptors: attributes by name, checked as by the real library, and immutable after
// finalize.
#pragma once

#include <cudnn_graph.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/cuda/host/libraries/live.h"

/// A handle, bound to the device that was current. Used by one thread at a time.
struct cudnnContext {
  int device = 0;
  cudaStream_t stream = nullptr;
  std::mutex at_work;
};

namespace ambit::cuda::host::cudnn {

struct Node;
using NodePtr = std::shared_ptr<const Node>;

/// Elements of an attribute: bytes, or descriptors.
struct Value {
  cudnnBackendAttributeType_t type;
  int64_t count;
  std::vector<std::byte> bytes;
  std::vector<NodePtr> nodes;
};

/// Result of finalizing a descriptor: of an operation graph, a heuristic's choice, and so on.
struct Made;

/// State of a descriptor. Attributes that are descriptors store their state at the time of the
/// call.
struct Node {
  explicit Node(cudnnBackendDescriptorType_t t) : type(t) {}

  cudnnBackendDescriptorType_t type;
  bool finalized = false;
  std::map<cudnnBackendAttributeName_t, Value> values;
  std::shared_ptr<const Made> made;

  bool has(cudnnBackendAttributeName_t name) const { return values.contains(name); }
  /// Return an attribute's integral or enumerated values; empty if not set.
  std::vector<int64_t> integers(cudnnBackendAttributeName_t name) const;
  int64_t integer(cudnnBackendAttributeName_t name, int64_t otherwise) const;
  double real(cudnnBackendAttributeName_t name, double otherwise) const;
  std::vector<void*> pointers(cudnnBackendAttributeName_t name) const;
  /// Return an attribute's descriptor, null if not set.
  NodePtr node(cudnnBackendAttributeName_t name) const;
};

/// The object that programs hold.
struct Descriptor {
  std::shared_ptr<Node> node;
};
Live<Descriptor>& descriptors();
Live<cudnnContext>& handles();

/// Return `status`, and store the reason for this thread's cudnnGetLastErrorString.
cudnnStatus_t fail(cudnnStatus_t status, const std::string& why);

/// Set an attribute. BAD_PARAM: finalized descriptor, unknown attribute, no or too many elements;
/// BAD_PARAM_ATTRIBUTE_TYPE: another type.
cudnnStatus_t set(Node& node, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                  int64_t count, const void* elements);

/// Check the attributes of a descriptor and of those it refers to.
cudnnStatus_t finalize(Node& node);

/// Read an attribute of a finalized descriptor: up to `room` elements; with room 0, only count
/// them.
cudnnStatus_t get(const Node& node, cudnnBackendAttributeName_t name,
                  cudnnBackendAttributeType_t type, int64_t room, int64_t* count, void* elements);

}  // namespace ambit::cuda::host::cudnn
