// What the rest of core asks the registry, beyond its public header.
#pragma once

#include <ambit/backend/backend.h>
#include <ambit/device.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace ambit {

/// Return the kind that bears `name`. Errors: Error naming the backends there are.
DeviceKind device_kind(std::string_view name);
const std::string& device_name(DeviceKind kind);

/// Return whether a name is [a-z][a-z0-9_]*.
bool is_valid_name(std::string_view name);

/// Return whether a backend of that name is registered and has a device.
bool has_devices(std::string_view name);

/// The most devices that one backend may have.
inline constexpr int kMostDevices = 1024;
/// Return how many devices can be used now, whatever the backend says: 0 to kMostDevices.
inline int usable_devices(const Backend& backend) {
  return std::clamp(backend.device_count(), 0, kMostDevices);
}

/// Load what may bring devices of that name: libambit_<name>.so first, else every plugin there is.
void load_backends_for(std::string_view name);

/// Return the folder that libambit itself lies in: what it loads is installed beside it.
std::string own_folder();

/// Register the backends that are part of libambit; backends/builtin.cpp lists them.
void load_builtin_backends();

}  // namespace ambit
