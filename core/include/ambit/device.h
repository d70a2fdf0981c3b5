// Where a tensor lives: a kind ("cpu", "cuda", any registered name) and an index.
#pragma once

#include <ambit/api.h>

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace ambit {

/// Id of a backend's name, handed out by the registry. Core knows only these two.
enum class DeviceKind : int16_t { cpu = 0, meta = 1 };

/// A kind of device by its name, as programs choose one and Device::type() tells it: kCPU, kCUDA,
/// DeviceType("sim"). It is printed as its name, compares with names and serves as one, and a
/// switch takes it, though anybody may add kinds: `switch (x.device().type()) { case kCUDA: ...`.
class DeviceType {
 public:
  /// What a switch compares: a hash of the name, 64 bits.
  enum class Id : uint64_t {};

  constexpr DeviceType() = default;
  /// `name` must stay. It is looked up where a Device is made of it.
  constexpr explicit DeviceType(const char* name) : name_(name) {}
  constexpr std::string_view name() const { return name_; }
  constexpr operator std::string_view() const { return name_; }
  operator std::string() const { return std::string(name_); }
  constexpr operator Id() const {
    uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
    for (const char c : name_) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return Id{hash};
  }
  static const DeviceType CPU, CUDA, Meta;  ///< libtorch's names of those below

  friend constexpr bool operator==(DeviceType a, DeviceType b) { return a.name_ == b.name_; }
  friend constexpr bool operator==(DeviceType a, std::string_view name) { return a.name_ == name; }
  /// By name, for maps.
  friend constexpr bool operator<(DeviceType a, DeviceType b) { return a.name_ < b.name_; }

 private:
  std::string_view name_ = "cpu";
};

inline constexpr DeviceType kCPU{"cpu"};
inline constexpr DeviceType kCUDA{"cuda"};
inline constexpr DeviceType kMeta{"meta"};
inline constexpr DeviceType DeviceType::CPU = kCPU;
inline constexpr DeviceType DeviceType::CUDA = kCUDA;
inline constexpr DeviceType DeviceType::Meta = kMeta;

AMBIT_API std::ostream& operator<<(std::ostream& os, DeviceType type);

/// A device, always indexed: Device("cuda") is Device("cuda:0"), or within a DeviceGuard the one
/// that it chose. Equality is total.
class Device {
 public:
  using Type = DeviceType;

  /// The CPU.
  constexpr Device() = default;
  constexpr explicit Device(DeviceKind kind, int index = 0)
      : kind_(kind), index_(static_cast<int16_t>(index)) {}
  /// Device(kCUDA, 1) is Device("cuda:1"), Device(kCUDA) or an index of -1 Device("cuda"). Errors:
  /// those of Device("cuda:1").
  constexpr Device(DeviceType type, int index = -1) {
    if (type == kMeta && (index == 0 || index == -1)) {
      kind_ = DeviceKind::meta;
    } else if (type != kCPU || (index != 0 && index != -1)) {
      look_up(type, index);
    }
  }
  /// Parse "<name>" or "<name>:<index>". The index is not compared with what the machine has:
  /// using a device that does not exist is what throws.
  /// Errors: Error for malformed text, or a name that no backend bears, saying which do.
  AMBIT_API Device(std::string_view text);
  Device(const char* text) : Device(std::string_view(text)) {}
  /// A template, so that {kCUDA, 1} is no text.
  template <std::same_as<std::string> String>
  Device(const String& text) : Device(std::string_view(text)) {}

  constexpr DeviceKind kind() const { return kind_; }
  constexpr int index() const { return index_; }
  /// Errors: those of the text "<name>:<index>".
  void set_index(int index) { *this = Device(type(), index); }
  /// Whether str() shows the index.
  constexpr bool has_index() const { return !is_cpu() && !is_meta(); }
  constexpr bool is_cpu() const { return kind_ == DeviceKind::cpu; }
  constexpr bool is_meta() const { return kind_ == DeviceKind::meta; }
  bool is_cuda() const { return type() == "cuda"; }

  /// Return the kind's name: "cuda".
  AMBIT_API DeviceType type() const;
  /// Return "cuda:0"; "cpu" and "meta" bear no index. Device(str()) gives the device back.
  AMBIT_API std::string str() const;
  /// Return "device(type='cuda', index=0)", as Python prints it.
  AMBIT_API std::string repr() const;

  friend constexpr bool operator==(Device a, Device b) = default;
  /// Whether the device is of that kind, whatever its index.
  friend bool operator==(Device a, DeviceType type) {
    return type == kCPU ? a.is_cpu() : a.type() == type;
  }

 private:
  AMBIT_API void look_up(DeviceType type, int index);

  DeviceKind kind_ = DeviceKind::cpu;
  int16_t index_ = 0;
};

AMBIT_API std::ostream& operator<<(std::ostream& os, Device device);

/// Return how many devices of that name can be used now; 0 for an unknown name. Never throws.
AMBIT_API int device_count(std::string_view type) noexcept;
AMBIT_API bool is_available(std::string_view type) noexcept;
/// Return the first device of the first backend that is an accelerator and has one, else the CPU.
/// Never reference or meta; a simulated device only under a name that $AMBIT_SIM lends it, as in
/// AMBIT_SIM=cuda:1, never as sim.
AMBIT_API Device best_device();
/// Return every device that can be used now, the CPU first.
AMBIT_API std::vector<Device> all_devices();
/// Return where tensors of this thread are made when nobody says where: cpu at first. Factories use
/// it, as ones(3) and tensor({1, 2}); not what reads or borrows host memory: from_blob(), files,
/// datasets. It is the device of nothing else: operands never move to it. Source:
/// torch.get_default_device.
AMBIT_API Device get_default_device() noexcept;
/// Set it, for this thread. Errors: BackendError for a device that does not exist; then it stays.
AMBIT_API void set_default_device(Device device);

/// Set the default device for a scope.
class AMBIT_API DefaultDeviceGuard {
 public:
  explicit DefaultDeviceGuard(Device device) : before_(get_default_device()) {
    set_default_device(device);
  }
  ~DefaultDeviceGuard();
  DefaultDeviceGuard(const DefaultDeviceGuard&) = delete;
  DefaultDeviceGuard& operator=(const DefaultDeviceGuard&) = delete;

 private:
  Device before_;
};

/// For a scope and this thread, choose which device of its kind one without an index is: under
/// `DeviceGuard guard(Device("cuda:1"))` Device("cuda"), kCUDA and x.cuda() are cuda:1. As
/// libtorch's it leaves factories without a device where they are: that is DefaultDeviceGuard.
/// Errors: BackendError for a device that does not exist.
class AMBIT_API DeviceGuard {
 public:
  explicit DeviceGuard(Device device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

  /// Choose another, of any kind; the first kind is then as it was before the guard.
  void reset_device(Device device);
  void set_index(int index) { reset_device(Device(current_.kind(), index)); }
  /// Return what the guard's kind without an index was before, and is now.
  Device original_device() const { return original_; }
  Device current_device() const { return current_; }

 private:
  Device original_, current_;
};

/// Wait until all work queued on the device is done.
AMBIT_API void synchronize(Device device);

namespace cuda {
inline bool is_available() { return ambit::is_available("cuda"); }
inline int device_count() { return ambit::device_count("cuda"); }
}  // namespace cuda

}  // namespace ambit
