// Convolutions of bfloat16 compared with float64, and ops on their channels-last results.
#include <ambit/ambit.h>
#include <ambit/backend/kernels.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/devices.h"
#include "tests/threads.h"

using namespace ambit;

namespace {

struct Case {
  std::string name;
  std::vector<int64_t> x, w;
  std::vector<int64_t> stride, padding, dilation;
  int64_t groups = 1;
  bool transposed = false;
};

// Some convolutions have enough channels and work for several parts, others have few; all have odd
// sizes.
const std::vector<Case> kCases = {
    {"plain", {2, 32, 12, 12}, {32, 32, 3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {"three channels", {9, 3, 16, 16}, {32, 3, 5, 5}, {1, 1}, {2, 2}, {1, 1}},
    {"three filters", {2, 32, 9, 9}, {3, 32, 3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {"one tall image", {1, 16, 40, 9}, {24, 16, 3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {"strides", {3, 17, 13, 11}, {33, 17, 3, 2}, {2, 3}, {1, 0}, {1, 1}},
    {"dilated", {2, 18, 14, 14}, {20, 18, 3, 3}, {1, 2}, {0, 3}, {2, 3}},
    {"points", {4, 48, 7, 7}, {40, 48, 1, 1}, {2, 2}, {0, 0}, {1, 1}},
    {"groups", {2, 36, 10, 10}, {40, 18, 3, 3}, {1, 1}, {0, 0}, {1, 1}, 2},
    {"depthwise", {2, 24, 10, 10}, {24, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 24},
    {"a few numbers", {1, 1, 4, 4}, {2, 1, 2, 2}, {1, 1}, {0, 0}, {1, 1}},
    {"lines", {3, 32, 50}, {40, 32, 5}, {2}, {2}, {1}},
    {"volumes", {2, 16, 6, 9, 7}, {20, 16, 3, 2, 3}, {1, 1, 1}, {1, 0, 1}, {1, 1, 1}},
    {"volumes, strided", {2, 17, 9, 8, 8}, {20, 17, 2, 2, 2}, {2, 2, 1}, {0, 1, 0}, {2, 2, 1}},
    // For these convolutions, oneDNN 2.6 returns wrong numbers or writes out of bounds.
    {"points, odd filters", {1, 17, 6, 5}, {3, 17, 1, 1}, {1, 1}, {0, 0}, {1, 1}},
    {"points, few channels", {2, 4, 2, 39}, {25, 4, 1, 1}, {3, 1}, {0, 0}, {1, 1}},
    {"dilated rows", {1, 60, 9, 39}, {58, 30, 2, 2}, {1, 1}, {0, 0}, {2, 1}, 2},
    {"volumes, padded", {2, 17, 4, 4, 4}, {19, 17, 3, 2, 1}, {3, 3, 3}, {1, 0, 0}, {1, 1, 1}},
    {"volumes, wide", {1, 18, 4, 3, 58}, {31, 18, 4, 2, 3}, {2, 1, 3}, {3, 0, 2}, {1, 1, 1}},
    {"transposed", {2, 32, 7, 7}, {32, 24, 3, 3}, {2, 2}, {1, 1}, {1, 1}, 1, true},
    {"transposed lines", {2, 20, 30}, {20, 18, 4}, {2}, {1}, {1}, 1, true},
    {"transposed volumes",
     {1, 16, 4, 4, 4},
     {16, 8, 2, 3, 2},
     {2, 1, 2},
     {0, 1, 0},
     {1, 1, 1},
     2,
     true},
};

Tensor convolve(const Case& c, const Tensor& x, const Tensor& w, const Tensor& b) {
  return convolution(x, w, b, c.stride, c.padding, c.dilation, c.transposed, 0, c.groups);
}

/// Return the gradients of sum(convolve(x, w, b) * dy).
std::vector<Tensor> gradients(const Case& c, const Tensor& x, const Tensor& w, const Tensor& b,
                              const Tensor& dy) {
  const Tensor leaf_x = x.detach().requires_grad_(), leaf_w = w.detach().requires_grad_(),
               leaf_b = b.detach().requires_grad_();
  convolve(c, leaf_x, leaf_w, leaf_b).backward(dy);
  return {leaf_x.grad(), leaf_w.grad(), leaf_b.grad()};
}

/// Compare `y` in bfloat16 with the exact `want`, sums of `terms` products whose magnitudes have
/// the sum `size`: products of bfloat16 are exact in float32, each sum is rounded by 2^-24 of at
/// most `size`, and the final rounding is half a unit in the last place, 2^-8 of the result. The
/// bound has 2^-24 twice, since sums of parts are added once more, and includes the smallest number
/// for denormals.
void check_close(const std::string& what, const Tensor& y, const Tensor& want, const Tensor& size,
                 double terms) {
  INFO(what);
  REQUIRE(y.dtype() == kBFloat16);
  const Tensor bound = want.abs() * 0x1p-8 + size * (terms * 0x1p-23) + 0x1p-120;
  const Tensor error = (y.to(kCPU, kFloat64) - want).abs();
  const double worst = (error / bound).max().item<double>();
  CHECK(worst <= 1);
}

}  // namespace

TEST_CASE("convolutions of bfloat16 add in float32 and round once, gradients too") {
  for_each_device([](Device device) {
    for (const Case& c : kCases) {
      INFO(c.name);
      manual_seed(7);
      const int64_t filters = c.transposed ? c.w[1] * c.groups : c.w[0];
      const Tensor x = randn(c.x).bfloat16(), w = randn(c.w).bfloat16(),
                   b = randn({filters}).bfloat16();
      const Tensor wide_x = x.to(kFloat64), wide_w = w.to(kFloat64), wide_b = b.to(kFloat64);
      const Tensor want = convolve(c, wide_x, wide_w, wide_b);
      const auto on = [&](const Tensor& t) { return t.to(device); };
      const Tensor y = convolve(c, on(x), on(w), on(b));
      const double window = static_cast<double>(w.numel()) / static_cast<double>(c.w[0]);
      const double over = static_cast<double>(want.numel()) / static_cast<double>(filters);
      const double all_taps = static_cast<double>(w.numel()) / static_cast<double>(c.groups);
      // A result of either kind of convolution has at most this many terms.
      const double terms = std::max(window, all_taps / static_cast<double>(c.w[1])) + 1;
      // The result of a transposed convolution with a bias has two roundings: one before and one
      // after the addition of the bias. So check the result without bias only.
      Tensor size = convolve(c, wide_x.abs(), wide_w.abs(), wide_b.abs());
      if (c.transposed) {
        check_close("without bias", convolve(c, on(x), on(w), Tensor()),
                    convolve(c, wide_x, wide_w, Tensor()), size, terms);
      } else {
        check_close("result", y, want, size, terms);
        check_close("without bias", convolve(c, on(x), on(w), Tensor()),
                    convolve(c, wide_x, wide_w, Tensor()), size, terms);
      }

      const Tensor dy = randn(want.sizes()).bfloat16();
      const std::vector<Tensor> got = gradients(c, on(x), on(w), on(b), on(dy)),
                                exact = gradients(c, wide_x, wide_w, wide_b, dy.to(kFloat64)),
                                sizes = gradients(c, wide_x.abs(), wide_w.abs(), wide_b,
                                                  dy.to(kFloat64).abs());
      const double images = static_cast<double>(std::max(x.numel(), want.numel()));
      check_close("input gradient", got[0], exact[0], sizes[0], all_taps);
      check_close("weight gradient", got[1], exact[1], sizes[1], images);
      check_close("bias gradient", got[2], exact[2], sizes[2], over);
    }
  });
}

TEST_CASE("convolutions of bfloat16 without elements are empty or 0") {
  for_each_device([](Device device) {
    const TensorOptions o = TensorOptions(kBFloat16).device(device);
    const Tensor x = zeros({0, 3, 5, 5}, o).requires_grad_(),
                 w = ones({4, 3, 3, 3}, o).requires_grad_(), b = ones({4}, o).requires_grad_();
    const Tensor y = conv2d(x, w, b);
    CHECK(y.sizes() == IntArrayRef{0, 4, 3, 3});
    y.sum().backward();
    CHECK(x.grad().sizes() == x.sizes());
    CHECK(w.grad().cpu().equal(zeros({4, 3, 3, 3}, kBFloat16)));
    CHECK(b.grad().cpu().equal(zeros({4}, kBFloat16)));
  });
}

TEST_CASE("the gradient of a tap that only multiplies padding is zero") {
  const std::vector<Case> cases = {
      {"columns", {2, 2, 3, 2}, {3, 2, 3, 4}, {1, 3}, {1, 1}, {1, 1}},
      {"one column", {1, 2, 4, 1}, {3, 2, 4, 4}, {1, 3}, {2, 3}, {1, 1}},
      {"one pixel", {3, 1, 1, 2}, {2, 1, 4, 2}, {2, 3}, {2, 1}, {1, 1}},
      {"groups", {3, 8, 2, 1}, {4, 4, 4, 3}, {2, 2}, {1, 2}, {1, 1}, 2}};
  for (const Case& c : cases) {
    INFO(c.name);
    manual_seed(5);
    for (int i = 0; i < 30; ++i) {
      std::vector<Tensor> to_come;  // fills memory that the kernels then reuse
      for (const int64_t size : {64, 256, 1024, 4096, 20000, 100000}) {
        for (int j = 0; j < 3; ++j) to_come.push_back(full({size}, NAN));
      }
      to_come.clear();
      const auto draw = [](const std::vector<int64_t>& sizes) {
        return randint(-2, 3, sizes).to(kBFloat16);  // sums of products of these numbers are exact
      };
      const Tensor x = draw(c.x), w = draw(c.w).requires_grad_();
      const Tensor y = convolve(c, x, w, Tensor()), dy = draw(y.sizes().vec());
      y.backward(dy);
      const Tensor exact = w.detach().to(kFloat64).requires_grad_();
      convolve(c, x.to(kFloat64), exact, Tensor()).backward(dy.to(kFloat64));
      REQUIRE(w.grad().to(kFloat64).equal(exact.grad()));
    }
  }
}

TEST_CASE("ops after a convolution of bfloat16 do not depend on the layout of its result") {
  const auto convolved = [](bool row_major) {
    manual_seed(3);
    const Tensor x = randn({4, 3, 12, 12}).bfloat16(), w = randn({20, 3, 3, 3}).bfloat16();
    const Tensor y = conv2d(x, w, Tensor(), 1, 1);
    y.view({-1})[5].fill_(NAN);  // row-major from now on
    const Tensor z = conv2d(y.relu().nan_to_num(0.5), randn({20, 20, 1, 1}).bfloat16());
    if (row_major) static_cast<void>(z.data_ptr());
    return z;
  };
  const auto check = [&](const char* what, const auto& f) {
    INFO(what);
    const Tensor lies = f(convolved(false)), row_major = f(convolved(true));
    CHECK(lies.dtype() == row_major.dtype());
    CHECK(lies.allclose(row_major, 0, 0, true));
  };
  check("itself", [](const Tensor& x) { return x; });
  check("relu", [](const Tensor& x) { return x.relu(); });
  check("a function of maths", [](const Tensor& x) { return x.sigmoid(); });
  check("a bool", [](const Tensor& x) { return x.isnan(); });
  check("sum of two", [](const Tensor& x) { return x + x.flip({0}); });
  check("with a row", [](const Tensor& x) { return x * x[0][0][0]; });
  check("scaled sum", [](const Tensor& x) { return x.add(x.relu(), 0.3); });
  check("a number", [](const Tensor& x) { return 0.7 - x; });
  check("clamped", [](const Tensor& x) { return x.clamp(-0.5, 0.7); });
  check("float32", [](const Tensor& x) { return x.to(kFloat32).exp(); });
  check("float16", [](const Tensor& x) { return x.to(kFloat16).tanh(); });
  check("float64", [](const Tensor& x) { return x.to(kFloat64); });
  // Sums of a few numbers of 8 bits are exact in float64, in any order.
  check("per channel", [](const Tensor& x) { return x.sum(IntArrayRef{0, 2, 3}); });
  check("of rows", [](const Tensor& x) { return x.mean(3); });
  check("of all", [](const Tensor& x) { return x.sum(); });
  check("maximum", [](const Tensor& x) { return x.amax(IntArrayRef{1}); });
  check("softmax", [](const Tensor& x) { return x.softmax(1); });
  check("channels", [](const Tensor& x) { return cat({x.narrow(1, 3, 7), x}, 1); });
  check("images", [](const Tensor& x) { return cat({x.narrow(0, 1, 2), x}, 0); });
  check("images of float32", [](const Tensor& x) {
    const Tensor y = empty({6, 20, 12, 12}, x.dtype());
    y.narrow(0, 2, 4).copy_(x.to(kFloat32));
    y.narrow(0, 0, 2).copy_(x.narrow(0, 1, 2).to(kFloat32));
    return y;
  });
  check("channels of float32", [](const Tensor& x) {
    const Tensor y = empty({4, 31, 12, 12}, x.dtype());
    y.narrow(1, 11, 20).copy_(x.to(kFloat32));
    y.narrow(1, 0, 11).copy_(x.narrow(1, 6, 11).to(kFloat32));
    return y;
  });
  check("bits", [](const Tensor& x) { return where(x > 0, x, x.flip({1})); });
  check("average pool", [](const Tensor& x) { return avg_pool2d(x, {2}); });
  check("upsampled", [](const Tensor& x) {
    return nn::functional::interpolate(
        x, nn::functional::InterpolateFuncOptions().scale_factor(std::vector<double>{2, 2}));
  });
  struct Pool {
    const char* what;
    int64_t kernel, stride, padding, dilation;
  };
  const Pool pools[] = {{"tiles", 2, 2, 0, 1},
                        {"overlapping", 3, 2, 1, 1},
                        {"gaps", 2, 3, 0, 1},
                        {"dilated", 2, 2, 0, 2}};
  for (const Pool& pool : pools) {
    const PoolParams p{.kernel = PerAxis{pool.kernel, pool.kernel},
                       .stride = PerAxis{pool.stride, pool.stride},
                       .padding = PerAxis{pool.padding, pool.padding},
                       .dilation = PerAxis{pool.dilation, pool.dilation}};
    check(pool.what, [&p](const Tensor& x) { return max_pool2d(x, p); });
    check(pool.what, [&p](const Tensor& x) { return std::get<1>(max_pool2d_with_indices(x, p)); });
    check(pool.what, [&p](const Tensor& x) {
      const Tensor leaf = x.detach().requires_grad_();
      const Tensor y = max_pool2d(leaf.relu(), p);
      y.backward(arange(y.numel(), kFloat32).view(y.sizes()).bfloat16());
      return leaf.grad();
    });
  }
}

TEST_CASE("large convolutions of bfloat16 keep their layout, in any number of parts") {
  const Threads one(1);  // with one thread 2^19 elements are a part
  manual_seed(4);
  const Tensor x = randn({17, 128, 16, 16}).bfloat16(), w = randn({128, 128, 3, 3}).bfloat16();
  const Tensor y = conv2d(x, w, Tensor(), 1, 1);
  Tensor dx = empty_like(x);
  kernels::convolution_input_grad(dx, y, w, {.padding = {1, 1}});
  CHECK(y.storage()->is_native());
  CHECK(dx.storage()->is_native());
  // Both results are float32 sums in any order, rounded once, so they may be neighbours, which
  // differ by at most 2^-7. Sums of 1152 products are about sqrt(1152) and have a relative error of
  // at most 1152 * 2^-24.
  const Tensor want = conv2d(x.to(kFloat32), w.to(kFloat32), Tensor(), 1, 1);
  CHECK(y.to(kFloat32).allclose(want, 0x1p-7, 0x1p-24 * 1152 * 34));
}

TEST_CASE("max pooling of bfloat16 finds the positions of float32") {
  for_each_device([](Device device) {
    manual_seed(5);
    // 19 and 33 channels: vectors and a remainder. Every fourth number equals another; some are
    // NaN.
    for (const int64_t channels : {1, 19, 33}) {
      const Tensor x = (randn({3, channels, 8, 8}) * 4).round().bfloat16();
      x.masked_fill_(rand(x.sizes()) < 0.02, NAN);
      const Tensor w = eye(channels).view({channels, channels, 1, 1}).bfloat16();
      // `native` is the result of a convolution with the identity, which may change the layout to
      // channels last.
      const Tensor clean = x.nan_to_num(3);
      const Tensor native = conv2d(clean.to(device), w.to(device));
      for (const Tensor& t : {native, x.to(device)}) {
        const auto [y, index] = max_pool2d_with_indices(t, {2});
        const auto [want, at] = max_pool2d_with_indices(t.to(kFloat32), {2});
        CHECK(y.dtype() == kBFloat16);
        CHECK(y.to(kFloat32).cpu().allclose(want.cpu(), 0, 0, true));
        CHECK(index.cpu().equal(at.cpu()));
      }
    }
  });
}

TEST_CASE("batch_norm of bfloat16 computes in float32, with weights of either dtype") {
  for_each_device([](Device device) {
    for (const DType parameters : {kFloat32, kBFloat16}) {
      for (const auto& sizes : {std::vector<int64_t>{6, 20, 5, 7}, std::vector<int64_t>{9, 20}}) {
        for (const bool training : {true, false}) {
          INFO(std::string(name(parameters)), ", ", sizes.size(), " dims, training: ", training);
          manual_seed(2);
          const auto on = [&](const Tensor& t, DType dtype) { return t.to(device, dtype); };
          Tensor x = on(randn(sizes) * 3 + 5, kBFloat16);
          // The result of a convolution may be channels last.
          if (x.dim() == 4) x = conv2d(x, on(eye(20).view({20, 20, 1, 1}), kBFloat16));
          const Tensor w = on(rand({20}) + 0.5, parameters), b = on(randn({20}), parameters),
                       dy = on(randn(sizes), kBFloat16);
          struct Result {
            Tensor y, mean, var, dx, dw, db;
          };
          const auto run = [&](DType images, DType of_parameters) {
            const auto leaf = [](const Tensor& t) { return t.detach().requires_grad_(); };
            const Tensor input = leaf(x.to(images)), weight = leaf(w.to(of_parameters)),
                         bias = leaf(b.to(of_parameters));
            const Tensor mean = zeros({20}, weight.options()).requires_grad_(false),
                         var = ones({20}, mean.options());
            const Tensor y = batch_norm(input, weight, bias, mean, var, {.training = training});
            y.backward(dy.to(images));
            return Result{y, mean, var, input.grad(), weight.grad(), bias.grad()};
          };
          const Result got = run(kBFloat16, parameters), want = run(kFloat32, kFloat32);
          CHECK(got.y.dtype() == kBFloat16);
          CHECK(got.dx.dtype() == kBFloat16);
          for (const Tensor& t : {got.mean, got.var, got.dw, got.db}) {
            CHECK(t.dtype() == parameters);
          }
          // The results of float32, rounded once if they are bfloat16 (2^-8). float32's sums of 210
          // numbers of about 1 depend on their order.
          const auto close = [](const Tensor& a, const Tensor& exact) {
            const double last = a.dtype() == kBFloat16 ? 0x1p-8 : 0;
            return a.to(kFloat32).allclose(exact, last + 0x1p-20, 210 * 0x1p-20);
          };
          CHECK(close(got.y, want.y));
          CHECK(close(got.mean, want.mean));
          CHECK(close(got.var, want.var));
          CHECK(close(got.dx, want.dx));
          CHECK(close(got.dw, want.dw));
          CHECK(close(got.db, want.db));
        }
      }
    }
  });
}

TEST_CASE("batch_norm refuses weights that are neither float32 nor of its images' dtype") {
  const Tensor x = ones({4, 3}, kBFloat16), f32 = ones({3}), f16 = ones({3}, kFloat16);
  CHECK_THROWS_AS(batch_norm(x, f16, f16, {}, {}, {.training = true}), DTypeError);
  CHECK_THROWS_AS(batch_norm(x, f32, f16, {}, {}, {.training = true}), DTypeError);
  CHECK_THROWS_AS(batch_norm(x, f32, {}, ones({3}, kBFloat16), {}, {.training = true}), DTypeError);
  CHECK_THROWS_AS(batch_norm(ones({4, 3}), ones({3}, kBFloat16), {}, {}, {}, {.training = true}),
                  DTypeError);
  CHECK(batch_norm(x, f32, f32, {}, {}, {.training = true}).dtype() == kBFloat16);
}

TEST_CASE("kernels of bfloat16 allocate on the cpu, whatever the default device is") {
  const auto results = [] {
    manual_seed(2);
    const Tensor x = randn({2, 3, 6, 6}, kCPU).bfloat16().requires_grad_(),
                 w = randn({3, 1, 3, 3}, kCPU).bfloat16(), one = ones({3}, kCPU).bfloat16();
    Tensor y = conv2d(x, w, Tensor(), 1, 1, 1, 3);
    y = batch_norm(y, one, one, one.clone(), one.clone(), true, 0.1, 1e-5, false);
    y = max_pool2d(y, 2);
    y.sum().backward();
    return std::pair(y, x.grad());
  };
  const auto [y, grad] = results();
  const DefaultDeviceGuard elsewhere(kMeta);
  const auto [same_y, same_grad] = results();
  CHECK(same_y.equal(y));
  CHECK(same_grad.equal(grad));
}
