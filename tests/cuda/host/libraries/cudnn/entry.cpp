// The functions of libcudnn.so.9 that the plugin opens.
#include "attributes.h"
#include "execute.h"
#include "tests/cuda/host/libraries/faults.h"
#include "tests/cuda/host/libraries/handle.h"

using namespace ambit::cuda::host;
using namespace ambit::cuda::host::cudnn;

namespace {

cudnnStatus_t null_pointer(const char* what) {
  return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, what);
}

bool is_known(cudnnBackendDescriptorType_t type) {
  switch (type) {
    case CUDNN_BACKEND_POINTWISE_DESCRIPTOR:
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR:
    case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR:
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
    case CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR:
      return true;
    default:
      return is_operation(type);
  }
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  if (!handle) return fail(CUDNN_STATUS_BAD_PARAM, "a null pointer");
  if (!create_handle(handles(), handle)) return fail(CUDNN_STATUS_NOT_INITIALIZED, "no device");
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  if (!handle) return fail(CUDNN_STATUS_BAD_PARAM, "a null handle");
  if (!set_stream(handles().get(handle), stream)) {
    return fail(CUDNN_STATUS_INTERNAL_ERROR_TEXTURE_CREATION_FAILED, "a stream of another device");
  }
  return CUDNN_STATUS_SUCCESS;
}

const char* cudnnGetErrorString(cudnnStatus_t status) {
  switch (static_cast<int>(status)) {
#define AMBIT_NAME(name) \
  case name:             \
    return #name;
    AMBIT_NAME(CUDNN_STATUS_SUCCESS)
    AMBIT_NAME(CUDNN_STATUS_NOT_INITIALIZED)
    AMBIT_NAME(CUDNN_STATUS_BAD_PARAM)
    AMBIT_NAME(CUDNN_STATUS_BAD_PARAM_NULL_POINTER)
    AMBIT_NAME(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER)
    AMBIT_NAME(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED)
    AMBIT_NAME(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE)
    AMBIT_NAME(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE)
    AMBIT_NAME(CUDNN_STATUS_NOT_SUPPORTED)
    AMBIT_NAME(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED)
    AMBIT_NAME(CUDNN_STATUS_INTERNAL_ERROR_TEXTURE_CREATION_FAILED)
    AMBIT_NAME(CUDNN_STATUS_EXECUTION_FAILED)
    AMBIT_NAME(CUDNN_STATUS_EXECUTION_FAILED_CUDART)
#undef AMBIT_NAME
    default:
      return "CUDNN_UNKNOWN_STATUS";
  }
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t* descriptor) {
  if (!descriptor) return null_pointer("nowhere to put a descriptor");
  // The real library returns this status.
  if (!is_known(type)) {
    return fail(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED, "no such descriptor");
  }
  *descriptor =
      descriptors().add(std::make_unique<Descriptor>(Descriptor{std::make_shared<Node>(type)}));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  if (!descriptor) return null_pointer("a null descriptor");
  descriptors().remove(descriptor);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  if (!descriptor) return null_pointer("a null descriptor");
  return finalize(*descriptors().get(descriptor).node);
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count,
                                       const void* elements) {
  if (!descriptor) return null_pointer("a null descriptor");
  return set(*descriptors().get(descriptor).node, name, type, count, elements);
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t room,
                                       int64_t* count, void* elements) {
  if (!descriptor) return null_pointer("a null descriptor");
  return get(*descriptors().get(descriptor).node, name, type, room, count, elements);
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  if (!handle || !plan || !pack) return fail(CUDNN_STATUS_BAD_PARAM, "a null argument");
  cudnnContext& context = handles().get(handle);
  const Node &p = *descriptors().get(plan).node, &v = *descriptors().get(pack).node;
  if (p.type != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR ||
      v.type != CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR) {
    return fail(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, "descriptors of other kinds");
  }
  if (!p.finalized || !v.finalized) {
    return fail(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "descriptors that are not finalized");
  }
  const std::unique_lock alone(context.at_work, std::try_to_lock);
  if (!alone.owns_lock()) misuse("cudnnBackendExecute: a handle that another thread is using");
  return execute(context, *p.made, v);
}

}  // extern "C"
