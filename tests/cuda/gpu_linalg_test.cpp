// Linear algebra by cuSOLVER and cuBLAS: algorithms for different sizes and batches, NaN and
// infinities, invalid pivots, streams and graphs.
#include <ambit/cuda.h>

#include <cmath>
#include <thread>

#include "gpu_kernels.h"

using namespace ambit;
using namespace gpu_kernels;

namespace {

struct Sizes {
  int64_t B, N;
};
// Sizes for which the plugin calls batched functions, loops over matrices or computes a single one,
// with Jacobi's methods or without.
constexpr Sizes kSizes[] = {{1, 1},  {4, 1},  {1, 7},   {4, 7}, {2, 32}, {2, 33},
                            {3, 64}, {3, 65}, {1, 140}, {0, 4}, {3, 0}};

Tensor wide(const Tensor& t) { return t.to(kCPU, kFloat64); }
Tensor mT(const Tensor& t) { return t.transpose(-2, -1); }
/// A few roundings for each of n steps, relative to the largest number, as in `ambit conformance`.
void check_equal(const Tensor& got, const Tensor& want, DType dtype, int64_t n) {
  REQUIRE(got.sizes() == want.sizes());
  if (want.numel() == 0) return;
  const double epsilon = dtype == kFloat64 ? std::numeric_limits<double>::epsilon()
                                           : double{std::numeric_limits<float>::epsilon()};
  const double largest = std::max(1.0, wide(want).abs().max().item<double>());
  const double bound = 16 * static_cast<double>(std::max<int64_t>(n, 4)) * epsilon * largest;
  CHECK((wide(got) - wide(want)).abs().max().item<double>() <= bound);
}
Tensor well_conditioned(IntArrayRef sizes, DType dtype) {
  const auto n = static_cast<double>(std::max<int64_t>(sizes.back(), 1));
  return normal(sizes, dtype) / (2 * std::sqrt(n)) +
         2 * eye(sizes.back(), TensorOptions(dtype).device(gpu()));
}

}  // namespace

TEST_CASE("gpu: products of factors equal the matrix, and solutions solve, with every algorithm") {
  if (!has_gpu()) return;
  manual_seed(3);
  for (const DType dtype : dtypes::kFloating) {
    for (const auto& [B, N] : kSizes) {
      CAPTURE(std::string(name(dtype)));
      CAPTURE(B);
      CAPTURE(N);
      const Tensor x = well_conditioned({B, N, N}, dtype), b = normal({B, N, 3}, dtype);
      const auto [p, l, u] = linalg_lu(x);
      check_equal(matmul(wide(p), matmul(wide(l), wide(u))), x, dtype, N);
      check_equal(matmul(wide(x), wide(linalg_solve(x, b))), b, dtype, N);
      check_equal(matmul(wide(linalg_inv(x)), wide(x)), eye(N).expand({B, N, N}), dtype, N);
      const Tensor half = x.tril();
      for (const bool unit : {false, true}) {
        const Tensor y = linalg_solve_triangular(half, b, false, true, unit);
        const Tensor used = unit ? half.tril(-1) + eye(N, x.options()) : half;
        check_equal(matmul(wide(used), wide(y)), b, dtype, N);
        const Tensor z = linalg_solve_triangular(mT(half), mT(b), true, false, unit);
        check_equal(matmul(wide(z), wide(mT(used))), mT(b), dtype, N);
      }
      const Tensor positive = matmul(x, mT(x)), lower = linalg_cholesky(positive);
      check_equal(matmul(wide(lower), wide(mT(lower))), positive, dtype, N);
      CHECK(wide(lower.triu(1)).abs().sum().item<double>() == 0);
      check_equal(mT(linalg_cholesky(positive, true)), lower, dtype, N);
      const auto [values, vectors] = linalg_eigh(positive);
      const Tensor v = wide(vectors);
      check_equal(matmul(v * wide(values).unsqueeze(-2), mT(v)), positive, dtype, N);
      check_equal(matmul(mT(v), v), eye(N).expand({B, N, N}), dtype, N);
      check_equal(linalg_eigvalsh(positive, "U"), values, dtype, N);
    }
  }
}

