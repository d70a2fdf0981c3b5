// Tensor::type(): a device type and a dtype, libtorch's deprecated predecessor of options().
#pragma once

#include <ambit/detail/type_names.h>
#include <ambit/tensor.h>
#include <torch/namespaces.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <ostream>
#include <string>

namespace ambit {

class DeprecatedTypeProperties {
 public:
  DeprecatedTypeProperties(DeviceType device_type, ScalarType scalar_type)
      : device_type_(device_type), scalar_type_(scalar_type) {}

  DeviceType device_type() const { return device_type_; }
  ScalarType scalarType() const { return scalar_type_; }
  ScalarType typeMeta() const { return scalar_type_; }
  Layout layout() const { return kStrided; }
  bool is_cuda() const { return device_type_ == kCUDA; }
  bool is_sparse() const { return false; }
  bool is_sparse_csr() const { return false; }

  DeprecatedTypeProperties cpu() const { return {kCPU, scalar_type_}; }
  DeprecatedTypeProperties cuda() const { return {kCUDA, scalar_type_}; }
  DeprecatedTypeProperties toScalarType(ScalarType type) const { return {device_type_, type}; }
  /// Return options with this dtype and device. Errors: those of Device.
  TensorOptions options(int16_t device_index = -1) const {
    return TensorOptions(scalar_type_).device(Device(device_type_, device_index));
  }
  operator TensorOptions() const { return options(); }
  /// Return "CPUFloatType".
  std::string toString() const {
    std::string text(device_type_);
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return text + kTypeNames[static_cast<int>(scalar_type_)] + "Type";
  }

  friend bool operator==(const DeprecatedTypeProperties&,
                         const DeprecatedTypeProperties&) = default;
  friend std::ostream& operator<<(std::ostream& os, const DeprecatedTypeProperties& type) {
    return os << type.toString();
  }

 private:
  DeviceType device_type_;
  ScalarType scalar_type_;
};

inline DeprecatedTypeProperties Tensor::type() const { return {device().type(), dtype()}; }

}  // namespace ambit
