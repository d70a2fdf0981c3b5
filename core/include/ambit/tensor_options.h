// dtype, device and requires_grad of a tensor to be made: `ones({2}, TensorOptions(kFloat64))`.
#pragma once

#include <ambit/device.h>
#include <ambit/dtype.h>

#include <optional>

namespace ambit {

/// What was not set is the default: get_default_dtype(), get_default_device(), false.
class TensorOptions {
 public:
  TensorOptions() = default;
  TensorOptions(DType dtype) : dtype_(dtype) {}
  TensorOptions(Device device) : device_(device) {}
  TensorOptions(DeviceType device) : device_(device) {}
  TensorOptions(const char* device) : device_(device) {}

  TensorOptions dtype(DType d) const {
    return with([d](auto& o) { o.dtype_ = d; });
  }
  TensorOptions device(Device d) const {
    return with([d](auto& o) { o.device_ = d; });
  }
  TensorOptions device(DeviceType type, int index) const { return device(Device(type, index)); }
  TensorOptions requires_grad(bool r) const {
    return with([r](auto& o) { o.requires_grad_ = r; });
  }

  DType dtype() const { return dtype_ ? *dtype_ : get_default_dtype(); }
  Device device() const { return device_ ? *device_ : get_default_device(); }
  bool requires_grad() const { return requires_grad_; }
  bool has_dtype() const { return dtype_.has_value(); }
  bool has_device() const { return device_.has_value(); }

 private:
  template <class F>
  TensorOptions with(F set) const {
    TensorOptions o = *this;
    set(o);
    return o;
  }

  std::optional<DType> dtype_;
  std::optional<Device> device_;
  bool requires_grad_ = false;
};

// libtorch's shorthands: ones({2}, dtype(kFloat64).device("cuda")).
inline TensorOptions dtype(DType d) { return TensorOptions(d); }
inline TensorOptions device(Device d) { return TensorOptions(d); }
inline TensorOptions device(DeviceType type, int index) { return Device(type, index); }
inline TensorOptions requires_grad(bool r = true) { return TensorOptions().requires_grad(r); }

}  // namespace ambit
