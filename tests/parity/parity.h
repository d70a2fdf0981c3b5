// A program in libtorch's API that is compiled twice, with ambit::torch and with libtorch, and
// whose output is compared line by line (compare.cpp). Nothing here or in the programs names ambit.
// Random numbers differ between the two on purpose, so that data and parameters are made by hand.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <string>
#include <vector>

namespace parity {

struct Case {
  std::string name;
  void (*body)();
  bool of_host;  // see PARITY_OF_HOST: on other devices left out
};
/// All cases of the program, in no order.
std::vector<Case>& cases();
struct Add {
  Add(const char* name, void (*body)(), bool of_host = false) {
    cases().push_back({name, body, of_host});
  }
};

/// Print a tensor's dtype, sizes and values. Both programs may differ by `roundings` half units in
/// the last place of the largest magnitude: the longest chain of float operations that an element
/// goes through, each of which may round otherwise; 0: to the last bit, as integers and bools are.
/// scale: the largest magnitude of what t's elements are sums of, where these may cancel.
void report(const std::string& what, const torch::Tensor& t, double roundings = 4,
            double scale = 0);
void report(const std::string& what, double number, double roundings = 0);
void report_text(const std::string& what, const std::string& text);
/// Print whether `call` throws.
void report_refusal(const std::string& what, const std::function<void()>& call);

/// sin(0), sin(k), sin(2 k), ... of these sizes, made in double by plain loops.
torch::Tensor wave(torch::IntArrayRef sizes, double k = 0.7, torch::Dtype dtype = torch::kFloat);
/// Set all parameters to waves, each of another length.
void fill(torch::nn::Module& module, double scale = 0.4);

}  // namespace parity

/// PARITY(name) { ... }: a case.
#define PARITY(name, ...)                                                              \
  static void name();                                                                  \
  static const parity::Add parity_add_##name(#name, &name __VA_OPT__(, ) __VA_ARGS__); \
  static void name()
/// The same, of what only the host has: memory that is read, a generator or the name of the cpu.
#define PARITY_OF_HOST(name) PARITY(name, true)
