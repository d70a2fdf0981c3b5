// Kernels of the CUDA backend, run on the host by device.h, against the reference: sorting, scans,
// and products and extremes at places that an index names.
#include <ambit/settings.h>

#include "on_host.h"

using namespace ambit;
using namespace on_host;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Many equals, of floats some NaN, not contiguous.
Tensor few(IntArrayRef sizes, DType dtype) {
  const Tensor whole = randint(-4, 5, sizes, kInt64);
  const Tensor x = is_floating_point(dtype) ? where(whole == 4, kNan, whole.to(dtype)).to(dtype)
                                            : whole.abs().to(dtype);
  return x.transpose(0, 1).contiguous().transpose(0, 1);
}

void check_same(const Tensor& ours, const Tensor& reference) {
  const Tensor expected = reference.cpu();
  const Tensor same = logical_or(ours == expected, logical_and(isnan(ours), isnan(expected)));
  CHECK(same.all().item<bool>());
}

using Fill = void (*)(Tensor& y, Tensor& index, const Tensor& x, int64_t dim, bool most);

// kept: what y has of x's lines; 0: all.
void check_lines(Fill ours, Fill theirs, const Tensor& x, int64_t dim, int64_t kept) {
  for (const bool most : {false, true}) {
    INFO(name(x.dtype()), str(x.sizes()), " dim ", dim, " kept ", kept, " most ", most);
    Dims sizes(x.sizes());
    if (kept > 0) sizes[static_cast<size_t>(dim)] = kept;
    Tensor y = zeros(sizes, x.dtype()), index = full(sizes, -1, kInt64);
    Tensor expected = y.to(kReference), places = index.to(kReference);
    ours(y, index, x, dim, most);
    theirs(expected, places, x.to(kReference), dim, most);
    CHECK(index.equal(places.cpu()));
    check_same(y, expected);
  }
}

}  // namespace

TEST_CASE("sort and topk of every dtype, in one tile, in several, and where lines are merged") {
  manual_seed(9);
  const Fill sort = [](auto& y, auto& i, const auto& x, int64_t d, bool m) {
    kernels::sort(y, i, x, d, m);
  };
  const Fill topk = [](auto& y, auto& i, const auto& x, int64_t d, bool m) {
    kernels::topk(y, i, x, d, m);
  };
  for (const DType dtype : dtypes::kAll) {
    for (const int64_t n : {1, 100, 128, 129, 1024, 1025, 2500}) {
      const Tensor x = few({2, n}, dtype);
      check_lines(cuda::sort, sort, x, 1, 0);
      for (const int64_t k : {int64_t{1}, (n + 9) / 10, n}) {
        check_lines(cuda::topk, topk, x, 1, k);
      }
    }
    check_lines(cuda::sort, sort, few({130, 3}, dtype), 0, 0);
  }
  check_lines(cuda::topk, topk, few({1, 9000}, kFloat32), 1, 200);  // three rounds of tiles
}

TEST_CASE("scans and extremes so far, of short lines and of long ones in chunks") {
  manual_seed(10);
  const Fill extremum = [](auto& y, auto& i, const auto& x, int64_t d, bool m) {
    kernels::cum_extremum(y, i, x, d, m);
  };
  for (const Dims& sizes : {Dims{3, 20}, Dims{2, 300}, Dims{1, 9000}}) {
    for (const DType dtype : dtypes::kAll) {
      check_lines(cuda::cum_extremum, extremum, few(sizes, dtype), 1, 0);
      check_lines(cuda::cum_extremum, extremum, few(sizes, dtype), 0, 0);
    }
    for (const ScanOp op : functions<ScanOp>()) {
      for (const DType dtype : {kInt8, kInt64, kFloat32, kFloat64}) {
        if (!row_of(op).dtypes.contains(dtype)) continue;
        INFO(name(op), " of ", name(dtype), str(sizes));
        // Factors near 1, so that long products stay finite.
        const Tensor x = is_floating_point(dtype) ? rand(sizes, dtype) * 0.02 + 0.99
                                                  : randint(0, 100, sizes, kInt64).to(dtype);
        Tensor y = zeros(sizes, dtype), expected = y.to(kReference);
        cuda::scan(y, x, 1, op);
        kernels::scan(expected, x.to(kReference), 1, op);
        if (is_floating_point(dtype)) {
          check_close(y, expected, 2, 2 * sizes[1]);
        } else {
          CHECK(y.equal(expected.cpu()));
        }
      }
    }
  }
}

TEST_CASE("places in sorted rows") {
  manual_seed(11);
  for (const DType dtype : {kUInt8, kInt32, kFloat32, kFloat64}) {
    for (const int64_t n : {0, 1, 7, 300}) {
      const Tensor x = few({3, 50}, dtype).contiguous();
      const Tensor rows = std::get<0>(few({3, n}, dtype).sort(1)).contiguous();
      for (const Tensor& sorted : {rows, rows.narrow(0, 1, 1).contiguous()}) {
        for (const bool right : {false, true}) {
          Tensor index = zeros({3, 50}, kInt64), expected = index.to(kReference);
          cuda::searchsorted(index, sorted, x, right);
          kernels::searchsorted(expected, sorted.to(kReference), x.to(kReference), right);
          CHECK(index.equal(expected.cpu()));
        }
      }
    }
  }
}

TEST_CASE("products and extremes at places that an index names, by atomics and in order") {
  manual_seed(12);
  for (const ScatterOp op : functions<ScatterOp>()) {
    for (const DType dtype : dtypes::kAll) {
      for (const bool deterministic : {false, true}) {
        INFO(name(op), " of ", name(dtype), " deterministic ", deterministic);
        const bool factors = op == ScatterOp::prod && is_floating_point(dtype);
        const Tensor src = factors ? rand({40, 6}, dtype) + 0.5 : few({40, 6}, dtype);
        const Tensor y0 = factors ? rand({7, 6}, dtype) + 0.5 : few({7, 6}, dtype);
        const Tensor index = randint(0, 7, {40, 6}, TensorOptions(kInt64));
        Tensor y = y0.clone(), expected = y0.to(kReference);
        set_deterministic(deterministic);
        cuda::scatter_reduce(y, index, src, 0, op);
        set_deterministic(false);
        kernels::scatter_reduce(expected, index.to(kReference), src.to(kReference), 0, op);
        if (factors) {
          check_close(y, expected, 40);  // a rounding for each of the elements that may meet
        } else {
          check_same(y, expected);
        }
      }
    }
  }
  cuda::Call::fault = {};
  Tensor y = zeros({3});
  cuda::scatter_reduce(y, tensor({1, 3}), tensor({1.f, 2.f}), 0, ScatterOp::max);
  CHECK(cuda::Call::fault.kind == cuda::FaultKind::index);
  CHECK(y.equal(tensor({0.f, 1.f, 0.f})));
}
