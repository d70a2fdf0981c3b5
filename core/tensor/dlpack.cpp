// DLPack export and import. Imported structures are untrusted: every field is checked before use.
#include <ambit/dlpack.h>

#include <ambit/backend/registry.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/dlpack_abi.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/plugins.h>
#include <fmt/format.h>

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "core/devices/backend_call.h"

namespace ambit {
namespace {

struct TypeCode {
  DType dtype;
  uint8_t code, bits;
};
constexpr TypeCode kTypes[] = {
    {kFloat16, kDLFloat, 16},
    {kBFloat16, kDLBfloat, 16},
    {kBool, kDLBool, 8},
    {kUInt8, kDLUInt, 8},
    {kInt8, kDLInt, 8},
    {kInt16, kDLInt, 16},
    {kInt32, kDLInt, 32},
    {kInt64, kDLInt, 64},
    {kFloat32, kDLFloat, 32},
    {kFloat64, kDLFloat, 64},
    {kUInt16, kDLUInt, 16},
    {kUInt32, kDLUInt, 32},
    {kUInt64, kDLUInt, 64},
    {kComplexFloat, kDLComplex, 64},
    {kComplexDouble, kDLComplex, 128},
};
static_assert(std::size(kTypes) == kDTypeCount, "a dtype that DLPack has no code for");

}  // namespace

DLPackType dlpack_type(DType dtype) {
  for (const TypeCode& t : kTypes) {
    if (t.dtype == dtype) return {t.code, t.bits, 1};
  }
  __builtin_unreachable();
}

DType dtype_of_dlpack(DLPackType type) {
  if (type.lanes != 1) {
    throw DTypeError(fmt::format("from_dlpack: expected dtype.lanes 1, got {}", type.lanes));
  }
  for (const TypeCode& t : kTypes) {
    if (t.code == type.code && t.bits == type.bits) return t.dtype;
  }
  static constexpr const char* kNames[] = {"int",    "uint",    "float", "opaque handle",
                                           "bfloat", "complex", "bool"};
  if (type.code < std::size(kNames)) {
    throw DTypeError(
        fmt::format("from_dlpack: expected dtype of a tensor of ambit, got {} of {} bits",
                    kNames[type.code], type.bits));
  }
  throw DTypeError(fmt::format("from_dlpack: expected dtype.code from 0 to 6, got {}", type.code));
}

int32_t dlpack_device_type(Device device) {
  const Backend& backend = backend_of(device);
  return call_backend(device, "dlpack_device_type()", [&] { return backend.dlpack_device_type(); });
}

namespace {

// --- export

// The data of an exported structure, in one allocation.
template <class Managed>
struct Lent {
  Managed managed{};
  Tensor tensor;
  Dims sizes, strides;

  static void free(Managed* m) { delete static_cast<Lent*>(m->manager_ctx); }
};

void describe(DLTensor& to, const Tensor& t, Dims& sizes, Dims& strides) {
  sizes = t.sizes();
  strides = t.strides();
  // For sizes below 2, libraries expect the strides of a contiguous tensor.
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 2) strides[i] = 1;
  }
  to.data = t.data_ptr();
  // Never read. PyTorch does not call the deleter of a null address.
  if (!to.data && dlpack_device_type(t.device()) == kDLCPU) to.data = &to;
  to.device = {static_cast<DLDeviceType>(dlpack_device_type(t.device())), t.device().index()};
  to.ndim = static_cast<int32_t>(t.dim());
  const DLPackType type = dlpack_type(t.dtype());
  to.dtype = {type.code, type.bits, type.lanes};
  to.shape = sizes.data();
  to.strides = strides.data();
  to.byte_offset = 0;
}

template <class Managed>
std::unique_ptr<Lent<Managed>> lend(const char* op, const Tensor& t, const DLPackExport& options) {
  if (!t.defined()) throw Error(fmt::format("{}: expected a tensor, got an undefined one", op));
  if (t.is_meta()) {
    throw BackendError(fmt::format("{}: expected a tensor with elements, got one on meta", op));
  }
  const NoGradGuard no_grad;
  auto lent = std::make_unique<Lent<Managed>>();
  lent->tensor = options.copy ? t.clone() : t.detach();
  describe(lent->managed.dl_tensor, lent->tensor, lent->sizes, lent->strides);
  if (options.stream != -1 && lent->managed.dl_tensor.data) {
    const Device device = t.device();
    call_backend(device, "lend()", [&] {
      backend_of(device).lend(device.index(), lent->managed.dl_tensor.data, options.stream);
    });
  }
  lent->managed.manager_ctx = lent.get();
  lent->managed.deleter = Lent<Managed>::free;
  return lent;
}

// --- import

