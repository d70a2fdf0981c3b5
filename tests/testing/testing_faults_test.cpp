// Injected faults of devices, by <ambit/testing.h>.
#include <doctest/doctest.h>

#include <ambit/ambit.h>
#include <ambit/testing.h>

#include <string>
#include <vector>

using namespace ambit;

TEST_CASE("simulated devices can fail, others cannot") {
  CHECK(test::can_fail("sim:0"));
  CHECK_FALSE(test::can_fail("cpu"));
  CHECK_FALSE(test::can_fail("meta"));
  CHECK_THROWS_AS(test::FailingAllocation("cpu", 1), BackendError);
  CHECK_THROWS_AS(test::FailingKernel("reference", 1), BackendError);
}

TEST_CASE("the nth allocation fails once, and none fails after the scope") {
  const Device device("sim");
  {
    const test::FailingAllocation fault(device, 2);
    const Tensor first = empty({2}, device);
    CHECK_THROWS_AS(empty({2}, device), OutOfMemoryError);
    empty({2}, device);
  }
  { const test::FailingAllocation fault(device, 1); }
  empty({2}, device);
}

TEST_CASE("the nth kernel, and the nth of a name, fails when the program next waits") {
  const Device device("sim");
  const Tensor x = ones({2, 2}, device);
  synchronize(device);
  {
    const test::FailingKernel fault(device, 2);
    const Tensor y = x + 1, z = x + 2;
    CHECK_THROWS_AS(synchronize(device), BackendError);
    CHECK(y.cpu().equal(full({2, 2}, 2.)));
  }
  {
    const test::FailingKernel fault(device, 1, "matmul");
    const Tensor y = x + 1;
    synchronize(device);
    const Tensor z = matmul(x, x);
    CHECK_THROWS_WITH_AS(z.cpu(), doctest::Contains("matmul"), BackendError);
  }
  { const test::FailingKernel fault(device, 1); }
  CHECK((x + 1).cpu().equal(full({2, 2}, 2.)));
}

TEST_CASE("a training step survives each fault") {
  const Device device("sim");
  nn::Linear net(3, 2);
  net->to(device);
  const Tensor x = ones({4, 3}, device);
  const auto step = [&] {
    net->zero_grad();
    net(x).sum().backward();
    net->zero_grad();
  };
  step();
  const test::FaultReport allocations = test::with_each_allocation_failing(device, step);
  CHECK_REPORT(allocations.report);
  CHECK(allocations.faults > 3);
  const test::FaultReport kernels = test::with_each_kernel_failing(device, step);
  CHECK_REPORT(kernels.report);
  CHECK(kernels.faults > 3);
}

TEST_CASE("memory that remains in use after a fault is reported, and so is another error") {
  const Device device("sim");
  std::vector<Tensor> kept;
  const auto leaks = [&] {
    kept.push_back(ones({100}, device));
    const Tensor y = kept.back() + 1;
    kept.pop_back();
  };
  const test::FaultReport report = test::with_each_allocation_failing(device, leaks);
  CHECK(report.report.find("after fault 2 tensors hold more than before: ") != std::string::npos);
  kept.clear();
  const auto hides = [&] {
    try {
      ones({100}, device);
    } catch (const OutOfMemoryError&) {
      throw Error("else");
    }
  };
  CHECK(test::with_each_allocation_failing(device, hides).report ==
        "with_each_allocation_failing: of fault 1 got another error: else");
}
