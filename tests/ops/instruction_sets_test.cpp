// The CPU's kernels with the instruction sets that a newer CPU does not choose: each kernel is
// compiled several times, and the best version is chosen at run time.
#include <ambit/ambit.h>
#include <ambit/detail/recurrent.h>
#include <doctest/doctest.h>
#include <hwy/targets.h>

#include <cstdint>
#include <tuple>
#include <vector>

#include "backends/cpu/runtime/instruction_sets.h"

using namespace ambit;

namespace {

/// During its lifetime, Highway uses only the baseline and `set`.
class InstructionSet {
 public:
  explicit InstructionSet(int64_t set) { cpu::set_highway_targets(set); }
  ~InstructionSet() { cpu::set_highway_targets(0); }
};

std::vector<Tensor> results(Device device) {
  manual_seed(3);
  const Tensor x = randn({37, 29}).to(device), w = randn({150, 29}).to(device);
  const Tensor wide = x.to(kFloat64), images = randn({2, 3, 9, 11}).to(device);
  const auto [q, scale] = quantize_rows(w);
  const auto [h, c] = lstm_step(matmul(x, w.t()).narrow(1, 0, 148), zeros({37, 148}, x.options()),
                                x.repeat({1, 2}).narrow(1, 0, 37));
  const Tensor tiled = images.repeat({2, 1, 2, 2});
  const Tensor filtered = conv2d(tiled, full({16, 3, 5, 5}, 0.01, x.options()));
  std::vector<Tensor> all{exp(x),
                          tanh(x),
                          gelu(x),
                          log(x.abs()),
                          sin(x),
                          x * x.slice(0, 0, 1),
                          where(x > 0, x, 0),
                          x.t().contiguous(),
                          x.bfloat16().to(kFloat32),
                          x.half().to(kFloat32),
                          x.sum(1),
                          x.amax({0}),
                          x.cumsum(1),
                          softmax(x, 1),
                          layer_norm(x, {29}),
                          matmul(wide, w.to(kFloat64).t()),
                          linear(x.narrow(0, 0, 16), w),
                          linear_int8(x, q, scale),
                          h,
                          c,
                          max_pool2d(images, 2),
                          avg_pool2d(images, 3),
                          std::get<0>(sort(x.flatten())),
                          filtered,
                          convolution_weight_grad(filtered, tiled, {16, 3, 5, 5}, {}),
                          conv2d(images.to(kFloat64), ones({4, 3, 3, 3}, wide.options()))};
  for (Tensor& t : all) t = t.cpu().to(kFloat64);
  return all;
}

}  // namespace

TEST_CASE("kernels have the same results with every instruction set") {
  const std::vector<Tensor> expected = results(Device("reference"));
  std::vector<int64_t> sets{0};  // the best one of the CPU
  for (const int64_t set : {int64_t{HWY_AVX2}, int64_t{HWY_STATIC_TARGET}}) {
    if (cpu::highway_targets() & set) sets.push_back(set);
  }
  for (const int64_t set : sets) {
    const InstructionSet only(set);
    const std::vector<Tensor> got = results(kCPU);
    for (size_t i = 0; i < expected.size(); ++i) {
      INFO("set ", set, ", result ", i);
      // float32 sums of up to 150 terms below 10, each rounded: 150 * 10 * 2^-24; exp is up to 60.
      CHECK(got[i].allclose(expected[i], 1e-5, 1e-4));
    }
  }
}
