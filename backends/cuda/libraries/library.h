// A shared library that is opened when a GPU is first asked for what it does: cuDNN and cuBLASLt
// take 0.6 s and 200 MiB to load, which a machine without a GPU should not pay.
#pragma once

#include <initializer_list>
#include <string>

namespace ambit::cuda {

/// Opened for ever.
class Library {
 public:
  /// Open the first of `files` that is there: {"libcudnn.so.9"}. Searched where this plugin's
  /// libcudart was found, too. Errors: BackendError with the reasons;
  /// OutOfMemoryError where memory was lacking.
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
