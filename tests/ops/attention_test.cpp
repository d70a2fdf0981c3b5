// Attention: values, masks, layouts, gradients, memory, the composite, bad calls.
#include <ambit/ambit.h>
#include <ambit/backend/kernels.h>
#include <ambit/memory.h>

#include <cmath>
#include <limits>

#include "composite.h"
#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"
#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;
using namespace composite_test;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Attention by its formula, composed of ops.
Tensor by_hand(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask = {}) {
  const Tensor s = matmul(q, k.transpose(-2, -1)) / std::sqrt(static_cast<double>(q.size(-1)));
  return matmul(softmax(mask.defined() ? s + mask : s, -1), v);
}
Tensor causal_mask(int64_t l, int64_t s, const Tensor& like) {
  return full({l, s}, -kInfinity, like.options()).triu(1);
}

struct Grads {
  Tensor y, q, k, v;
};
template <class F>
Grads grads_of(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& dy, const F& f) {
  const Tensor a = q.detach().requires_grad_(), b = k.detach().requires_grad_(),
               c = v.detach().requires_grad_();
  const Tensor y = f(a, b, c);
  y.backward(dy);
  return {y.detach(), a.grad(), b.grad(), c.grad()};
}
void check_same(const Grads& got, const Grads& want) {
  // float64, sums of up to 300 terms of magnitude 1: 300 * 2^-53 = 4e-14.
  CHECK(got.y.allclose(want.y, 1e-12, 1e-12));
  CHECK(got.q.allclose(want.q, 1e-12, 1e-12));
  CHECK(got.k.allclose(want.k, 1e-12, 1e-12));
  CHECK(got.v.allclose(want.v, 1e-12, 1e-12));
}

}  // namespace

// PyTorch 2.15, with sdpa = F.scaled_dot_product_attention:
// q = torch.arange(16.).view(1, 4, 2, 2) / 10; k = torch.arange(8.).view(1, 2, 2, 2) / 10
// sdpa(q, k, k, enable_gqa=True); sdpa(q, k, k, is_causal=True, enable_gqa=True)
// sdpa(q, k, k[:, :1], enable_gqa=True)
TEST_CASE("heads of key and value are shared by groups of the query's heads") {
  for_each_device([](Device d) {
    const TensorOptions options = TensorOptions(kFloat64).device(d);
    const Tensor q = arange(16, options).view({1, 4, 2, 2}) / 10;
    const Tensor k = arange(8, options).view({1, 2, 2, 2}) / 10;
    // The values are quoted with 4 decimals, so their error is half a unit in the last place.
    constexpr double kRounded = 6e-5;
    const auto attended = [&](const Tensor& v, bool causal) {
      return scaled_dot_product_attention(q, k, v, std::nullopt, 0, causal, std::nullopt, true);
    };
    check_values(attended(k, false), {1, 4, 2, 2},
                 {0.1007, 0.2007, 0.1035, 0.2035, 0.1064, 0.2064, 0.1092, 0.2092, 0.5120, 0.6120,
                  0.5147, 0.6147, 0.5175, 0.6175, 0.5202, 0.6202},
                 kRounded);
    check_values(attended(k, true), {1, 4, 2, 2},
                 {0, 0.1, 0.1035, 0.2035, 0, 0.1, 0.1092, 0.2092, 0.4, 0.5, 0.5147, 0.6147, 0.4,
                  0.5, 0.5202, 0.6202},
                 kRounded);
    check_values(attended(k.narrow(1, 0, 1), false), {1, 4, 2, 2},
                 {0.1007, 0.2007, 0.1035, 0.2035, 0.1064, 0.2064, 0.1092, 0.2092, 0.1120, 0.2120,
                  0.1147, 0.2147, 0.1175, 0.2175, 0.1202, 0.2202},
                 kRounded);
    CHECK_THROWS_AS(scaled_dot_product_attention(k, q, q, {}, 0, false, {}, true), ShapeError);
    CHECK_THROWS_AS(scaled_dot_product_attention(q, k, k), ShapeError);
  });
}

