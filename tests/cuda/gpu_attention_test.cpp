// Attention of float16 and bfloat16 on the CUDA backend, with tensor cores if there are any,
// compared with the reference in float64: full and partial tiles, layouts, masks, and numbers near
// the limits of these dtypes.
#include <cmath>

#include "gpu_kernels.h"

using namespace ambit;
using namespace gpu_kernels;

namespace {

constexpr double kEpsilon = std::numeric_limits<float>::epsilon();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Sizes {
  int64_t B, H, L, S, E, F;
};

/// Operands of one call, on the GPU.
struct Operands {
  Tensor q, k, v, dy, mask;
  AttentionParams p;
};

struct Results {
  Tensor y, lse, dq, dk, dv;
};

double last_place(DType dtype) { return dtype == kFloat16 ? 0x1p-10 : 0x1p-7; }

Tensor wide(const Tensor& t) { return t.defined() ? t.cpu().to(kFloat64).to(kReference) : t; }

Results results_of(const Operands& o) {
  Results r;
  Dims of_y(o.q.sizes());
  of_y[3] = o.v.size(3);
  r.y = empty(of_y, o.q.options());
  r.lse = empty({2, of_y[0], of_y[1], of_y[2]}, o.q.options().dtype(kFloat32));
  r.dq = empty_like(o.q), r.dk = empty_like(o.k), r.dv = empty_like(o.v);
  kernels::attention(r.y, r.lse, o.q, o.k, o.v, o.mask, o.p);
  kernels::attention_grad(r.dq, r.dk, r.dv, o.dy, o.q, o.k, o.v, o.mask, r.y, r.lse, o.p);
  return r;
}

/// Compute the same results in float64; the gradient is computed from the GPU's y and lse.
Results expected_of(const Operands& o, const Results& got) {
  Results r;
  const Tensor q = wide(o.q), k = wide(o.k), v = wide(o.v), mask = wide(o.mask);
  r.y = wide(got.y), r.lse = wide(got.lse);
  r.dq = empty_like(q), r.dk = empty_like(k), r.dv = empty_like(v);
  kernels::attention_grad(r.dq, r.dk, r.dv, wide(o.dy), q, k, v, mask, r.y, r.lse, o.p);
  kernels::attention(r.y, r.lse, q, k, v, mask, o.p);
  return r;
}

/// |got - expected| <= bound, element by element, NaN equals NaN.
void check_within(const char* what, const Tensor& got, const Tensor& expected,
                  const Tensor& bound) {
  INFO(what);
  const Tensor y = got.cpu().to(kFloat64), x = expected.cpu();
  CHECK(y.isnan().equal(x.isnan()));
  const Tensor place = x.abs() * (last_place(got.dtype()) / 2) + 0x1p-24;
  const Tensor error = ((y - x).abs() / (bound.cpu() + place)).nan_to_num(0);
  CHECK(error.max().item<double>() <= 1);
}

/// Bounds for float32 arithmetic: a sum of n products has an error of 2 n epsilon of the sum of
/// their magnitudes, because tensor cores truncate; a weight has the error of its score and of the
/// row's largest score, 2^-17 for its two parts of the dtype, and a few roundings.
void check(const Operands& o) {
  const Results got = results_of(o), expected = expected_of(o, got);
  const Tensor q = wide(o.q).cpu().abs(), k = wide(o.k).cpu().abs(), v = wide(o.v).cpu().abs();
  const Tensor dy = wide(o.dy).cpu().abs(), y = expected.y.cpu().abs();
  const auto turned = [](const Tensor& t) { return t.transpose(2, 3); };
  const auto rounding = [](int64_t n) { return 2 * static_cast<double>(n + 1) * kEpsilon; };
  const int64_t L = q.size(2), S = k.size(2), E = q.size(3), F = v.size(3);
  Tensor s = matmul(wide(o.q).cpu(), turned(wide(o.k).cpu())) * o.p.scale;
  if (o.mask.defined()) s = s + wide(o.mask).cpu();
  if (o.p.causal) s = s.masked_fill(ones({L, S}, kBool).triu(1), -kInfinity);
  const Tensor w = softmax(s, -1);
  const Tensor of_scores = matmul(q, turned(k)) * (o.p.scale * rounding(E)) +
                           s.abs().masked_fill(s.isinf(), 0) * (3 * kEpsilon);
  const Tensor of_weights = (of_scores + of_scores.amax({-1}, true)) + 0x1p-17 + 16 * kEpsilon;
  check_within("y", got.y, expected.y, matmul(w * (of_weights + rounding(S)), v));
  const Tensor lse_bound = of_scores.amax({-1}) + rounding(S);
  check_within("lse", got.lse, expected.lse, stack({lse_bound, lse_bound}, 0));
  // dw - share, and its error.
  const Tensor dw = matmul(dy, turned(v)) + (dy * y).sum({-1}, true);
  const Tensor ds = w * dw * o.p.scale, of_ds = of_weights + rounding(F);
  check_within("dq", got.dq, expected.dq, matmul(ds * (of_ds + rounding(S)), k));
  check_within("dk", got.dk, expected.dk, matmul(turned(ds * (of_ds + rounding(L))), q));
  check_within("dv", got.dv, expected.dv, matmul(turned(w * (of_weights + rounding(L))), dy));
}

Operands operands(const Sizes& n, DType dtype, bool causal = false, bool masked = false) {
  const auto make = [&](int64_t rows, int64_t columns) {
    return randn({n.B, n.H, rows, columns}).to(dtype).to(gpu());
  };
  Operands o{make(n.L, n.E), make(n.S, n.E),
             make(n.S, n.F), make(n.L, n.F),
             Tensor(),       {.scale = 1 / std::sqrt(static_cast<double>(n.E)), .causal = causal}};
  if (masked) {  // the same for all heads; a fifth of the keys is masked, never the first one
    const Tensor hidden = rand({n.L, n.S}) < 0.2;
    hidden.select(1, 0).fill_(false);
    o.mask = randn({n.L, n.S}).masked_fill(hidden, -kInfinity).to(dtype).to(gpu());
    o.mask = o.mask.expand({n.B, n.H, n.L, n.S});
  }
  return o;
}

}  // namespace

