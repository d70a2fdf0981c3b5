// A storage may keep its backend's native layout until its elements are accessed; results must not
// depend on it. On the cpu, whose convolutions write channels-last.
#include <ambit/ambit.h>
#include <ambit/backend/kernels.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <thread>
#include <vector>

using namespace ambit;

namespace {

// A convolution large enough for oneDNN, whose result has not been accessed.
struct Laid {
  Laid() {
    manual_seed(1);
    x = rand({4, 16, 12, 12});
    w = rand({32, 16, 3, 3});
    y = conv2d(x, w);
    REQUIRE(y.storage()->is_native());
  }
  Tensor x, w, y;
};

// Compute the result by plain loops, on row-major data.
Tensor by_reference(const Laid& l) {
  const Device reference("reference");
  return conv2d(l.x.to(reference), l.w.to(reference)).cpu();
}

// Products of 144 numbers in [0, 1) are summed in another order: sums are about 36, with a rounding
// error of at most 144 * 2^-24 of that, 3e-4.
bool agree(const Tensor& a, const Tensor& b) { return a.allclose(b, 0, 3e-4); }

}  // namespace

TEST_CASE("a result in a native layout reads as row-major") {
  const Laid l;
  CHECK(l.y.is_contiguous());
  CHECK(l.y.strides().vec() == std::vector<int64_t>{3200, 100, 10, 1});
  CHECK(l.y.storage()->is_native());  // sizes and strides do not access the elements
  CHECK(agree(l.y, by_reference(l)));
  CHECK(l.y.data_ptr<float>()[3200 + 2 * 100 + 3] == l.y[1][2][0][3].item<float>());
  CHECK_FALSE(l.y.storage()->is_native());
}

TEST_CASE("a data pointer stays valid, whatever kernels follow") {
  const Laid l;
  const float* p = l.y.data_ptr<float>();
  const float first = p[0];
  const Tensor again = relu(l.y);
  kernels::convolution(const_cast<Tensor&>(l.y), l.x, l.w, Tensor(), {});
  CHECK(l.y.data_ptr<float>() == p);
  CHECK(p[0] == doctest::Approx(first));
}

TEST_CASE("elementwise ops, sums and pooling keep the layout, and their results agree") {
  const Laid l;
  const Tensor y = relu(l.y - 30);
  const Tensor doubled = y + l.y;
  CHECK(y.storage()->is_native());
  CHECK(doubled.storage()->is_native());
  const auto [pooled, index] = max_pool2d_with_indices(y, {.kernel = {2, 2}, .stride = {2, 2}});
  CHECK(pooled.storage()->is_native());
  const Tensor sums = y.sum({0, 2, 3});
  CHECK(y.storage()->is_native());

  const Tensor plain = relu(by_reference(l) - 30);
  const auto [plain_pooled, plain_index] =
      max_pool2d_with_indices(y.clone(), {.kernel = {2, 2}, .stride = {2, 2}});
  CHECK(agree(y, plain));
  CHECK(agree(doubled, plain + by_reference(l)));
  CHECK(pooled.equal(plain_pooled));
  CHECK(index.equal(plain_index));
  // Sums of 400 terms, each with an error of at most 3e-4.
  CHECK(sums.allclose(plain.sum({0, 2, 3}), 0, 400 * 3e-4));
}

TEST_CASE("channels-last images are concatenated, split and resized without a conversion") {
  const Laid l, m;
  const Tensor plain = by_reference(l);
  const auto as_laid = [](const Tensor& t, const Tensor& expected) {
    CHECK(t.storage()->is_native());
    CHECK(agree(t, expected));
  };
  {
    // Row-major images are copied into a channels-last result.
    const Tensor row_major = plain.narrow(1, 0, 5).clone();
    const Tensor joined = cat({l.y, row_major, l.y}, 1);
    CHECK(l.y.storage()->is_native());
    const Tensor parts[] = {joined.narrow(1, 0, 32).contiguous(),
                            joined.narrow(1, 32, 5).contiguous(),
                            joined.narrow(1, 37, 32).contiguous()};
    as_laid(joined, cat({plain, row_major, plain}, 1));
    as_laid(parts[0], plain);
    as_laid(parts[1], row_major);
    as_laid(parts[2], plain);
  }
  {
    const Tensor batch = cat({m.y, m.y}, 0), middle = batch.narrow(0, 2, 4).clone();
    as_laid(middle, cat({plain.narrow(0, 2, 2), plain.narrow(0, 0, 2)}, 0));
    as_laid(batch, cat({plain, plain}, 0));
  }
  // Other concatenations do not have whole channels.
  CHECK(agree(cat({m.y, m.y}, 2), cat({plain, plain}, 2)));
  const Laid n;
  const Tensor larger = upsample_bilinear2d(n.y, {20, 15}, false),
               repeated = upsample_nearest2d(n.y, {20, 20});
  CHECK(n.y.storage()->is_native());
  as_laid(larger, upsample_bilinear2d(plain, {20, 15}, false));
  as_laid(repeated, upsample_nearest2d(plain, {20, 20}));
  Tensor back = empty(n.y.sizes());
  kernels::interpolate_grad(back, relu(conv2d(rand({4, 16, 22, 22}), n.w)), {});
  CHECK(back.storage()->is_native());
}

