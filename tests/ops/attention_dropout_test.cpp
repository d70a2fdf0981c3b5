// Attention with masked rows and dropout; and its memory.
#include <ambit/ambit.h>
#include <ambit/memory.h>

#include <functional>
#include <limits>

#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Operands = std::vector<Tensor>;  // q, k, v, and a mask with a gradient

Operands differentiated(const std::function<Tensor(const Operands&)>& f, const Operands& in,
                        const Tensor& dy) {
  Operands leaves, all;
  for (const Tensor& t : in) leaves.push_back(t.detach().requires_grad_());
  all.push_back(f(leaves));
  all[0].backward(dy);
  for (const Tensor& t : leaves) all.push_back(t.grad());
  all[0] = all[0].detach();
  return all;
}

/// Return the memory by which f exceeds the previous peak of tensors on the cpu.
size_t grown_by(const std::function<void()>& f) {
  const auto stats = [] { return memory_stats(kCPU); };
  const auto below = static_cast<int64_t>(stats().peak_in_use - stats().in_use);
  const Tensor level = empty({below}, kUInt8);
  const size_t before = stats().peak_in_use;
  f();
  return stats().peak_in_use - before;
}

}  // namespace

// torch 2.15: scaled_dot_product_attention(q, k, v, mask), with every implementation.
TEST_CASE("a query without unmasked keys gives zeros, and has no part in gradients") {
  for_each_device([](Device d) {
    const Tensor q = wave(d, {2, 3, 5}), k = wave(d, {2, 4, 5}, 0.3), v = wave(d, {2, 4, 3}, 0.5),
                 dy = wave(d, {2, 3, 3}, 0.9);
    Tensor seen = ones({3, 4}, TensorOptions(kBool).device(d));
    seen.select(0, 1).fill_(false);
    const Tensor hidden = zeros({3, 4}, q.options()).masked_fill(seen.logical_not(), -kInfinity);
    const auto by = [](const Tensor& mask) {
      return [=](const Operands& in) {
        return scaled_dot_product_attention(in[0], in[1], in[2], in.size() > 3 ? in[3] : mask);
      };
    };
    // Omit the query that attends to no key, whose gradient is zero.
    const Tensor rows = tensor({0, 2}, TensorOptions(kInt64).device(d));
    Operands want = differentiated(
        [&](const Operands& in) {
          return by({})({in[0].index_select(1, rows), in[1], in[2]});
        },
        {q, k, v}, dy.index_select(1, rows));
    want[0] = zeros({2, 3, 3}, q.options()).index_copy(1, rows, want[0]);
    const auto check = [&](const Operands& got) {
      // float64, sums of at most 5 terms of magnitude 1, three in sequence: 15 * 2^-53 = 2e-15.
      for (size_t i = 0; i < want.size(); ++i) CHECK(got[i].allclose(want[i], 1e-13, 1e-14));
      CHECK(got[0].select(1, 1).equal(zeros({2, 3}, q.options())));
      CHECK(got[1].select(1, 1).equal(zeros({2, 5}, q.options())));
    };
    check(differentiated(by(seen), {q, k, v}, dy));
    check(differentiated(by(hidden), {q, k, v}, dy));
    const Operands of_mask = differentiated(by({}), {q, k, v, hidden}, dy);
    check(of_mask);
    CHECK(of_mask[4].select(0, 1).equal(zeros({4}, q.options())));
    gradgradcheck(by(seen), {q, k, v});
    // With a causal mask each query has at least its own key; dropped weights do not count as
    // masked.
    const Tensor blind = scaled_dot_product_attention(q, k, v, seen, 0.5);
    CHECK(blind.select(1, 1).equal(zeros({2, 3}, q.options())));
    for (const DType half : {kFloat16, kBFloat16}) {
      const Operands of_half =
          differentiated(by(seen), {q.to(half), k.to(half), v.to(half)}, dy.to(half));
      for (const Tensor& t : of_half) CHECK(t.isfinite().all().item<bool>());
      CHECK(of_half[0].select(1, 1).eq(0).all().item<bool>());
    }
  });
}

