// softmax of tensors larger than the caches, which the cpu processes strip by strip, compared with
// softmax of the same lines as rows. The conformance test covers small ones.
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/random.h>
#include <ambit/random.h>
#include <doctest/doctest.h>

#include <limits>
#include <vector>

using namespace ambit;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void check_lines_agree_with_rows(const std::vector<int64_t>& sizes, DType dtype) {
  CAPTURE(sizes);
  Tensor x = randn(sizes, dtype);
  // The first lines have an infinity of either sign, a NaN, and only -inf.
  x[-1][0][0].fill_(kInfinity);
  x[-1][0][1].fill_(-kInfinity);
  x[-1][1][2].fill_(std::numeric_limits<double>::quiet_NaN());
  x.select(0, -1).select(1, 3).fill_(-kInfinity);
  const Tensor rows = x.transpose(1, 2).contiguous();
  const double epsilon = dtype == kFloat32 ? 0x1p-23 : 0x1p-52;
  // Each side has an error of 12 ulp, as in the conformance cases. log_softmax subtracts numbers
  // below 16: the roundings of operands and result have an error of at most 16 ulp of 1 per side.
  CHECK(allclose(softmax(x, 1).transpose(1, 2), softmax(rows, 2), 24 * epsilon, 0, true));
  CHECK(allclose(log_softmax(x, 1).transpose(1, 2), log_softmax(rows, 2), 24 * epsilon,
                 32 * epsilon, true));
}

}  // namespace

TEST_CASE("softmax of long interleaved lines equals that of the same lines as rows") {
  manual_seed(3);
  SUBCASE("complete strips, with rows aligned to cache lines") {
    check_lines_agree_with_rows({2, 65, 65600}, kFloat32);
    check_lines_agree_with_rows({2, 66, 32800}, kFloat64);
  }
  SUBCASE("an incomplete strip, with unaligned rows") {
    check_lines_agree_with_rows({2, 131, 32803}, kFloat32);
    check_lines_agree_with_rows({2, 67, 32803}, kFloat64);
  }
  SUBCASE("few rows") { check_lines_agree_with_rows({1, 2, 4200007}, kFloat32); }
  SUBCASE("more rows than a strip holds") {
    check_lines_agree_with_rows({1, 8193, 1100}, kFloat32);
  }
}
