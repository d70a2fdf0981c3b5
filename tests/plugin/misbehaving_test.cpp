// Errors of a plugin's backend become ambit's error types, with device, function and library. Each
// case runs in a separate process, because its devices stay.
#include <ambit/ambit.h>
#include <ambit/detail/expect_all.h>
#include <ambit/dlpack.h>
#include <ambit/dlpack_abi.h>
#include <ambit/plugins.h>
#include <doctest/doctest.h>

#include <climits>
#include <functional>
#include <new>
#include <stdexcept>

#include "child.h"
#include "misbehaving.h"

using namespace ambit;

namespace {

const Device& bad() {
  static const Device device = [] {
    Registry registry("the_library");
    toy::add_misbehaving(registry);
    registry.commit();
    return Device("bad");
  }();
  return device;
}

// Return the type and the text of the error that `work` throws while `function` calls `fail`.
std::string error_of(const std::string& function, const std::function<void()>& fail,
                     const std::function<void()>& work) {
  toy::misbehaviour.function = function;
  toy::misbehaviour.fail = fail;
  std::string text = "no error";
  try {
    work();
  } catch (const OutOfMemoryError& e) {
    text = std::string("OutOfMemoryError ") + e.what();
  } catch (const BackendError& e) {
    text = std::string("BackendError ") + e.what();
  } catch (const ShapeError& e) {
    text = std::string("ShapeError ") + e.what();
  } catch (...) {
    text = "untyped";
  }
  toy::misbehaviour.function.clear();
  return text;
}

struct NoText : std::exception {
  const char* what() const noexcept override { return nullptr; }
};

void lend(const Tensor& t) {
  DLManagedTensor* const lent = to_dlpack(t);
  lent->deleter(lent);
}

// For each function of a backend, a call that leads to it, on tensors of bad:0 and the cpu.
struct Way {
  const char* function;
  std::function<void(const Tensor& there, const Tensor& here)> call;
};
const Way kWays[] = {
    {"allocate()", [](const Tensor&, const Tensor&) { empty({4}, bad()); }},
    {"copy_from_host()", [](const Tensor& there, const Tensor& here) { there.copy_(here); }},
    {"copy_to_host()", [](const Tensor& there, const Tensor&) { there.cpu(); }},
    {"copy_to_host()", [](const Tensor& there, const Tensor&) { there[0].item(); }},
    {"copy()", [](const Tensor&, const Tensor&) { ones({3}, "bad:1").to(bad()); }},
    {"wait_for_copies()",
     [](const Tensor& there, const Tensor&) { there.to(kCPU, kFloat32, true).data_ptr(); }},
    {"synchronize()", [](const Tensor&, const Tensor&) { synchronize(bad()); }},
    {"memory_stats()", [](const Tensor&, const Tensor&) { memory_stats(bad()); }},
    {"empty_cache()", [](const Tensor&, const Tensor&) { empty_cache(bad()); }},
    {"is_accelerator()", [](const Tensor&, const Tensor&) { best_device(); }},
    {"allocate_pinned()", [](const Tensor&, const Tensor& here) { here.pin_memory(bad()); }},
    {"is_pinned()", [](const Tensor&, const Tensor& here) { (void)here.is_pinned(bad()); }},
    {"expect_true()",
     [](const Tensor&, const Tensor&) {
       expect_all(ones({1}, TensorOptions(kBool).device(bad())), "no");
     }},
    {"dlpack_device_type()", [](const Tensor& there, const Tensor&) { lend(there); }},
    {"lend()", [](const Tensor& there, const Tensor&) { lend(there); }},
};

}  // namespace

