// A report reaches the framework, and names the device. The frameworks' headers come after
// <ambit/testing.h> here, and before it in the other tests of this folder.
#include <ambit/ops/creation.h>
#include <ambit/testing.h>
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "tests/child_process.h"

using namespace ambit;

namespace {

std::string on_device() { return test::message_of("wrong").text; }

}  // namespace

TEST_CASE("a report that is not empty fails the test case" * doctest::should_fail()) {
  CHECK_REPORT(std::string("wrong"));
}

TEST_CASE("an empty report does nothing") { CHECK_REPORT(std::string()); }

TEST_CASE("doctest is detected where a macro is used") { CHECK(AMBIT_TESTING_HAS_FRAMEWORK); }

TEST_CASE("a failing check of doctest" * doctest::skip()) {
  FOR_EACH_DEVICE(device) { CHECK(device.is_meta()); }
}

TEST_CASE("a failing report" * doctest::skip()) {
  test::for_each_device([](Device) { CHECK_REPORT(std::string("wrong")); });
}

TEST_CASE("a failing call" * doctest::skip()) {
  test::for_each_device([](Device device) { ones({2}, device).view({3}); });
}

TEST_CASE("failures in a loop over devices name the device") {
  for (const char* test : {"a failing check of doctest", "a failing report", "a failing call"}) {
    const ChildResult child = run_child(test, "AMBIT_TEST_DEVICES=reference:0");
    INFO(child.output);
    CHECK(child.output.find("on reference:0") != std::string::npos);
    CHECK(child.output.find("on cpu") == std::string::npos);
  }
}

TEST_CASE("reports name the device of a loop, and no device outside of it") {
  CHECK(on_device() == "wrong");
  size_t count = 0;
  FOR_EACH_DEVICE(device) {
    ++count;
    CHECK(on_device() == "on " + device.str() + ": wrong");
  }
  CHECK(count == all_devices().size());
  CHECK(on_device() == "wrong");
  CHECK_THROWS_AS(test::for_each_device([](Device) { throw Error("no"); }), test::Failure);
  CHECK(on_device() == "wrong");
}

TEST_CASE("AMBIT_TEST_DEVICES chooses the devices") {
  const char* before = std::getenv("AMBIT_TEST_DEVICES");
  REQUIRE(before == nullptr);
  CHECK(test::devices() == all_devices());
  setenv("AMBIT_TEST_DEVICES", "reference,cpu", 1);
  CHECK(test::devices() == std::vector<Device>{"reference", kCPU});
  setenv("AMBIT_TEST_DEVICES", "cpu,reference:7", 1);
  CHECK_THROWS_WITH_AS(test::devices(),
                       "AMBIT_TEST_DEVICES: expected devices of this machine, got reference:7",
                       Error);
  setenv("AMBIT_TEST_DEVICES", "nonsense", 1);
  CHECK_THROWS_AS(test::devices(), Error);
  unsetenv("AMBIT_TEST_DEVICES");
}
