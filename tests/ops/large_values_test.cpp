// Results within the range of their dtype are correct even if a simple formula's intermediate
// values exceed it: lerp, norms, normalisation, attention.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

namespace {

TensorOptions f32(Device d) { return TensorOptions(kFloat32).device(d); }
TensorOptions f64(Device d) { return TensorOptions(kFloat64).device(d); }

}  // namespace

TEST_CASE("lerp is exact at its ends, and between finite ends it is finite") {
  for_each_device([](Device d) {
    for (const DType dtype : {kFloat32, kFloat64, kFloat16, kBFloat16}) {
      INFO(name(dtype));
      // More elements than one part has.
      const Tensor w = linspace(0, 1, 300001, f64(d)).to(dtype);
      const Tensor three = full({300001}, 3., f64(d)).to(dtype);
      CHECK(lerp(three, three, w).equal(three));  // was 2.99999976 for weight 0.1
      CHECK(lerp(three, three, 0.1).equal(three));
      const Tensor a = full({300001}, 0.1, f64(d)).to(dtype), b = a * 7;
      const Tensor y = lerp(a, b, w);
      CHECK(((y >= a) & (y <= b)).all().item<bool>());
      CHECK(y[0].equal(a[0]));
      CHECK(y[-1].equal(b[0]));
      CHECK(lerp(b, a, w)[-1].equal(a[0]));
      const Tensor far = full({3}, finfo(dtype).max, f64(d)).to(dtype);
      const Tensor part = tensor({0., 0.5, 1.}, f64(d)).to(dtype);
      CHECK(lerp(far, -far, part).equal(far * (1 - 2 * part)));
      for (const double weight : {0., 0.5, 1.}) {  // PyTorch 2.15: inf, inf and NaN
        CHECK(lerp(far, -far, weight).equal(far * (1 - 2 * weight)));
        CHECK(far.clone().lerp_(-far, weight).equal(far * (1 - 2 * weight)));
      }
    }
    // Outside of the ends, PyTorch 2.15: torch.lerp(torch.tensor([1., 2.]), torch.tensor([3., 6.]),
    // 1.5)
    check_values(lerp(tensor({1., 2.}, f64(d)), tensor({3., 6.}, f64(d)), 1.5), {2}, {4, 8});
    check_values(
        lerp(tensor({1., 2.}, f64(d)), tensor({3., 6.}, f64(d)), tensor({1.5, -0.75}, f64(d))), {2},
        {4, -1});
  });
}

TEST_CASE("norms whose powers exceed the range of the dtype are correct") {
  for_each_device([](Device d) {
    // mpmath 1.3: (1e15**3 + 2e15**3)**(mpf(1) / 3), and so on; float32: half its epsilon per step
    const auto value = [](const Tensor& y) { return y.item<double>(); };
    const Tensor x = tensor({1., -2.}, f32(d));
    CHECK(value(norm(x * 1e15, 3)) == doctest::Approx(2.08008382e15).epsilon(1e-6));
    CHECK(value(norm(x * 1e-15, 3)) == doctest::Approx(2.08008382e-15).epsilon(1e-6));
    CHECK(value(norm(x * 1e15, -3)) == doctest::Approx(9.6149970e14).epsilon(1e-6));
    const Tensor wide = tensor({{1., -2.}, {3., 4.}}, f64(d));
    check_values(norm(wide * 1e200, 2, IntArrayRef{1}) / 1e200, {2}, {2.2360679775, 5});
    check_values(norm(wide * 1e-200, 2) / 1e-200, {}, {5.47722557505});
    check_values(norm(wide * 1e200, 3, IntArrayRef{1}) / 1e200, {2},
                 {2.08008382305, 4.49794144528});
    CHECK(value(norm(tensor({INFINITY, 1.}, f64(d)))) == INFINITY);
    CHECK(value(norm(tensor({-INFINITY, 1.}, f32(d)), 3)) == INFINITY);
    CHECK(std::isnan(value(norm(tensor({NAN, 1.}, f64(d))))));
    CHECK(value(norm(zeros({2}, f32(d)), 3)) == 0);
    CHECK(value(norm(zeros({2}, f64(d)))) == 0);
    CHECK(norm(zeros({0}, f64(d))).item<double>() == 0);
    CHECK(norm(zeros({0, 2}, f64(d)), 3, IntArrayRef{1}).numel() == 0);
    // (|x| / norm)^2 sign(x)
    const Tensor leaf = (tensor({1., -2.}, f32(d)) * 1e25).requires_grad_();
    norm(leaf, 3).backward();
    check_values(leaf.grad(), {2}, {0.231120424784, -0.924481699134}, 1e-6);
  });
}

