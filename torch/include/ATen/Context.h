// at::globalContext(): libtorch's process-wide settings and queries; ambit's own are in
// <ambit/settings.h>.
#pragma once

#include <ambit/device.h>
#include <ambit/random.h>
#include <ambit/settings.h>
#include <torch/namespaces.h>

namespace at {

class Context {
 public:
  const Generator& defaultGenerator(Device device) const { return default_generator(device); }

  bool hasCUDA() const { return is_available("cuda"); }
  /// Do nothing: there is no lazy initialisation.
  void lazyInitCUDA() const {}

  bool benchmarkCuDNN() const { return is_benchmark(); }
  void setBenchmarkCuDNN(bool on) const { set_benchmark(on); }
  bool deterministicCuDNN() const { return is_deterministic(); }
  void setDeterministicCuDNN(bool on) const { set_deterministic(on); }
  bool deterministicAlgorithms() const { return is_deterministic(); }
  void setDeterministicAlgorithms(bool on, bool /*warn_only*/ = false) const {
    set_deterministic(on);
  }
  /// A single setting covers matrix products and convolutions.
  bool allowTF32CuBLAS() const { return is_tf32_allowed(); }
  void setAllowTF32CuBLAS(bool on) const { allow_tf32(on); }
  bool allowTF32CuDNN() const { return is_tf32_allowed(); }
  void setAllowTF32CuDNN(bool on) const { allow_tf32(on); }
};

inline const Context& globalContext() {
  static const Context context;
  return context;
}

inline bool hasCUDA() { return globalContext().hasCUDA(); }

}  // namespace at
