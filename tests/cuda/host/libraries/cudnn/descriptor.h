// cuDNN's descriptors: attributes by name, each checked as the real library checks it; then
// finalized, and no longer changed.
#pragma once

#include <cudnn_graph.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/cuda/host/libraries/live.h"

/// A handle: of the device that was the current one. At work in one thread at a time.
struct cudnnContext {
  int device = 0;
  cudaStream_t stream = nullptr;
  std::mutex at_work;
};

namespace ambit::cuda::host::cudnn {

struct Node;
using NodePtr = std::shared_ptr<const Node>;

/// An attribute's elements: bytes, or descriptors.
struct Value {
  cudnnBackendAttributeType_t type;
  int64_t count;
  std::vector<std::byte> bytes;
  std::vector<NodePtr> nodes;
};

/// What finalizing an operation graph makes of it, what a heuristic chose, and so on.
struct Made;

/// A descriptor's state. Attributes that are descriptors hold them as they were when they were set.
struct Node {
  explicit Node(cudnnBackendDescriptorType_t t) : type(t) {}

  cudnnBackendDescriptorType_t type;
  bool finalized = false;
  std::map<cudnnBackendAttributeName_t, Value> values;
  std::shared_ptr<const Made> made;

  bool has(cudnnBackendAttributeName_t name) const { return values.contains(name); }
  /// Return an attribute's numbers, of any integral or enumerated type; none where it is not set.
  std::vector<int64_t> integers(cudnnBackendAttributeName_t name) const;
  int64_t integer(cudnnBackendAttributeName_t name, int64_t otherwise) const;
  double real(cudnnBackendAttributeName_t name, double otherwise) const;
  std::vector<void*> pointers(cudnnBackendAttributeName_t name) const;
  /// Return an attribute's descriptor, null where it is not set.
  NodePtr node(cudnnBackendAttributeName_t name) const;
};

/// What programs hold.
struct Descriptor {
  std::shared_ptr<Node> node;
};
Live<Descriptor>& descriptors();
Live<cudnnContext>& handles();

/// Return `status`, and keep why for cudnnGetLastErrorString of this thread.
cudnnStatus_t fail(cudnnStatus_t status, const std::string& why);

/// Set an attribute. BAD_PARAM: finalized, unknown, no elements or too many;
/// BAD_PARAM_ATTRIBUTE_TYPE: of another type.
cudnnStatus_t set(Node& node, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                  int64_t count, const void* elements);

/// Check a descriptor's attributes, and those of what it refers to.
cudnnStatus_t finalize(Node& node);

/// Read an attribute of a finalized descriptor: up to `room` elements; with no room, count them.
cudnnStatus_t get(const Node& node, cudnnBackendAttributeName_t name,
                  cudnnBackendAttributeType_t type, int64_t room, int64_t* count, void* elements);

}  // namespace ambit::cuda::host::cudnn
