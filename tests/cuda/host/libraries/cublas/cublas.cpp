// The functions of cuBLAS that the plugin calls: triangular systems, and LU factors of batches.
#include <cublas_v2.h>

#include "tests/cuda/host/libraries/by_columns.h"
#include "tests/cuda/host/libraries/handle.h"

/// A handle, bound to the device that was current.
struct cublasContext {
  int device = 0;
  cudaStream_t stream = nullptr;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
};

namespace {

using namespace ambit::cuda::host;

// Leaked: programs use their handles until exit.
Live<cublasContext>& handles() {
  static auto* live = new Live<cublasContext>("cublasHandle_t");
  return *live;
}

// Queue work that overwrites the workspace, as kernels do.
template <class Work>
cublasStatus_t queue(const cublasContext& handle, const char* name, const Work& work) {
  constexpr size_t kUsed = 4096;
  if (!handle.workspace)
    misuse(std::string(name) + ": expected a workspace, got the library's own");
  const size_t used = std::min(handle.workspace_bytes, kUsed);
  const auto all = [work, workspace = handle.workspace, used] {
    scribble(workspace, used);
    const ambit::cpu::OneThread one;
    work();
  };
  return enqueue(handle.stream, name, all) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                          : CUBLAS_STATUS_EXECUTION_FAILED;
}

/// Parameters of trsm, without the operands.
template <class T>
struct Triangular {
  cublasSideMode_t side;
  cublasFillMode_t uplo;
  cublasOperation_t trans;
  cublasDiagType_t diag;
  int m, n, lda, ldb;
  T alpha = 1;

  int order() const { return side == CUBLAS_SIDE_LEFT ? m : n; }
  Columns<const T> triangle(const T* a) const { return {a, order(), order(), lda}; }
  Columns<T> right_side(T* b) const { return {b, m, n, ldb}; }
  void solve(const T* a, T* b) const {
    expect_apart("cublas<t>trsm", right_side(b).operand(), triangle(a).operand());
    const std::vector<T> matrix = triangle(a).read();
    std::vector<T> y = right_side(b).read();
    const int32_t k = order();
    lapack_of<T>().trsm(side == CUBLAS_SIDE_LEFT ? "L" : "R",
                        uplo == CUBLAS_FILL_MODE_LOWER ? "L" : "U",
                        trans == CUBLAS_OP_N ? "N" : "T", diag == CUBLAS_DIAG_UNIT ? "U" : "N", &m,
                        &n, &alpha, matrix.data(), &k, y.data(), &m, 1, 1, 1, 1);
    right_side(b).write(y);
  }
};

template <class T>
cublasStatus_t trsm(cublasHandle_t handle, Triangular<T> p, const T* alpha, const T* a, T* b) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!alpha || !p.triangle(a).is_valid() || !p.right_side(b).is_valid()) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  p.alpha = *alpha;
  if (p.m == 0 || p.n == 0) return CUBLAS_STATUS_SUCCESS;
  return queue(handles().get(handle), "cublas<t>trsm", [p, a, b] { p.solve(a, b); });
}

template <class T>
cublasStatus_t trsm_batched(cublasHandle_t handle, Triangular<T> p, const T* alpha,
                            const T* const a[], T* const b[], int batch) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  const bool sizes = p.m >= 0 && p.n >= 0 && batch >= 0 && p.lda >= std::max(p.order(), 1) &&
                     p.ldb >= std::max(p.m, 1);
  if (!alpha || !a || !b || !sizes) return CUBLAS_STATUS_INVALID_VALUE;
  p.alpha = *alpha;
  if (p.m == 0 || p.n == 0 || batch == 0) return CUBLAS_STATUS_SUCCESS;
  return queue(handles().get(handle), "cublas<t>trsmBatched", [=] {
    const auto matrices = read_addresses(a, batch);
    const auto sides = read_addresses(b, batch);
    for (size_t i = 0; i < sides.size(); ++i) p.solve(matrices[i], sides[i]);
  });
}

template <class T>
cublasStatus_t getrf_batched(cublasHandle_t handle, int n, T* const a[], int lda, int* pivots,
                             int* info, int batch) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (n < 0 || batch < 0 || lda < std::max(n, 1) || !a || !info) return CUBLAS_STATUS_INVALID_VALUE;
  if (!pivots) misuse("cublas<t>getrfBatched: expected pivots: the emulation always pivots");
  if (n == 0 || batch == 0) return CUBLAS_STATUS_SUCCESS;
  return queue(handles().get(handle), "cublas<t>getrfBatched", [=] {
    const auto matrices = read_addresses(a, batch);
    for (int i = 0; i < batch; ++i) {
      factor_lu<T>({matrices[static_cast<size_t>(i)], n, n, lda}, pivots + int64_t{i} * n,
                   info + i);
    }
  });
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  return handle && create_handle(handles(), handle) ? CUBLAS_STATUS_SUCCESS
                                                    : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  cublasContext& context = handles().get(handle);
  if (!set_stream(context, stream)) {
    misuse("cublasSetStream: expected a stream of the handle's device");
  }
  context.workspace = nullptr;  // the real library then uses its own workspace again
  context.workspace_bytes = 0;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, size_t bytes) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  constexpr uintptr_t kAlignment = 256;
  if (!workspace || reinterpret_cast<uintptr_t>(workspace) % kAlignment != 0) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  cublasContext& context = handles().get(handle);
  context.workspace = workspace;
  context.workspace_bytes = bytes;
  return CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    default:
      return "unrecognized status";
  }
}
const char* cublasGetStatusString(cublasStatus_t status) { return cublasGetStatusName(status); }

#define AMBIT_CUBLAS_OF(letter, T)                                                                 \
  cublasStatus_t cublas##letter##trsm_v2(cublasHandle_t handle, cublasSideMode_t side,             \
                                         cublasFillMode_t uplo, cublasOperation_t trans,           \
                                         cublasDiagType_t diag, int m, int n, const T* alpha,      \
                                         const T* a, int lda, T* b, int ldb) {                     \
    return trsm<T>(handle, {side, uplo, trans, diag, m, n, lda, ldb}, alpha, a, b);                \
  }                                                                                                \
  cublasStatus_t cublas##letter##trsmBatched(                                                      \
      cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,                         \
      cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const T* alpha,                \
      const T* const a[], int lda, T* const b[], int ldb, int batch) {                             \
    return trsm_batched<T>(handle, {side, uplo, trans, diag, m, n, lda, ldb}, alpha, a, b, batch); \
  }                                                                                                \
  cublasStatus_t cublas##letter##getrfBatched(cublasHandle_t handle, int n, T* const a[], int lda, \
                                              int* pivots, int* info, int batch) {                 \
    return getrf_batched<T>(handle, n, a, lda, pivots, info, batch);                               \
  }
AMBIT_CUBLAS_OF(S, float)
AMBIT_CUBLAS_OF(D, double)

}  // extern "C"
