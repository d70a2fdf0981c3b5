// Runs cuDNN calls, of the emulation or the real library, and records their statuses.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api.h"

namespace host_libraries {

using Sizes = std::vector<int64_t>;

struct TensorSpec {
  int64_t id = 1;
  Sizes sizes;
  Sizes strides = {};  ///< empty: contiguous
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  int64_t alignment = 0;  ///< in bytes; 0: the size of an element
  bool is_virtual = false;
};

struct ConvSpec {
  Sizes stride{1, 1}, dilation{1, 1}, before{0, 0}, after{0, 0};
  cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  double alpha = 1, beta = 0;
};

enum class Kind : uint8_t { forward, data, filter };

/// Creates descriptors and records all statuses; its destructor destroys the descriptors.
class CudnnScript {
 public:
  using Descriptor = cudnnBackendDescriptor_t;
  struct Step {
    std::string call;
    cudnnStatus_t status;
  };

  explicit CudnnScript(const CudnnApi& api) : api_(api) {}
  CudnnScript(const CudnnScript&) = delete;
  CudnnScript& operator=(const CudnnScript&) = delete;
  ~CudnnScript() {
    for (Descriptor d : made_) api_.destroy(d);
  }

  Descriptor make(cudnnBackendDescriptorType_t type);
  void set(Descriptor d, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
           int64_t count, const void* elements);
  void set(Descriptor d, cudnnBackendAttributeName_t name, const Sizes& list) {
    set(d, name, CUDNN_TYPE_INT64, static_cast<int64_t>(list.size()), list.data());
  }
  void set(Descriptor d, cudnnBackendAttributeName_t name, Descriptor value) {
    set(d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value);
  }
  template <class T>
  void set(Descriptor d, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
           const T& value) {
    set(d, name, type, 1, &value);
  }
  /// Return true on success.
  bool finalize(Descriptor d);
  void note(const std::string& call, cudnnStatus_t status) { log_.push_back({call, status}); }

  Descriptor tensor(const TensorSpec& spec, bool finalized = true);
  Descriptor convolution(const ConvSpec& spec, bool finalized = true);
  /// The scales have the dtype of the sums.
  Descriptor operation(Kind kind, const ConvSpec& spec, Descriptor convolution, Descriptor x,
                       Descriptor w, Descriptor y);
  /// b is null for modes with one operand. The NaN mode is set only if keeps_nan.
  Descriptor pointwise(cudnnPointwiseMode_t mode, Descriptor x, Descriptor b, Descriptor y,
                       cudnnDataType_t precision = CUDNN_DATA_FLOAT, bool keeps_nan = false);
  Descriptor graph(const std::vector<Descriptor>& operations, cudnnHandle_t handle = nullptr);
  /// Return the configurations; `properties` is null if the graph has a handle.
  std::vector<Descriptor> ranked(Descriptor graph, cudnnBackendHeurMode_t mode,
                                 Descriptor properties = nullptr);
  std::vector<cudnnBackendNumericalNote_t> notes(Descriptor configuration);
  /// Return a plan, null if the engine fails.
  Descriptor plan(Descriptor configuration, cudnnHandle_t handle, Descriptor properties = nullptr);
  int64_t workspace_bytes(Descriptor plan);
  Descriptor pack(const Sizes& ids, const std::vector<void*>& pointers, void* workspace);

  const std::vector<Step>& log() const { return log_; }
  const CudnnApi& api() const { return api_; }

 private:
  const CudnnApi& api_;
  std::vector<Descriptor> made_;
  std::vector<Step> log_;
};

}  // namespace host_libraries