TEST_CASE("scaled_dot_product_attention has PyTorch's values and gradients") {
  // q = wave(2, 3, 2); k = wave(2, 4, 2, k=0.3); v = wave(2, 4, 2, k=0.5)
  // s = q @ k.transpose(1, 2) / 2 ** 0.5; causal: s.masked_fill(torch.ones(3, 4).triu(1).bool(),
  // -math.inf); mask: s + wave(3, 4, k=0.4); y = s.softmax(-1) @ v
  // (y * wave(2, 3, 2, k=0.9)).sum().backward(); y; q.grad; k.grad; v.grad
  struct Case {
    bool masked, causal;
    std::vector<double> y, q, k, v;
  };
  const std::vector<Case> cases = {
      {false,
       false,
       {0.505116206355, 0.425708621679, 0.544030969598, 0.372782448077, 0.471615749331,
        0.417128215457, 0.0390271792032, 0.345464002752, -0.193388994092, 0.0552186217651,
        -0.613076432774, -0.563983592191},
       {-0.0398986915673, -0.00625786464601, -0.00313529087129, 0.0295552365554, 0.0298319863555,
        -0.0130976047213, 0.146515648197, 0.120077772337, -0.471385756559, -0.409300948506,
        0.0482259364239, 0.0473755324504},
       {-0.0302585833491, -0.0388155164537, 0.0465581523332, 0.173741398621, 0.0839953477436,
        0.133440139622, -0.100294916728, -0.26836602179, 0.115626375901, 0.0142595114684,
        0.0521677520287, -0.0941477418362, -0.0702803611611, -0.0720936737829, -0.0975137667688,
        0.151981904151},
       {0.0051402292885, -0.027099460515, 0.114992128875, 0.0583016421943, 0.216503764331,
        0.116637933411, 0.194691065089, 0.0853365571057, 0.290445103188, -0.064760705061,
        0.166479370414, 0.0913748692443, 0.043946072689, 0.21141114613, -0.0678486847561,
        0.291142507241}},
      {false,
       true,
       {0, 0.479425538604, 0.560616649695, 0.824581062075, 0.589753555555, 0.691623048336,
        -0.756802495308, -0.977530117665, -0.869512192129, -0.825859738039, -0.742556975103,
        -0.717107998033},
       {0, 0, 0.0924116625381, 0.0798364107243, -0.0655826055984, -0.0554000558199, 0, 0,
        -0.00963571275861, -0.0105514625295, 0.0387126224639, 0.0396221486309},
       {-0.125030637668, -0.179237684945, 0.129113300077, 0.174962520296, -0.0040826624082,
        0.00427516464821, 0, 0, 0.0407625093716, 0.0438855046781, -0.0240823605612,
        -0.0187970276485, -0.0166801488104, -0.0250884770297, 0, 0},
       {0.180450731815, 0.606579551185, 0.502368487175, -0.0387561399966, -0.151492031407,
        -0.334646738993, 0, 0, -0.191602754545, 0.190437871873, 0.561833643828, 0.408440780403,
        0.0627909722521, -0.0697108347216, 0, 0}},
      {true,
       false,
       {0.51158472456, 0.31861639103, 0.574874032948, 0.480564174519, 0.420306035219,
        0.497329740155, 0.17431321957, 0.498188469375, -0.352029124345, -0.136177058389,
        -0.69339951044, -0.720992821506},
       {-0.0434097711096, -0.005273200006, 0.0170179790849, 0.0393711095326, -0.000185157230016,
        -0.0266953859703, 0.117558553381, 0.0935305062711, -0.450759349632, -0.397580721749,
        0.0382172604133, 0.038143757114},
       {-0.0430397292956, -0.0661581398904, 0.0541785130003, 0.177140626329, 0.0726089380527,
        0.12321412435, -0.0837477217574, -0.234196610788, 0.130101609258, 0.0217966056094,
        0.0569608927376, -0.0818271612232, -0.120636965639, -0.0842870897832, -0.0664255363564,
        0.144317645397},
       {-0.013872171968, -0.213227830863, 0.163450032675, 0.0297813015666, 0.237490414989,
        0.197495909374, 0.144258911888, 0.219127292119, 0.421203741063, -0.0684249068882,
        0.225588003693, 0.155992989992, 0.0259783925615, 0.228072101367, -0.239748275782,
        0.213527633083}}};
  for_each_device([&](Device d) {
    for (const Case& c : cases) {
      INFO("mask ", c.masked, " causal ", c.causal);
      const Tensor mask = c.masked ? wave(d, {3, 4}, 0.4) : Tensor();
      const Grads g = grads_of(wave(d, {2, 3, 2}), wave(d, {2, 4, 2}, 0.3), wave(d, {2, 4, 2}, 0.5),
                               wave(d, {2, 3, 2}, 0.9), [&](auto& q, auto& k, auto& v) {
                                 return scaled_dot_product_attention(q, k, v, mask, 0, c.causal);
                               });
      check_values(g.y, {2, 3, 2}, c.y);
      check_values(g.q, {2, 3, 2}, c.q);
      check_values(g.k, {2, 4, 2}, c.k);
      check_values(g.v, {2, 4, 2}, c.v);
    }
  });
}

