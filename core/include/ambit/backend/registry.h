// Backends by name, and their kernels. A backend, built-in or plugin, registers itself through an
// entry function; static constructors are not used, since linkers drop them.
#pragma once

#include <ambit/backend/backend.h>
#include <ambit/backend/communicator.h>
#include <ambit/backend/op.h>

#include <memory>
#include <string>
#include <vector>

namespace ambit {

/// The backends and kernels of one library. Its entry function fills it, then it is committed as a
/// whole: a library that fails half-way registers nothing.
///   void load(Registry& registry) {
///     registry.add_backend(std::make_unique<CudaBackend>());
///     registry.add(kernels::convolution, cuda::convolution);
///   }
class AMBIT_API Registry {
 public:
  /// `library` is the name in messages: "libambit" or a file.
  explicit Registry(std::string library);
  ~Registry();

  /// Add a backend; kernels added next belong to it. Errors: BackendError for a malformed name.
  void add_backend(std::unique_ptr<Backend> backend);
  /// Add the backend's kernel for an op. `native` lists the reduced floating-point types that it
  /// accepts; the others are upcast to float32. Errors: BackendError if the op already has one.
  template <class Signature>
  void add(Op<Signature>& op, std::type_identity_t<Signature>* kernel, DTypeSet native = {}) {
    add_kernel(op, reinterpret_cast<AnyKernel>(kernel), native);
  }
  /// Add a communicator for init_process_group(name); `about` is shown by `ambit info`, for example
  /// its library's version. Errors: BackendError for a malformed name.
  void add_communicator(std::string name, distributed::CommunicatorFactory make, std::string about);
  /// Make all of it visible; return a description, such as "cuda: 2 devices". A backend may replace
  /// one of the same name without devices. Errors: BackendError if a name is taken; nothing changes
  /// then.
  std::vector<std::string> commit();

 private:
  void add_kernel(OpBase& op, AnyKernel kernel, DTypeSet native);

  struct Entry;
  struct CommunicatorEntry;
  std::string library_;
  std::vector<Entry> entries_;
  std::vector<CommunicatorEntry> communicators_;
};

/// Return the backend of a device kind. Errors: BackendError if there is none (meta).
AMBIT_API Backend& backend_of(Device device);
/// Return the backend; the device must exist. Errors: BackendError with the number of devices.
AMBIT_API Backend& usable_backend(Device device);
/// Return the library of a device kind's backend: "libambit" or a file; for meta, "core".
AMBIT_API const std::string& backend_library(DeviceKind kind);
/// Return the names of all registered backends, in order of registration.
AMBIT_API std::vector<std::string> backend_names();

}  // namespace ambit
