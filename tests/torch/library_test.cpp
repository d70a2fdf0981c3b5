// Custom operators: selection of kernels on devices that libtorch does not have, and errors of
// registration. tests/parity/custom_operators.cpp compares the rest with libtorch.
#include <ambit/ambit.h>
#include <doctest/doctest.h>
#include <torch/torch.h>

#include <string>

using ambit::Device;
using ambit::Error;
using ambit::Tensor;

namespace {

std::string called;
Tensor of_cpu(const Tensor& x) { return called = "cpu", x; }
Tensor of_others(const Tensor& x) { return called = "others", x; }
Tensor of_autocast(const Tensor& x) {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::DispatchKey::Autocast);
  called = "autocast";
  return x;
}

auto find(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Tensor(const Tensor&)>();
}

}  // namespace

TORCH_LIBRARY(ambit_test_ops, m) {
  m.def("kind(Tensor x) -> Tensor");
  m.impl("kind", c10::kCPU, &of_cpu);
  m.impl("kind", torch::dispatch(c10::DispatchKey::PrivateUse1, &of_others));
  m.impl("kind", torch::dispatch(c10::DispatchKey::AutocastCPU, &of_autocast));
  m.def("of_cpu(Tensor x) -> Tensor", torch::dispatch(c10::kCPU, &of_cpu));
}

TEST_CASE("the kernel of an operator is that of its tensors' device") {
  const auto op = find("ambit_test_ops::kind");
  op.call(ambit::ones({2}));
  CHECK(called == "cpu");
  op.call(ambit::ones({2}, Device("reference")));
  CHECK(called == "cpu");
  if (ambit::is_available("sim")) {
    op.call(ambit::ones({2}, Device("sim")));
    CHECK(called == "others");
  }
  {
    const ambit::AutocastGuard autocast(ambit::kCPU);
    op.call(ambit::ones({2}));
    CHECK(called == "autocast");
  }
  CHECK_THROWS_AS(find("ambit_test_ops::of_cpu").call(ambit::empty({2}, ambit::kMeta)),
                  ambit::NotImplementedError);
}

TEST_CASE("libraries refuse operators that are defined twice, and functions that do not match") {
  auto library = MAKE_TORCH_LIBRARY(ambit_test_more);
  library.def("f(Tensor x, *, int[2] size=[1, 2]) -> Tensor");
  CHECK_THROWS_AS(library.def("f(Tensor x) -> Tensor"), Error);
  CHECK_THROWS_AS(library.def("other::g(Tensor x) -> Tensor"), Error);
  CHECK_THROWS_AS(library.impl("f", &of_cpu), Error);  // of_cpu has only one argument
  library.impl("f", [](const Tensor& x, ambit::IntArrayRef size) { return x.expand(size); });
  CHECK_THROWS_AS(library.impl("f", c10::kCPU, [](Tensor x, ambit::IntArrayRef) { return x; }),
                  Error);
  CHECK_THROWS_AS(
      library.impl("f", [](const Tensor& x, ambit::IntArrayRef size) { return x.expand(size); }),
      Error);  // a second kernel for the key
  CHECK_THROWS_AS(MAKE_TORCH_LIBRARY(ambit_test_more), Error);
  CHECK_THROWS_AS(library.fallback(torch::CppFunction(&of_cpu)), ambit::NotImplementedError);
  library.fallback(torch::CppFunction::makeFallthrough());
}

TEST_CASE("the operators of a destroyed library are removed") {
  {
    auto library = MAKE_TORCH_LIBRARY(ambit_test_passing);
    library.def("g", &of_cpu);
    CHECK(find("ambit_test_passing::g").call(ambit::ones({1})).defined());
  }
  CHECK_THROWS_AS(find("ambit_test_passing::g"), Error);
  auto again = MAKE_TORCH_LIBRARY(ambit_test_passing);
  again.def("g", &of_others);
  find("ambit_test_passing::g").call(ambit::ones({1}));
  CHECK(called == "others");
}
