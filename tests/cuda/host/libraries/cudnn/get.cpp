// Reading attributes back.
#include <algorithm>
#include <cstring>

#include "attributes.h"
#include "engines.h"

namespace ambit::cuda::host::cudnn {
namespace {

/// Destination of the elements, and its capacity.
struct Room {
  int64_t elements;
  int64_t* count;
  void* to;

  // Without a capacity only count; otherwise write as many as fit.
  template <class T>
  cudnnStatus_t fill(const std::vector<T>& from) const {
    const auto all = static_cast<int64_t>(from.size());
    const int64_t written = elements > 0 && to ? std::min(elements, all) : 0;
    if (written > 0) std::memcpy(to, from.data(), static_cast<size_t>(written) * sizeof(T));
    if (count) *count = elements > 0 ? written : all;
    return CUDNN_STATUS_SUCCESS;
  }
};

cudnnStatus_t expect(cudnnBackendAttributeType_t got, cudnnBackendAttributeType_t expected) {
  return got == expected
             ? CUDNN_STATUS_SUCCESS
             : fail(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, "an attribute of another type");
}

// Fill descriptors that the program has created, one for each configuration.
cudnnStatus_t fill_nodes(const std::vector<Configuration>& list, cudnnBackendDescriptorType_t type,
                         int64_t counted, const Room& room) {
  if (room.elements == 0) {
    if (room.count) *room.count = counted;
    return CUDNN_STATUS_SUCCESS;
  }
  const auto* to = static_cast<const cudnnBackendDescriptor_t*>(room.to);
  const int64_t written = std::min(room.elements, static_cast<int64_t>(list.size()));
  for (int64_t i = 0; i < written; ++i) {
    Node& node = *descriptors().get(to[i]).node;
    if (node.type != type) {
      return fail(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, "a descriptor of another kind");
    }
    const auto made = std::make_shared<Made>();
    made->chosen = list[static_cast<size_t>(i)];
    node.made = made;
    node.finalized = true;
  }
  if (room.count) *room.count = written;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t get_stored(const Node& node, const Attribute& attribute,
                         cudnnBackendAttributeType_t type, const Room& room) {
  const cudnnStatus_t status = expect(type, attribute.type);
  const auto found = node.values.find(attribute.name);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  if (found == node.values.end()) return room.fill(std::vector<int64_t>());
  const size_t bytes = bytes_of(type);
  const int64_t written = std::min(room.elements, found->second.count);
  if (written > 0) {
    std::memcpy(room.to, found->second.bytes.data(), static_cast<size_t>(written) * bytes);
  }
  if (room.count) *room.count = room.elements > 0 ? written : found->second.count;
  return CUDNN_STATUS_SUCCESS;
}

// Attributes that are computed, not set.
cudnnStatus_t get_made(const Node& node, cudnnBackendAttributeName_t name,
                       cudnnBackendAttributeType_t type, const Room& room) {
  const Made& made = *node.made;
  const auto typed = [&](cudnnBackendAttributeType_t expected, const auto& fill) {
    const cudnnStatus_t status = expect(type, expected);
    return status == CUDNN_STATUS_SUCCESS ? fill() : status;
  };
  const bool has_engine = node.type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR;
  const bool is_engine = node.type == CUDNN_BACKEND_ENGINE_DESCRIPTOR;
  const bool is_plan = node.type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR;
  if (name == CUDNN_ATTR_ENGINEHEUR_RESULTS && node.type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR) {
    // The count includes engines that are then not supported.
    const auto counted = static_cast<int64_t>(made.ranked.empty() ? 0 : made.ranked.size() + 2);
    return typed(CUDNN_TYPE_BACKEND_DESCRIPTOR, [&] {
      return fill_nodes(made.ranked, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, counted, room);
    });
  }
  if ((name == CUDNN_ATTR_ENGINECFG_ENGINE && has_engine) ||
      (name == CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG && is_plan)) {
    return typed(CUDNN_TYPE_BACKEND_DESCRIPTOR, [&] {
      return fill_nodes(
          {made.chosen},
          is_plan ? CUDNN_BACKEND_ENGINECFG_DESCRIPTOR : CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1, room);
    });
  }
  if (name == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE && is_engine) {
    return typed(CUDNN_TYPE_NUMERICAL_NOTE, [&] { return room.fill(made.chosen.engine->notes); });
  }
  if (name == CUDNN_ATTR_ENGINE_GLOBAL_INDEX && is_engine) {
    return typed(CUDNN_TYPE_INT64,
                 [&] { return room.fill(std::vector<int64_t>{made.chosen.engine->index}); });
  }
  if (name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE && is_plan) {
    return typed(CUDNN_TYPE_INT64,
                 [&] { return room.fill(std::vector<int64_t>{made.workspace_bytes}); });
  }
  return fail(CUDNN_STATUS_BAD_PARAM, "no attribute of such a descriptor");
}

}  // namespace

cudnnStatus_t get(const Node& node, cudnnBackendAttributeName_t name,
                  cudnnBackendAttributeType_t type, int64_t room, int64_t* count, void* elements) {
  if (!node.finalized) return fail(CUDNN_STATUS_NOT_INITIALIZED, "a descriptor not finalized");
  const Attribute* attribute = find_attribute(node.type, name);
  const Room to{room, count, elements};
  const bool stored = attribute && attribute->type != CUDNN_TYPE_BACKEND_DESCRIPTOR;
  return stored ? get_stored(node, *attribute, type, to) : get_made(node, name, type, to);
}

}  // namespace ambit::cuda::host::cudnn
