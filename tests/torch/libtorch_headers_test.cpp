// Headers that programs for libtorch 2.15 include: their declarations, and that they compile
// together.
#include <ATen/DeviceAccelerator.h>
#include <ATen/OpMathType.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <c10/core/SymInt.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/util/MathConstants.h>
#include <doctest/doctest.h>
#include <torch/extension.h>
#include <torch/headeronly/core/Dispatch.h>
#include <torch/headeronly/core/ScalarType.h>
#include <torch/headeronly/core/TensorAccessor.h>
#include <torch/headeronly/macros/Macros.h>
#include <torch/headeronly/util/BFloat16.h>
#include <torch/headeronly/util/Exception.h>
#include <torch/headeronly/util/HeaderOnlyArrayRef.h>
#include <torch/optim/schedulers/reduce_on_plateau_scheduler.h>
#include <torch/print.h>
#include <torch/script.h>

#include <numbers>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace {

at::Tensor doubled(const at::Tensor& x) { return x * 2; }

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.doc() = "ignored";
  m.def("doubled", &doubled, "Return 2 x");
}

TEST_CASE("SymInt is an integer") {
  c10::SymInt n = 5;
  n += 2;
  CHECK(n == 7);
  CHECK(n.guard_int(__FILE__, __LINE__) == 7);
  CHECK(n.maybe_as_int() == 7);
  CHECK(n.min(3) == 3);
  CHECK(!n.is_symbolic());
  const std::vector<c10::SymInt> sizes{2, n};
  CHECK(doubled(at::zeros(C10_AS_INTARRAYREF_SLOW(c10::SymIntArrayRef(sizes)))).sizes() ==
        at::IntArrayRef({2, 7}));
}

TEST_CASE("arithmetic types and constants are libtorch's") {
  static_assert(std::is_same_v<at::opmath_type<c10::BFloat16>, float>);
  static_assert(std::is_same_v<at::opmath_type<double>, double>);
  CHECK(at::toOpMathType(torch::kHalf) == torch::kFloat);
  CHECK(at::toOpMathType(torch::kLong) == torch::kLong);
  CHECK(c10::pi<double> == std::numbers::pi);
  CHECK(c10::frac_sqrt_2<float> == 0.70710678f);
}

TEST_CASE("torch::headeronly has the types and checks of c10") {
  static_assert(std::is_same_v<torch::headeronly::ScalarType, at::ScalarType>);
  static_assert(std::is_same_v<torch::headeronly::BFloat16, c10::BFloat16>);
  const int values[] = {1, 2};
  CHECK(torch::headeronly::HeaderOnlyArrayRef<int>(values).size() == 2);
  STD_TORCH_CHECK(true, "not thrown");
  CHECK_THROWS_WITH_AS(STD_TORCH_CHECK(1 > 2, "one is ", 1), "one is 1", std::runtime_error);
  const auto size = THO_DISPATCH_SWITCH(
      torch::kShort, "size", THO_DISPATCH_CASE(torch::kShort, [] { return sizeof(scalar_t); }));
  CHECK(size == 2);
}

TEST_CASE("kinds of devices without a backend are not available") {
  CHECK(!torch::mps::is_available());
  torch::mps::manual_seed(1);
  torch::mps::synchronize();
  CHECK(!torch::xpu::is_available());
  CHECK(torch::xpu::device_count() == 0);
  torch::xpu::manual_seed_all(1);
  CHECK(!at::hasXPU());
  CHECK_THROWS_AS(torch::xpu::synchronize(0), ambit::Error);
}

TEST_CASE("a dtype outside of a dispatched set is refused with the function's name") {
  const auto call = [] { AT_DISPATCH_FLOATING_TYPES(torch::kInt, "my_kernel", [] {}); };
  CHECK_THROWS_WITH_AS(call(), "\"my_kernel\" not implemented for 'Int'",
                       ambit::NotImplementedError);
}
