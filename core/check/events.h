// Events of memory, as backends report them.
#pragma once

#include <ambit/device.h>

#include <cstddef>

namespace ambit::check {

// The functions of the same names in CheckLibrary.
void allocated(Device device, const void* memory, size_t bytes) noexcept;
void freed(const void* memory) noexcept;
void host_copy(Device device, const void* memory, bool to_device, const void* host, size_t bytes,
               bool non_blocking) noexcept;
void device_copy(Device from_device, const void* from, Device to_device, const void* to,
                 size_t bytes) noexcept;
void waited(Device device, const void* host) noexcept;
/// A kernel writes memory of the host.
void host_written(const void* memory, size_t bytes) noexcept;

}  // namespace ambit::check
