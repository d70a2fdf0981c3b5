// The registry's interface for the rest of core.
#pragma once

#include <ambit/backend/backend.h>
#include <ambit/device.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace ambit {

/// Return the kind named `name`. Errors: Error listing the known backends.
DeviceKind device_kind(std::string_view name);
const std::string& device_name(DeviceKind kind);

/// Return true if a name matches [a-z][a-z0-9_]*.
bool is_valid_name(std::string_view name);

/// Return true if a backend of that name is registered and has a device.
bool has_devices(std::string_view name);

/// Maximum number of devices of a backend.
inline constexpr int kMostDevices = 1024;
/// Return the number of usable devices, clamped to 0 to kMostDevices.
inline int usable_devices(const Backend& backend) {
  return std::clamp(backend.device_count(), 0, kMostDevices);
}

/// Load plugins for devices of that name: libambit_<name>.so first, else all plugins.
void load_backends_for(std::string_view name);

/// Return libambit's own folder; the files that it loads are installed there.
std::string library_folder();

/// Register the backends that are part of libambit; backends/builtin.cpp lists them.
void load_builtin_backends();

}  // namespace ambit