TEST_CASE("gpu: QR and SVD of matrices of any shape") {
  if (!has_gpu()) return;
  manual_seed(4);
  struct Shape {
    int64_t B, M, N;
  };
  for (const DType dtype : dtypes::kFloating) {
    for (const auto& [B, M, N] : {Shape{1, 1, 1}, Shape{3, 4, 9}, Shape{3, 9, 4}, Shape{2, 32, 32},
                                  Shape{2, 33, 5}, Shape{2, 5, 33}, Shape{1, 6, 3}, Shape{1, 3, 6},
                                  Shape{1, 70, 70}, Shape{2, 0, 3}, Shape{2, 3, 0}}) {
      CAPTURE(std::string(name(dtype)));
      CAPTURE(B);
      CAPTURE(M);
      CAPTURE(N);
      const int64_t K = std::min(M, N), n = std::max(M, N);
      const Tensor x = normal({B, M, N}, dtype);
      for (const bool full : {false, true}) {
        const auto [q, r] = linalg_qr(x, full ? "complete" : "reduced");
        check_equal(matmul(wide(q), wide(r)), x, dtype, n);
        check_equal(matmul(wide(mT(q)), wide(q)),
                    eye(full ? M : K).expand({B, full ? M : K, full ? M : K}), dtype, n);
        const auto [u, s, vh] = linalg_svd(x, full);
        const Tensor left = wide(u).narrow(-1, 0, K) * wide(s).unsqueeze(-2);
        check_equal(matmul(left, wide(vh).narrow(-2, 0, K)), x, dtype, n);
        check_equal(matmul(wide(mT(u)), wide(u)),
                    eye(u.size(-1)).expand({B, u.size(-1), u.size(-1)}), dtype, n);
        check_equal(matmul(wide(vh), wide(mT(vh))),
                    eye(vh.size(-2)).expand({B, vh.size(-2), vh.size(-2)}), dtype, n);
        check_equal(linalg_svdvals(x), s, dtype, n);
      }
      check_equal(std::get<1>(linalg_qr(x, "r")), std::get<1>(linalg_qr(x)), dtype, n);
    }
  }
}

TEST_CASE("gpu: NaN and inf affect only their own matrix, or are a typed error") {
  if (!has_gpu()) return;
  manual_seed(5);
  constexpr double kBad[] = {NAN, INFINITY};
  for (const int64_t N : {3, 40, 70}) {
    for (const double bad : kBad) {
      CAPTURE(N);
      CAPTURE(bad);
      const Tensor x = well_conditioned({3, N, N}, kFloat64), y = x + mT(x);
      x[1][N - 1][0].fill_(bad), y[1][N - 1][0].fill_(bad);
      const auto check = [&](const Tensor& t, bool whole = true) {
        const Tensor nan = isnan(t.cpu());
        CHECK_FALSE(nan[0].any().item<bool>());
        CHECK_FALSE(nan[2].any().item<bool>());
        CHECK((whole ? nan[1].all() : nan[1].any()).item<bool>());
      };
      check(std::get<0>(linalg_qr(x)));
      check(std::get<1>(linalg_qr(x)), false);
      check(std::get<0>(linalg_eigh(y)));
      check(std::get<1>(linalg_eigh(y)));
      check(linalg_eigvalsh(y));
      CHECK_FALSE(
          isnan(linalg_eigvalsh(y, "U")).any().item<bool>());  // the upper triangle is not read
      CHECK_THROWS_WITH_AS(linalg_svd(x), doctest::Contains("in matrix 1 of the batch"),
                           LinAlgError);
      CHECK_THROWS_AS(linalg_svdvals(x[1]), LinAlgError);
      const auto [lu, pivots, info] = linalg_lu_factor_ex(x * NAN);
      CHECK(isnan(lu).all().item<bool>());
      CHECK(info.abs().sum().item<int64_t>() == 0);  // NaN is not a zero pivot
      CHECK(isnan(std::get<0>(linalg_inv_ex(x * NAN))).all().item<bool>());
    }
    const Tensor x = well_conditioned({3, N, N}, kFloat64);
    const Tensor positive = matmul(x, mT(x));
    positive[1][N - 1][0].fill_(NAN);
    const Tensor info = std::get<1>(linalg_cholesky_ex(positive)).cpu();
    CHECK(info[1].item<int64_t>() == N);
    CHECK(info.sum().item<int64_t>() == N);
  }
}

