// DLPack: exchange tensors with other libraries in one process without a copy. The structures are
// those of <dlpack/dlpack.h>, or of dlpack_abi.h for programs without it; this header only uses
// pointers to them.
//   DLManagedTensorVersioned* lent = to_dlpack_versioned(x);  // another library's from_dlpack()
//   const Tensor y = from_dlpack(theirs);                     // shares their memory
// Both sides may write and see each other's writes. Writes of the other library are not recorded in
// the graph and do not bump the version, so a tensor saved for backward does not detect them.
#pragma once

#include <ambit/device.h>
#include <ambit/tensor.h>

#include <cstdint>
#include <optional>

struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace ambit {

/// DLPack's DLDataType, for programs without dlpack.h.
struct DLPackType {
  uint8_t code;    ///< a DLDataTypeCode: 0 int, 1 uint, 2 float, 4 bfloat, 6 bool
  uint8_t bits;    ///< number of bits of one element
  uint16_t lanes;  ///< 1: no vectors
};
/// Return the DLPack type of a dtype.
AMBIT_API DLPackType dlpack_type(DType dtype);
/// Return the dtype of a DLPack type. Errors: DTypeError that names the field, for complex numbers,
/// several lanes and other widths.
AMBIT_API DType dtype_of_dlpack(DLPackType type);
/// Return the DLDeviceType of a device.
AMBIT_API int32_t dlpack_device_type(Device device);

/// Options of to_dlpack().
struct DLPackExport {
  /// The stream on which the other library will use the memory, numbered like __dlpack__(stream) of
  /// the Python array API: for cuda, 1 is the legacy default stream, 2 the per-thread one, any
  /// other number a cudaStream_t; -1: do not synchronize. Default: the host waits until all work on
  /// the tensor is done, after which any stream may use it.
  std::optional<int64_t> stream = {};
  /// Export a copy, with the flag that it is a copy.
  bool copy = false;
};

/// Options of from_dlpack().
struct DLPackImport {
  /// The stream on which the other library wrote the memory, numbered as in DLPackExport. Default:
  /// that work is done.
  std::optional<int64_t> stream = {};
  /// The device of the memory, for devices that DLPack knows only as kDLExtDev: those of ambit's
  /// own backends and simulated ones. Default: the device that the structure names.
  std::optional<Device> device = {};
};

/// Export a tensor: return a structure that shares its memory, with its sizes and strides, and
/// keeps it alive until its `deleter` is called, once, on any thread. Device types: cpu and
/// reference are kDLCPU, cuda is kDLCUDA, others kDLExtDev unless their backend says otherwise
/// (Backend::dlpack_device_type). On asynchronous devices the other library must call `deleter`
/// when its work is done or ordered before later work of the device. A tensor that requires grad is
/// exported as its detach(). Errors: Error for an undefined tensor; BackendError for one on meta;
/// Error for a read-only one, which the unversioned structure cannot express.
AMBIT_API DLManagedTensor* to_dlpack(const Tensor& t, const DLPackExport& options = {});
/// As above, as a structure of version 1.0, which has flags: a read-only tensor is flagged so.
AMBIT_API DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& t,
                                                        const DLPackExport& options = {});

/// Import a tensor: return one that shares the memory. It calls `deleter`, if not null, when the
/// last tensor that shares the memory is gone and the device has done all work on it. If the import
/// throws, `deleter` is not called: the caller still owns the structure. A structure exported by
/// ambit gives an alias of the exported tensor. In-place ops and optimizers refuse memory flagged
/// read-only; writes through data_ptr() are not detected. The memory must be aligned for the dtype;
/// strides may be 0 and overlap, but not be negative. Errors: Error that names the field: a null
/// pointer, a version other than 1.x, shape, data or alignment; DTypeError for dtype (complex
/// numbers, several lanes, other widths); ShapeError for ndim, shape and strides; BackendError for
/// a device that no backend has.
AMBIT_API Tensor from_dlpack(DLManagedTensor* managed, const DLPackImport& options = {});
/// As above, for the versioned structure.
AMBIT_API Tensor from_dlpack(DLManagedTensorVersioned* managed, const DLPackImport& options = {});

}  // namespace ambit
