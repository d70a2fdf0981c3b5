// Parsing and printing of devices, and queries of the machine's devices.
#include "registry.h"

#include <ambit/backend/op.h>
#include <ambit/backend/registry.h>
#include <ambit/detail/printable.h>
#include <ambit/device.h>
#include <ambit/error.h>
#include <ambit/plugins.h>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <ostream>

#include "backend_call.h"

namespace ambit {
namespace {

// Choices of this thread: the device of factories, and for each kind the device without an index.
struct Chosen {
  Device factories;
  std::array<int16_t, kMaxDeviceKinds> index{};
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Chosen chosen;

int16_t& chosen_index(DeviceKind kind) { return chosen.index[static_cast<size_t>(kind)]; }
Device chosen_device(DeviceKind kind) { return Device(kind, chosen_index(kind)); }

void check_exists(Device device) {
  if (!device.is_meta()) usable_backend(device);
}

}  // namespace

Device::Device(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  if (colon != std::string_view::npos) {
    const std::string_view digits = text.substr(colon + 1);
    const auto [end, status] =
        std::from_chars(digits.data(), digits.data() + digits.size(), index_);
    if (status != std::errc{} || end != digits.data() + digits.size() || index_ < 0) {
      throw Error(fmt::format("Device: expected \"<name>\" or \"<name>:<index>\", got \"{}\"",
                              one_line(text)));
    }
  }
  kind_ = device_kind(name);
  if (colon == std::string_view::npos) index_ = chosen_index(kind_);
  if ((is_cpu() || is_meta()) && index_ != 0) {
    throw Error(fmt::format("Device: expected \"{}\", which has no index, got \"{}\"", name, text));
  }
}

void Device::look_up(DeviceType type, int index) {
  *this = index == -1 ? Device(type.name()) : Device(fmt::format("{}:{}", type.name(), index));
}

DeviceType Device::type() const { return DeviceType(device_name(kind_).c_str()); }

std::string Device::str() const {
  const std::string& name = device_name(kind_);
  return has_index() ? name + ":" + std::to_string(index_) : name;
}

std::string Device::repr() const {
  const std::string& name = device_name(kind_);
  return has_index() ? fmt::format("device(type='{}', index={})", name, index_)
                     : fmt::format("device(type='{}')", name);
}

std::ostream& operator<<(std::ostream& os, DeviceType type) { return os << type.name(); }
std::ostream& operator<<(std::ostream& os, Device device) { return os << device.str(); }

int device_count(std::string_view type) noexcept {
  try {
    return type == "meta" ? 1 : usable_devices(backend_of(Device(type)));
  } catch (...) {
    return 0;  // an unknown name, or a backend that failed to start
  }
}

bool is_available(std::string_view type) noexcept { return device_count(type) > 0; }

std::vector<Device> all_devices() {
  load_all_backends();
  std::vector<Device> devices;
  for (const std::string& name : backend_names()) {
    if (name == "meta") continue;
    const Device first(name);
    for (int i = 0; i < device_count(name); ++i) devices.emplace_back(first.kind(), i);
  }
  return devices;
}

Device best_device() {
  for (const Device d : all_devices()) {
    Backend& backend = backend_of(d);
    if (call_backend(d, "is_accelerator()", [&] { return backend.is_accelerator(); })) return d;
  }
  return kCPU;
}

Device get_default_device() noexcept { return chosen.factories; }

void set_default_device(Device device) {
  check_exists(device);
  chosen.factories = device;
}

DefaultDeviceGuard::~DefaultDeviceGuard() { chosen.factories = before_; }

DeviceGuard::DeviceGuard(Device device)
    : original_(chosen_device(device.kind())), current_(device) {
  check_exists(device);
  chosen_index(device.kind()) = static_cast<int16_t>(device.index());
}

DeviceGuard::~DeviceGuard() {
  chosen_index(original_.kind()) = static_cast<int16_t>(original_.index());
}

void DeviceGuard::reset_device(Device device) {
  check_exists(device);
  chosen_index(original_.kind()) = static_cast<int16_t>(original_.index());
  original_ = chosen_device(device.kind());
  current_ = device;
  chosen_index(device.kind()) = static_cast<int16_t>(device.index());
}

void synchronize(Device device) {
  if (device.is_meta()) return;
  Backend& backend = usable_backend(device);
  call_backend(device, "synchronize()", [&] { backend.synchronize(device.index()); });
}

}  // namespace ambit
