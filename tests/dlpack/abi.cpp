// A compile-time test that dlpack_abi.h has the layout of another project's dlpack.h, which
// AMBIT_REAL_DLPACK names.
#include AMBIT_REAL_DLPACK

#include <cstddef>
#include <cstdint>

#ifndef DLPACK_DLPACK_H_
#error "not the guard that dlpack_abi.h shares with it"
#endif
#ifdef DLPACK_FLAG_BITMASK_READ_ONLY
#define HAS_VERSIONS
constexpr uint64_t kReadOnly = DLPACK_FLAG_BITMASK_READ_ONLY,
                   kCopied = DLPACK_FLAG_BITMASK_IS_COPIED;
constexpr int kMajor = DLPACK_MAJOR_VERSION;
#undef DLPACK_FLAG_BITMASK_READ_ONLY
#undef DLPACK_FLAG_BITMASK_IS_COPIED
#undef DLPACK_MAJOR_VERSION
#undef DLPACK_MINOR_VERSION
#endif

#undef DLPACK_DLPACK_H_
namespace ours {
#include <ambit/dlpack_abi.h>
}

namespace {

#define SAME_SIZE(type) static_assert(sizeof(ours::type) == sizeof(::type))
#define SAME_PLACE(type, member)                                           \
  static_assert(offsetof(ours::type, member) == offsetof(::type, member)); \
  static_assert(sizeof(ours::type::member) == sizeof(::type::member))
#define SAME_NUMBER(name) static_assert(int{ours::name} == int{::name})

SAME_SIZE(DLDevice);
SAME_PLACE(DLDevice, device_type);
SAME_PLACE(DLDevice, device_id);
SAME_SIZE(DLDataType);
SAME_PLACE(DLDataType, code);
SAME_PLACE(DLDataType, bits);
SAME_PLACE(DLDataType, lanes);
SAME_SIZE(DLTensor);
SAME_PLACE(DLTensor, data);
SAME_PLACE(DLTensor, device);
SAME_PLACE(DLTensor, ndim);
SAME_PLACE(DLTensor, dtype);
SAME_PLACE(DLTensor, shape);
SAME_PLACE(DLTensor, strides);
SAME_PLACE(DLTensor, byte_offset);
SAME_SIZE(DLManagedTensor);
SAME_PLACE(DLManagedTensor, dl_tensor);
SAME_PLACE(DLManagedTensor, manager_ctx);
SAME_PLACE(DLManagedTensor, deleter);
SAME_NUMBER(kDLCPU);
SAME_NUMBER(kDLCUDA);
SAME_NUMBER(kDLCUDAHost);
SAME_NUMBER(kDLExtDev);
SAME_NUMBER(kDLInt);
SAME_NUMBER(kDLUInt);
SAME_NUMBER(kDLFloat);
SAME_NUMBER(kDLBfloat);
SAME_NUMBER(kDLComplex);
#ifdef HAS_VERSIONS
SAME_SIZE(DLPackVersion);
SAME_PLACE(DLPackVersion, major);
SAME_PLACE(DLPackVersion, minor);
SAME_SIZE(DLManagedTensorVersioned);
SAME_PLACE(DLManagedTensorVersioned, version);
SAME_PLACE(DLManagedTensorVersioned, manager_ctx);
SAME_PLACE(DLManagedTensorVersioned, deleter);
SAME_PLACE(DLManagedTensorVersioned, flags);
SAME_PLACE(DLManagedTensorVersioned, dl_tensor);
SAME_NUMBER(kDLBool);
SAME_NUMBER(kDLCUDAManaged);
static_assert(DLPACK_FLAG_BITMASK_READ_ONLY == kReadOnly);
static_assert(DLPACK_FLAG_BITMASK_IS_COPIED == kCopied);
static_assert(DLPACK_MAJOR_VERSION == kMajor);
#endif

}  // namespace
