// Tables of calls with PyTorch's results: each call runs on every device, and its gradients are
// compared with finite differences. A row quotes the line of Python.
#pragma once

#include <ambit/ambit.h>

#include <set>
#include <string>
#include <vector>

#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"
#include "tests/rounding.h"

namespace oracle {

using namespace ambit;

struct Expected {
  std::vector<int64_t> sizes;
  std::vector<double> values;
};

/// `run` receives the inputs of its table, float64, on one device.
struct Case {
  const char* python;
  std::vector<Tensor> (*run)(const std::vector<Tensor>& in);
  std::vector<Expected> expected;
};

inline std::vector<Tensor> listed(const Tensor& t) { return {t}; }
inline std::vector<Tensor> listed(std::vector<Tensor> list) { return list; }

/// Check sizes and values on every device and, except for cases in `apart`, the results for reduced
/// floating-point types against float64; inputs(device) makes the inputs.
template <class Inputs>
void check_cases(const std::vector<Case>& cases, Inputs inputs,
                 const std::set<std::string>& apart = {}) {
  for_each_device([&](Device device) {
    const std::vector<Tensor> in = inputs(device);
    for (const Case& c : cases) {
      INFO(std::string(c.python));
      const std::vector<Tensor> out = c.run(in);
      REQUIRE(out.size() == c.expected.size());
      for (size_t i = 0; i < out.size(); ++i) {
        INFO("result ", i);
        CHECK(out[i].device() == device);
        check_values(out[i].detach(), c.expected[i].sizes, c.expected[i].values);
      }
    }
  });
  const std::vector<Tensor> numbers = inputs(Device(kCPU));
  for (const Case& c : cases) {
    if (apart.contains(c.python)) continue;
    INFO(std::string(c.python));
    rounding::check_reduced_floating(
        [&](Device device, const rounding::Floats& floats) {
          std::vector<Tensor> in;
          for (const Tensor& t : numbers) {
            in.push_back((t.is_floating_point() ? floats(t.detach()) : t).to(device));
          }
          return c.run(in);
        },
        rounding::kOfRows);
  }
}

/// Check first and second gradients of cases with floating-point results.
inline void check_gradients(const std::vector<Case>& cases, const std::vector<Tensor>& inputs) {
  for (const Case& c : cases) {
    INFO(std::string(c.python));
    const TensorFn f = [&](const std::vector<Tensor>& in) {
      // gradcheck requires all inputs to be used; an unused one gets a gradient of 0.
      std::vector<Tensor> parts;
      for (const Tensor& t : in) parts.push_back((t * 0).reshape({-1}));
      for (const Tensor& t : c.run(in)) parts.push_back(t.reshape({-1}));
      return cat(parts);
    };
    gradcheck(f, inputs);
    gradgradcheck(f, inputs);
  }
}

}  // namespace oracle
