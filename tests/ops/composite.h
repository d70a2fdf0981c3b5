// Compares the composite of a kernel op with the reference's kernel.
#pragma once

#include <ambit/autograd.h>
#include <ambit/backend/op.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/random.h>
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/devices.h"

namespace composite_test {

using namespace ambit;

using Tensors = std::vector<Tensor>;

inline Tensors copies(const Tensors& tensors, Device device) {
  Tensors result;
  for (const Tensor& t : tensors) {
    result.push_back(t.defined() ? t.to(device, false, /*copy=*/true) : t);
  }
  return result;
}

// Call `f(kernel, outputs, inputs)` with the reference's kernel and, on every device, with the
// composite; outputs are initialised with copies of the given ones.
template <class Kernel, class F>
void check_composite(const Kernel& op, const Tensors& outputs, const Tensors& inputs, F f) {
  INFO(std::string(op.name()));
  REQUIRE(op.has_composite());
  const NoGradGuard no_grad;
  const Device reference("reference");
  Tensors expected = copies(outputs, reference);
  f(op, expected, copies(inputs, reference));
  for_each_device([&](Device device) {
    Tensors got = copies(outputs, device);
    f(op.composite(), got, copies(inputs, device));
    for (size_t i = 0; i < got.size(); ++i) {
      if (!got[i].defined()) continue;
      INFO("output ", i, ": ", str(got[i]), " expected ", str(expected[i]));
      // float64 sums of up to 200 terms of magnitude 1: 200 * 2^-53 = 2e-14.
      CHECK(got[i].to(reference).allclose(expected[i], 1e-12, 1e-12, true));
    }
  });
}

inline TensorOptions oracle() { return TensorOptions(kFloat64).device("reference"); }
inline Tensor normal(IntArrayRef sizes) { return randn(sizes, oracle()); }
// Outputs are not filled with zeros, so that elements that a composite does not write are detected.
inline Tensor unwritten(IntArrayRef sizes) { return full(sizes, 99., oracle()); }

}  // namespace composite_test
