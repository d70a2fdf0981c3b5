// Calls in float32 whose operands of 16 bits are large: done in parts, they give what they give as
// a whole, and hold no large operand in float32.
#include <ambit/ambit.h>
#include <ambit/memory.h>
#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/devices.h"

using namespace ambit;

namespace {

// On the CPU a part is of 2^19 elements for each thread.
struct Threads {
  explicit Threads(int n) : were(get_num_threads()) { set_num_threads(n); }
  ~Threads() { set_num_threads(were); }
  int were;
};

/// An op with operands of 16 bits, of which the largest have 2^21 elements.
struct LargeCall {
  const char* name;
  std::vector<Dims> sizes;  // of its operands, normal numbers
  std::function<Tensor(const std::vector<Tensor>&)> run;
  size_t indices = 0;  // how many elements of int64 it makes beside its result
};

const std::vector<LargeCall> kCalls = {
    {"matmul of rows", {{8192, 256}, {256, 32}}, [](auto& t) { return matmul(t[0], t[1]); }},
    {"matmul of columns", {{32, 256}, {256, 8192}}, [](auto& t) { return matmul(t[0], t[1]); }},
    {"matmul of both", {{2048, 32}, {32, 1024}}, [](auto& t) { return matmul(t[0], t[1]); }},
    {"matmul of batches",
     {{128, 128, 128}, {128, 128, 8}},
     [](auto& t) { return matmul(t[0], t[1]); }},
    {"linear", {{8192, 256}, {16, 256}, {16}}, [](auto& t) { return linear(t[0], t[1], t[2]); }},
    {"linear of many features",
     {{16, 256}, {8192, 256}, {8192}},
     [](auto& t) { return linear(t[0], t[1], t[2]); }},
    {"conv2d",
     {{128, 16, 32, 32}, {4, 16, 3, 3}, {4}},
     [](auto& t) { return conv2d(t[0], t[1], t[2]); }},
    {"conv_transpose2d",
     {{128, 16, 32, 32}, {16, 4, 3, 3}},
     [](auto& t) { return conv_transpose2d(t[0], t[1]); }},
    {"avg_pool2d", {{128, 16, 32, 32}}, [](auto& t) { return avg_pool2d(t[0], 2); }},
    {"max_pool2d", {{128, 16, 32, 32}}, [](auto& t) { return max_pool2d(t[0], 2); }},
    {"upsample",
     {{128, 16, 32, 32}},
     [](auto& t) {
       return upsample_bilinear2d(t[0], {20, 20}, false);
     }},
    {"layer_norm",
     {{8192, 256}, {256}, {256}},
     [](auto& t) { return layer_norm(t[0], {256}, t[1], t[2]); }},
    {"group_norm",
     {{128, 16, 32, 32}, {16}, {16}},
     [](auto& t) { return group_norm(t[0], 4, t[1], t[2]); }},
    {"attention of batches",
     {{128, 2, 64, 128}, {128, 2, 32, 128}, {128, 2, 32, 16}},
     [](auto& t) { return scaled_dot_product_attention(t[0], t[1], t[2]); }},
    {"attention of heads",
     {{1, 16, 1024, 128}, {1, 16, 32, 128}, {1, 16, 32, 16}},
     [](auto& t) { return scaled_dot_product_attention(t[0], t[1], t[2]); }},
    {"softmax", {{8192, 256}}, [](auto& t) { return softmax(t[0], 1); }},
    {"softmax of columns", {{256, 8192}}, [](auto& t) { return softmax(t[0], 0); }},
    {"log_softmax of a middle dim", {{8, 256, 1024}}, [](auto& t) { return log_softmax(t[0], 1); }},
    {"cumsum", {{256, 8192}}, [](auto& t) { return cumsum(t[0], 0); }},
    {"sort", {{8192, 256}}, [](auto& t) { return std::get<0>(sort(t[0], 1)); }, 1 << 21},
    {"topk", {{256, 8192}}, [](auto& t) { return std::get<0>(topk(t[0], 5, 0)); }},
    {"max", {{256, 8192}}, [](auto& t) { return std::get<0>(max(t[0], 0)); }},
    {"cummax", {{8192, 256}}, [](auto& t) { return std::get<0>(cummax(t[0], 1)); }, 1 << 21},
    {"cross_entropy",
     {{8192, 256}},
     [](auto& t) { return cross_entropy(t[0], arange(8192).remainder(256)); }},
    {"nll_loss",
     {{8192, 256}},
     [](auto& t) { return nll_loss(t[0], arange(8192).remainder(256)); }},
};

/// The result, and the gradients of all operands.
std::vector<Tensor> results(const LargeCall& call, const std::vector<Tensor>& operands) {
  std::vector<Tensor> leaves;
  for (const Tensor& t : operands) leaves.push_back(t.detach().clone().requires_grad_());
  const Tensor y = call.run(leaves);
  manual_seed(2);
  y.backward(randn(y.sizes()).to(y.dtype()));
  std::vector<Tensor> all{y.detach()};
  for (const Tensor& t : leaves) all.push_back(t.grad());
  return all;
}

std::vector<Tensor> operands_of(const LargeCall& call, DType dtype) {
  manual_seed(1);
  std::vector<Tensor> operands;
  for (const Dims& sizes : call.sizes) operands.push_back(randn(sizes).to(dtype));
  return operands;
}

}  // namespace

TEST_CASE("a call in parts gives what it gives as a whole, and so do its gradients") {
  for (const LargeCall& call : kCalls) {
    for (const DType dtype : dtypes::kReduced) {
      INFO(std::string(call.name), " of ", std::string(name(dtype)));
      const std::vector<Tensor> operands = operands_of(call, dtype);
      std::vector<Tensor> whole, parts;
      {
        const Threads many(64);  // for whom none of it is large
        whole = results(call, operands);
      }
      const Threads one(1);
      parts = results(call, operands);
      for (size_t i = 0; i < whole.size(); ++i) {
        INFO("result ", i);
        // Sums in another order round differently in float32: a number may be its neighbour of 16
        // bits. Those that cancel are off by a millionth of the largest.
        const double eps = dtype == kFloat16 ? std::numeric_limits<Half>::epsilon()
                                             : std::numeric_limits<BFloat16>::epsilon();
        const Tensor want = whole[i].to(kFloat32), got = parts[i].to(kFloat32);
        CHECK(got.allclose(want, eps, 1e-6 * want.abs().max().item<double>()));
      }
    }
  }
}

TEST_CASE("what is large is not there in float32") {
  const Threads one(1);
  const NoGradGuard no_grad;
  for (const LargeCall& call : kCalls) {
    INFO(std::string(call.name));
    const std::vector<Tensor> operands = operands_of(call, kFloat16);
    const MemoryStats earlier = memory_stats(kCPU);
    const Tensor ballast =  // no earlier peak hides what follows
        empty({static_cast<int64_t>(earlier.peak_in_use - earlier.in_use)}, kInt8);
    const size_t before = memory_stats(kCPU).in_use;
    const Tensor y = call.run(operands);
    const size_t taken = memory_stats(kCPU).peak_in_use - before;
    // The largest operand in float32 would be 8 MiB. There are the result, parts of at most 2 MiB
    // of that operand and of the result, and less than 1 MiB of weights, statistics and the like.
    CHECK(taken < y.nbytes() + call.indices * sizeof(int64_t) + (size_t{5} << 20));
  }
}
