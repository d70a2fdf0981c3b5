// The structures of DLPack 1.0 (dmlc/dlpack, include/dlpack/dlpack.h), for programs that access
// them; dlpack.h does not need this header. The include guard is DLPack's own: if another library's
// dlpack.h is included first, its definitions are used.
#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_

#include <stddef.h>
#include <stdint.h>

/// The version of these structures.
#define DLPACK_MAJOR_VERSION 1
#define DLPACK_MINOR_VERSION 0

#ifdef __cplusplus
extern "C" {
#endif

/// The version of a DLManagedTensorVersioned.
typedef struct {
  uint32_t major;  ///< another one: only `deleter` may be used
  uint32_t minor;  ///< a later one only adds values
} DLPackVersion;

/// Kinds of device memory.
#ifdef __cplusplus
typedef enum : int32_t {
#else
typedef enum {
#endif
  kDLCPU = 1,
  kDLCUDA = 2,
  kDLCUDAHost = 3,
  kDLOpenCL = 4,
  kDLVulkan = 7,
  kDLMetal = 8,
  kDLVPI = 9,
  kDLROCM = 10,
  kDLROCMHost = 11,
  kDLExtDev = 12,
  kDLCUDAManaged = 13,
  kDLOneAPI = 14,
  kDLWebGPU = 15,
  kDLHexagon = 16,
  kDLMAIA = 17,
} DLDeviceType;

/// A device.
typedef struct {
  DLDeviceType device_type;  ///< its kind
  int32_t device_id;         ///< its index; 0 for the CPU
} DLDevice;

/// Categories of element types.
typedef enum {
  kDLInt = 0U,
  kDLUInt = 1U,
  kDLFloat = 2U,
  kDLOpaqueHandle = 3U,
  kDLBfloat = 4U,
  kDLComplex = 5U,
  kDLBool = 6U,
} DLDataTypeCode;

/// An element type.
typedef struct {
  uint8_t code;    ///< a DLDataTypeCode
  uint8_t bits;    ///< number of bits of one lane
  uint16_t lanes;  ///< 1, or the length of a vector type
} DLDataType;

/// A view of memory without an owner.
typedef struct {
  void* data;            ///< an address in the device's address space
  DLDevice device;       ///< where the memory is
  int32_t ndim;          ///< number of dims
  DLDataType dtype;      ///< type of the elements
  int64_t* shape;        ///< ndim sizes
  int64_t* strides;      ///< ndim strides in elements; null: row-major
  uint64_t byte_offset;  ///< distance of the first element from `data`
} DLTensor;

/// A DLTensor and its owner.
typedef struct DLManagedTensor {
  DLTensor dl_tensor;  ///< the memory
  void* manager_ctx;   ///< data of the owner
  /// Frees memory and structure; the user calls it once. Null: nothing to free.
  void (*deleter)(struct DLManagedTensor* self);
} DLManagedTensor;

/// Flags of a DLManagedTensorVersioned: the memory must not be written; it is a copy.
#define DLPACK_FLAG_BITMASK_READ_ONLY (1UL << 0UL)
#define DLPACK_FLAG_BITMASK_IS_COPIED (1UL << 1UL)

/// A DLManagedTensor with a version and flags, since DLPack 1.0.
typedef struct DLManagedTensorVersioned {
  DLPackVersion version;  ///< version of the structure
  void* manager_ctx;      ///< data of the owner
  /// Frees memory and structure; the user calls it once. Null: nothing to free.
  void (*deleter)(struct DLManagedTensorVersioned* self);
  uint64_t flags;      ///< DLPACK_FLAG_BITMASK_...
  DLTensor dl_tensor;  ///< the memory
} DLManagedTensorVersioned;

#ifdef __cplusplus
}
#endif

#endif  // DLPACK_DLPACK_H_