std::string device_name_of(int32_t type) {
  static constexpr const char* kNames[] = {
      "",          "kDLCPU",         "kDLCUDA",   "kDLCUDAHost", "kDLOpenCL",  "",
      "",          "kDLVulkan",      "kDLMetal",  "kDLVPI",      "kDLROCM",    "kDLROCMHost",
      "kDLExtDev", "kDLCUDAManaged", "kDLOneAPI", "kDLWebGPU",   "kDLHexagon", "kDLMAIA"};
  const bool known = type >= 0 && static_cast<size_t>(type) < std::size(kNames);
  return fmt::format("{} ({})", type, known && *kNames[type] ? kNames[type] : "unknown");
}

// Return the device of the backend with that DLPack device type. Backends without a type in DLPack
// have kDLExtDev, which does not distinguish them.
Device find_device(const DLDevice& d) {
  const int32_t type = d.device_type;
  // Other libraries' pinned memory is host memory.
  if (type == kDLCPU || type == kDLCUDAHost || type == kDLROCMHost) return kCPU;
  if (type == kDLExtDev) {
    throw BackendError(
        "from_dlpack: expected the device to be named, because device.device_type is 12 "
        "(kDLExtDev), which any library may use");
  }
  load_all_backends();
  for (const std::string& name : backend_names()) {
    const Device device(name + ":0");
    if (device.is_meta()) continue;
    if (dlpack_device_type(device) == type) return Device(device.kind(), d.device_id);
  }
  throw BackendError(
      fmt::format("from_dlpack: expected device.device_type of an existing backend, got {}",
                  device_name_of(type)));
}

Device device_of(const DLDevice& d, const std::optional<Device>& wanted) {
  if (!wanted) {
    if (d.device_id < 0 || d.device_id > INT16_MAX) {
      throw BackendError(
          fmt::format("from_dlpack: expected device.device_id of a device, got {}", d.device_id));
    }
    return find_device(d);
  }
  if (wanted->is_meta()) {
    throw BackendError("from_dlpack: expected a device with memory, got meta");
  }
  const int32_t type = dlpack_device_type(*wanted);
  const int32_t index = wanted->index();
  const bool is_host = type == kDLCPU && (d.device_type == kDLCUDAHost ||
                                          d.device_type == kDLROCMHost || d.device_type == kDLCPU);
  if (!is_host && (type != d.device_type || index != d.device_id)) {
    throw BackendError(fmt::format("from_dlpack: expected device {} {} for {}, got {} {}",
                                   device_name_of(type), index, wanted->str(),
                                   device_name_of(d.device_type), d.device_id));
  }
  return *wanted;
}

struct Geometry {
  Dims sizes, strides;
  int64_t extent = 1;  // elements from the first to the last one
};

Geometry geometry_of(const DLTensor& t) {
  // No library has tensors of more dims; a larger ndim means an uninitialised structure.
  constexpr int32_t kMostDims = 64;
  if (t.ndim < 0 || t.ndim > kMostDims) {
    throw ShapeError(
        fmt::format("from_dlpack: expected ndim from 0 to {}, got {}", kMostDims, t.ndim));
  }
  const auto n = static_cast<size_t>(t.ndim);
  if (n > 0 && !t.shape) throw Error("from_dlpack: expected shape, got a null pointer");
  Geometry g;
  if (n == 0) return g;
  g.sizes = IntArrayRef(t.shape, n);
  bool overflows = false, is_empty = false;
  int64_t numel = 1;
  for (const int64_t size : g.sizes) {
    if (size < 0) {
      throw ShapeError(
          fmt::format("from_dlpack: expected shape >= 0, got {}", str(IntArrayRef(g.sizes))));
    }
    is_empty |= size == 0;
    overflows |= size > 0 && __builtin_mul_overflow(numel, size, &numel);
  }
  if (overflows) {
    throw ShapeError(fmt::format("from_dlpack: expected shape of less than 2^63 elements, got {}",
                                 str(IntArrayRef(g.sizes))));
  }
  g.strides = t.strides ? Dims(IntArrayRef(t.strides, n)) : contiguous_strides(g.sizes);
  for (size_t i = 0; i < n; ++i) {
    int64_t reach = 0;
    // The stride of a dim of size 1 has no meaning.
    if (g.sizes[i] == 1) g.strides[i] = 1;
    if (is_empty) continue;
    if (g.strides[i] < 0 || __builtin_mul_overflow(g.sizes[i] - 1, g.strides[i], &reach) ||
        __builtin_add_overflow(g.extent, reach, &g.extent)) {
      throw ShapeError(fmt::format(
          "from_dlpack: expected strides >= 0 that span fewer than 2^63 elements, got {}",
          str(IntArrayRef(g.strides))));
    }
  }
  if (is_empty) {
    g.extent = 0;
    g.strides = contiguous_strides(g.sizes);
  }
  return g;
}

