// Runs a test on every device present, so that no test names a backend.
#pragma once

#include <ambit/device.h>
#include <doctest/doctest.h>

#include "tests/function_ref.h"

/// Call `body` with each device that can be used now; a failed check names the device.
inline void for_each_device(FunctionRef<void(ambit::Device)> body) {
  for (const ambit::Device device : ambit::all_devices()) {
    INFO(device.str());
    body(device);
  }
}