TEST_CASE("a U-Net's skip connection has the gradients of the reference") {
  const auto gradients = [](const Device& device) {
    manual_seed(3);
    const Tensor x = rand({2, 16, 10, 10}).to(device).requires_grad_();
    const Tensor w = rand({16, 16, 3, 3}).to(device).requires_grad_();
    const Tensor v = rand({16, 32, 3, 3}).to(device).requires_grad_();
    const Tensor down = relu(conv2d(x, w) - 36);
    const Tensor up = upsample_bilinear2d(max_pool2d(down, {.kernel = {2, 2}}), {8, 8}, false);
    conv2d(cat({down, up}, 1), v).mean().backward();
    return std::vector<Tensor>{x.grad().cpu(), w.grad().cpu(), v.grad().cpu()};
  };
  const auto on_cpu = gradients(kCPU), plain = gradients(Device("reference"));
  // Sums of up to 1600 terms of one sign, relative 1600 * 2^-24 = 1e-4.
  for (size_t i = 0; i < 3; ++i) CHECK(on_cpu[i].allclose(plain[i], 1e-4, 1e-6));
}

TEST_CASE(
    "batch normalisation keeps the layout in forward and backward, and agrees with the reference") {
  // 20 channels are one vector and a remainder.
  const auto run = [](const Device& device, bool training) {
    manual_seed(4);
    const Tensor x = rand({3, 16, 12, 12}).to(device), v = rand({3, 20, 10, 10}).to(device);
    const Tensor w = (rand({20, 16, 3, 3}) - 0.5).to(device).requires_grad_();
    const Tensor scale = rand({20}).to(device).requires_grad_(),
                 shift = rand({20}).to(device).requires_grad_();
    Tensor mean = rand({20}).to(device), var = (rand({20}) + 1).to(device);
    const Tensor y = conv2d(x, w);
    const Tensor z = batch_norm(y, scale, shift, mean, var, {.training = training});
    const Tensor out = relu(z);
    (out * v).sum().backward();
    if (device.is_cpu()) {
      for (const Tensor& t : {y, z, out}) CHECK(t.storage()->is_native());
    }
    return std::vector<Tensor>{out.detach().cpu(), mean.cpu(),         var.cpu(),
                               w.grad().cpu(),     scale.grad().cpu(), shift.grad().cpu()};
  };
  for (const bool training : {true, false}) {
    INFO(training);
    const auto on_cpu = run(kCPU, training), plain = run(Device("reference"), training);
    // The convolution's sums of 144 products up to 1/2 have an error of at most 144 * 2^-24 * 36 =
    // 3e-4. Sums in gradients have 300 such elements and sqrt(300) times this error.
    for (size_t i = 0; i < 3; ++i) CHECK(on_cpu[i].allclose(plain[i], 0, 3e-4));
    for (size_t i = 3; i < 6; ++i) CHECK(on_cpu[i].allclose(plain[i], 0, 5e-3));
  }
}

namespace {

struct LayoutCase {
  const char* name;
  std::function<Tensor(const Tensor&)> function;  // a function of images with 32 channels
};

// Check a function of channels-last images, and its gradient: the layout, and the reference's
// values.
void check_passes_through(const LayoutCase& c) {
  INFO(std::string(c.name));
  const Laid l;
  const Tensor plain = by_reference(l);
  const Tensor images = ((l.y - 36) * 0.5).requires_grad_();
  const Tensor same = ((plain - 36) * 0.5).to("reference").requires_grad_();
  REQUIRE(images.storage()->is_native());
  const Tensor out = c.function(images);
  CHECK(images.storage()->is_native());
  CHECK(out.storage()->is_native());
  const Tensor factor =
      conv2d(l.x, l.w * 0.02);  // a second channels-last operand, if the sizes fit
  const bool fits = factor.sizes() == out.sizes();
  const Tensor weighted = fits ? out * factor : out * out;
  CHECK(weighted.storage()->is_native());
  weighted.sum().backward();
  CHECK(images.grad().storage()->is_native());

  const Tensor expected = c.function(same);
  const Tensor plain_factor = (by_reference(l) * 0.02).to("reference");
  (fits ? expected * plain_factor : expected * expected).sum().backward();
  // The input has an error of 3e-4; the function's slope is at most 5.
  CHECK(out.allclose(expected.cpu(), 1e-4, 1.5e-3));
  const Tensor gradient = same.grad().cpu();
  const double largest = gradient.abs().max().item<double>();
  CHECK(images.grad().allclose(gradient, 0, 2e-3 * std::max(largest, 1.0)));
}

}  // namespace