void* data_of(const DLTensor& t, DType dtype, int64_t extent) {
  if (extent == 0) return nullptr;
  if (!t.data) throw Error("from_dlpack: expected data, got a null pointer");
  const size_t size = element_size(dtype);
  const auto begin = reinterpret_cast<uintptr_t>(t.data);
  uintptr_t first = 0, bytes = 0, end = 0;
  if (__builtin_add_overflow(begin, t.byte_offset, &first)) {
    throw Error(
        fmt::format("from_dlpack: expected byte_offset within memory, got {}", t.byte_offset));
  }
  if (__builtin_mul_overflow(static_cast<uintptr_t>(extent), size, &bytes) || bytes > INT64_MAX ||
      __builtin_add_overflow(first, bytes, &end)) {
    throw ShapeError(fmt::format(
        "from_dlpack: expected less than 2^63 bytes, got {} elements of {}", extent, name(dtype)));
  }
  if (first % size != 0) {
    throw Error(fmt::format(
        "from_dlpack: expected data + byte_offset to be a multiple of {}, got the remainder {}",
        size, first % size));
  }
  return reinterpret_cast<void*>(first);
}

// Return a function that gives the structure back to its owner, for use after a successful import.
template <class Managed>
std::function<void(void*)> give_back(Managed* managed) {
  return [managed](void*) {
    if (managed->deleter) managed->deleter(managed);
  };
}

// Return the tensor exported as `managed`, or null if another library made it.
template <class Managed>
const Tensor* lent_here(const Managed& managed) {
  if (managed.deleter != Lent<Managed>::free) return nullptr;
  return &static_cast<const Lent<Managed>*>(managed.manager_ctx)->tensor;
}

template <class Managed>
Tensor take_back(Managed* managed, const Tensor& lent, const DLPackImport& options) {
  if (options.device && *options.device != lent.device()) {
    throw BackendError(fmt::format("from_dlpack: expected a tensor of device {}, got one of {}",
                                   options.device->str(), lent.device().str()));
  }
  if (options.stream && *options.stream != -1 && managed->dl_tensor.data) {
    backend_of(lent.device())
        .borrow(lent.device().index(), managed->dl_tensor.data, 0, options.stream);
  }
  Tensor out = lent.detach();
  managed->deleter(managed);
  return out;
}

template <class Managed>
Tensor borrow(Managed* managed, bool read_only, const DLPackImport& options) try {
  if (const Tensor* lent = lent_here(*managed)) return take_back(managed, *lent, options);
  const DLTensor& t = managed->dl_tensor;
  const DType dtype = dtype_of_dlpack({t.dtype.code, t.dtype.bits, t.dtype.lanes});
  const Device device = device_of(t.device, options.device);
  const Geometry g = geometry_of(t);
  void* data = data_of(t, dtype, g.extent);
  const size_t bytes = static_cast<size_t>(g.extent) * element_size(dtype);
  const Storage storage(new StorageImpl(device, data, bytes, nullptr));
  Tensor out(intrusive_ptr<TensorImpl>(new TensorImpl(storage, g.sizes, g.strides, 0, dtype)));
  if (read_only) storage->set_read_only();
  std::function<void(void*)> deleter = give_back(managed);
  if (data) {
    call_backend(device, "borrow()",
                 [&] { backend_of(device).borrow(device.index(), data, bytes, options.stream); });
  }
  storage->set_deleter(std::move(deleter));  // nothing fails from here on
  return out;
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("from_dlpack");
}

}  // namespace

DLManagedTensor* to_dlpack(const Tensor& t, const DLPackExport& options) try {
  if (t.defined() && !options.copy && t.storage()->is_read_only()) {
    throw Error(
        "to_dlpack: expected a tensor that may be written, got read-only memory of another "
        "library; "
        "use "
        "to_dlpack_versioned() or a copy");
  }
  return &lend<DLManagedTensor>("to_dlpack", t, options).release()->managed;
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("to_dlpack");
}

DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& t, const DLPackExport& options) try {
  auto lent = lend<DLManagedTensorVersioned>("to_dlpack_versioned", t, options);
  lent->managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  if (lent->tensor.storage()->is_read_only()) {
    lent->managed.flags |= DLPACK_FLAG_BITMASK_READ_ONLY;
  }
  if (options.copy) lent->managed.flags |= DLPACK_FLAG_BITMASK_IS_COPIED;
  return &lent.release()->managed;
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("to_dlpack_versioned");
}

Tensor from_dlpack(DLManagedTensor* managed, const DLPackImport& options) {
  if (!managed) throw Error("from_dlpack: expected a DLManagedTensor, got a null pointer");
  return borrow(managed, false, options);
}

Tensor from_dlpack(DLManagedTensorVersioned* managed, const DLPackImport& options) {
  if (!managed) throw Error("from_dlpack: expected a DLManagedTensorVersioned, got a null pointer");
  if (managed->version.major != DLPACK_MAJOR_VERSION) {
    throw Error(fmt::format("from_dlpack: expected version {}.x, got {}.{}", DLPACK_MAJOR_VERSION,
                            managed->version.major, managed->version.minor));
  }
  return borrow(managed, (managed->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0, options);
}

}  // namespace ambit
