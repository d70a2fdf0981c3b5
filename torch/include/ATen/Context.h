// at::globalContext(): libtorch's process-wide settings and queries; ambit's own are in
// <ambit/settings.h>.
#pragma once

#include <ambit/device.h>
#include <ambit/random.h>
#include <ambit/settings.h>
#include <torch/namespaces.h>

#include <cstddef>
#include <cstdint>

namespace at {

enum class CuBLASReductionOption : uint8_t {
  AllowReducedPrecisionWithSplitK,
  DisallowReducedPrecisionAllowSplitK,
  DisallowReducedPrecisionDisallowSplitK,
};

class Context {
 public:
  const Generator& defaultGenerator(Device device) const { return default_generator(device); }

  bool hasCUDA() const { return is_available("cuda"); }
  bool hasHIP() const { return is_available("hip"); }
  bool hasMPS() const { return is_available("mps"); }
  bool hasXPU() const { return is_available("xpu"); }
  bool hasXLA() const { return is_available("xla"); }
  bool hasHPU() const { return is_available("hpu"); }
  // Libraries: linear algebra, oneDNN and OpenMP are part of the backend cpu.
  bool hasLAPACK() const { return true; }
  bool hasMKLDNN() const { return true; }
  bool hasOpenMP() const { return true; }
  bool hasMKL() const { return false; }
  bool hasMAGMA() const { return false; }
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
  /// Do nothing: products of reduced floating-point types are summed in float32.
  void setAllowFP16ReductionCuBLAS(bool /*allow*/, bool /*allow_splitk*/ = true) const {}
  void setAllowBF16ReductionCuBLAS(bool /*allow*/, bool /*allow_splitk*/ = true) const {}
  CuBLASReductionOption allowFP16ReductionCuBLAS() const {
    return CuBLASReductionOption::DisallowReducedPrecisionAllowSplitK;
  }
  CuBLASReductionOption allowBF16ReductionCuBLAS() const {
    return CuBLASReductionOption::DisallowReducedPrecisionAllowSplitK;
  }
};

inline const Context& globalContext() {
  static const Context context;
  return context;
}

inline bool hasCUDA() { return globalContext().hasCUDA(); }
inline bool hasHIP() { return globalContext().hasHIP(); }
inline bool hasMPS() { return globalContext().hasMPS(); }
inline bool hasXPU() { return globalContext().hasXPU(); }
inline bool hasXLA() { return globalContext().hasXLA(); }
inline bool hasHPU() { return globalContext().hasHPU(); }
inline bool hasLAPACK() { return globalContext().hasLAPACK(); }
inline bool hasMKLDNN() { return globalContext().hasMKLDNN(); }
inline bool hasOpenMP() { return globalContext().hasOpenMP(); }
inline bool hasMKL() { return globalContext().hasMKL(); }
inline bool hasMAGMA() { return globalContext().hasMAGMA(); }
/// Return the number of cuda devices; if there is none, of hip devices.
inline size_t getNumGPUs() { return static_cast<size_t>(device_count(hasCUDA() ? "cuda" : "hip")); }

}  // namespace at