TEST_CASE("attention drops weights in parts, and the same ones in backward") {
  for_each_device([](Device d) {
    // A part has 2^18 weights: these are two parts, for three examples and for one.
    const int64_t heads = 64, L = 100, S = 48;
    const Tensor q = wave(d, {4, heads / 4, L, 2}), k = wave(d, {4, heads / 4, S, 2}, 0.3),
                 v = wave(d, {4, heads / 4, S, 3}, 0.5), dy = wave(d, {4, heads / 4, L, 3}, 0.9);
    const Tensor mask = wave(d, {L, S}, 0.21);
    static_assert(64 * 100 * 48 > (1 << 18));
    for (const bool causal : {false, true}) {
      const Tensor bias = causal ? Tensor() : mask;
      const auto drop = [&](const Operands& in) {
        manual_seed(5);
        return scaled_dot_product_attention(in[0], in[1], in[2], bias, 0.25, causal, 0.8);
      };
      // With unit vectors as values the output is the weights.
      const Tensor units = eye(S, q.options()).expand({4, heads / 4, S, S});
      const Tensor kept = (drop({q, k, units}) != 0).to(q.dtype()) / 0.75;
      const auto by_hand = [&](const Operands& in) {
        Tensor s = matmul(in[0], in[1].transpose(-2, -1)) * 0.8;
        s = causal ? s + full({L, S}, -kInfinity, q.options()).triu(1) : s + bias;
        return matmul(softmax(s, -1) * kept, in[2]);
      };
      const Operands got = differentiated(drop, {q, k, v}, dy);
      const Operands want = differentiated(by_hand, {q, k, v}, dy);
      // float64, sums of at most 100 terms of magnitude 1, three in sequence: 300 * 2^-53 = 4e-14.
      for (size_t i = 0; i < got.size(); ++i) CHECK(got[i].allclose(want[i], 1e-12, 1e-12));
      if (causal) continue;
      // A quarter of the weights is dropped: the dropped fraction of n weights has the standard
      // deviation sqrt(1/4 * 3/4 / n); the tolerance is six standard deviations.
      const double share = 1 - kept.ne(0).to(kFloat64).mean().item<double>();
      CHECK(std::abs(share - 0.25) < 6 * std::sqrt(3. / 16 / (64 * 100 * 48)));
    }
    const Tensor few = wave(d, {2, 3, 2});
    gradcheck(
        [](const Operands& in) {
          manual_seed(5);
          return scaled_dot_product_attention(in[0], in[1], in[2], {}, 0.4);
        },
        {few, few, few});
    gradgradcheck(
        [](const Operands& in) {
          manual_seed(5);
          return scaled_dot_product_attention(in[0], in[1], in[2], {}, 0.4);
        },
        {few, few, few});
    CHECK(scaled_dot_product_attention(q, k, v, {}, 1).eq(0).all().item<bool>());
    CHECK_THROWS_AS(scaled_dot_product_attention(q, k, v, {}, 1.5), Error);
  });
}

// With constant random numbers a loss is a smooth function of q, k and v, so that finite
// differences equal its gradient.
TEST_CASE("attention with dropout has the same gradient however it is split") {
  // The cases have four heads or one, 582 or 18 queries, and masks with a row for every query or a
  // single row.
  for (const Dims& sizes : {Dims{2, 5, 300, 200}, Dims{1, 2, 600, 450}}) {
    const int64_t B = sizes[0], H = sizes[1], L = sizes[2], S = sizes[3];
    const Operands in{wave(kCPU, {B, H, L, 2}), wave(kCPU, {B, H, S, 2}, 0.3),
                      wave(kCPU, {B, H, S, 3}, 0.5)};
    const Tensor dy = wave(kCPU, {B, H, L, 3}, 0.9);
    const Tensor mask = B > 1 ? wave(kCPU, {L, S}, 0.21) : wave(kCPU, {S}, 0.21);
    const auto drop = [&](const Operands& x) {
      manual_seed(5);
      return scaled_dot_product_attention(x[0], x[1], x[2], mask, 0.25);
    };
    const Operands got = differentiated(drop, in, dy);
    for (size_t i = 0; i < in.size(); ++i) {
      const Tensor along = wave(kCPU, in[i].sizes(), 1.7);
      const double h = 1e-5;
      const auto loss = [&](double by) {
        Operands moved = in;
        moved[i] = in[i] + along * by;
        return (drop(moved) * dy).sum().item<double>();
      };
      const double expected = (got[i + 1] * along).sum().item<double>();
      // Errors of the differences: h^2, and 2^-53 / h of the sum of some 6,000 numbers of magnitude
      // 1.
      CHECK((loss(h) - loss(-h)) / (2 * h) == doctest::Approx(expected).epsilon(1e-5).scale(1));
    }
  }
}

TEST_CASE("attention's memory grows with the length, not with its square") {
  constexpr int64_t kHeads = 16;
  const auto grown = [](int64_t length, double dropout_p, bool causal, bool masked) {
    return grown_by([&] {
      // There are so many heads that attention is not split into parts with separate sums.
      const Tensor x = wave(kCPU, {1, kHeads, length, 8}).to(kFloat32).requires_grad_();
      const Tensor mask = masked ? zeros({length}) : Tensor();
      scaled_dot_product_attention(x, x, x, mask, dropout_p, causal).sum().backward();
    });
  };
  const struct {
    double dropout_p;
    bool causal, masked;
  } cases[] = {{0, false, false}, {0, true, false}, {0, false, true}, {0.1, false, false}};
  for (const auto& c : cases) {
    INFO("dropout ", c.dropout_p, " causal ", c.causal, " masked ", c.masked);
    const size_t one = grown(256, c.dropout_p, c.causal, c.masked);
    const size_t four = grown(1024, c.dropout_p, c.causal, c.masked);
    // Four times, and one more for rounded allocations; with all weights it would be 16 times.
    CHECK(four < 5 * one);
    CHECK(four < kHeads * 1024 * 1024 * sizeof(float) / 4);
  }
}
