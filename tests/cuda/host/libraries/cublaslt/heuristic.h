// The emulation's algorithms, and the selection for a problem.
#pragma once

#include <vector>

#include "problem.h"

namespace ambit::cuda::host::cublaslt {

/// How products along k are summed.
enum class Sum : uint8_t {
  whole,      ///< sequentially
  workspace,  ///< in parts, stored in the workspace and then added in order
  rounded,    ///< as `workspace`, but partial sums have D's dtype
  in_place,   ///< in parts, which are added to D in arbitrary order
};

/// Contents of a cublasLtMatmulAlgo_t.
struct Algorithm {
  uint64_t magic, fingerprint;
  int64_t workspace_bytes;
  int32_t rank;        // position in the heuristic's result
  uint32_t alignment;  // of A, B, C and D, required by the algorithm, in bytes
  uint32_t bias_alignment;
  Sum sum;

  static constexpr uint64_t kMagic = 0x616d6269746c74;
};
static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));

/// Limits given by the preference and the operands; alignments in bytes.
struct Limits {
  int64_t workspace_bytes;
  uint32_t reduction_schemes, alignment, bias_alignment;
};

constexpr int kParts = 4;

/// Return the suitable algorithms, the best first.
std::vector<Algorithm> algorithms_for(const Problem& problem, const Limits& limits);

}  // namespace ambit::cuda::host::cublaslt
