// dtype, device and what else is asked of a tensor to be made: `ones({2},
// TensorOptions(kFloat64))`.
#pragma once

#include <ambit/device.h>
#include <ambit/dtype.h>
#include <ambit/layout.h>

#include <concepts>
#include <iosfwd>
#include <optional>
#include <string>

namespace ambit {

/// What was not set is the default: get_default_dtype(), get_default_device(), false, kStrided,
/// Contiguous.
class TensorOptions {
 public:
  TensorOptions() = default;
  TensorOptions(DType dtype) : dtype_(dtype) {}
  TensorOptions(Device device) : device_(device) {}
  TensorOptions(DeviceType device) : device_(device) {}
  /// "cuda:1". A template, so that 0 is no text.
  template <std::same_as<char> C>
  TensorOptions(const C* device) : device_(device) {}
  TensorOptions(const std::string& device) : device_(device) {}
  TensorOptions(Layout layout) { check(layout); }
  TensorOptions(MemoryFormat format) : format_(format) {}

  TensorOptions dtype(DType d) const {
    return with([d](auto& o) { o.dtype_ = d; });
  }
  /// dtype<float>()
  template <class T>
  TensorOptions dtype() const {
    return dtype(dtype_of<T>);
  }
  TensorOptions device(Device d) const {
    return with([d](auto& o) { o.device_ = d; });
  }
  TensorOptions device(DeviceType type, int index) const { return device(Device(type, index)); }
  /// The cuda device of that index.
  TensorOptions device_index(int index) const { return device(kCUDA, index); }
  TensorOptions requires_grad(bool r) const {
    return with([r](auto& o) { o.requires_grad_ = r; });
  }
  /// Errors: NotImplementedError for another than kStrided.
  TensorOptions layout(Layout l) const {
    check(l);
    return *this;
  }
  /// On the CPU, in memory that copies to devices are fast from: Tensor::pin_memory().
  TensorOptions pinned_memory(bool p) const {
    return with([p](auto& o) { o.pinned_ = p; });
  }
  TensorOptions memory_format(MemoryFormat f) const {
    return with([f](auto& o) { o.format_ = f; });
  }

  DType dtype() const { return dtype_ ? *dtype_ : get_default_dtype(); }
  Device device() const { return device_ ? *device_ : get_default_device(); }
  bool requires_grad() const { return requires_grad_; }
  Layout layout() const { return kStrided; }
  bool pinned_memory() const { return pinned_; }
  bool has_dtype() const { return dtype_.has_value(); }
  bool has_device() const { return device_.has_value(); }
  std::optional<DType> dtype_opt() const { return dtype_; }
  std::optional<Device> device_opt() const { return device_; }
  std::optional<MemoryFormat> memory_format_opt() const { return format_; }

 private:
  template <class F>
  TensorOptions with(F set) const {
    TensorOptions o = *this;
    set(o);
    return o;
  }

  AMBIT_API static void check(Layout layout);

  std::optional<DType> dtype_;
  std::optional<Device> device_;
  std::optional<MemoryFormat> format_;
  bool requires_grad_ = false, pinned_ = false;
};

/// Print as libtorch: "TensorOptions(dtype=float32 (default), device=cpu (default), ...)".
AMBIT_API std::ostream& operator<<(std::ostream& os, const TensorOptions& options);

// libtorch's shorthands: ones({2}, dtype(kFloat64).device("cuda")).
inline TensorOptions dtype(DType d) { return TensorOptions(d); }
template <class T>
TensorOptions dtype() {
  return dtype_of<T>;
}
inline TensorOptions device(Device d) { return TensorOptions(d); }
inline TensorOptions device(DeviceType type, int index) { return Device(type, index); }
inline TensorOptions layout(Layout l) { return TensorOptions(l); }
inline TensorOptions requires_grad(bool r = true) { return TensorOptions().requires_grad(r); }

}  // namespace ambit
