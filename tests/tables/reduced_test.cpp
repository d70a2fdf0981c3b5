// Every public function that computes, with operands of 16 bits: its result against that of
// float32, and its gradients against those of float64, of the same numbers.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "agreement_calls.h"
#include "agreement_operands.h"
#include "tests/devices.h"

using namespace ambit;
using namespace agreement;

namespace {

/// In last places of the largest number: a function composed of a few ops rounds at each, and so
/// does its gradient.
constexpr double kPlaces = 8;

void check_near(const Tensor& got, const Tensor& want, DType dtype) {
  REQUIRE(got.sizes() == want.sizes());
  // What the dtype has no number for is 0 or infinite.
  const Tensor y = got.cpu().to(kFloat64), x = want.cpu().to(got.dtype()).to(kFloat64);
  const double last_place = dtype == kFloat16 ? std::numeric_limits<Half>::epsilon()
                                              : std::numeric_limits<BFloat16>::epsilon();
  const Tensor finite = isfinite(x);
  const double largest = x.numel() == 0 ? 0 : where(finite, x.abs(), 0.0).max().item<double>();
  INFO("got ", str(got), " expected ", str(want));
  CHECK(y.allclose(x, kPlaces * last_place, kPlaces * last_place * largest, true));
}

/// What a function gives for 16 bits, and for the same numbers as float32.
void check_rounded(const Tensor& got, const Tensor& want, DType dtype) {
  REQUIRE(got.sizes() == want.sizes());
  if (!want.is_floating_point() || want.dtype() == kFloat64) {
    REQUIRE(got.dtype() == want.dtype());
    CHECK(got.cpu().equal(want.cpu()));
    return;
  }
  const bool asked = got.dtype() != dtype;  // for another dtype, as to() is
  if (asked) CHECK(got.dtype() == want.dtype());
  check_near(got, want, dtype);
}

/// The gradients by a, b and unit of the sum of all results, each element with a weight of its own;
/// undefined: none. None at all where no result has one.
std::vector<Tensor> gradients(const Call& call, const Operands& operands) {
  Operands o = operands;
  std::vector<Tensor> leaves;
  for (Tensor* t : {&o.a, &o.b, &o.unit}) leaves.push_back(*t = t->detach().requires_grad_());
  Tensor total;
  for (const Tensor& y : call.run(o)) {
    if (!y.requires_grad()) continue;
    const Tensor weights = arange(y.numel(), kFloat64).remainder(16) / 32 + 0.5;
    const Tensor sum = (y * weights.reshape(y.sizes()).to(y.device(), y.dtype())).sum();
    total = total.defined() ? total + sum.to(kFloat64) : sum.to(kFloat64);
  }
  if (!total.defined()) return {};
  return autograd::grad({total}, leaves, {}, false, false, /*allow_unused=*/true);
}

/// Call body(call, operands of float32 or float64, operands of 16 bits) for all functions, both
/// operands with the same numbers.
void for_all_calls(DType wide, const std::set<std::string>& but,
                   const std::function<void(const Call&, const Operands&, const Operands&)>& body) {
  for_each_device([&](Device device) {
    for (const InputLayout& layout : layouts()) {
      for (const DType dtype : dtypes::kReduced) {
        const Operands expected = draw(layout, device, dtype, wide);
        const Operands given = draw(layout, device, dtype, dtype);
        for (const Call& call : CallTable<Call>::all()) {
          if ((given.is_empty && !call.takes_empty) || (given.is_scalar && !call.takes_scalar) ||
              but.contains(call.function)) {
            continue;
          }
          INFO(std::string(call.function), " of ", std::string(name(dtype)), ", ",
               std::string(layout.name));
          body(call, expected, given);
        }
      }
    }
  });
}

}  // namespace

TEST_CASE("functions of 16 bits give what those of float32 do, rounded") {
  std::string refused;
  // Of bincount's weights only those of float32 keep their dtype; geqrf's factors are used again
  // after they have been rounded.
  for_all_calls(kFloat32, {"bincount", "geqrf"},
                [&](const Call& call, const Operands& expected, const Operands& given) {
                  const std::vector<Tensor> want = call.run(expected);
                  std::vector<Tensor> got;
                  try {
                    got = call.run(given);
                  } catch (const DTypeError&) {  // the row has a float32 operand of its own
                    refused += std::string(call.function) + " ";
                    return;
                  }
                  REQUIRE(got.size() == want.size());
                  for (size_t i = 0; i < got.size(); ++i) {
                    INFO("result ", i);
                    check_rounded(got[i], want[i], given.a.dtype());
                  }
                });
  CHECK(refused == "");
}

TEST_CASE("gradients of 16 bits are those of float64, rounded") {
  // Those that resize refuse tensors that want a gradient. That of sinc is a difference of numbers
  // all but equal, in float32, too; those of singular vectors divide by differences of singular
  // values.
  const std::set<std::string> apart{
      "resize_", "resize_as_", "sinc",           "sinc_",
      "svd",     "linalg_svd", "linalg_svdvals", "linalg_matrix_norm"};
  for_all_calls(kFloat64, apart,
                [&](const Call& call, const Operands& expected, const Operands& given) {
                  std::vector<Tensor> want, got;
                  try {
                    want = gradients(call, expected);
                  } catch (const DTypeError&) {  // quantize_rows and linear_int8 take no float64
                    return;
                  } catch (const NotImplementedError&) {  // igamma has no formula for one of them
                    return;
                  }
                  got = gradients(call, given);
                  REQUIRE(got.size() == want.size());
                  for (size_t i = 0; i < got.size(); ++i) {
                    INFO("by operand ", i);
                    REQUIRE(got[i].defined() == want[i].defined());
                    if (got[i].defined()) check_near(got[i], want[i], given.a.dtype());
                  }
                });
}
