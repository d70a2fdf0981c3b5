// Tells if the CUDA plugin has a device: a real one, or CUDA emulated on the host.
#pragma once

#include <ambit/plugins.h>
#include <doctest/doctest.h>

/// The simulator may use the name cuda; the load report identifies the plugin that has devices.
inline bool has_gpu() {
  ambit::load_all_backends();
  for (const ambit::LoadAttempt& attempt : ambit::load_report()) {
    if (!attempt.file.ends_with("libambit_cuda.so")) continue;
    if (attempt.loaded && !attempt.result.starts_with("cuda: 0 devices")) return true;
  }
  MESSAGE("no GPU: nothing was run");
  return false;
}
