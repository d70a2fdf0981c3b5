// `ambit accuracy`, run as a program: its numbers for correctly rounded functions, and for results
// into which the test has put errors.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"
#include "tool.h"

namespace {

constexpr int kEvery = 610000;

/// Write the results of f in float for the inputs of `ambit accuracy --every kEvery`.
template <class F>
void write_results(const std::string& path, const F& f) {
  std::vector<float> y;
  for (const float sign : {1.F, -1.F}) {
    for (uint32_t bits = 0; bits <= 0x7f800000; bits += kEvery) {
      y.push_back(f(sign * std::bit_cast<float>(bits)));
    }
  }
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(y.data()),
             static_cast<std::streamsize>(y.size() * sizeof(float)));
}

float exact_tanh(float x) { return static_cast<float>(std::tanh(static_cast<double>(x))); }

}  // namespace

TEST_CASE("accuracy reports half a unit for correctly rounded results") {
  // Square roots are correctly rounded: their errors are at most 0.5 units in the last place, and
  // the largest of thousands exceeds 0.48.
  for (const char* dtype : {"float32", "float64", "float16", "bfloat16"}) {
    INFO(dtype);
    const std::string arguments = std::string("accuracy sqrt --every 6100 --dtype ") + dtype;
    CHECK(tool(arguments + " --bound 0.501").exit_code == 0);
    CHECK(tool(arguments + " --bound 0.48").exit_code == 1);
  }
  CHECK(tool("accuracy nothing").exit_code == 2);
  CHECK(tool("accuracy exp --dtype int8").exit_code == 2);
}

TEST_CASE("accuracy finds faults in the results of another library") {
  const TemporaryFolder folder;
  const std::string path = folder / "tanh.float32";
  const std::string command = "accuracy tanh --every " + std::to_string(kEvery) +
                              " --bound 0.501 --results " + folder.path().string();
  const auto output = [&](const auto& f, int exit_code) {
    write_results(path, f);
    const ChildResult result = tool(command);
    CHECK(result.exit_code == exit_code);
    return result.output;
  };
  const auto has = [](const std::string& text, const char* part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  };
  // Tanh in double, rounded to float, is correctly rounded; the largest error of the 7,014 results
  // is nearly half a unit.
  has(output(exact_tanh, 0), "0.49");
  has(output([](float x) { return std::abs(x) > 10 && x > 0 ? NAN : exact_tanh(x); }, 1), " nan");
  has(output([](float x) { return x > 10 ? INFINITY : exact_tanh(x); }, 1), " inf");
  has(output([](float x) { return x < 0 ? -exact_tanh(x) : exact_tanh(x); }, 1), " sign");
  has(output([](float x) { return x > 10 ? 1.0000001F : exact_tanh(x); }, 1), " range");
  has(output([](float x) { return x < -10 ? -0.99999994F : exact_tanh(x); }, 1), " odd");
  has(output([](float x) { return x > 0.5 && x < 0.55 ? 0.4F : exact_tanh(x); }, 1), " order");
}

TEST_CASE("accuracy measures gradients against derivatives") {
  CHECK(tool("accuracy exp sin --gradients --every 61000 --bound 3").exit_code == 0);
}
