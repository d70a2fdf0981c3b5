// TensorOptions: dtype, device and other properties of a tensor to create: `ones({2},
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

/// Defaults of unset options: get_default_dtype(), get_default_device(), false, kStrided,
/// Contiguous.
class TensorOptions {
 public:
  /// No option set; or one option. Strings and device types are looked up as Device does. Errors:
  /// those of Device; NotImplementedError for a layout other than kStrided.
  /// @{
  TensorOptions() = default;
  TensorOptions(DType dtype) : dtype_(dtype) {}
  TensorOptions(Device device) : device_(device) {}
  TensorOptions(DeviceType device) : device_(device) {}
  /// "cuda:1". A template, so that 0 does not convert to a string.
  template <std::same_as<char> C>
  TensorOptions(const C* device) : device_(device) {}
  template <std::same_as<std::string> String>
  TensorOptions(const String& device) : device_(device) {}
  TensorOptions(Layout layout) : layout_(layout) { check(layout); }
  TensorOptions(MemoryFormat format) : format_(format) {}
  /// @}

  /// Return a copy with this dtype.
  TensorOptions dtype(DType d) const {
    return with([d](auto& o) { o.dtype_ = d; });
  }
  /// As above, with a C++ type: dtype<float>().
  template <class T>
  TensorOptions dtype() const {
    return dtype(dtype_of<T>);
  }
  /// Return a copy with this device.
  TensorOptions device(Device d) const {
    return with([d](auto& o) { o.device_ = d; });
  }
  /// As above, with a type and an index: device(kCUDA, 1). Errors: those of Device(type, index).
  TensorOptions device(DeviceType type, int index) const { return device(Device(type, index)); }
  /// Return a copy with the cuda device of that index.
  TensorOptions device_index(int index) const { return device(kCUDA, index); }
  /// Return a copy that creates leaves of the graph, or not. Factories throw DTypeError for dtypes
  /// that are not floating point.
  TensorOptions requires_grad(bool r) const {
    return with([r](auto& o) { o.requires_grad_ = r; });
  }
  /// Return a copy with this layout. Errors: NotImplementedError unless kStrided.
  TensorOptions layout(Layout l) const {
    check(l);
    return with([l](auto& o) { o.layout_ = l; });
  }
  /// Return a copy for tensors in pinned CPU memory, see Tensor::pin_memory().
  TensorOptions pinned_memory(bool p) const {
    return with([p](auto& o) { o.pinned_ = p; });
  }
  /// Return a copy for tensors with the strides of this format.
  TensorOptions memory_format(MemoryFormat f) const {
    return with([f](auto& o) { o.format_ = f; });
  }

  /// Return an option; the default if it is not set.
  /// @{
  DType dtype() const { return dtype_ ? *dtype_ : get_default_dtype(); }
  Device device() const { return device_ ? *device_ : get_default_device(); }
  int device_index() const { return device().index(); }
  bool requires_grad() const { return requires_grad_.value_or(false); }
  Layout layout() const { return kStrided; }
  bool is_sparse() const { return false; }  ///< always false: there are no sparse tensors
  bool pinned_memory() const { return pinned_.value_or(false); }
  /// @}
  /// Return true if an option is set.
  /// @{
  bool has_dtype() const { return dtype_.has_value(); }
  bool has_device() const { return device_.has_value(); }
  bool has_layout() const { return layout_.has_value(); }
  bool has_requires_grad() const { return requires_grad_.has_value(); }
  bool has_pinned_memory() const { return pinned_.has_value(); }
  bool has_memory_format() const { return format_.has_value(); }
  /// @}
  /// Return an option; nullopt if it is not set.
  /// @{
  std::optional<DType> dtype_opt() const { return dtype_; }
  std::optional<Device> device_opt() const { return device_; }
  std::optional<Layout> layout_opt() const { return layout_; }
  std::optional<bool> requires_grad_opt() const { return requires_grad_; }
  std::optional<bool> pinned_memory_opt() const { return pinned_; }
  std::optional<MemoryFormat> memory_format_opt() const { return format_; }
  /// @}

  /// Return these options, overridden by those that `other` sets.
  TensorOptions merge_in(const TensorOptions& other) const {
    return with([&](auto& o) {
      if (other.dtype_) o.dtype_ = other.dtype_;
      if (other.device_) o.device_ = other.device_;
      if (other.layout_) o.layout_ = other.layout_;
      if (other.format_) o.format_ = other.format_;
      if (other.requires_grad_) o.requires_grad_ = other.requires_grad_;
      if (other.pinned_) o.pinned_ = other.pinned_;
    });
  }

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
  std::optional<Layout> layout_;
  std::optional<MemoryFormat> format_;
  std::optional<bool> requires_grad_, pinned_;
};

/// Print as libtorch: "TensorOptions(dtype=float32 (default), device=cpu (default), ...)".
AMBIT_API std::ostream& operator<<(std::ostream& os, const TensorOptions& options);

/// libtorch's shorthands of TensorOptions with one option:
/// `ones({2}, dtype(kFloat64).device("cuda"))`.
/// @{
inline TensorOptions dtype(DType d) { return TensorOptions(d); }
template <class T>
TensorOptions dtype() {
  return dtype_of<T>;
}
inline TensorOptions device(Device d) { return TensorOptions(d); }
inline TensorOptions device(DeviceType type, int index) { return Device(type, index); }
inline TensorOptions layout(Layout l) { return TensorOptions(l); }
inline TensorOptions requires_grad(bool r = true) { return TensorOptions().requires_grad(r); }
/// @}

}  // namespace ambit
