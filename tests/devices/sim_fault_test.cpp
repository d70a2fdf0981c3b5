// Faults of simulated devices: invalid data found late, and requested faults. The device remains
// usable after each.
#include <ambit/ambit.h>
#include <ambit/backend/registry.h>
#include <ambit/sim.h>
#include <doctest/doctest.h>

#include <string>

using namespace ambit;

namespace {

// Not a constant, because main() determines the simulated devices.
Device sim0() { return Device("sim:0"); }

// Cancels a test's requests, even if it fails.
struct Controlled {
  Controlled() { synchronize(sim0()); }
  ~Controlled() { controls.reset(sim0()); }
  const sim::Controls& controls = sim::controls();
};

void check_usable() {
  CHECK((ones({3}, sim0()) + 1).cpu().equal(full({3}, 2)));
  CHECK_NOTHROW(synchronize(sim0()));
}

}  // namespace

TEST_CASE("an invalid index on sim is an IndexError when the host next waits") {
  const Tensor x = ones({3, 4}, sim0()), index = tensor({0, 7}).to(sim0());
  Tensor y;
  CHECK_NOTHROW(y = x.index_select(0, index));
  const char* text = "index_select: expected an index in [0, 3), got 7";
  SUBCASE("in synchronize") { CHECK_THROWS_WITH_AS(synchronize(sim0()), text, IndexError); }
  SUBCASE("in item") { CHECK_THROWS_WITH_AS(y[0][0].item(), text, IndexError); }
  SUBCASE("in a copy to the cpu") { CHECK_THROWS_WITH_AS(x.cpu(), text, IndexError); }
  check_usable();
}

TEST_CASE("an integer divided by zero on sim is an Error when the host next waits") {
  const Tensor zero = zeros({2}, TensorOptions(kInt64).device(sim0()));
  CHECK_NOTHROW(ones_like(zero).floor_divide(zero));
  CHECK_THROWS_WITH_AS(synchronize(sim0()), "floor_divide: expected a divisor other than 0, got 0",
                       Error);
  check_usable();
}

TEST_CASE("a kernel that fails late is reported with its op, and the others run") {
  const Controlled c;
  const Tensor t = zeros({3}, sim0());
  synchronize(sim0());
  c.controls.fail_kernel(sim0(), "unary", 2);
  const Tensor a = (t + 1).exp(), b = (t + 1).exp(), d = (t + 2).neg();
  const char* text = "unary: expected it to succeed on sim:0, got the fault that a test requested";
  CHECK_THROWS_WITH_AS(synchronize(sim0()), text, BackendError);
  CHECK(a.cpu().allclose(full({3}, 1).exp()));  // within rtol 1e-5: both use libm's exp
  CHECK(d.cpu().equal(full({3}, -2)));
  check_usable();

  c.controls.fail_kernel(sim0(), "", 1);
  CHECK_NOTHROW(t.fill_(1));
  CHECK_THROWS_WITH_AS(t.cpu(),
                       "fill: expected it to succeed on sim:0, got the fault that a test "
                       "requested",
                       BackendError);
  check_usable();
}

TEST_CASE("the first of several late errors is reported, once") {
  const Tensor x = ones({3}, sim0());
  x.index_select(0, tensor({5}).to(sim0()));
  x.index_select(0, tensor({6}).to(sim0()));
  CHECK_THROWS_WITH_AS(synchronize(sim0()), "index_select: expected an index in [0, 3), got 5",
                       IndexError);
  check_usable();
}

TEST_CASE("a copy that fails is reported when the host next waits") {
  const Controlled c;
  const char* text = "copy: expected it to succeed on sim:0, got the fault that a test requested";
  const Tensor t = ones({3}, sim0());
  c.controls.fail_copy(sim0(), 1);
  CHECK_THROWS_WITH_AS(t.cpu(), text, BackendError);
  c.controls.fail_copy(sim0(), 1);
  Tensor late;
  CHECK_NOTHROW(late = ones({3}).to(sim0()));
  CHECK_THROWS_WITH_AS(synchronize(sim0()), text, BackendError);
  check_usable();
}

TEST_CASE("a late failure on one device fails another that gets the result") {
  const Device source("cuda:0");
  if (!sim::controls().is_simulated(source) || device_count("cuda") < 2) return;
  const Device other("cuda:1");
  sim::controls().fail_kernel(source, "fill", 1);
  const Tensor there = ones({3}, source).to(other);
  const char* text = "fill: expected it to succeed on cuda:0, got the fault that a test requested";
  CHECK_THROWS_WITH_AS(there.cpu(), text, BackendError);
  CHECK_THROWS_WITH_AS(synchronize(source), text, BackendError);
  CHECK(ones({3}, source).to(other).cpu().equal(ones({3})));
}

TEST_CASE("the nth allocation fails with the statistics, and the next succeeds") {
  const Controlled c;
  const Tensor held = empty({1024}, sim0());
  c.controls.fail_allocation(sim0(), 2);
  CHECK_NOTHROW(empty({10}, sim0()));
  try {
    empty({300}, sim0());
    FAIL("expected OutOfMemoryError");
  } catch (const OutOfMemoryError& e) {
    const std::string text = e.what();
    INFO(text);
    CHECK(
        text.starts_with("allocate: expected 1200 bytes on sim:0, got out of memory, the fault "
                         "that a test requested: in use "));
    CHECK(text.find(", cached ") != std::string::npos);
    CHECK(text.find(", free ") != std::string::npos);
  }
  check_usable();
}

TEST_CASE("a device with little memory runs out of it, and recovers when some is freed") {
  const Controlled c;
  Backend& backend = backend_of(sim0());
  backend.empty_cache(0);
  const size_t in_use = backend.memory_stats(0).in_use;
  c.controls.limit_memory(sim0(), in_use + (size_t{1} << 20));
  CHECK(backend.properties(0).total_memory == in_use + (size_t{1} << 20));
  Tensor half = ones({1 << 17}, sim0());  // 512 KiB
  const Tensor minus = half.neg();
  CHECK_THROWS_AS(half + minus, OutOfMemoryError);
  try {
    empty({1 << 20}, sim0());
  } catch (const OutOfMemoryError& e) {
    const std::string text = e.what();
    INFO(text);
    CHECK(text.starts_with("allocate: expected 4194304 bytes (4.0 MiB) on sim:0, got out of "));
    CHECK(text.ends_with("free 0 bytes"));
  }
  half.reset();
  // Another size class: the cached block must first be returned to the system.
  const Tensor quarter = full({1 << 16}, 3, sim0());
  CHECK(quarter.cpu().equal(full({1 << 16}, 3)));
  CHECK(minus.cpu().equal(full({1 << 17}, -1)));
}

TEST_CASE("controls refuse devices that are not simulated") {
  const sim::Controls& controls = sim::controls();
  CHECK(controls.is_simulated(sim0()));
  CHECK_FALSE(controls.is_simulated(kCPU));
  CHECK_FALSE(controls.is_simulated(kMeta));
  CHECK_THROWS_WITH_AS(controls.fail_copy(kCPU, 1), "sim: expected a simulated device, got cpu",
                       BackendError);
}
