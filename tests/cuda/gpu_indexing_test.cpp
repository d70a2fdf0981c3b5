// Kernels of the CUDA backend compared with the reference: indexed writes.
#include <ambit/settings.h>

#include "gpu_kernels.h"

using namespace ambit;
using namespace gpu_kernels;

TEST_CASE("gpu: sums into indexed positions, by atomics and deterministic, of every dtype") {
  if (!has_gpu()) return;
  manual_seed(6);
  for (const DType dtype : {kBool, kUInt8, kInt8, kInt16, kInt32, kInt64, kFloat32, kFloat64}) {
    for (const bool deterministic : {false, true}) {
      CAPTURE(name(dtype));
      CAPTURE(deterministic);
      const Tensor src = (randn({40, 6}) * 20).to(dtype).to(gpu()),
                   y0 = (randn({7, 6}) * 20).to(dtype).to(gpu());
      const Tensor index = randint(0, 7, {40, 6}, TensorOptions(kInt64)).to(gpu());
      const Tensor rows = index.select(1, 0).contiguous();
      Tensor y = y0.clone(), by_row = y0.clone();
      Tensor expected = y0.to(kReference), expected_by_row = expected.clone();
      set_deterministic(deterministic);
      kernels::scatter_add(y, index, src, 0);
      kernels::index_add(by_row, rows, src, 0);
      set_deterministic(false);
      kernels::scatter_add(expected, index.to(kReference), src.to(kReference), 0);
      kernels::index_add(expected_by_row, rows.to(kReference), src.to(kReference), 0);
      if (is_floating_point(dtype)) {
        check_close(y, expected,
                    40);  // a rounding for each element that may have the same index
        check_close(by_row, expected_by_row, 40);
      } else {
        CHECK(y.cpu().equal(expected.cpu()));
        CHECK(by_row.cpu().equal(expected_by_row.cpu()));
      }
    }
  }
}

TEST_CASE("gpu: in deterministic mode the last of the elements with the same index is written") {
  if (!has_gpu()) return;
  manual_seed(8);
  set_deterministic(true);
  for (const DType dtype : {kUInt8, kInt16, kFloat32, kFloat64}) {
    for (const int64_t dim : {0, 1}) {
      CAPTURE(name(dtype));
      CAPTURE(dim);
      const Tensor src = (randn({20, 30}) * 50).abs().to(dtype).to(gpu()).transpose(0, 1);
      const Tensor index =
          randint(0, 9, {40, 16}, TensorOptions(kInt64)).to(gpu()).slice(0, 0, 40, 2);
      Tensor y = zeros({50, 40}, TensorOptions(dtype).device(gpu())).transpose(0, 1);
      Tensor expected = y.to(kReference);
      kernels::scatter(y, index, src, dim);
      kernels::scatter(expected, index.to(kReference), src.to(kReference), dim);
      CHECK(y.cpu().equal(expected.cpu()));
    }
  }
  Tensor y = zeros({3}, gpu()), scalar = zeros({}, gpu());
  kernels::scatter(y, tensor({1, 3, 1, -1}).to(gpu()), tensor({1.f, 2.f, 3.f, 4.f}).to(gpu()), 0);
  CHECK(reported().starts_with("scatter: expected an index in [0, 3), got "));
  CHECK(y.cpu().equal(tensor({0.f, 3.f, 0.f})));
  kernels::scatter(scalar, zeros({}, TensorOptions(kInt64).device(gpu())), ones({}, gpu()), 0);
  CHECK(scalar.item<float>() == 1);
  set_deterministic(false);
}