TEST_CASE(
    "activations, norms, average pooling and resizing keep the layout in forward and backward") {
  namespace F = nn::functional;
  const Tensor scale = rand({32}) + 0.5, shift = rand({32});
  const auto group = [&](int64_t groups) {
    return [=](const Tensor& x) {
      return group_norm(x, groups, scale.to(x.device()), shift.to(x.device()));
    };
  };
  const LayoutCase cases[] = {
      {"relu", [](const Tensor& x) { return relu(x); }},
      {"gelu", [](const Tensor& x) { return gelu(x); }},
      {"silu", [](const Tensor& x) { return silu(x); }},
      {"mish", [](const Tensor& x) { return F::mish(x); }},
      {"sigmoid", [](const Tensor& x) { return sigmoid(x); }},
      {"tanh", [](const Tensor& x) { return tanh(x); }},
      {"elu", [](const Tensor& x) { return F::elu(x); }},
      {"celu", [](const Tensor& x) { return F::celu(x, 1.5); }},
      {"prelu", [&](const Tensor& x) { return F::prelu(x, scale.to(x.device())); }},
      {"hardshrink", [](const Tensor& x) { return F::hardshrink(x, 0.7); }},
      {"softshrink", [](const Tensor& x) { return F::softshrink(x, 0.7); }},
      {"threshold", [](const Tensor& x) { return F::threshold(x, 0.3, 0.1); }},
      {"selu", [](const Tensor& x) { return F::selu(x); }},
      {"leaky_relu", [](const Tensor& x) { return F::leaky_relu(x, 0.1); }},
      {"relu6", [](const Tensor& x) { return F::relu6(x); }},
      {"hardtanh", [](const Tensor& x) { return F::hardtanh(x); }},
      {"softplus", [](const Tensor& x) { return F::softplus(x); }},
      {"softsign", [](const Tensor& x) { return F::softsign(x); }},
      {"hardswish", [](const Tensor& x) { return hardswish(x); }},
      {"batch_norm",
       [&](const Tensor& x) {
         return batch_norm(x, scale.to(x.device()), shift.to(x.device()), {}, {}, {});
       }},
      {"group_norm", group(8)},
      {"group_norm of one group", group(1)},
      {"instance_norm", [](const Tensor& x) { return F::instance_norm(x); }},
      {"avg_pool2d",
       [](const Tensor& x) {
         return avg_pool2d(x, {.kernel = {2, 2}});
       }},
      {"avg_pool2d of overlapping windows",
       [](const Tensor& x) {
         return avg_pool2d(x, {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}});
       }},
      {"adaptive_avg_pool2d",
       [](const Tensor& x) {
         return adaptive_avg_pool2d(x, {3, 4});
       }},
      {"upsample_nearest2d",
       [](const Tensor& x) {
         return upsample_nearest2d(x, {20, 20});
       }},
      {"upsample_bilinear2d",
       [](const Tensor& x) {
         return upsample_bilinear2d(x, {15, 20}, false);
       }},
      {"upsample_bicubic2d",
       [](const Tensor& x) {
         return upsample_bicubic2d(x, {15, 20}, true);
       }},
  };
  for (const LayoutCase& c : cases) check_passes_through(c);
}

TEST_CASE("views, in-place writes and copies see row-major elements") {
  const Laid l;
  const Tensor expected = by_reference(l);
  CHECK(agree(l.y.view({4, -1}), expected.view({4, -1})));

  const Laid m;
  const Tensor column = m.y.select(3, 2);
  m.y.mul_(2);
  CHECK(agree(column, expected.select(3, 2) * 2));

  const Laid n;
  n.y.select(1, 5).fill_(7);
  CHECK(n.y.select(1, 5).equal(full({4, 10, 10}, 7.f)));
  CHECK(agree(n.y.select(1, 6), expected.select(1, 6)));

  const Laid o;
  CHECK(agree(o.y.transpose(0, 1).contiguous(), expected.transpose(0, 1).contiguous()));
  const Laid p;
  CHECK(agree(p.y.to(Device("reference")).cpu(), expected));
}