TEST_CASE("rows of a norm are scaled separately") {
  for_each_device([](Device d) {
    // 3 and 4 times the scale of the row, of both signs, and enough zeros to fill vectors
    const std::vector<double> scales{1e200, 0, 1e-200, 1, INFINITY, NAN, 1e306, 1e-310};
    const auto rows = static_cast<int64_t>(scales.size());
    const Tensor x = zeros({rows, 300}, f64(kCPU)), expected = zeros({rows}, f64(kCPU));
    for (int64_t r = 0; r < rows; ++r) {
      const double scale = scales[static_cast<size_t>(r)];
      x[r][7].fill_(scale == 0 ? 0 : 3 * scale);
      x[r][250].fill_(scale == 0 ? 0 : -4 * scale);
      expected[r].fill_(5 * scale);
    }
    const Tensor there = x.to(d), sizes = where(isfinite(expected), expected, 1) + (expected == 0);
    const auto check = [&](const Tensor& y) {
      REQUIRE(y.sizes() == expected.sizes());
      const Tensor got = y.cpu();
      CHECK(isnan(got[5]).item<bool>());
      CHECK(got[4].item<double>() == INFINITY);
      // Four roundings of 2^-53, and for numbers near 1e-310 the smallest double.
      for (const int64_t r : {0, 1, 2, 3, 6, 7}) {
        INFO("row ", r);
        CHECK((abs(got[r] - expected[r]) / sizes[r]).item<double>() <= 0x1p-51 + 1e-13);
      }
    };
    check(norm(there, 2, IntArrayRef{1}));
    check(norm(there.t().contiguous(), 2, IntArrayRef{0}));  // innermost dim kept
    check(norm(there.view({rows, 20, 15}), 2, IntArrayRef{1, 2}));
    check(norm(there.repeat({1, 400}), 2, IntArrayRef{1}) / 20);  // computed in blocks
    for (const DType dtype : {kFloat32, kFloat64}) {
      const Tensor mixed = tensor({{0., 0.}, {2., -1.}}, f64(d)).to(dtype);
      check_values(norm(mixed, 3, IntArrayRef{1}), {2}, {0, 2.08008382305}, 1e-6);
      check_values(norm(mixed, -3, IntArrayRef{1}), {2}, {0, 0.96149970}, 1e-6);
    }
    const Tensor large = full({1 << 18}, 1e200, f64(d));
    // Squares are added in order: 2^18 additions round by at most 2^-53.
    CHECK(std::fabs(norm(large).item<double>() / 512e200 - 1) <= 0x1p-35);
    CHECK(norm(large * 0).item<double>() == 0);
  });
}

TEST_CASE("norms of zeros are computed without scaling") {
  // A profile contains each kernel call: without a division nothing was scaled.
  for (const double p : {2., 3., -3.}) {
    for (const DType dtype : {kFloat32, kFloat64}) {
      const Tensor x = zeros({5, 3}, TensorOptions(dtype));
      profiler::Profile profile;
      const Tensor y = norm(x, p, IntArrayRef{1});
      profile.stop();
      CHECK(y.equal(zeros({5}, TensorOptions(dtype))));
      for (const profiler::FunctionEvent& e : profile.events()) CHECK(e.name != "div");
    }
  }
}