TEST_CASE("gpu: attention of float16 and bfloat16, its gradient, with full and partial tiles") {
  if (!has_gpu()) return;
  manual_seed(11);
  for (const DType dtype : dtypes::kReducedFloating) {
    for (const Sizes& n : {Sizes{1, 1, 1, 1, 1, 1},
                           {2, 3, 16, 8, 16, 16},
                           {1, 2, 64, 64, 32, 32},
                           {1, 1, 65, 129, 64, 64},
                           {1, 1, 130, 63, 40, 56},
                           {1, 1, 7, 200, 33, 9},
                           {1, 1, 49, 33, 128, 128},
                           {2, 1, 33, 50, 72, 104},
                           {1, 1, 5, 9, 130, 20}}) {
      for (const bool causal : {false, true}) {
        for (const bool masked : {false, true}) {
          INFO(name(dtype), " L ", n.L, " S ", n.S, " E ", n.E, " F ", n.F, " causal ", causal,
               " masked ", masked);
          check(operands(n, dtype, causal, masked));
        }
      }
    }
  }
}

TEST_CASE("gpu: attention of float16 and bfloat16 accepts strided heads without copies") {
  if (!has_gpu()) return;
  manual_seed(12);
  for (const DType dtype : dtypes::kReducedFloating) {
    // Views of [B,N,H * D], with rows aligned to eight elements or not; and transposed ones.
    for (const int64_t depth : {16, 20}) {
      const auto cut = [&](int64_t rows) {
        const Tensor all = randn({2, rows, 3 * 2 * depth}).to(dtype).to(gpu());
        return all.slice(2, 2 * depth, 4 * depth).view({2, rows, 2, depth}).transpose(1, 2);
      };
      const double scale = 0.3;
      check({cut(20), cut(70), cut(70), cut(20), Tensor(), {.scale = scale}});
      const Tensor q = cut(depth).transpose(2, 3), k = cut(70);
      check({q.contiguous().transpose(2, 3).transpose(2, 3),
             k,
             k,
             q.contiguous(),
             Tensor(),
             {.scale = scale, .causal = true}});
      const auto turned = [&](int64_t rows) {
        return randn({1, 2, depth, rows}).to(dtype).to(gpu()).transpose(2, 3);
      };
      check({turned(18), turned(35), turned(35), turned(18), Tensor(), {.scale = scale}});
    }
  }
}