TEST_CASE(
    "attention over several blocks, of views of one tensor with all heads, equals the formula") {
  for_each_device([](Device d) {
    const bool is_fast = d.is_cpu();
    const int64_t L = is_fast ? 210 : 20, S = is_fast ? 205 : 19;
    for (const int64_t heads : {1, 9}) {
      // Views of [B,N,H * D] as heads: the output has the same layout.
      const auto cut = [&](int64_t n, int64_t depth, double k) {
        return wave(d, {2, n, heads * depth}, k).view({2, n, heads, depth}).transpose(1, 2);
      };
      const Tensor q = cut(L, 5, 0.7), k = cut(S, 5, 0.3), v = cut(S, 3, 0.11), dy = cut(L, 3, 0.9);
      const Tensor mask = causal_mask(L, S, q), some = wave(d, {2, 1, L, S}, 0.2);
      const auto fused = [](const Tensor& m, bool causal) {
        return [=](const Tensor& a, const Tensor& b, const Tensor& c) {
          return scaled_dot_product_attention(a, b, c, m, 0, causal);
        };
      };
      const auto plain = [](const Tensor& m) {
        return
            [=](const Tensor& a, const Tensor& b, const Tensor& c) { return by_hand(a, b, c, m); };
      };
      check_same(grads_of(q, k, v, dy, fused({}, false)), grads_of(q, k, v, dy, plain({})));
      check_same(grads_of(q, k, v, dy, fused({}, true)), grads_of(q, k, v, dy, plain(mask)));
      check_same(grads_of(q, k, v, dy, fused(some, false)), grads_of(q, k, v, dy, plain(some)));
      const Grads g = grads_of(q, k, v, dy, fused({}, false));
      if (heads > 1) CHECK(g.y.transpose(1, 2).is_contiguous());
    }
  });
}

TEST_CASE(
    "attention with large scores, and with rows masked by large numbers, has exact gradients") {
  for_each_device([](Device d) {
    const TensorOptions options = TensorOptions(kFloat32).device(d);
    // Scores 10^5 + a j / 2, and 0: all exact in float32, whose spacing at 10^5 is 2^-7.
    const int64_t S = 7;
    const Tensor j = arange(S, options) * 0.5, ones_of_keys = ones({S}, options);
    const Tensor k = stack({ones_of_keys * 1e5, j}, 1).unsqueeze(0);
    const Tensor q = tensor({{1., 1.}, {1., -1.}, {0., 0.}, {-1., 2.}}, options).unsqueeze(0);
    const Tensor v = wave(d, {1, S, 3}, 0.5).to(kFloat32),
                 dy = wave(d, {1, 4, 3}, 0.9).to(kFloat32);
    // Row 2 is masked as programs do it: its scores, all 0, become -10^9.
    const Tensor mask = zeros({4, S}, options);
    mask.select(0, 2).fill_(-1e9);
    const auto fused = [&](const Tensor& a, const Tensor& b, const Tensor& c) {
      return scaled_dot_product_attention(a, b, c, mask, 0, false, 1);
    };
    const auto plain = [&](const Tensor& a, const Tensor& b, const Tensor& c) {
      const Tensor s = matmul(a, b.transpose(-2, -1)) + mask.to(kFloat64);
      return matmul(softmax(s, -1), c);
    };
    const Grads got = grads_of(q, k, v, dy, fused);
    const Grads want =
        grads_of(q.to(kFloat64), k.to(kFloat64), v.to(kFloat64), dy.to(kFloat64), plain);
    // Weights are accurate to 2^-21: for dq they are multiplied by keys of 10^5, whose exact sum is
    // 0.
    CHECK(got.y.to(kFloat64).allclose(want.y, 1e-5, 1e-6));
    CHECK(got.q.to(kFloat64).allclose(want.q, 1e-5, 0.1));
    CHECK(got.k.to(kFloat64).allclose(want.k, 1e-5, 1e-5));
    CHECK(got.v.to(kFloat64).allclose(want.v, 1e-5, 1e-6));
  });
}

