// Devices as text, and the questions about what the machine has.
#include "registry.h"

#include <ambit/backend/registry.h>
#include <ambit/device.h>
#include <ambit/error.h>
#include <ambit/plugins.h>
#include <fmt/format.h>

#include <charconv>
#include <ostream>

namespace ambit {

Device::Device(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  if (colon != std::string_view::npos) {
    const std::string_view digits = text.substr(colon + 1);
    const auto [end, status] =
        std::from_chars(digits.data(), digits.data() + digits.size(), index_);
    if (status != std::errc{} || end != digits.data() + digits.size() || index_ < 0) {
      throw Error(
          fmt::format("Device: expected \"<name>\" or \"<name>:<index>\", got \"{}\"", text));
    }
  }
  kind_ = device_kind(name);
  if ((is_cpu() || is_meta()) && index_ != 0) {
    throw Error(fmt::format("Device: expected \"{}\", which has no index, got \"{}\"", name, text));
  }
}

void Device::look_up(DeviceType type, int index) {
  *this = Device(fmt::format("{}:{}", type.name(), index));
}

std::string Device::type() const { return device_name(kind_); }

std::string Device::str() const {
  return is_cpu() || is_meta() ? type() : type() + ":" + std::to_string(index_);
}

std::string Device::repr() const {
  return is_cpu() || is_meta() ? fmt::format("device(type='{}')", type())
                               : fmt::format("device(type='{}', index={})", type(), index_);
}

std::ostream& operator<<(std::ostream& os, DeviceType type) { return os << type.name(); }
std::ostream& operator<<(std::ostream& os, Device device) { return os << device.str(); }

int device_count(std::string_view type) noexcept {
  try {
    return type == "meta" ? 1 : backend_of(Device(type)).device_count();
  } catch (...) {
    return 0;  // an unknown name, or a backend that could not start
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
    if (backend_of(d).is_accelerator()) return d;
  }
  return kCPU;
}

void synchronize(Device device) {
  if (!device.is_meta()) usable_backend(device).synchronize(device.index());
}

}  // namespace ambit
