// Compares with values that PyTorch computed from the same inputs. A test quotes the Python code
// that computed them, in which `wave` is
//   def wave(*sizes, k=0.7): return (torch.arange(math.prod(sizes)).double() *
//   k).sin().view(*sizes)
// and tensors are float64 unless stated otherwise.
#pragma once

#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

/// Return sin(0), sin(k), sin(2 k), ... as a float64 tensor of these sizes.
inline ambit::Tensor wave(ambit::Device device, ambit::IntArrayRef sizes, double k = 0.7) {
  const int64_t n = ambit::count("wave", sizes);
  const ambit::Tensor x = ambit::arange(n, ambit::TensorOptions(ambit::kFloat64));
  return ambit::sin(x * k).view(sizes).to(device);
}

/// Check sizes and values (row-major; NaN equals NaN), by a plain loop over host memory. Expected
/// values are quoted with 12 digits, a relative error of up to 5e-12; rounding in sums of dozens of
/// terms of magnitude 1 adds up to 1e-14.
inline void check_values(const ambit::Tensor& got, ambit::IntArrayRef sizes,
                         const std::vector<double>& values, double tolerance = 6e-12) {
  INFO("got ", ambit::str(got), " expected sizes ", ambit::str(sizes));
  REQUIRE(got.sizes() == sizes);
  REQUIRE(values.size() == static_cast<size_t>(got.numel()));
  const ambit::Tensor host = got.cpu().to(ambit::kFloat64).contiguous();
  for (size_t i = 0; i < values.size(); ++i) {
    const double value = host.data_ptr<double>()[i], expected = values[i];
    INFO("element ", i, ": ", value, " expected ", expected);
    const bool same = value == expected || (std::isnan(value) && std::isnan(expected));
    CHECK((same || std::abs(value - expected) <= tolerance * (1 + std::abs(expected))));
  }
}
