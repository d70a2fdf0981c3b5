// A program with libtorch's API that is compiled twice, with ambit::torch and with libtorch, and
// whose output is compared line by line (compare.cpp). Neither this header nor the programs name
// ambit. Random numbers differ between the two on purpose, so data and parameters are
// deterministic.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <string>
#include <vector>

namespace parity {

struct Case {
  std::string name;
  void (*body)();
  bool of_host;  // see PARITY_OF_HOST: skipped on other devices
};
/// Return all cases of the program, unordered.
std::vector<Case>& cases();
struct Add {
  Add(const char* name, void (*body)(), bool of_host = false) {
    cases().push_back({name, body, of_host});
  }
};

/// Print a tensor's dtype, sizes and values. Both programs may differ by `roundings` half units in
/// the last place of the largest magnitude: the length of the longest chain of floating-point
/// operations for an element; 0, for example for integers and bools: the elements are bit-equal.
/// scale: the largest magnitude of the terms of t's elements, if these may cancel.
void report(const std::string& what, const torch::Tensor& t, double roundings = 4,
            double scale = 0);
void report(const std::string& what, double number, double roundings = 0);
void report_text(const std::string& what, const std::string& text);
/// Print whether `call` throws.
void report_refusal(const std::string& what, const std::function<void()>& call);

/// Return sin(0), sin(k), sin(2 k), ... with these sizes, computed in double by plain loops.
torch::Tensor wave(torch::IntArrayRef sizes, double k = 0.7, torch::Dtype dtype = torch::kFloat);
/// Set all parameters to waves, each of a different frequency.
void fill(torch::nn::Module& module, double scale = 0.4);

}  // namespace parity

/// PARITY(name) { ... }: defines a case.
#define PARITY(name, ...)                                                              \
  static void name();                                                                  \
  static const parity::Add parity_add_##name(#name, &name __VA_OPT__(, ) __VA_ARGS__); \
  static void name()
/// As above, for features of the host only: direct memory access, a generator, or the device name
/// cpu.
#define PARITY_OF_HOST(name) PARITY(name, true)
