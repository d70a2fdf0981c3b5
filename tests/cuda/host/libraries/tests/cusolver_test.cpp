// The checks of the emulations of cuSOLVER and cuBLAS on memory of the runtime.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <cmath>

#include "api.h"
#include "backends/cuda/libraries/cublas.h"
#include "backends/cuda/libraries/cusolver.h"
#include "gpu_array.h"
#include "tests/dies.h"

using namespace ambit;
using namespace host_libraries;

namespace {

const Opened& solver() {
  static const Opened opened(folder_of_emulations() + "/libcusolver.so.12");
  return opened;
}
const Opened& blas() {
  static const Opened opened(folder_of_emulations() + "/libcublas.so.13");
  return opened;
}
#define AMBIT_CALL(library, name) library().find<decltype(::name)>(#name)

cusolverDnHandle_t solver_handle() {
  cusolverDnHandle_t h = nullptr;
  REQUIRE(AMBIT_CALL(solver, cusolverDnCreate)(&h) == CUSOLVER_STATUS_SUCCESS);
  return h;
}

Tensor doubles(std::vector<double> values) { return tensor(values, kFloat64); }

struct Eigenvalues {
  GpuArray a, w{size_t{16}}, info{size_t{4}};
  explicit Eigenvalues(const Tensor& t) : a(t) {}
  cusolverStatus_t run(int lda, int lwork, void* work) {
    return AMBIT_CALL(solver, cusolverDnDsyevd)(
        solver_handle(), CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, 2,
        static_cast<double*>(a.data()), lda, static_cast<double*>(w.data()),
        static_cast<double*>(work), lwork, static_cast<int*>(info.data()));
  }
};

}  // namespace

TEST_CASE("eigenvalues are those of the given triangle; sizes and workspaces are checked") {
  Eigenvalues e(doubles({2, 1, NAN, 2}));  // the upper element is not read
  int size = 0;
  REQUIRE(AMBIT_CALL(solver, cusolverDnDsyevd_bufferSize)(
              solver_handle(), CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, 2,
              static_cast<double*>(e.a.data()), 2, static_cast<double*>(e.w.data()),
              &size) == CUSOLVER_STATUS_SUCCESS);
  const GpuArray work(static_cast<size_t>(size) * sizeof(double));
  CHECK(e.run(1, size, work.data()) == CUSOLVER_STATUS_INVALID_VALUE);
  CHECK(e.run(2, size - 1, work.data()) == CUSOLVER_STATUS_INVALID_VALUE);
  CHECK(e.run(2, size, nullptr) == CUSOLVER_STATUS_INVALID_VALUE);
  REQUIRE(e.run(2, size, work.data()) == CUSOLVER_STATUS_SUCCESS);
  CHECK(e.w.read({2}, kFloat64).allclose(doubles({1, 3}), 1e-12, 1e-12));
  CHECK(e.info.read({1}, kInt32).item<int>() == 0);
}

TEST_CASE("triangular systems are solved on either side") {
  cublasHandle_t h = nullptr;
  REQUIRE(AMBIT_CALL(blas, cublasCreate_v2)(&h) == CUBLAS_STATUS_SUCCESS);
  const GpuArray a(doubles({2, 1, 0, 4})), b(doubles({2, 5})), work(size_t{4096});
  REQUIRE(AMBIT_CALL(blas, cublasSetStream_v2)(h, nullptr) == CUBLAS_STATUS_SUCCESS);
  REQUIRE(AMBIT_CALL(blas, cublasSetWorkspace_v2)(h, work.data(), 4096) == CUBLAS_STATUS_SUCCESS);
  const double one = 1;
  const auto solve = [&](cublasSideMode_t side, int m, int n, int lda, int ldb) {
    return AMBIT_CALL(blas, cublasDtrsm_v2)(
        h, side, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, m, n, &one,
        static_cast<double*>(a.data()), lda, static_cast<double*>(b.data()), ldb);
  };
  CHECK(solve(CUBLAS_SIDE_LEFT, 2, 1, 1, 2) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(solve(CUBLAS_SIDE_LEFT, 2, 1, 2, 1) == CUBLAS_STATUS_INVALID_VALUE);
  REQUIRE(solve(CUBLAS_SIDE_LEFT, 2, 1, 2, 2) == CUBLAS_STATUS_SUCCESS);
  CHECK(b.read({2}, kFloat64).allclose(doubles({1, 1})));
  REQUIRE(solve(CUBLAS_SIDE_RIGHT, 1, 2, 2, 1) == CUBLAS_STATUS_SUCCESS);
  CHECK(b.read({2}, kFloat64).allclose(doubles({0.375, 0.25})));
}

// Errors that end the process are tested in child processes.
TEST_CASE("errors that the real cuSOLVER does not survive end the process with a message") {
  check_dies("child: eigenvalues of NaN", {"expected finite numbers"});
  check_dies("child: a workspace that is too small", {"out of the bounds"});
  check_dies("child: cuBLAS without a workspace", {"expected a workspace"});
}
TEST_CASE("child: eigenvalues of NaN" * doctest::skip()) {
  Eigenvalues e(doubles({NAN, 1, 1, 2}));
  const GpuArray work(size_t{4096} * 8);
  e.run(2, 4096, work.data());
  e.w.read({2}, kFloat64);
}
TEST_CASE("child: a workspace that is too small" * doctest::skip()) {
  Eigenvalues e(doubles({2, 1, 1, 2}));
  const GpuArray work(size_t{4095} * 8);
  e.run(2, 4096, work.data());
  e.w.read({2}, kFloat64);
}
TEST_CASE("child: cuBLAS without a workspace" * doctest::skip()) {
  cublasHandle_t h = nullptr;
  AMBIT_CALL(blas, cublasCreate_v2)(&h);
  AMBIT_CALL(blas, cublasSetStream_v2)(h, nullptr);
  const GpuArray a(doubles({2})), b(doubles({2}));
  const double one = 1;
  AMBIT_CALL(blas, cublasDtrsm_v2)
  (h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, 1, 1, &one,
   static_cast<double*>(a.data()), 1, static_cast<double*>(b.data()), 1);
}
