// cuDNN's graph API: everything is a descriptor, which gets attributes and is then finalized. The
// library is opened on first use.
#pragma once

#include <ambit/shape.h>
#include <cudnn_graph.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backends/cuda/driver/source_location.h"

namespace ambit::cuda::cudnn {

/// Throw BackendError for any status but success.
void check(cudnnStatus_t status, const char* call,
           SourceLocation where = SourceLocation::current());

/// Return the thread's handle, set to the stream of the current call.
cudnnHandle_t handle();

/// cuDNN's attribute type for a C++ type. int64_t lists, float and double are passed unchanged.
template <class T>
inline constexpr cudnnBackendAttributeType_t kTypeOf = [] {
  static_assert(sizeof(T) == 0, "not a type of cuDNN's attributes");
  return CUDNN_TYPE_HANDLE;
}();
// clang-format off
template <> inline constexpr auto kTypeOf<cudnnHandle_t> = CUDNN_TYPE_HANDLE;
template <> inline constexpr auto kTypeOf<cudnnDataType_t> = CUDNN_TYPE_DATA_TYPE;
template <> inline constexpr auto kTypeOf<bool> = CUDNN_TYPE_BOOLEAN;
template <> inline constexpr auto kTypeOf<int64_t> = CUDNN_TYPE_INT64;
template <> inline constexpr auto kTypeOf<float> = CUDNN_TYPE_FLOAT;
template <> inline constexpr auto kTypeOf<double> = CUDNN_TYPE_DOUBLE;
template <> inline constexpr auto kTypeOf<void*> = CUDNN_TYPE_VOID_PTR;
template <> inline constexpr auto kTypeOf<char> = CUDNN_TYPE_CHAR;
template <> inline constexpr auto kTypeOf<cudnnConvolutionMode_t> = CUDNN_TYPE_CONVOLUTION_MODE;
template <> inline constexpr auto kTypeOf<cudnnPointwiseMode_t> = CUDNN_TYPE_POINTWISE_MODE;
template <> inline constexpr auto kTypeOf<cudnnNanPropagation_t> = CUDNN_TYPE_NAN_PROPOGATION;
template <> inline constexpr auto kTypeOf<cudnnBackendHeurMode_t> = CUDNN_TYPE_HEUR_MODE;
template <> inline constexpr auto kTypeOf<cudnnBackendNumericalNote_t> = CUDNN_TYPE_NUMERICAL_NOTE;
// clang-format on

/// A descriptor with its owner's lifetime; cuDNN keeps alive what it refers to.
class Descriptor {
 public:
  /// Errors of all functions: BackendError.
  explicit Descriptor(cudnnBackendDescriptorType_t type);
  Descriptor(Descriptor&& other) noexcept : descriptor_(other.descriptor_) {
    other.descriptor_ = nullptr;
  }
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor();

  template <class T>
  Descriptor& set(cudnnBackendAttributeName_t name, const T& value) {
    return set_raw(name, kTypeOf<T>, 1, &value);
  }
  template <class T>
  Descriptor& set(cudnnBackendAttributeName_t name, std::span<const T> values) {
    return set_raw(name, kTypeOf<T>, static_cast<int64_t>(values.size()), values.data());
  }
  Descriptor& set(cudnnBackendAttributeName_t name, IntArrayRef values) {
    return set(name, std::span<const int64_t>(values.data(), values.size()));
  }
  Descriptor& set(cudnnBackendAttributeName_t name, const Descriptor& value) {
    return set_raw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value.descriptor_);
  }
  Descriptor& set(cudnnBackendAttributeName_t name, std::span<const Descriptor> values);
  Descriptor& finalize();
  /// Return true if cuDNN supports the attributes.
  [[nodiscard]] bool try_finalize();

  int64_t get_int(cudnnBackendAttributeName_t name) const;
  std::vector<cudnnBackendNumericalNote_t> get_notes(cudnnBackendAttributeName_t name) const;
  /// Return the descriptors of `type` in an attribute.
  std::vector<Descriptor> get(cudnnBackendAttributeName_t name,
                              cudnnBackendDescriptorType_t type) const;

 private:
  friend cudnnStatus_t execute(const Descriptor& plan, const Descriptor& variant_pack);
  Descriptor& set_raw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                      int64_t count, const void* values);

  cudnnBackendDescriptor_t descriptor_ = nullptr;
};

/// Queue an execution plan on the stream of the current call. Return its status.
[[nodiscard]] cudnnStatus_t execute(const Descriptor& plan, const Descriptor& variant_pack);

}  // namespace ambit::cuda::cudnn
