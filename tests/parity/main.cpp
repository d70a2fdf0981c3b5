// Runs the cases, or those whose names contain the argument, in the order of their names.
#include "calls.h"
#include "parity.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>

namespace parity {

std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

void report(const std::string& what, const torch::Tensor& t, double roundings, double scale) {
  if (!t.defined()) {
    std::printf("%s: undefined\n", what.c_str());
    return;
  }
  const bool exact = roundings == 0 || !t.is_floating_point();
  const torch::Tensor host =
      t.detach().to(torch::kCPU).to(torch::kDouble).contiguous().reshape({-1});
  const double unit = t.scalar_type() == torch::kDouble ? 0x1p-53 : 0x1p-24;
  const double* p = host.data_ptr<double>();
  double largest = scale;
  for (int64_t i = 0; i < host.numel(); ++i) {
    if (std::isfinite(p[i])) largest = std::max(largest, std::abs(p[i]));
  }
  std::printf("%s: bytes %d%s sizes", what.c_str(), static_cast<int>(t.element_size()),
              t.is_floating_point() ? " float" : "");
  for (const int64_t s : t.sizes()) std::printf(" %lld", static_cast<long long>(s));
  std::printf(" within %.3g :", exact ? 0.0 : roundings * unit * largest);
  for (int64_t i = 0; i < host.numel(); ++i) {
    std::printf(std::isnan(p[i]) ? " nan" : " %.17g", p[i]);  // NaN without a sign
  }
  std::printf("\n");
}

void report(const std::string& what, double number, double roundings) {
  std::printf("%s: number within %.3g : %.17g\n", what.c_str(),
              roundings * 0x1p-53 * std::abs(number), number);
}

void report_text(const std::string& what, const std::string& text) {
  std::string line = text;
  for (size_t at = 0; (at = line.find('\n', at)) != std::string::npos;) line.replace(at, 1, "\\n");
  std::printf("%s: text %s\n", what.c_str(), line.c_str());
}

void report_refusal(const std::string& what, const std::function<void()>& call) {
  bool refused = false;
  try {
    call();
    torch::zeros({1}).cpu();  // a device may report errors in its data late
  } catch (const std::exception&) {
    refused = true;
  }
  std::printf("%s: %s\n", what.c_str(), refused ? "refused" : "accepted");
}

torch::Tensor wave(torch::IntArrayRef sizes, double k, torch::Dtype dtype) {
  const auto host = torch::TensorOptions(torch::kDouble).device(torch::kCPU);
  const torch::Tensor t = torch::empty(sizes, host);
  double* p = t.data_ptr<double>();
  for (int64_t i = 0; i < t.numel(); ++i) p[i] = std::sin(k * static_cast<double>(i));
  return t.to(torch::empty({0}).device(), dtype);
}

void fill(torch::nn::Module& module, double scale) {
  torch::NoGradGuard no_grad;
  double k = 0.3;
  for (torch::Tensor& p : module.parameters()) {
    p.copy_(wave(p.sizes(), k, p.scalar_type()) * scale);
    k += 0.17;
  }
}

void run(const Call& call) {
  List inputs;
  for (const Tensor& t : call.inputs) {
    Tensor copy = t.clone();
    if (copy.is_floating_point()) copy.set_requires_grad(true);
    inputs.push_back(copy);
  }
  const Tensor out = call.function(inputs);
  report(call.name, out, call.roundings);
  if (!out.requires_grad()) return;
  (out * wave(out.sizes(), 0.43, out.scalar_type())).sum().backward();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].is_floating_point() || !inputs[i].grad().defined()) continue;
    report(std::string(call.name) + " gradient " + std::to_string(i), inputs[i].grad(),
           4 * call.roundings);
  }
}

}  // namespace parity

int main(int argc, char** argv) {
#if __has_include(<ambit/device.h>)  // libtorch 1.13 has no default device
  if (const char* device = std::getenv("PARITY_DEVICE")) torch::set_default_device({device});
#endif
  auto& cases = parity::cases();
  std::sort(cases.begin(), cases.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  bool all_ran = true;
  for (const auto& c : cases) {
    if (argc > 1 && c.name.find(argv[1]) == std::string::npos) continue;
    std::printf("== %s\n", c.name.c_str());
    if (c.of_host && !torch::empty({0}).device().is_cpu()) {
      std::printf("of the host\n");
      continue;
    }
    try {
      c.body();
    } catch (const std::exception& e) {
      std::printf("threw\n");
      std::fprintf(stderr, "%s threw: %s\n", c.name.c_str(), e.what());
      all_ran = false;
    }
  }
  return all_ran ? 0 : 1;
}