TEST_CASE("attention does not copy a mask beyond its own size, however it is broadcast") {
  const int64_t N = 200;
  const auto peak = [] { return memory_stats(kCPU).peak_in_use; };
  const Tensor q = wave(kCPU, {16, 25, 3, N, 1}).to(kFloat32),
               mask = wave(kCPU, {16, 1, 3, N, N}, 0.2).to(kFloat32);  // 7.3 MiB
  const size_t before = peak();
  const Tensor y = scaled_dot_product_attention(q, q, q, mask);
  // A mask that is expanded to all heads has 183 MiB.
  CHECK(peak() - before < (size_t{40} << 20));
  // Sums of 200 float32 terms of magnitude 1 have an error of 200 * 2^-24 = 1.2e-5.
  CHECK(y[3][4].allclose(by_hand(q[3][4], q[3][4], q[3][4], mask[3][0]), 1e-4, 2e-5));
  CHECK(y[15][24].allclose(by_hand(q[15][24], q[15][24], q[15][24], mask[15][0]), 1e-4, 2e-5));
}

TEST_CASE("attention accepts masks of bool, any leading dims, and a scale") {
  for_each_device([](Device d) {
    const Tensor q = wave(d, {2, 3, 2, 4, 5}), k = wave(d, {3, 1, 6, 5}, 0.3),
                 v = wave(d, {2, 6, 7}, 0.5);
    const Tensor y = scaled_dot_product_attention(q, k, v);
    CHECK(y.allclose(by_hand(q, k, v), 1e-12, 1e-12));
    CHECK(y.sizes() == IntArrayRef{2, 3, 2, 4, 7});
    const Tensor two = scaled_dot_product_attention(q[0][0][0], k[0][0], v[0]);
    CHECK(two.allclose(y[0][0][0], 1e-12, 1e-12));
    const Tensor seen = wave(d, {2, 4, 6}, 0.9) > -0.5;
    const Tensor hidden = zeros({2, 4, 6}, q.options()).masked_fill(seen.logical_not(), -kInfinity);
    CHECK(scaled_dot_product_attention(q, k, v, seen)
              .allclose(by_hand(q, k, v, hidden), 1e-12, 1e-12));
    const Tensor doubled = scaled_dot_product_attention(q, k, v, {}, 0, false, 2 / std::sqrt(5.));
    CHECK(doubled.allclose(by_hand(q * 2, k, v), 1e-12, 1e-12));
    // Without keys the output is zero.
    const Tensor none = scaled_dot_product_attention(q, k.narrow(-2, 0, 0), v.narrow(-2, 0, 0));
    CHECK(none.equal(zeros({2, 3, 2, 4, 7}, q.options())));
    CHECK(scaled_dot_product_attention(q.narrow(3, 0, 0), k, v).sizes() ==
          IntArrayRef{2, 3, 2, 0, 7});
  });
}

TEST_CASE("attention accepts masks with fewer dims than the weights") {
  for_each_device([](Device d) {
    const Tensor q = wave(d, {2, 3, 4}), k = wave(d, {2, 5, 4}, 0.7), v = wave(d, {2, 5, 4}, 1.3);
    for (const Tensor& mask : {wave(d, {5}, 0.9), wave(d, {}, 0.9)}) {
      CHECK(scaled_dot_product_attention(q, k, v, mask)
                .allclose(by_hand(q, k, v, mask), 1e-12, 1e-12));
    }
  });
}

TEST_CASE("attention has correct first and second gradients, also of its mask") {
  for_each_device([](Device d) {
    const Tensor q = wave(d, {2, 3, 2}), k = wave(d, {2, 4, 2}, 0.3), v = wave(d, {2, 4, 3}, 0.5);
    const Tensor mask = wave(d, {3, 4}, 0.4);
    const auto plain = [](const std::vector<Tensor>& in) {
      return scaled_dot_product_attention(in[0], in[1], in[2]);
    };
    const auto causal = [](const std::vector<Tensor>& in) {
      return scaled_dot_product_attention(in[0], in[1], in[2], {}, 0, true, 0.6);
    };
    const auto fixed = [=](const std::vector<Tensor>& in) {
      return scaled_dot_product_attention(in[0], in[1], in[2], mask);
    };
    const auto masked = [](const std::vector<Tensor>& in) {
      return scaled_dot_product_attention(in[0], in[1], in[2], in[3]);
    };
    gradcheck(plain, {q, k, v});
    gradgradcheck(plain, {q, k, v});
    gradcheck(causal, {q, k, v});
    gradgradcheck(causal, {q, k, v});
    gradcheck(fixed, {q, k, v});
    gradgradcheck(fixed, {q, k, v});
    gradcheck(masked, {q, k, v, mask});
    // A mask that heads or samples share gets the sum of their gradients.
    gradcheck(plain, {wave(d, {2, 2, 3, 2}), k, v[0]});
  });
}

