// A shared library that is opened on first use on a GPU: cuDNN and cuBLASLt take 0.6 s and 200 MiB
// to load, which machines without a GPU should not pay.
#pragma once

#include <initializer_list>
#include <string>

namespace ambit::cuda {

/// Never closed.
class Library {
 public:
  /// Open the first file that exists: {"libcudnn.so.9"}. Also searches the folder of this plugin's
  /// libcudart. Errors: BackendError with the reasons; OutOfMemoryError if memory is lacking.
  explicit Library(std::initializer_list<const char*> files);

  /// Return a function: find<decltype(cudnnCreate)>("cudnnCreate"). Errors: BackendError.
  template <class Function>
  Function* find(const char* name) const {
    return reinterpret_cast<Function*>(find_symbol(name));
  }

 private:
  void* find_symbol(const char* name) const;

  void* handle_ = nullptr;
  std::string file_;
};

}  // namespace ambit::cuda