TEST_CASE("gradients through results in a native layout agree with those of the reference") {
  const auto gradients = [](const Device& device) {
    manual_seed(2);
    const Tensor x = rand({4, 16, 12, 12}).to(device).requires_grad_();
    const Tensor w = rand({32, 16, 3, 3}).to(device).requires_grad_();
    const Tensor b = rand({32}).to(device).requires_grad_();
    const Tensor y = max_pool2d(relu(conv2d(x, w, b) - 36), {.kernel = {3, 3}, .stride = {2, 2}});
    (y * y).mean().backward();
    return std::vector<Tensor>{x.grad().cpu(), w.grad().cpu(), b.grad().cpu()};
  };
  const auto on_cpu = gradients(kCPU), plain = gradients(Device("reference"));
  // 4 * 32 * 16 results of up to 30: each term of a gradient is at most 0.03, and 144 or 1600 of
  // them are summed with a relative error of at most 1600 * 2^-24 = 1e-4 of the sum.
  for (size_t i = 0; i < 3; ++i) {
    const double scale = plain[i].abs().max().item<double>();
    CHECK(on_cpu[i].allclose(plain[i], 0, 1e-4 * scale));
  }
}

TEST_CASE("pooling's gradient is zero for elements outside of all windows") {
  const auto gradient = [](const Tensor& t, const PoolParams& p) {
    const Tensor x = t.detach().requires_grad_();
    const Tensor sum = max_pool2d(x, p).sum();
    full(t.sizes(), 7.f);  // fills memory that the gradient then reuses
    sum.backward();
    return x.grad();
  };
  // Two windows of 5 for 10 elements, one of which is outside of all windows: at the end, or in the
  // middle.
  const PoolParams shifted{.kernel = {5, 5}, .stride = {5, 5}, .padding = {1, 1}};
  const PoolParams apart{.kernel = {5, 5}, .stride = {6, 6}, .ceil_mode = true};
  for (const PoolParams& p : {shifted, apart}) {
    const Laid l;
    const Tensor laid = gradient(l.y, p);
    CHECK(laid.storage()->is_native());
    CHECK(laid.equal(gradient(l.y.clone(), p)));
  }
}

TEST_CASE("a convolution's result may be the weights of another") {
  const auto results = [](const Device& device) {
    manual_seed(3);
    const Tensor x = rand({4, 16, 12, 12}).to(device), w = rand({32, 16, 3, 3}).to(device);
    const Tensor weights = conv2d(rand({16, 16, 18, 18}).to(device), w, {}, {.stride = {6, 6}});
    CHECK(weights.storage()->is_native() == device.is_cpu());
    const Tensor dx = convolution_input_grad(x, weights * 1, {4, 32, 14, 14}, {});
    return std::vector<Tensor>{conv2d(conv2d(x, w), weights).cpu(), dx.cpu()};
  };
  const auto on_cpu = results(kCPU), plain = results(Device("reference"));
  // Sums of 288 positive products of sums of 144: their relative errors, at most 2^-24 for each
  // term, add up.
  for (size_t i = 0; i < 2; ++i) CHECK(on_cpu[i].allclose(plain[i], (288 + 2 * 144) * 6e-8, 0));
}

TEST_CASE("threads may access a result while kernels read it in its native layout") {
  for (int round = 0; round < 50; ++round) {
    const Laid l;
    std::vector<Tensor> results(6);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < results.size(); ++i) {
      threads.emplace_back(
          [&, i] { results[i] = i % 2 ? l.y + l.y : l.y.view({-1}) + l.y.view({-1}); });
    }
    for (std::thread& t : threads) t.join();
    const Tensor expected = results[0];
    for (const Tensor& r : results) CHECK(r.view({-1}).equal(expected));
  }
}

// Each thread reads one operand in its native layout and needs the other one, the weights, in
// row-major order.
TEST_CASE("convolutions that use each other's operands do not deadlock") {
  for (int round = 0; round < 50; ++round) {
    manual_seed(4);
    const Tensor x = rand({32, 16, 12, 12}), w = rand({16, 16, 3, 3});
    const Tensor a = conv2d(x, w), b = conv2d(x, w * 2);
    REQUIRE(a.storage()->is_native());
    REQUIRE(b.storage()->is_native());
    Tensor there, back;
    std::thread other([&] { there = conv2d(a, b, {}, {.padding = {1, 1}}); });
    back = conv2d(b, a, {}, {.padding = {1, 1}});
    other.join();
    // The window of the element in the middle contains all elements: the same 1600 positive
    // products, in any order.
    const auto middle = [](const Tensor& t) { return t.select(3, 1).select(2, 1); };
    CHECK(middle(there).transpose(0, 1).allclose(middle(back), 2 * 1600 * 6e-8, 0));
  }
}
