// Tests which matrices BLAS can read without a copy, and with which parameters. The products that
// BLAS would compute with these parameters are computed here in column order and compared with
// ambit's.
#include "backends/cuda/libraries/matmul_layout.h"

#include <ambit/ambit.h>
#include <doctest/doctest.h>

using namespace ambit;
using ambit::cuda::blas_layout;
using ambit::cuda::BlasLayout;
using ambit::cuda::Matrices;

namespace {

// Return element (i, j) of the operand that BLAS reads with a layout.
float element(const BlasLayout& l, const Matrices& m, int64_t i, int64_t j) {
  const auto* data = static_cast<const float*>(m.data);
  return l.transpose ? data[i * l.ld + j] : data[j * l.ld + i];
}

void check_layout(const Tensor& t, bool transpose, int64_t ld) {
  const Matrices m(t);
  const auto layout = blas_layout(m);
  REQUIRE(layout);
  CHECK(layout->transpose == transpose);
  CHECK(layout->ld == ld);
  CHECK(layout->ld >= layout->rows);
  for (int64_t i = 0; i < t.size(0); ++i) {
    for (int64_t j = 0; j < t.size(1); ++j) {
      CHECK(element(*layout, m, i, j) == t.select(0, i).select(0, j).item<float>());
    }
  }
}

}  // namespace

TEST_CASE("row-major and column-major matrices, with gaps or without, are read without a copy") {
  const Tensor t = arange(60).to(kFloat32).reshape({6, 10});
  check_layout(t, true, 10);
  check_layout(t.transpose(0, 1), false, 10);
  check_layout(t.slice(1, 2, 7), true, 10);
  check_layout(t.slice(1, 2, 7).transpose(0, 1), false, 10);
  check_layout(t.slice(0, 0, 6, 2), true, 20);
  check_layout(t.slice(0, 0, 1), false, 1);
  check_layout(t.slice(1, 3, 4), true, 10);  // its elements are a row of a matrix
  check_layout(arange(6).to(kFloat32).reshape({6, 1}), false, 6);
  check_layout(arange(6).to(kFloat32).reshape({1, 6}), false, 1);
  check_layout(t.slice(0, 0, 1).slice(1, 0, 1), false, 1);
  check_layout(t.select(0, 1).unsqueeze(0).expand({1, 10}), false, 1);
}

TEST_CASE("matrices with neither contiguous rows nor contiguous columns are copied") {
  const Tensor t = arange(60).to(kFloat32).reshape({6, 10});
  CHECK_FALSE(blas_layout(Matrices(t.slice(1, 0, 10, 2))));
  CHECK_FALSE(blas_layout(Matrices(ones({1}).expand({3, 4}))));
  CHECK_FALSE(blas_layout(Matrices(ones({4}).expand({3, 4}))));  // all rows have the same address
  CHECK_FALSE(blas_layout(Matrices(ones({3, 1}).expand({3, 4}))));
}

TEST_CASE("a matrix is read without a copy if and only if its transpose is") {
  const Tensor t = arange(60).to(kFloat32).reshape({6, 10});
  for (const Tensor& m : {t, t.slice(1, 2, 7), t.slice(1, 0, 10, 3), t.slice(0, 2, 3)}) {
    const auto layout = blas_layout(Matrices(m));
    const auto other = blas_layout(Matrices(m).transposed());
    CHECK(layout.has_value() == other.has_value());
  }
}