TEST_CASE("gpu: attention of float16 and bfloat16 has NaN where the reference has") {
  if (!has_gpu()) return;
  manual_seed(13);
  for (const DType dtype : dtypes::kReducedFloating) {
    CAPTURE(std::string(name(dtype)));
    Operands o = operands({1, 2, 20, 70, 24, 24}, dtype, false, true);
    o.mask = o.mask.contiguous();
    o.mask.select(1, 0).select(1, 3).fill_(-kInfinity);  // all keys are masked
    o.q.select(1, 1).select(1, 5).fill_(std::numeric_limits<double>::quiet_NaN());
    const Results got = results_of(o), expected = expected_of(o, got);
    const auto same = [](const Tensor& a, const Tensor& b) {
      return a.isnan().cpu().equal(b.isnan().cpu());
    };
    CHECK(same(got.y, expected.y));
    CHECK(got.y.isnan().sum().item<int64_t>() == 24);  // of the query that is NaN
    CHECK(got.y.select(1, 0).select(1, 3).eq(0).all().item<bool>());
    CHECK(same(got.dq, expected.dq));
    CHECK(same(got.dk, expected.dk));
    CHECK(same(got.dv, expected.dv));
  }
}

TEST_CASE("gpu: attention of float16 and bfloat16 has infinities where the reference has") {
  if (!has_gpu()) return;
  manual_seed(15);
  for (const DType dtype : dtypes::kReducedFloating) {
    CAPTURE(std::string(name(dtype)));
    Operands o = operands({1, 2, 20, 70, 24, 24}, dtype);
    // Weights of 1/2 need only the first of their two parts.
    o.q.select(2, 4).fill_(0);
    Operands of_two = operands({1, 1, 3, 2, 16, 16}, dtype);
    of_two.q.fill_(0);
    for (Operands* each : {&o, &of_two}) {
      each->v.select(3, 3).select(2, 1).fill_(kInfinity);
      each->v.select(3, 5).select(2, 0).fill_(-kInfinity);
      const Tensor y = results_of(*each).y.cpu().to(kFloat64);
      CHECK(y.select(3, 3).eq(kInfinity).all().item<bool>());
      CHECK(y.select(3, 5).eq(-kInfinity).all().item<bool>());
      CHECK(y.isfinite().sum().item<int64_t>() == y.numel() / y.size(3) * (y.size(3) - 2));
      each->v.nan_to_num_(1, 1, -1);
      each->dy.select(3, 2).select(2, 1).fill_(kInfinity);
      const Tensor dv = results_of(*each).dv.cpu().to(kFloat64);
      CHECK(dv.select(3, 2).eq(kInfinity).all().item<bool>());
      CHECK(dv.isfinite().sum().item<int64_t>() == dv.numel() / dv.size(3) * (dv.size(3) - 1));
    }
  }
}

TEST_CASE("gpu: attention of float16 and bfloat16 has gradients of scores that overflow them") {
  if (!has_gpu()) return;
  manual_seed(14);
  for (const DType dtype : dtypes::kReducedFloating) {
    CAPTURE(std::string(name(dtype)));
    // One case has gradients of scores of 10^8 and more, another has rows with weights of at most
    // 10^-6 next to rows with normal weights.
    Operands o = operands({1, 2, 40, 70, 32, 32}, dtype);
    o.dy = (o.dy * 8000).clamp(-60000, 60000);
    o.v = (o.v * 8000).clamp(-60000, 60000);
    o.k = o.k * 1e-4;
    o.q = o.q * 1e-4;
    check(o);
    Operands tiny = operands({1, 1, 40, 70, 32, 32}, dtype);
    tiny.mask = zeros({1, 1, 40, 70}, tiny.q.options());
    tiny.mask.slice(3, 1, 70).fill_(-14);
    tiny.v = tiny.v * 1000;
    tiny.v.select(2, 0).fill_(0);  // the first word has most of the weight
    tiny.dy = tiny.dy * 100;
    check(tiny);
  }
}
