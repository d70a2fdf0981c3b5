// The algorithms of the emulation, and which of them suit a problem.
#pragma once

#include <vector>

#include "problem.h"

namespace ambit::cuda::host::cublaslt {

/// How the products along k are added up.
enum class Sum : uint8_t {
  whole,      ///< one after the other
  workspace,  ///< in parts, which are kept in the workspace and then added in order
  rounded,    ///< the same, but that the workspace keeps them as D would
  in_place,   ///< in parts, which are added to D in whatever order they come
};

/// What hides in a cublasLtMatmulAlgo_t.
struct Algorithm {
  uint64_t magic, fingerprint;
  int64_t workspace_bytes;
  int32_t rank;        // among those that the heuristic returned
  uint32_t alignment;  // of A, B, C and D, in bytes
  uint32_t bias_alignment;
  Sum sum;

  static constexpr uint64_t kMagic = 0x616d6269746c74;
};
static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));

/// What the preference and the operands allow; alignments in bytes.
struct Limits {
  int64_t workspace_bytes;
  uint32_t reduction_schemes, alignment, bias_alignment;
};

constexpr int kParts = 4;

/// Return the algorithms that suit, the best first.
std::vector<Algorithm> algorithms_for(const Problem& problem, const Limits& limits);

}  // namespace ambit::cuda::host::cublaslt
