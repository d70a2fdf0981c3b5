// Backends by name, and their kernels. A backend registers itself through one entry function, built
// in or plugin from the same sources; nothing relies on static constructors, which linkers drop.
#pragma once

#include <ambit/backend/backend.h>
#include <ambit/backend/communicator.h>
#include <ambit/backend/op.h>

#include <memory>
#include <string>
#include <vector>

namespace ambit {

/// What one library brings. Filled by its entry function and then committed as a whole: a library
/// that fails half-way leaves nothing behind.
///   void load(Registry& registry) {
///     registry.add_backend(std::make_unique<CudaBackend>());
///     registry.add(kernels::convolution, cuda::convolution);
///   }
class AMBIT_API Registry {
 public:
  /// `library` is the name that messages give: "libambit" or a file.
  explicit Registry(std::string library);
  ~Registry();

  /// Add a backend; the kernels added next are its. Errors: BackendError for a malformed name.
  void add_backend(std::unique_ptr<Backend> backend);
  /// Add the backend's kernel for an op, which takes the dtypes of 16 bits in `native` as they are;
  /// the others it gets as float32. Errors: BackendError when it has one already.
  template <class Signature>
  void add(Op<Signature>& op, std::type_identity_t<Signature>* kernel, DTypeSet native = {}) {
    add_kernel(op, reinterpret_cast<AnyKernel>(kernel), native);
  }
  /// Add a communicator, which init_process_group(name) then finds; `about` is what `ambit info`
  /// shows, such as its library's version. Errors: BackendError for a malformed name.
  void add_communicator(std::string name, distributed::CommunicatorFactory make, std::string about);
  /// Make all of it visible; return what came, such as "cuda: 2 devices". A backend takes over the
  /// name of one without devices. Errors: BackendError when a name is taken; then nothing changes.
  std::vector<std::string> commit();

 private:
  void add_kernel(OpBase& op, AnyKernel kernel, DTypeSet native);

  struct Entry;
  struct CommunicatorEntry;
  std::string library_;
  std::vector<Entry> entries_;
  std::vector<CommunicatorEntry> communicators_;
};

/// Return the backend of a device kind. Errors: BackendError when there is none (meta).
AMBIT_API Backend& backend_of(Device device);
/// Return the backend and check that the device exists. Errors: BackendError saying how many do.
AMBIT_API Backend& usable_backend(Device device);
/// Return the library that brought the backend of a kind: "libambit" or a file; of meta, "core".
AMBIT_API const std::string& backend_library(DeviceKind kind);
/// Return the names of all registered backends, in order of registration.
AMBIT_API std::vector<std::string> backend_names();

}  // namespace ambit
