// DLPack: tensors to and from other libraries, in one process, without a copy. The structures are
// those of <dlpack/dlpack.h>, or of dlpack_abi.h for who has none; here they are only pointed at.
//   DLManagedTensorVersioned* lent = to_dlpack_versioned(x);  // another library's from_dlpack()
//   const Tensor y = from_dlpack(theirs);                     // shares their memory
// Both sides may write and both see it. Writes of the other library are in no graph and counted by
// no version, so that a tensor saved for backward does not notice them.
#pragma once

#include <ambit/device.h>
#include <ambit/tensor.h>

#include <cstdint>
#include <optional>

struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace ambit {

/// DLPack's DLDataType, of which a program that has no dlpack.h makes nothing.
struct DLPackType {
  uint8_t code, bits;
  uint16_t lanes;
};
/// Return how DLPack names a dtype, and which dtype a name means. Errors: DTypeError that names the
/// field, for complex numbers, several lanes and other widths.
AMBIT_API DLPackType dlpack_type(DType dtype);
AMBIT_API DType dtype_of_dlpack(DLPackType type);
/// Return how DLPack names the kind of a device: DLDeviceType.
AMBIT_API int32_t dlpack_device_type(Device device);

/// How a tensor is handed over.
struct DLPackExport {
  /// The queue on which the other library is going to use the memory, as __dlpack__(stream) of the
  /// Python array API: for cuda 1 is the legacy default stream, 2 the per-thread one, any other
  /// number a cudaStream_t; -1: nothing is waited for. Left out: the host waits until all work on
  /// the tensor is done, after which any queue may use it.
  std::optional<int64_t> stream = {};
  /// Hand over a copy, flagged as such.
  bool copy = false;
};

/// How a tensor is taken over.
struct DLPackImport {
  /// The queue on which the other library has written the memory, numbered as in DLPackExport; left
  /// out: what it does there is done.
  std::optional<int64_t> stream = {};
  /// Whose memory it is, where DLPack cannot say: it knows the devices of ambit's own backends, and
  /// the simulated ones, only as kDLExtDev. Left out: the device that the structure names.
  std::optional<Device> device = {};
};

/// Lend a tensor to another library: return a structure that shares its memory, with its sizes and
/// strides, and keeps it alive until its `deleter` is called, once, on any thread. Device types:
/// cpu and reference are kDLCPU, cuda is kDLCUDA, others kDLExtDev unless their backend says
/// (Backend::dlpack_device_type). On asynchronous devices the other library's work is to be done,
/// or ordered before later work of the device, when it calls `deleter`.
/// A tensor that requires grad is lent as its detach().
/// Errors: Error for an undefined tensor; BackendError for one on meta; Error for one that is
/// read-only, which the unversioned structure cannot tell.
AMBIT_API DLManagedTensor* to_dlpack(const Tensor& t, const DLPackExport& options = {});
/// The same with version 1.0 and flags: a read-only tensor is flagged so.
AMBIT_API DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& t,
                                                        const DLPackExport& options = {});

/// Take a tensor over from another library: return one that shares its memory, and calls `deleter`,
/// where there is one, when the last tensor that shares it is gone and the device has done all work
/// there; never for what throws: then the structure stays the caller's. What ambit has lent itself
/// comes back as an alias of the tensor lent. Memory flagged read-only is refused by ops in place
/// and by optimizers; writing through data_ptr() is then the caller's fault.
/// Alignment is that of the dtype; strides may be 0 and overlap, but not be negative.
/// Errors: Error that names the field: a null pointer, a version other than 1.x, shape, data or
/// alignment; DTypeError for dtype (complex numbers, several lanes, other widths); ShapeError for
/// ndim, shape and strides; BackendError for device, where nobody has such memory.
AMBIT_API Tensor from_dlpack(DLManagedTensor* managed, const DLPackImport& options = {});
AMBIT_API Tensor from_dlpack(DLManagedTensorVersioned* managed, const DLPackImport& options = {});

}  // namespace ambit
