// Runs a test on every available device, so that tests do not name backends.
#pragma once

#include <ambit/device.h>
#include <doctest/doctest.h>

#include "tests/function_ref.h"

/// Call `body` with each usable device; failed checks name the device.
inline void for_each_device(FunctionRef<void(ambit::Device)> body) {
  for (const ambit::Device device : ambit::all_devices()) {
    INFO(device.str());
    body(device);
  }
}
