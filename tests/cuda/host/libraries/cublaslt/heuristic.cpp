#include "heuristic.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "tests/cuda/host/libraries/faults.h"

namespace ambit::cuda::host::cublaslt {
namespace {

constexpr uint32_t kVectorBytes = 16;

struct Kind {
  Sum sum;
  bool vectorised;              // reads 16 bytes at a time
  int64_t least_workspace = 0;  // larger than most preferences
};
constexpr Kind kKinds[] = {{Sum::workspace, true, int64_t{64} << 20},
                           {Sum::rounded, false},
                           {Sum::workspace, true},
                           {Sum::in_place, false},
                           {Sum::whole, true},
                           {Sum::workspace, false},
                           {Sum::whole, false}};

uint32_t alignment_of(uintptr_t address) { return uint32_t{1} << std::countr_zero(address | 256); }

bool is_vectorisable(const Problem& p, const Limits& limits) {
  const auto whole = [&](int64_t stride) {
    return static_cast<size_t>(stride) * p.element_bytes() % kVectorBytes == 0;
  };
  const auto fits = [&](const Matrices& m) { return whole(m.ld) && whole(m.strides[0]); };
  return fits(p.a) && fits(p.b) && fits(p.c) && fits(p.d) && limits.alignment >= kVectorBytes &&
         (!p.has_bias() || limits.bias_alignment >= kVectorBytes);
}

bool suits(const Kind& kind, const Problem& p, const Limits& limits) {
  if (kind.vectorised && !is_vectorisable(p, limits)) return false;
  constexpr int64_t kLeastToSplit = 32;
  if (kind.sum != Sum::whole && p.k < kLeastToSplit) return false;
  // For wider elements this sum would equal Sum::workspace.
  if (kind.sum == Sum::rounded) {
    return p.element_bytes() < sizeof(float) &&
           limits.reduction_schemes & CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE;
  }
  if (kind.sum == Sum::workspace) {
    return limits.reduction_schemes & CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  }
  // An in-place sum is complete only at the end, so no epilogue can be applied.
  if (kind.sum == Sum::in_place) {
    return limits.reduction_schemes & CUBLASLT_REDUCTION_SCHEME_INPLACE &&
           p.epilogue == CUBLASLT_EPILOGUE_DEFAULT;
  }
  return true;
}

int64_t workspace_bytes(const Kind& kind, const Problem& p) {
  if (kind.sum != Sum::workspace && kind.sum != Sum::rounded) return 0;
  const size_t bytes =
      kind.sum == Sum::workspace ? std::max(p.element_bytes(), sizeof(float)) : p.element_bytes();
  const int64_t parts = kParts * p.batch * p.m * p.n * static_cast<int64_t>(bytes);
  return std::max(parts, kind.least_workspace);
}

}  // namespace

std::vector<Algorithm> algorithms_for(const Problem& p, const Limits& limits) {
  const Faults faults("AMBIT_CUDA_HOST_CUBLASLT");
  std::vector<Algorithm> found;
  for (const Kind& kind : kKinds) {
    const auto rank = static_cast<int32_t>(found.size());
    const int64_t own = workspace_bytes(kind, p);
    if (!suits(kind, p, limits) || own > limits.workspace_bytes) continue;
    const auto least = static_cast<uint32_t>(p.element_bytes());
    const uint32_t alignment = kind.vectorised ? kVectorBytes : least;
    found.push_back({.magic = Algorithm::kMagic,
                     .fingerprint = p.fingerprint(),
                     .workspace_bytes = faults.workspace(rank).value_or(own),
                     .rank = rank,
                     .alignment = alignment,
                     .bias_alignment = alignment,
                     .sum = kind.sum});
  }
  return found;
}

}  // namespace ambit::cuda::host::cublaslt

using namespace ambit::cuda::host;
using namespace ambit::cuda::host::cublaslt;

extern "C" cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t preference, int requested, cublasLtMatmulHeuristicResult_t results[],
    int* returned) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  handles().get(handle);
  if (!preference || requested <= 0 || !results || !returned) return CUBLAS_STATUS_INVALID_VALUE;
  *returned = 0;
  Problem p;
  const cublasStatus_t status = read_problem(desc, {a, b, c, d}, p);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  const Preference& wanted = preferences().get(preference);
  uint32_t alignment = kVectorBytes;
  for (const int name :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    alignment = std::min(alignment, wanted.get<uint32_t>(name));
  }
  if (alignment < p.element_bytes()) return CUBLAS_STATUS_INVALID_VALUE;
  // The preference does not contain the bias, so the alignment of its pointer counts.
  const Limits limits{
      static_cast<int64_t>(wanted.get<uint64_t>(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)),
      wanted.get<uint32_t>(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK), alignment,
      alignment_of(reinterpret_cast<uintptr_t>(p.bias))};
  for (const Algorithm& algorithm : algorithms_for(p, limits)) {
    if (*returned == requested) break;
    cublasLtMatmulHeuristicResult_t& result = results[(*returned)++];
    result = {};
    std::memcpy(&result.algo, &algorithm, sizeof(algorithm));
    result.workspaceSize = static_cast<size_t>(algorithm.workspace_bytes);
    result.state = CUBLAS_STATUS_SUCCESS;
    result.wavesCount = 1;
  }
  return *returned > 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}