TEST_CASE("gpu: invalid pivots are reported, also without right-hand sides") {
  if (!has_gpu()) return;
  const Tensor lu = eye(4, TensorOptions(gpu())).unsqueeze(0);
  const Tensor pivots = tensor({1, 2, 9, 4}, TensorOptions(kInt32).device(gpu())).unsqueeze(0);
  for (const int64_t R : {0, 3}) {
    for (const bool adjoint : {false, true}) {
      linalg_lu_solve(lu, pivots, ones({1, 4, R}, gpu()), true, adjoint);
      CHECK_THROWS_WITH_AS(synchronize(gpu()), "lu_solve: expected pivots in [1, 4], got 9",
                           IndexError);
    }
  }
}

TEST_CASE("gpu: factorisations run on the current stream, and in several threads at once") {
  if (!has_gpu()) return;
  manual_seed(6);
  const Tensor x = well_conditioned({2, 40, 40}, kFloat64), one = eye(40, x.options());
  const auto work = [&] {
    for (int i = 0; i < 3; ++i) {
      const auto check = [&] {
        const auto [q, r] = linalg_qr(x + one * i);
        const Tensor lower = linalg_cholesky(matmul(x, mT(x)) + one);
        return (matmul(q, r) - x - one * i).abs().max() +
               (matmul(lower, linalg_solve_triangular(lower, x, false)) - x).abs().max();
      };
      const Tensor here = check();
      cuda::Stream other = cuda::getStreamFromPool();
      Tensor there;
      {
        const cuda::StreamGuard guard(other);
        there = check();
      }
      if (!(here.item<double>() < 1e-10 && there.item<double>() < 1e-10)) {
        throw std::runtime_error("wrong factors");
      }
    }
  };
  work();
  std::vector<std::exception_ptr> failed(3);
  std::vector<std::thread> threads;
  for (std::exception_ptr& f : failed) {
    threads.emplace_back([&] {
      try {
        work();
      } catch (...) {
        f = std::current_exception();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (const std::exception_ptr& f : failed) CHECK(f == nullptr);
}

TEST_CASE("gpu: solvers of cuBLAS can be captured in a graph, factorisations of cuSOLVER cannot") {
  if (!has_gpu()) return;
  manual_seed(7);
  Tensor b = ones({2, 5, 2}, TensorOptions(kFloat64).device(gpu()));
  const Tensor x = well_conditioned({2, 5, 5}, kFloat64).tril();
  const auto solve = [&] { return linalg_solve_triangular(x, b, false); };
  solve();
  cuda::CUDAGraph graph;
  graph.capture_begin();
  const Tensor y = solve();
  graph.capture_end();
  b.copy_(normal({2, 5, 2}, kFloat64));
  graph.replay();
  check_equal(matmul(wide(x), wide(y)), b, kFloat64, 5);
  const std::function<void()> refused[] = {[&] { linalg_qr(x); }, [&] { linalg_svd(x); },
                                           [&] { linalg_eigh(x); }, [&] { linalg_cholesky_ex(x); },
                                           [&] { linalg_lu_factor(x[0]); }};
  for (const auto& f : refused) {
    cuda::CUDAGraph other;
    other.capture_begin();
    CHECK_THROWS_WITH_AS(
        f(), doctest::Contains("can repeat, got factors of matrices by cuSOLVER, which waits"),
        BackendError);
    CHECK_THROWS_AS(other.capture_end(), BackendError);
  }
}
