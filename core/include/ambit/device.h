// Device: where a tensor's memory is: a kind ("cpu", "cuda", any registered name) and an index.
#pragma once

#include <ambit/api.h>

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace ambit {

/// Id of a backend's name, assigned by the registry. Core knows only these two.
enum class DeviceKind : int16_t {
  cpu = 0,   ///< host memory
  meta = 1,  ///< shapes and dtypes without memory
};

/// A kind of device by name: kCPU, kCUDA, DeviceType("sim"); returned by Device::type(). It prints
/// as its name, compares with names and converts to one. It can be used in a switch even though
/// backends may add kinds: `switch (x.device().type()) { case kCUDA: ...`.
class DeviceType {
 public:
  /// The value that a switch compares: a 64-bit hash of the name.
  enum class Id : uint64_t {};

  /// cpu.
  constexpr DeviceType() = default;
  /// `name` must have static lifetime. It is looked up when a Device is constructed from it.
  constexpr explicit DeviceType(const char* name) : name_(name) {}
  /// Return the name: "cuda".
  /// @{
  constexpr std::string_view name() const { return name_; }
  constexpr operator std::string_view() const { return name_; }
  operator std::string() const { return std::string(name_); }
  /// @}
  /// The hash of the name, for a switch.
  constexpr operator Id() const {
    uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
    for (const char c : name_) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return Id{hash};
  }
  /// libtorch's names of kCPU, kCUDA, kMeta.
  /// @{
  static const DeviceType CPU, CUDA, Meta;
  /// @}

  /// Compare names.
  /// @{
  friend constexpr bool operator==(DeviceType a, DeviceType b) { return a.name_ == b.name_; }
  friend constexpr bool operator==(DeviceType a, std::string_view name) { return a.name_ == name; }
  /// @}
  /// Order by name, for maps.
  friend constexpr bool operator<(DeviceType a, DeviceType b) { return a.name_ < b.name_; }

 private:
  std::string_view name_ = "cpu";
};

/// The device types that ambit's own headers name. A name without a backend can be used, too: its
/// devices do not exist.
/// @{
inline constexpr DeviceType kCPU{"cpu"};
inline constexpr DeviceType kCUDA{"cuda"};
inline constexpr DeviceType kMeta{"meta"};
/// @}
/// @cond
inline constexpr DeviceType DeviceType::CPU = kCPU;
inline constexpr DeviceType DeviceType::CUDA = kCUDA;
inline constexpr DeviceType DeviceType::Meta = kMeta;
/// @endcond

/// Print the name: "cuda".
AMBIT_API std::ostream& operator<<(std::ostream& os, DeviceType type);

/// A device; it always has an index: Device("cuda") is Device("cuda:0"), or within a DeviceGuard
/// the guard's device. Any two devices can be compared.
class Device {
 public:
  using Type = DeviceType;  ///< libtorch's name

  /// The CPU.
  constexpr Device() = default;
  /// The device of a registered kind. Existence is not checked.
  constexpr explicit Device(DeviceKind kind, int index = 0)
      : kind_(kind), index_(static_cast<int16_t>(index)) {}
  /// Device(kCUDA, 1) is Device("cuda:1"); Device(kCUDA) and an index of -1 are Device("cuda").
  /// Errors: those of Device("cuda:1").
  constexpr Device(DeviceType type, int index = -1) {
    if (type == kMeta && (index == 0 || index == -1)) {
      kind_ = DeviceKind::meta;
    } else if (type != kCPU || (index != 0 && index != -1)) {
      look_up(type, index);
    }
  }
  /// Parse "<name>" or "<name>:<index>". It is not checked whether the machine has the device:
  /// using one that does not exist throws. Errors: Error for malformed text, or for an unknown
  /// name, listing the known ones.
  AMBIT_API Device(std::string_view text);
  /// As above.
  Device(const char* text) : Device(std::string_view(text)) {}
  /// As above. A template, so that {kCUDA, 1} does not convert to a string.
  template <std::same_as<std::string> String>
  Device(const String& text) : Device(std::string_view(text)) {}

  /// Return the registry's id of the kind; it can differ between runs.
  constexpr DeviceKind kind() const { return kind_; }
  /// Return the index, 0 for cpu and meta.
  constexpr int index() const { return index_; }
  /// Change the index. Errors: those of the text "<name>:<index>".
  void set_index(int index) { *this = Device(type(), index); }
  /// True if str() shows the index.
  constexpr bool has_index() const { return !is_cpu() && !is_meta(); }
  /// Compare the kind.
  /// @{
  constexpr bool is_cpu() const { return kind_ == DeviceKind::cpu; }
  constexpr bool is_meta() const { return kind_ == DeviceKind::meta; }
  bool is_cuda() const { return type() == "cuda"; }
  /// @}

  /// Return the kind's name: "cuda".
  AMBIT_API DeviceType type() const;
  /// Return "cuda:0"; "cpu" and "meta" have no index. Device(str()) is an equal device.
  AMBIT_API std::string str() const;
  /// Return "device(type='cuda', index=0)", as Python prints it.
  AMBIT_API std::string repr() const;

  /// True if kind and index are equal.
  friend constexpr bool operator==(Device a, Device b) = default;
  /// True if the device is of that kind, with any index.
  friend bool operator==(Device a, DeviceType type) {
    return type == kCPU ? a.is_cpu() : a.type() == type;
  }

 private:
  AMBIT_API void look_up(DeviceType type, int index);

  DeviceKind kind_ = DeviceKind::cpu;
  int16_t index_ = 0;
};

/// Print device.str().
AMBIT_API std::ostream& operator<<(std::ostream& os, Device device);

/// Return the number of usable devices of that name; 0 for an unknown name. Never throws.
AMBIT_API int device_count(std::string_view type) noexcept;
/// Return true if device_count(type) > 0. Never throws.
AMBIT_API bool is_available(std::string_view type) noexcept;
/// Return the first device of the first accelerator backend that has one, else the CPU. Never
/// reference, meta or sim; a simulated device only under a name given by $AMBIT_SIM, as in
/// AMBIT_SIM=cuda:1.
AMBIT_API Device best_device();
/// Return every usable device, the CPU first.
AMBIT_API std::vector<Device> all_devices();
/// Return the device on which this thread's factories create tensors when none is given: cpu by
/// default. It applies to factories such as ones(3) and tensor({1, 2}); not to functions that read
/// or borrow host memory: from_blob(), files, datasets. Operands never move to it. Source:
/// torch.get_default_device.
AMBIT_API Device get_default_device() noexcept;
/// Set the default device of this thread. Errors: BackendError for a device that does not exist;
/// the default device is then unchanged.
AMBIT_API void set_default_device(Device device);

/// Set the default device for a scope.
class AMBIT_API DefaultDeviceGuard {
 public:
  /// Errors: BackendError for a device that does not exist.
  explicit DefaultDeviceGuard(Device device) : before_(get_default_device()) {
    set_default_device(device);
  }
  ~DefaultDeviceGuard();  ///< restores the previous default
  DefaultDeviceGuard(const DefaultDeviceGuard&) = delete;
  DefaultDeviceGuard& operator=(const DefaultDeviceGuard&) = delete;

 private:
  Device before_;
};

/// For a scope of this thread, set the device that a name without an index means: under
/// `DeviceGuard guard(Device("cuda:1"))`, Device("cuda"), kCUDA and x.cuda() are cuda:1. As in
/// libtorch, the default device of factories does not change: use DefaultDeviceGuard for that.
/// Errors: BackendError for a device that does not exist.
class AMBIT_API DeviceGuard {
 public:
  /// Errors: BackendError for a device that does not exist.
  explicit DeviceGuard(Device device);
  ~DeviceGuard();  ///< restores the state before the guard
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

  /// Choose another device, of any kind; the first kind is reset to its state before the guard.
  void reset_device(Device device);
  /// Choose another device of the same kind. Errors: BackendError.
  void set_index(int index) { reset_device(Device(current_.kind(), index)); }
  /// Return the device that the kind's name meant before the guard.
  Device original_device() const { return original_; }
  /// Return the device that the kind's name means now.
  Device current_device() const { return current_; }

 private:
  Device original_, current_;
};

/// Wait until all work queued on the device is done.
AMBIT_API void synchronize(Device device);

namespace cuda {
/// Return true if there is a usable cuda device. Never throws.
inline bool is_available() { return ambit::is_available("cuda"); }
/// Return the number of usable cuda devices. Never throws.
inline int device_count() { return ambit::device_count("cuda"); }
}  // namespace cuda

}  // namespace ambit
