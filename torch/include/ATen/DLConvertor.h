// at::toDLPack, at::fromDLPack and their versioned forms, implemented by ambit/dlpack.h.
#pragma once

#include <ambit/dlpack.h>
#include <ambit/dlpack_abi.h>
#include <torch/namespaces.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace at {

/// Import `src`; a given deleter is called with the data's address instead of src's own.
template <class Managed>
Tensor from_dlpack_with(Managed* src, std::function<void(void*)> deleter) {
  if (!src || !deleter) return ambit::from_dlpack(src);
  struct Own {
    Managed managed;
    std::function<void(void*)> deleter;
  };
  std::unique_ptr<Own> own(new Own{*src, std::move(deleter)});
  own->managed.manager_ctx = own.get();
  own->managed.deleter = [](Managed* managed) {
    const std::unique_ptr<Own> done(static_cast<Own*>(managed->manager_ctx));
    done->deleter(done->managed.dl_tensor.data);
  };
  Tensor out = ambit::from_dlpack(&own->managed);
  own.release();
  return out;
}

inline DLManagedTensor* toDLPack(const Tensor& src) { return ambit::to_dlpack(src); }
/// Takes ownership of the structure, although older libtorch's signature is const.
inline Tensor fromDLPack(const DLManagedTensor* src, std::function<void(void*)> deleter = {}) {
  return from_dlpack_with(const_cast<DLManagedTensor*>(src), std::move(deleter));
}
inline DLManagedTensorVersioned* toDLPackVersioned(const Tensor& src) {
  return ambit::to_dlpack_versioned(src);
}
/// As toDLPackVersioned(), flagged as read-only.
inline DLManagedTensorVersioned* toDLPackVersionedReadOnly(const Tensor& src) {
  DLManagedTensorVersioned* out = ambit::to_dlpack_versioned(src);
  out->flags |= DLPACK_FLAG_BITMASK_READ_ONLY;
  return out;
}
inline Tensor fromDLPackVersioned(DLManagedTensorVersioned* src,
                                  std::function<void(void*)> deleter = {}) {
  return from_dlpack_with(src, std::move(deleter));
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
inline DLDevice torchDeviceToDLDevice(Device device) {
  return {static_cast<DLDeviceType>(ambit::dlpack_device_type(device)),
          device.is_cpu() ? 0 : device.index()};
}
/// Describe a tensor, which must outlive `out`; there is no flag for read_only.
inline void toDLPackNonOwning(const Tensor& src, DLTensor* out, bool /*read_only*/ = false) {
  *out = {src.data_ptr(),
          torchDeviceToDLDevice(src.device()),
          static_cast<int32_t>(src.dim()),
          getDLDataType(src),
          const_cast<int64_t*>(src.sizes().data()),
          const_cast<int64_t*>(src.strides().data()),
          0};
}

/// The names of the capsules of both structures, and their converters.
template <class Managed>
struct DLPackTraits {};
template <>
struct DLPackTraits<DLManagedTensor> {
  inline static constexpr const char *capsule = "dltensor", *used = "used_dltensor";
  inline static auto toDLPack = at::toDLPack;
  inline static auto fromDLPack = at::fromDLPack;
};
template <>
struct DLPackTraits<DLManagedTensorVersioned> {
  inline static constexpr const char *capsule = "dltensor_versioned",
                                     *used = "used_dltensor_versioned";
  inline static auto toDLPack = at::toDLPackVersioned;
  inline static auto fromDLPack = at::fromDLPackVersioned;
};

}  // namespace at
