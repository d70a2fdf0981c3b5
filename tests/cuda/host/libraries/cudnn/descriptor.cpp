#include "descriptor.h"

#include <algorithm>
#include <cstring>

#include "attributes.h"

namespace ambit::cuda::host::cudnn {
namespace {

std::string& last_error() {
  thread_local std::string text;
  return text;
}

// Scales are float or double for any data.
bool fits(cudnnBackendAttributeType_t type, const Attribute& attribute) {
  return type == attribute.type ||
         (attribute.type == CUDNN_TYPE_DOUBLE && type == CUDNN_TYPE_FLOAT);
}

template <class T>
T element(const Value& value, size_t i) {
  T result;
  std::memcpy(&result, value.bytes.data() + i * sizeof(T), sizeof(T));
  return result;
}

// The real library accepts a descriptor of another kind, and reads outside of it.
cudnnStatus_t set_nodes(Value& value, const Attribute& attribute, const void* elements) {
  const auto* handles = static_cast<const cudnnBackendDescriptor_t*>(elements);
  const bool of_graph = attribute.name == CUDNN_ATTR_OPERATIONGRAPH_OPS;
  for (int64_t i = 0; i < value.count; ++i) {
    if (!handles[i]) return fail(CUDNN_STATUS_BAD_PARAM, "a null descriptor");
    const Node& node = *descriptors().get(handles[i]).node;
    if (of_graph ? !is_operation(node.type) : node.type != attribute.refers_to) {
      return fail(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, "a descriptor of another kind");
    }
    if (of_graph && !node.finalized) {
      return fail(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "an operation that is not finalized");
    }
    value.nodes.push_back(std::make_shared<const Node>(node));
  }
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

// Both objects are leaked, because programs destroy their descriptors until exit.
Live<Descriptor>& descriptors() {
  static auto* live = new Live<Descriptor>("cudnnBackendDescriptor_t");
  return *live;
}
Live<cudnnContext>& handles() {
  static auto* live = new Live<cudnnContext>("cudnnHandle_t");
  return *live;
}

cudnnStatus_t fail(cudnnStatus_t status, const std::string& why) {
  last_error() = why;
  return status;
}

std::vector<int64_t> Node::integers(cudnnBackendAttributeName_t name) const {
  std::vector<int64_t> list;
  const auto found = values.find(name);
  if (found == values.end()) return list;
  const Value& value = found->second;
  for (size_t i = 0; i < static_cast<size_t>(value.count); ++i) {
    switch (bytes_of(value.type)) {
      case 1:
        list.push_back(element<uint8_t>(value, i));
        break;
      case 4:
        list.push_back(element<int32_t>(value, i));
        break;
      default:
        list.push_back(element<int64_t>(value, i));
    }
  }
  return list;
}

int64_t Node::integer(cudnnBackendAttributeName_t name, int64_t otherwise) const {
  const std::vector<int64_t> list = integers(name);
  return list.empty() ? otherwise : list.front();
}

double Node::real(cudnnBackendAttributeName_t name, double otherwise) const {
  const auto found = values.find(name);
  if (found == values.end()) return otherwise;
  const Value& value = found->second;
  return value.type == CUDNN_TYPE_FLOAT ? static_cast<double>(element<float>(value, 0))
                                        : element<double>(value, 0);
}

std::vector<void*> Node::pointers(cudnnBackendAttributeName_t name) const {
  std::vector<void*> list;
  for (const int64_t word : integers(name)) list.push_back(reinterpret_cast<void*>(word));
  return list;
}

NodePtr Node::node(cudnnBackendAttributeName_t name) const {
  const auto found = values.find(name);
  return found == values.end() ? nullptr : found->second.nodes.front();
}

cudnnStatus_t set(Node& node, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                  int64_t count, const void* elements) {
  if (node.finalized) return fail(CUDNN_STATUS_BAD_PARAM, "a descriptor that is finalized");
  const Attribute* attribute = find_attribute(node.type, name);
  if (!attribute) return fail(CUDNN_STATUS_BAD_PARAM, "no attribute of such a descriptor");
  if (!fits(type, *attribute)) {
    return fail(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, "an attribute of another type");
  }
  if (count < 1 || count > attribute->most || !elements) {
    return fail(CUDNN_STATUS_BAD_PARAM, "a wrong number of elements");
  }
  Value value{type, count, {}, {}};
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    const cudnnStatus_t status = set_nodes(value, *attribute, elements);
    if (status != CUDNN_STATUS_SUCCESS) return status;
  } else {
    const auto* from = static_cast<const std::byte*>(elements);
    value.bytes.assign(from, from + static_cast<size_t>(count) * bytes_of(type));
  }
  if (type == CUDNN_TYPE_HANDLE) {
    void* handle = element<void*>(value, 0);
    if (!handle) return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "a null handle");
    handles().get(handle);
  }
  node.values.insert_or_assign(name, std::move(value));
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace ambit::cuda::host::cudnn

using namespace ambit::cuda::host;
using namespace ambit::cuda::host::cudnn;

extern "C" void cudnnGetLastErrorString(char* message, size_t most) {
  if (!message || most == 0) return;
  const size_t length = std::min(most - 1, last_error().size());
  std::memcpy(message, last_error().data(), length);
  message[length] = '\0';
}
