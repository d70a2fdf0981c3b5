// Large float16 and bfloat16 operands, for every kernel: calls that are split into blocks or parts
// have the results of unsplit ones, and never convert a large operand to float32. On the CPU a part
// has 2^19 elements for each thread.
#include <ambit/ambit.h>
#include <ambit/backend/examples.h>
#include <ambit/backend/kernels.h>
#include <ambit/memory.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/devices.h"
#include "tests/threads.h"

using namespace ambit;

namespace {

using Tensors = std::vector<Tensor>;
using Prepare = std::function<void(Tensors&)>;

/// The example of a kernel, with operands of which the largest have 2^22 elements.
struct LargeCall {
  std::vector<Dims> sizes;  // sizes of the operands
  Prepare prepare = {};     // sets operands that need particular values
};

constexpr int64_t kAll = int64_t{1} << 22;

Prepare integers_below(size_t operand, int64_t end) {
  return [=](Tensors& t) { t[operand].random_(0, end); };
}
/// Rows of a table, two in each bag.
Prepare bags_of(size_t table) {
  return [=](Tensors& t) {
    t[3].random_(0, t[table].size(0));
    t[4].copy_(arange(t[4].numel()) * 2);
  };
}
// The blank is 1.
void make_labels(Tensors& t) {
  t[3].random_(2, t[2].size(2));
  t[4].fill_(t[2].size(0));
  t[5].fill_(t[3].size(1));
}
Prepare positive_definite(size_t operand) {
  return [=](Tensors& t) {
    const Tensor x = t[operand];
    x.copy_(x.matmul(x.transpose(1, 2)) + eye(x.size(1)) * x.size(1));
  };
}

std::vector<LargeCall> of_elements(size_t operands) {
  return {{std::vector<Dims>(operands, {2048, 2048})}};
}

std::map<std::string, std::vector<LargeCall>> large_calls() {
  const Dims square{2048, 2048}, matrices{1024, 64, 64}, small{16384, 16, 16}, list{kAll},
      image{64, 16, 64, 64}, half{64, 16, 32, 32}, one_image{1, 64, 256, 256},
      half_of_one{1, 64, 128, 128}, c{16};
  const Dims wide{8192, 512}, row{512}, rows{8192};
  const Dims q{128, 4, 64, 128}, k{128, 4, 32, 128}, mask{128, 4, 64, 32}, lse{2, 128, 4, 64};
  const Dims q1{1, 16, 2048, 128}, k1{1, 16, 32, 128}, mask1{1, 16, 2048, 32}, lse1{2, 1, 16, 2048};
  const Dims gates{4096, 1024}, state{4096, 256}, three{4096, 768};
  return {
      {"copy", of_elements(2)},
      {"fill", of_elements(1)},
      {"random", of_elements(1)},
      {"unary", of_elements(2)},
      {"binary", of_elements(3)},
      {"binary_scalar", of_elements(2)},
      {"ternary", of_elements(4)},
      {"clamp", of_elements(2)},
      {"clamp_grad", of_elements(3)},
      {"compare", of_elements(3)},
      {"compare_scalar", of_elements(2)},
      {"where", of_elements(4)},
      {"masked_fill", of_elements(3)},
      {"reduce", {{{{1, 2048}, square}}, {{{2048, 1}, square}}, {{{1, 1}, square}}}},
      {"arg_reduce", {{{{1, 2048}, {1, 2048}, square}}}},
      {"scan", {{{square, square}}, {{{64, 256, 256}, {64, 256, 256}}}}},
      {"cum_extremum", {{{square, square, square}}}},
      {"sort", {{{square, square, square}}}},
      {"topk", {{{{1, 2048}, {1, 2048}, square}}}},
      {"searchsorted",
       {{{{64, 100}, {64, kAll / 64}, {64, 100}}},
        {{{1, kAll}, {1, 1000}, {1, kAll}}},
        {{{1, 1000}, {1, kAll}, {1, 1000}}}}},
      {"gather", {{{square, square, square}, integers_below(2, 2048)}}},
      {"scatter", {{{square, {1, 2048}, {1, 2048}}, integers_below(1, 2048)}}},
      {"scatter_add", {{{square, square, square}, integers_below(1, 2048)}}},
      {"scatter_reduce", {{{square, square, square}, integers_below(1, 2048)}}},
      {"index_add", {{{square, {2048}, square}, integers_below(1, 2048)}}},
      {"index_select", {{{square, square, {2048}}, integers_below(2, 2048)}}},
      {"embedding_bag",
       {{{{4096, 64}, {4096, 64}, {65536, 64}, {8192}, {4097}, {8192}}, bags_of(2)}}},
      {"embedding_bag_grad",
       {{{{16384, 256}, {4096, 256}, {4096, 256}, {8192}, {4097}, {8192}}, bags_of(0)}}},
      {"matmul",
       {{{{1, 16384, 32}, {1, 16384, 256}, {1, 256, 32}}},
        {{{1, 32, 16384}, {1, 32, 256}, {1, 256, 16384}}},
        {{{1, 4096, 1024}, {1, 4096, 32}, {1, 32, 1024}}},
        {{{1, 1, 1}, {1, 1, kAll}, {1, kAll, 1}}},
        {{{256, 128, 8}, {256, 128, 128}, {256, 128, 8}}}}},
      {"linear",
       {{{{16384, 16}, {16384, 256}, {16, 256}, c}},
        {{{16, 16384}, {16, 256}, {16384, 256}, {16384}}}}},
      {"linear_map",
       {{{{16384, 16}, {16384, 256}, {16, 256}, c}},
        {{{16, 16384}, {16, 256}, {16384, 256}, {16384}}}}},
      {"linear_int8", {{{{16384, 16}, {16384, 256}, {16, 256}, c, c}}}},
      {"fft_pairs",
       {{{{16384, 16, 8, 2}, {16384, 16, 8, 2}}}, {{{1, 16, 131072, 2}, {1, 16, 131072, 2}}}}},
      {"fft_real", {{{{16384, 9, 8, 2}, {16384, 16, 8}}}, {{{1, 9, 131072, 2}, {1, 16, 131072}}}}},
      {"lu_factor", {{{matrices, {1024, 64}, {1024}, matrices}}}},
      {"lu_solve", {{{{1024, 64, 2}, matrices, {1024, 64}, {1024, 64, 2}}}}},
      {"cholesky", {{{matrices, {1024}, matrices}, positive_definite(2)}}},
      {"qr", {{{matrices, matrices, matrices}}}},
      {"eigh", {{{{16384, 16}, small, {16384}, small}}}},
      {"eig", {{{{16384, 16, 2}, {16384, 16, 16, 2}, {16384}, {16384, 16, 16, 1}}}}},
      {"svd", {{{small, {16384, 16}, small, {16384}, small}}}},
      {"triangular_solve", {{{{1024, 64, 2}, matrices, {1024, 64, 2}}, positive_definite(1)}}},
      {"convolution", {{{{64, 4, 63, 63}, image, {4, 16, 2, 2}, {4}}}}},
      {"convolution_map", {{{{64, 4, 63, 63}, image, {4, 16, 2, 2}, {4}}}}},
      {"convolution_input_grad", {{{image, {64, 4, 63, 63}, {4, 16, 2, 2}}}}},
      {"convolution_weight_grad", {{{{4, 16, 2, 2}, {64, 4, 63, 63}, image}}}},
      {"max_pool", {{{half, half, image}}, {{half_of_one, half_of_one, one_image}}}},
      {"max_pool_grad",
       {{{image, half, half}, integers_below(2, 4096)},
        {{one_image, half_of_one, half_of_one}, integers_below(2, 65536)}}},
      {"avg_pool", {{{half, image}}, {{half_of_one, one_image}}}},
      {"avg_pool_grad", {{{image, half}}, {{one_image, half_of_one}}}},
      {"interpolate", {{{image, half}}, {{half_of_one, one_image}}}},
      {"interpolate_grad", {{{half, image}}, {{one_image, half_of_one}}}},
      {"softmax", {{{square, square}}, {{{64, 256, 256}, {64, 256, 256}}}}},
      {"softmax_grad", {{{square, square, square}}}},
      {"batch_norm", {{{image, c, c, c, c, image, c, c}}}},
      {"batch_norm_grad", {{{image, c, c, image, image, c, c, c}}}},
      {"layer_norm", {{{wide, rows, rows, wide, row, row}}}},
      {"layer_norm_grad", {{{wide, row, row, wide, wide, row, rows, rows}}}},
      {"group_norm", {{{image, {64, 4}, {64, 4}, image, c, c}}}},
      {"group_norm_grad", {{{image, c, c, image, image, c, {64, 4}, {64, 4}}}}},
      {"attention", {{{q, lse, q, k, k, mask}}, {{q1, lse1, q1, k1, k1, mask1}}}},
      // 2^23 elements, since it converts a part of each of four large operands at once.
      {"attention_grad",
       {{{{256, 4, 64, 128},
          {256, 4, 32, 128},
          {256, 4, 32, 128},
          {256, 4, 64, 128},
          {256, 4, 64, 128},
          {256, 4, 32, 128},
          {256, 4, 32, 128},
          {256, 4, 64, 32},
          {256, 4, 64, 128},
          {2, 256, 4, 64}}}}},
      {"lstm_cell", {{{state, state, gates, gates, gates, state}}}},
      {"lstm_cell_grad", {{{gates, state, state, state, gates, state, state}}}},
      {"gru_cell", {{{state, gates, three, three, state}}}},
      {"gru_cell_grad", {{{three, three, state, state, gates, state}}}},
      {"nll_loss", {{{rows, {}, wide, rows, row}, integers_below(3, 512)}}},
      {"cross_entropy", {{{rows, {}, wide, rows, row}, integers_below(3, 512)}}},
      {"cross_entropy_grad", {{{wide, rows, wide, rows, row}, integers_below(3, 512)}}},
      {"ctc_loss",
       {{{{128}, {128, 64, 21}, {64, 128, 512}, {128, 10}, {128}, {128}}, make_labels}}},
      {"ctc_loss_grad",
       {{{{64, 128, 512}, {128}, {64, 128, 512}, {128, 10}, {128}, {128}, {128}, {128, 64, 21}},
         make_labels}}},
      {"sgd_step", {{std::vector<Dims>(6, {kAll / 2})}}},
      {"adam_step", {{{list, {1000}, list, {1000}, list, {1000}, {}, {}, list, {1000}}}}},
      {"unscale", {{std::vector<Dims>{{kAll / 2}, {kAll / 2}, {}}}}},
  };
}

Tensors operands_of(const Example& example, const LargeCall& call, DType dtype) {
  manual_seed(1);
  Tensors operands = example.operands(dtype);
  REQUIRE(operands.size() == call.sizes.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    const Tensor one = operands[i].reshape({-1})[0];
    operands[i] = one.is_floating_point() ? rand(call.sizes[i]).to(one.dtype())
                                          : one.expand(call.sizes[i]).clone();
  }
  if (call.prepare) call.prepare(operands);
  return operands;
}

/// Call body(example, operands) for the large calls of all kernels; of a family of functions with
/// the same implementation only for one.
void for_large_calls(const std::function<void(const Example&, Tensors&)>& body) {
  const auto calls = large_calls();
  const std::set<std::string> of_many_ways{"random", "reduce", "scan"};
  std::set<std::string> seen;
  for (const Example& example : examples()) {
    const std::string op = example.op->name();
    if (!seen.insert(op).second && !of_many_ways.contains(op)) continue;
    for (const DType dtype : dtypes::kReducedFloating) {
      if (!example.dtypes.contains(dtype)) continue;
      INFO(op, " ", example.function, " of ", std::string(name(dtype)));
      const auto row = calls.find(op);
      REQUIRE_MESSAGE(row != calls.end(), "no large call");
      for (size_t i = 0; i < row->second.size(); ++i) {
        INFO("call ", i);
        Tensors operands = operands_of(example, row->second[i], dtype);
        body(example, operands);
      }
    }
  }
}

/// Return the peak bytes of tensors and kernels during run(), above the current use.
size_t bytes_of(const std::function<void()>& run) {
  const MemoryStats earlier = memory_stats(kCPU);
  const Tensor ballast =  // hides earlier peaks
      empty({static_cast<int64_t>(earlier.peak_in_use - earlier.in_use)}, kInt8);
  const size_t before = memory_stats(kCPU).in_use;
  run();
  return memory_stats(kCPU).peak_in_use - before;
}

}  // namespace

