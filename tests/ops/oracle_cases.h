// Tables of calls with what PyTorch makes of them: each is made on every device, and its gradients
// are compared with differences. A row quotes the line of Python.
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

/// `run` gets the inputs of its table, float64, on one device.
struct Case {
  const char* python;
  std::vector<Tensor> (*run)(const std::vector<Tensor>& in);
  std::vector<Expected> expected;
};

inline std::vector<Tensor> listed(const Tensor& t) { return {t}; }
inline std::vector<Tensor> listed(std::vector<Tensor> list) { return list; }

/// Check sizes and values on every device, and but for `apart` what operands of 16 bits give beside
/// float64; inputs(device) makes the inputs.
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
    rounding::check_reduced(
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

/// Check first and second gradients of those whose results are floating point.
inline void check_gradients(const std::vector<Case>& cases, const std::vector<Tensor>& inputs) {
  for (const Case& c : cases) {
    INFO(std::string(c.python));
    const TensorFn f = [&](const std::vector<Tensor>& in) {
      // All inputs take part, as gradcheck wants it; what a call leaves alone has a gradient of 0.
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