TEST_CASE("an exception of a backend's function becomes an error that names it") {
  check_child("child: every function of a backend fails");
}
TEST_CASE("child: every function of a backend fails" * doctest::skip()) {
  const Tensor there = full({3}, 2.0, bad()), here = ones({3});
  for (const Way& way : kWays) {
    INFO(std::string(way.function));
    const auto work = [&] { way.call(there, here); };
    const std::string begin = std::string("BackendError bad:0: expected ") + way.function +
                              " of the_library to succeed, got ";
    CHECK(error_of(
              way.function, [] { throw 42; }, work) == begin + "an exception of an unknown type");
    CHECK(error_of(
              way.function, [] { throw std::logic_error("a\nb\x1b[0m"); }, work) ==
          begin + "an error: a\\nb\\x1b[0m");
    CHECK(error_of(
              way.function, [] { throw NoText(); }, work) == begin + "an error: none");
    CHECK(error_of(
              way.function, [] { throw ShapeError("its own"); }, work) == "ShapeError its own");
    CHECK(error_of(
              way.function, [] { throw std::bad_alloc(); }, work)
              .starts_with("OutOfMemoryError "));
    work();  // the failure has no lasting effect
  }
  CHECK(there.cpu().equal(here));
}

TEST_CASE("an exception of a kernel becomes an error that names op, kernel, library and device") {
  check_child("child: a kernel fails");
}
TEST_CASE("child: a kernel fails" * doctest::skip()) {
  const Tensor x = full({3}, -2.0, bad());
  const auto relu_ = [&] { relu(x); };
  const std::string begin =
      "BackendError relu: expected the kernel unary of the_library to succeed on bad:0, got ";
  CHECK(error_of(
            "unary", [] { throw 42; }, relu_) == begin + "an exception of an unknown type");
  CHECK(error_of(
            "unary", [] { throw std::out_of_range("past the end"); }, relu_) ==
        begin + "an error: past the end");
  CHECK(error_of(
            "unary", [] { throw ShapeError("unary: its own"); }, relu_) ==
        "ShapeError unary: its own");
  CHECK(error_of(
            "unary", [] { throw std::bad_alloc(); }, relu_) ==
        "OutOfMemoryError unary: expected free host memory, got none");
  CHECK(error_of(
            "activate()", [] { throw 42; }, relu_) == begin + "an exception of an unknown type");
  CHECK(relu(x).cpu().equal(zeros({3})));
}

TEST_CASE("a null pointer from a backend's allocation is an out-of-memory error that names it") {
  check_child("child: a backend returns null");
}
TEST_CASE("child: a backend returns null" * doctest::skip()) {
  CHECK(error_of("allocate()", nullptr, [] { empty({4}, bad()); }) ==
        "OutOfMemoryError bad:0: expected 16 bytes from allocate() of the_library, got null");
  CHECK(error_of("allocate_pinned()", nullptr, [] { ones({4}).pin_memory(bad()); }) ==
        "OutOfMemoryError pin_memory: expected 16 bytes from allocate_pinned() of bad:0, got null");
  CHECK(ones({4}, bad()).cpu().equal(ones({4})));
}

TEST_CASE("an absurd count of devices is limited to the maximum") {
  check_child("child: the count of devices changes");
}
TEST_CASE("child: the count of devices changes" * doctest::skip()) {
  CHECK(device_count("bad") == (static_cast<void>(bad()), 2));
  toy::misbehaviour.devices = -5;
  CHECK(device_count("bad") == 0);
  CHECK_THROWS_WITH_AS(
      ones({1}, bad()),
      "expected an existing bad device, got bad:0: there are 0, it is\\nout\\x1b[31m",
      BackendError);
  CHECK(error_of(
            "reason_for_none()", [] { throw 42; }, [] { ones({1}, bad()); }) ==
        "BackendError bad:0: expected reason_for_none() of the_library to succeed, got an "
        "exception of an unknown type");
  for (const Device device : all_devices()) CHECK(device.type() != "bad");
  toy::misbehaviour.devices = INT_MAX;
  CHECK(device_count("bad") == 1024);
  CHECK(all_devices().size() >= 1024);
}
