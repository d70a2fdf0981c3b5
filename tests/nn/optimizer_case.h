// An optimizer that is compared with PyTorch's.
#pragma once

#include <ambit/optim/optim.h>

#include <functional>
#include <memory>
#include <vector>

using Parameters = std::vector<ambit::Tensor>;

struct Case {
  const char* call;  // in Python
  std::function<std::unique_ptr<ambit::optim::Optimizer>(const Parameters&)> make;
  std::vector<double> expected;
};

template <class O, class Options>
auto made(const Options& options) {
  return [options](const Parameters& p) { return std::make_unique<O>(p, options); };
}