TEST_CASE("normalisation of NaN and infinities is NaN, and does not affect other rows") {
  for (const char* device : {"cpu", "reference"}) {
    const Device d(device);
    INFO(device);
    for (const double bad : {double{NAN}, double{INFINITY}, double{-INFINITY}}) {
      const Tensor x = arange(12, f32(d)).view({3, 4}).clone();
      x[1][2].fill_(bad);
      const Tensor rows = layer_norm(x, {4}),
                   columns = batch_norm(x, {}, {}, {}, {}, {.training = true});
      CHECK(isnan(rows[1]).all().item<bool>());
      CHECK(isfinite(rows[0]).all().item<bool>());
      CHECK(isfinite(rows[2]).all().item<bool>());
      CHECK(isnan(columns.select(1, 2)).all().item<bool>());
      CHECK(isnan(columns).sum().item<int64_t>() == 3);
      CHECK(isnan(group_norm(x.view({3, 2, 2}), 1)).sum().item<int64_t>() == 4);
    }
  }
}

TEST_CASE("normalisation of values whose squares exceed the range is correct") {
  for (const char* device : {"cpu", "reference"}) {
    const Device d(device);
    INFO(device);
    // (x - mean) / sqrt(var) of 1, 2, 3, and x / sqrt(mean(x^2)) below: with numbers this large eps
    // has no effect, and the results do not depend on the scale.
    const std::vector<double> expected{-1.22474487139, 0, 1.22474487139};
    for (const bool is_double : {false, true}) {
      const auto options = is_double ? f64(d) : f32(d);
      const double scale = is_double ? 1e200 : 1e30, tolerance = is_double ? 6e-12 : 1e-6;
      const Tensor x = tensor({1., 2., 3.}, f64(d)) * scale;
      const Tensor row = x.to(options.dtype());
      check_values(layer_norm(row, {3}), {3}, expected, tolerance);
      check_values(rms_norm(row, {3}, {}, 1e-6), {3},
                   {0.462910049886, 0.925820099773, 1.38873014966}, tolerance);
      check_values(group_norm(row.view({1, 1, 3}), 1), {1, 1, 3}, expected, tolerance);
      check_values(group_norm(row.view({1, 3, 1, 1}).contiguous(MemoryFormat::ChannelsLast), 1),
                   {1, 3, 1, 1}, expected, tolerance);
      check_values(nn::functional::instance_norm(row.view({1, 1, 3})), {1, 1, 3}, expected,
                   tolerance);
      for (const Tensor& batch : {row.view({3, 1}), row.view({1, 1, 3})}) {
        check_values(batch_norm(batch, {}, {}, {}, {}, {.training = true}), batch.sizes(), expected,
                     tolerance);
      }
      const Tensor leaf = row.clone().requires_grad_();
      const Tensor y = layer_norm(leaf, {3});
      (y * y).sum().backward();  // the sum is nearly 3 for all x
      CHECK(leaf.grad().abs().max().item<double>() * scale < 1e-5);
    }
    // 1e-30 with eps 0: squares would be 0
    check_values(layer_norm(tensor({1., 2., 3.}, f32(d)) * 1e-30, {3}, {}, {}, 0), {3}, expected,
                 1e-6);
    CHECK(isnan(layer_norm(tensor({1., NAN, 3.}, f32(d)), {3})).all().item<bool>());
  }
}

TEST_CASE("the reference's attention is correct for scores beyond float32's precision") {
  const Device d("reference");
  // Scores 1.6e11 * (1, 2, 2.1): the last key has the whole weight. Rounded to float32 the largest
  // score has an error of thousands.
  const Tensor q = full({1, 1, 1, 1}, 4e5, f32(d)).requires_grad_();
  const Tensor k = (tensor({1., 2., 2.1}, f32(d)) * 4e5).view({1, 1, 3, 1});
  const Tensor v = tensor({1., 2., 3.}, f32(d)).view({1, 1, 3, 1});
  const Tensor y = scaled_dot_product_attention(q, k, v);
  check_values(y.detach(), {1, 1, 1, 1}, {3});
  y.sum().backward();
  CHECK(q.grad().item<double>() == 0);

  // A single key has the whole weight for any score, here the sum of two products, 2.6e15.
  const Tensor values = ones({1, 1, 1, 2}, f32(d)).requires_grad_();
  scaled_dot_product_attention(tensor({3.4940904e7, 1.8892014e7}, f32(d)).view({1, 1, 1, 2}),
                               tensor({7.300975e7, 6.127337e7}, f32(d)).view({1, 1, 1, 2}), values)
      .sum()
      .backward();
  check_values(values.grad(), {1, 1, 1, 2}, {1, 1});
}