TEST_CASE("attention with dropout drops weights, and keeps the mean") {
  manual_seed(3);
  const Tensor q = randn({1, 4, 8}), k = randn({1, 400, 8}), v = ones({1, 400, 2});
  const Tensor y = scaled_dot_product_attention(q, k, v, {}, 0.5);
  // The sum of some hundred weights, each 0 or doubled: within 6 standard deviations of about 0.15.
  CHECK((y - 1).abs().max().item<double>() < 0.9);
  CHECK_FALSE(y.allclose(ones({1, 4, 2})));
}

TEST_CASE("composite attention and its gradient agree with the kernels") {
  manual_seed(6);
  const Tensor q = normal({2, 3, 4, 5}), k = normal({2, 3, 7, 5}), v = normal({2, 3, 7, 2});
  const Tensor dy = normal({2, 3, 4, 2}), y = normal({2, 3, 4, 2}), lse = normal({2, 2, 3, 4});
  for (const Tensor& mask : {normal({2, 3, 4, 7}), Tensor()}) {
    for (const bool causal : {false, true}) {
      const AttentionParams p{.scale = 0.3, .causal = causal};
      const auto forward = [&](auto&& f, Tensors& o, const Tensors& in) {
        f(o[0], o[1], in[0], in[1], in[2], in[3], p);
      };
      check_composite(kernels::attention, {unwritten(y.sizes()), unwritten(lse.sizes())},
                      {q, k, v, mask}, forward);
      // The formula of the gradient requires the output of the forward.
      Tensor out = unwritten(y.sizes()), level = unwritten(lse.sizes());
      kernels::attention(out, level, q, k, v, mask, p);
      const auto backward = [&](auto&& f, Tensors& o, const Tensors& in) {
        f(o[0], o[1], o[2], in[0], in[1], in[2], in[3], in[4], in[5], in[6], p);
      };
      check_composite(kernels::attention_grad,
                      {unwritten(q.sizes()), unwritten(k.sizes()), unwritten(v.sizes())},
                      {dy, q, k, v, mask, out, level}, backward);
    }
  }
}

namespace {

Tensor q() { return ones({2, 3, 4}); }

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
  return {
      SHAPE(scaled_dot_product_attention, q(), ones({2, 3, 5}), q()),
      SHAPE(scaled_dot_product_attention, q(), q(), ones({2, 4, 4})),
      SHAPE(scaled_dot_product_attention, q(), ones({3, 3, 4}), q()),
      SHAPE(scaled_dot_product_attention, ones({4}), q(), q()),
      SHAPE(scaled_dot_product_attention, q(), q(), q(), ones({2, 2})),
      DTYPE(scaled_dot_product_attention, i23(), i23(), i23()),
      DTYPE(scaled_dot_product_attention, q(), q(), q().to(kFloat64)),
      DTYPE(scaled_dot_product_attention, q(), q(), q(), ones({3, 3}, kInt64)),
      DEVICE(scaled_dot_product_attention, there(), m23(), m23()),
      VALUE(scaled_dot_product_attention, none(), q(), q()),
      VALUE(scaled_dot_product_attention, q(), none(), q()),
      VALUE(scaled_dot_product_attention, q(), q(), q(), ones({3, 3}), 0, true),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
  return {named(
      CALL(scaled_dot_product_attention, strict, given(f(), f(), f(), f()), t[0], t[1], t[2], t[3]),
      list("query", "key", "value", "attn_mask"))};
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
  return {
      with_dims(RESULT(scaled_dot_product_attention, scaled_dot_product_attention(o.a, o.a, o.unit),
                       scaled_dot_product_attention(o.unit, o.a, o.a, {}, 0, true)))};
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

}  // namespace
