// A matrix product by cuBLASLt alone, with its fastest algorithm.
#include "benchmark_cublaslt.h"

#include <ambit/error.h>
#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace {

template <class Status>
void check(Status status, const char* call) {
  if (status != Status{}) {
    throw ambit::BackendError(std::string(call) + ": error " + std::to_string(int{status}));
  }
}

}  // namespace

// All matrices [n,n]. Handles are not destroyed.
double best_cublaslt_us(const void* a, const void* b, void* y, int64_t n, bool tf32) {
  constexpr uint64_t kWorkspaceBytes = uint64_t{32} << 20;
  constexpr int kRuns = 20;
  const auto size = static_cast<uint64_t>(n);
  cublasLtHandle_t handle{};
  cublasLtMatmulDesc_t product{};
  cublasLtMatrixLayout_t layout{};
  cublasLtMatmulPreference_t preference{};
  void* workspace = nullptr;
  cudaEvent_t start{}, stop{};
  check(cublasLtCreate(&handle), "cublasLtCreate");
  check(cublasLtMatmulDescCreate(&product, tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F,
                                 CUDA_R_32F),
        "cublasLtMatmulDescCreate");
  check(cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, size, size, n),
        "cublasLtMatrixLayoutCreate");
  check(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
  check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                             &kWorkspaceBytes, sizeof(kWorkspaceBytes)),
        "cublasLtMatmulPreferenceSetAttribute");
  check(cudaMalloc(&workspace, kWorkspaceBytes), "cudaMalloc");
  check(cudaEventCreate(&start), "cudaEventCreate");
  check(cudaEventCreate(&stop), "cudaEventCreate");

  std::array<cublasLtMatmulHeuristicResult_t, 16> choices{};
  int count = 0;
  check(cublasLtMatmulAlgoGetHeuristic(handle, product, layout, layout, layout, layout, preference,
                                       static_cast<int>(choices.size()), choices.data(), &count),
        "cublasLtMatmulAlgoGetHeuristic");
  float best = std::numeric_limits<float>::infinity();
  const float one = 1, zero = 0;
  for (int i = 0; i < count; ++i) {
    const cublasLtMatmulHeuristicResult_t& choice = choices[static_cast<size_t>(i)];
    // The first run of each is not timed: it loads the kernel.
    for (int run = 0; run <= kRuns; ++run) {
      if (run == 1) check(cudaEventRecord(start, nullptr), "cudaEventRecord");
      check(cublasLtMatmul(handle, product, &one, a, layout, b, layout, &zero, y, layout, y, layout,
                           &choice.algo, workspace, kWorkspaceBytes, nullptr),
            "cublasLtMatmul");
    }
    check(cudaEventRecord(stop, nullptr), "cudaEventRecord");
    check(cudaEventSynchronize(stop), "cudaEventSynchronize");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, start, stop), "cudaEventElapsedTime");
    best = std::min(best, ms / kRuns);
  }
  return 1000.0 * static_cast<double>(best);
}
