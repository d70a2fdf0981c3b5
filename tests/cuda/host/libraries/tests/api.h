// The functions of cuDNN and cuBLASLt, of the emulations or of the real libraries.
#pragma once

#include <cublasLt.h>
#include <cudnn_graph.h>

#include <string>

namespace host_libraries {

/// A library that is opened and never closed.
class Opened {
 public:
  /// A `path` without a slash is searched for in the system's library folders.
  explicit Opened(const std::string& path);
  bool is_there() const { return handle_ != nullptr; }
  /// Return a function, null if the library is missing.
  template <class Function>
  Function* find(const char* name) const {
    return reinterpret_cast<Function*>(find_symbol(name));
  }

 private:
  void* find_symbol(const char* name) const;
  void* handle_;
};

struct CudnnApi {
  Opened library;
#define AMBIT_FUNCTION(field, name) decltype(::name)* field = library.find<decltype(::name)>(#name)
  AMBIT_FUNCTION(create, cudnnCreate);
  AMBIT_FUNCTION(set_stream, cudnnSetStream);
  AMBIT_FUNCTION(error_string, cudnnGetErrorString);
  AMBIT_FUNCTION(make, cudnnBackendCreateDescriptor);
  AMBIT_FUNCTION(destroy, cudnnBackendDestroyDescriptor);
  AMBIT_FUNCTION(finalize, cudnnBackendFinalize);
  AMBIT_FUNCTION(set, cudnnBackendSetAttribute);
  AMBIT_FUNCTION(get, cudnnBackendGetAttribute);
  AMBIT_FUNCTION(execute, cudnnBackendExecute);
};

struct CublasLtApi {
  Opened library;
  AMBIT_FUNCTION(create, cublasLtCreate);
  AMBIT_FUNCTION(status_name, cublasLtGetStatusName);
  AMBIT_FUNCTION(status_string, cublasLtGetStatusString);
  AMBIT_FUNCTION(matmul, cublasLtMatmul);
  AMBIT_FUNCTION(heuristic, cublasLtMatmulAlgoGetHeuristic);
  AMBIT_FUNCTION(make_desc, cublasLtMatmulDescCreate);
  AMBIT_FUNCTION(destroy_desc, cublasLtMatmulDescDestroy);
  AMBIT_FUNCTION(set_desc, cublasLtMatmulDescSetAttribute);
  AMBIT_FUNCTION(make_layout, cublasLtMatrixLayoutCreate);
  AMBIT_FUNCTION(destroy_layout, cublasLtMatrixLayoutDestroy);
  AMBIT_FUNCTION(set_layout, cublasLtMatrixLayoutSetAttribute);
  AMBIT_FUNCTION(make_preference, cublasLtMatmulPreferenceCreate);
  AMBIT_FUNCTION(destroy_preference, cublasLtMatmulPreferenceDestroy);
  AMBIT_FUNCTION(set_preference, cublasLtMatmulPreferenceSetAttribute);
#undef AMBIT_FUNCTION
};

/// Return the folder of the emulations, the runtime and the plugin.
std::string folder_of_emulations();

/// The emulations, in the folder of the runtime that this program is linked with.
const CudnnApi& emulated_cudnn();
const CublasLtApi& emulated_cublaslt();

/// The real libraries, which may be missing.
const CudnnApi& real_cudnn();
const CublasLtApi& real_cublaslt();

}  // namespace host_libraries
