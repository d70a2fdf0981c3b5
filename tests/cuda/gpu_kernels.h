// Shared by tests of the CUDA backend's kernels at sizes that select another implementation:
// operands on the GPU, and tolerances.
#pragma once

#include <ambit/ambit.h>
#include <ambit/backend/kernels.h>
#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include "has_gpu.h"

namespace gpu_kernels {

using namespace ambit;

inline const Device kReference("reference");

inline Device gpu() { return Device("cuda"); }
/// Draw from the host's default generator, so that all devices get the same numbers.
inline Tensor normal(IntArrayRef sizes, DType dtype) {
  return randn(sizes, TensorOptions(dtype)).to(gpu());
}
inline Tensor copy_if(const Tensor& t) { return t.defined() ? t.to(kReference) : Tensor(); }

// Both devices sum in float64, but in different orders, which adds at most one rounding per term;
// results are then rounded to their dtype `roundings` times. Relative to the largest element,
// because differences cancel.
inline void check_close(const Tensor& ours, const Tensor& reference, double roundings,
                        int64_t terms = 0) {
  constexpr double kWide = std::numeric_limits<double>::epsilon();
  constexpr double kNarrow = std::numeric_limits<float>::epsilon();
  const double epsilon = ours.dtype() == kFloat64 ? kWide : kNarrow;
  const Tensor got = ours.cpu(), expected = reference.cpu();
  const double largest = std::max(1.0, expected.abs().max().item<double>());
  const double tolerance = (roundings * epsilon + static_cast<double>(terms) * kWide) * largest;
  CHECK((got - expected).abs().max().item<double>() <= tolerance);
}

/// Wait for the GPU; return the error that its kernels reported for an index or target.
inline std::string reported() {
  try {
    synchronize(gpu());
    return "";
  } catch (const IndexError& e) {
    return e.what();
  }
}

}  // namespace gpu_kernels