TEST_CASE("no kernel converts a large float16 or bfloat16 operand to float32") {
  const Threads one(1);
  for_large_calls([](const Example& example, Tensors& operands) {
    int64_t largest = 0;
    for (const Tensor& t : operands) {
      if (is_reduced_floating(t.dtype())) largest = std::max(largest, t.numel());
    }
    REQUIRE(largest >= kAll / 2);
    const size_t taken = bytes_of([&] { example.call(operands); });
    const auto whole = static_cast<double>(largest) * sizeof(float);
    CHECK(static_cast<double>(taken) <= 0.6 * whole);
  });
}

TEST_CASE("a call in parts has the results of a whole one") {
  for_large_calls([](const Example& example, Tensors& parts) {
    Tensors whole;
    for (const Tensor& t : parts) whole.push_back(t.clone());
    {
      const Threads many(64);  // with this number of threads no operand is large
      example.call(whole);
    }
    const Threads one(1);
    example.call(parts);
    for (size_t i = 0; i < whole.size(); ++i) {
      INFO("operand ", i);
      if (!whole[i].is_floating_point()) {
        CHECK(parts[i].equal(whole[i]));
        continue;
      }
      // Sums in another order round differently in float32: the rounded result may be a neighbour.
      // Sums that cancel have an error of a millionth of the largest element.
      const double eps = whole[i].dtype() == kBFloat16 ? std::numeric_limits<BFloat16>::epsilon()
                                                       : std::numeric_limits<Half>::epsilon();
      const Tensor want = whole[i].to(kFloat32), got = parts[i].to(kFloat32);
      const double largest = where(isfinite(want), want.abs(), 0.).max().item<double>();
      CHECK(got.allclose(want, eps, 1e-6 * largest, true));
    }
  });
}

