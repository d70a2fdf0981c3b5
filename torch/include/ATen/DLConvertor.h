// at::toDLPack and at::fromDLPack, implemented by ambit/dlpack.h.
#pragma once

#include <ambit/dlpack.h>
#include <ambit/dlpack_abi.h>
#include <torch/namespaces.h>

#include <cstdint>

namespace at {

inline DLManagedTensor* toDLPack(const Tensor& src) { return ambit::to_dlpack(src); }
/// Takes ownership of the structure, although libtorch's signature is const.
inline Tensor fromDLPack(const DLManagedTensor* src) {
  return ambit::from_dlpack(const_cast<DLManagedTensor*>(src));
}
inline ScalarType toScalarType(const DLDataType& dtype) {
  return ambit::dtype_of_dlpack({dtype.code, dtype.bits, dtype.lanes});
}
inline DLDataType getDLDataType(const Tensor& t) {
  const ambit::DLPackType type = ambit::dlpack_type(t.dtype());
  return {type.code, type.bits, type.lanes};
}
inline DLDevice getDLContext(const Tensor& tensor, const int64_t& device_id) {
  return {static_cast<DLDeviceType>(ambit::dlpack_device_type(tensor.device())),
          static_cast<int32_t>(device_id)};
}

}  // namespace at
