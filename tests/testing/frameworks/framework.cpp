// <ambit/testing.h> in a framework other than doctest, which AMBIT_FRAMEWORK selects: 1 is
// GoogleTest, 2 Catch2, 0 none. One check passes, and two fail: a report, and a check of the
// framework in a loop.
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/testing.h>

#if AMBIT_FRAMEWORK == 1
#include <gtest/gtest.h>
#define AMBIT_CASE(name) TEST(testing, name)
#define AMBIT_EXPECT(condition) EXPECT_TRUE(condition)
#elif AMBIT_FRAMEWORK == 2
#define CATCH_CONFIG_MAIN
#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_test_macros.hpp>
#else
#include <catch2/catch.hpp>
#endif
#define AMBIT_CASE(name) TEST_CASE(#name)
#define AMBIT_EXPECT(condition) CHECK(condition)
#else
#include <iostream>
#define AMBIT_CASE(name) void name()
#define AMBIT_EXPECT(condition) CHECK_REPORT(std::string(condition ? "" : #condition))
#endif

using namespace ambit;

AMBIT_CASE(passes) {
  CHECK_DEVICE_MISMATCH(ones({2}) + ones({2}, "reference"), "cpu", "reference");
  FOR_EACH_DEVICE(device) { AMBIT_EXPECT(!device.is_meta()); }
}
AMBIT_CASE(reports) {
  test::for_each_device(
      [](Device device) { CHECK_DEVICE_MISMATCH(ones({2}, device), "cpu", "reference"); });
}
AMBIT_CASE(names_the_device) {
  FOR_EACH_DEVICE(device) { AMBIT_EXPECT(device.is_cpu()); }
}

#if AMBIT_FRAMEWORK == 0
int main() {
  int failed = 0;
  for (void (*test)() : {passes, reports, names_the_device}) {
    try {
      test();
    } catch (const test::Failure& e) {
      std::cout << e.what() << '\n';
      ++failed;
    }
  }
  std::cout << failed << " tests failed\n";
}
#endif