TEST_CASE("large random tensors of bfloat16 are drawn in parts") {
  const Threads one(1);
  const Tensor p = full({kAll}, 0.25, kBFloat16);
  const std::vector<std::pair<const char*, std::function<void()>>> calls = {
      {"rand", [&] { rand_like(p); }},
      {"randn", [&] { randn_like(p); }},
      {"randint", [&] { randint_like(p, 10); }},
      {"uniform_", [&] { p.clone().uniform_(-1, 1); }},
      {"normal_", [&] { p.clone().normal_(); }},
      {"normal", [&] { normal(p, p); }},
      {"bernoulli of probabilities", [&] { bernoulli(p); }},
      {"bernoulli_", [&] { p.clone().bernoulli_(0.5); }},
      {"bernoulli_ of probabilities", [&] { p.clone().bernoulli_(p); }},
      {"dropout", [&] { dropout(p, 0.5); }},
      {"exponential_", [&] { p.clone().exponential_(); }},
      {"cauchy_", [&] { p.clone().cauchy_(); }},
      {"log_normal_", [&] { p.clone().log_normal_(); }}};
  for (const auto& [name, run] : calls) {
    INFO(std::string(name));
    // The limit: the result and another bfloat16 tensor, two parts of at most 2 MiB in float32,
    // and one part of bools.
    CHECK(bytes_of(run) <= 2 * p.nbytes() + (size_t{9} << 19));
  }
}

TEST_CASE(
    "random float16 and bfloat16 numbers are those of float32, rounded, for any number of parts") {
  const Threads one(1);
  const auto check = [](const char* what, const auto& draw) {
    INFO(what);
    for (const DType dtype : dtypes::kReducedFloating) {
      manual_seed(5);
      const Tensor got = draw(dtype);
      manual_seed(5);
      CHECK(got.equal(draw(kFloat32).to(dtype)));
    }
  };
  constexpr int64_t n = (int64_t{1} << 19) + 4711;
  check("normal", [](DType dtype) { return randn({n}, dtype); });
  check("integers", [](DType dtype) { return randint(0, 100, {n}, dtype); });
  check("bernoulli", [](DType dtype) { return empty({n}, dtype).bernoulli_(0.3); });
  check("probabilities", [](DType dtype) { return bernoulli(full({n}, 0.375, dtype)); });
  check("uniform", [](DType dtype) { return rand({n}, dtype).mul_(0.5).clamp_max_(0.25); });
}
