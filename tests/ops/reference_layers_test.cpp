// The reference backend's convolution, pooling, normalisation, loss and optimizer kernels compared
// with PyTorch 1.13. Each block quotes the Python code of its values (t = torch.tensor, F =
// torch.nn.functional).
#include <ambit/backend/kernels.h>
#include <ambit/error.h>

#include "tests/nn/reference_tensors.h"

using namespace ambit;
using namespace reference_tensors;

TEST_CASE("reference conv2d and its gradients match PyTorch with every parameter") {
  // x = (torch.arange(18).double().view(1, 2, 3, 3) / 8).requires_grad_()
  // w = ((torch.arange(16).double().view(4, 1, 2, 2) - 7) / 8).requires_grad_()
  // b = torch.arange(1, 5).double(); dy = torch.arange(1., 9.).double().view(1, 4, 2, 1)
  // y = F.conv2d(x, w, b, stride=(2, 1), padding=(1, 0), dilation=(1, 2), groups=2)
  // y.backward(dy); y, x.grad, w.grad
  Values<double> vx, vw, vdy;
  for (int i = 0; i < 18; ++i) vx.push_back(i / 8.0);
  for (int i = 0; i < 16; ++i) vw.push_back((i - 7) / 8.0);
  for (int i = 1; i < 9; ++i) vdy.push_back(i);
  const Tensor x = make<double>(vx, {1, 2, 3, 3}), w = make<double>(vw, {4, 1, 2, 2}),
               dy = make<double>(vdy, {1, 4, 2, 1});
  const ConvParams p{.stride = {2, 1}, .padding = {1, 0}, .dilation = {1, 2}, .groups = 2};
  Tensor y = blank<double>({1, 4, 2, 1}), dx = blank<double>({1, 2, 3, 3}),
         dw = blank<double>({4, 1, 2, 2});
  // All numbers are small multiples of 1/64, so results are exact.
  kernels::convolution(y, x, w, make<double>({1, 2, 3, 4}), p);
  check_values<double>(y, {0.875, -0.765625, 2, 1.609375, 4.109375, 5.390625, 6.359375, 10.015625});
  kernels::convolution_input_grad(dx, dy, w, p);
  check_values<double>(
      dx, {-1, 0, -0.5, -3.25, 0, -2.5, -1.75, 0, -1, 8, 0, 9.5, 5.75, 0, 7.5, 9.25, 0, 11});
  kernels::convolution_weight_grad(dw, dy, x, p);
  check_values<double>(dw, {0.75, 1.25, 1.5, 2.25, 1.5, 2.5, 3, 4.75, 9, 10.5, 16.875, 19.625, 12,
                            14, 22.875, 26.625});
}

TEST_CASE("reference max_pool2d propagates NaN and never selects padding") {
  // F.max_pool2d(t([[[[1., 2., 3.], [4., nan, 6.], [7., 8., 9.]]]]), 2, 1, 1, return_indices=True)
  const Tensor x = make<double>({1, 2, 3, 4, kNaN, 6, 7, 8, 9}, {1, 1, 3, 3});
  Tensor y = blank<double>({1, 1, 4, 4}), index = blank<int32_t>({1, 1, 4, 4});
  kernels::max_pool(y, index, x, {.kernel = {2, 2}, .stride = {1, 1}, .padding = {1, 1}});
  check_values<double>(y, {1, 2, 3, 3, 4, kNaN, kNaN, 6, 7, kNaN, kNaN, 9, 7, 8, 9, 9});
  check_values<int32_t>(index, {0, 1, 2, 2, 3, 4, 4, 5, 6, 4, 4, 8, 6, 7, 8, 8});
  // F.max_pool2d(torch.full((1, 1, 2, 2), -inf), 2, 2, 1, return_indices=True)
  Tensor z = blank<double>({1, 1, 2, 2}), at = blank<int32_t>({1, 1, 2, 2});
  const PoolParams p{.kernel = {2, 2}, .stride = {2, 2}, .padding = {1, 1}};
  kernels::max_pool(z, at, make<double>({-kInf, -kInf, -kInf, -kInf}, {1, 1, 2, 2}), p);
  check_values<double>(z, {-kInf, -kInf, -kInf, -kInf});
  check_values<int32_t>(at, {0, 1, 2, 3});
}

TEST_CASE("reference max_pool2d accepts rectangular dilated windows, and its gradient adds") {
  Values<double> vx;
  for (int i = 0; i < 25; ++i) vx.push_back(i);
  // F.max_pool2d(torch.arange(25.).view(1, 1, 5, 5), (2, 3), (2, 1), (1, 1), (1, 2))
  const PoolParams p{.kernel = {2, 3}, .stride = {2, 1}, .padding = {1, 1}, .dilation = {1, 2}};
  Tensor y = blank<double>({1, 1, 3, 3}), index = blank<int32_t>({1, 1, 3, 3});
  kernels::max_pool(y, index, make<double>(vx, {1, 1, 5, 5}), p);
  check_values<double>(y, {3, 4, 3, 13, 14, 13, 23, 24, 23});
  Tensor dx = blank<double>({1, 1, 5, 5});
  kernels::max_pool_grad(dx, y, index, p);
  Values<double> expected(25, 0.0);
  for (const int i : {4, 14, 24}) expected[static_cast<size_t>(i)] = i;
  for (const int i : {3, 13, 23}) expected[static_cast<size_t>(i)] = 2 * i;
  check_values<double>(dx, expected);
  const Tensor outside = make<int32_t>({25, 0, 0, 0, 0, 0, 0, 0, 0}, {1, 1, 3, 3});
  CHECK_THROWS_AS(kernels::max_pool_grad(dx, y, outside, p), IndexError);
}

TEST_CASE("reference avg_pool2d divides as PyTorch does at the borders") {
  Values<double> vx;
  for (int i = 1; i < 26; ++i) vx.push_back(i);
  const Tensor x = make<double>(vx, {1, 1, 5, 5});
  Tensor y = blank<double>({1, 1, 3, 3}), dx = blank<double>({1, 1, 5, 5});
  // F.avg_pool2d(torch.arange(1., 26.).view(1, 1, 5, 5), 2, 2, 1, ceil_mode=True), then the same
  // with count_include_pad=False
  PoolParams p{.kernel = {2, 2}, .stride = {2, 2}, .padding = {1, 1}, .ceil_mode = true};
  kernels::avg_pool(y, x, p);
  check_values<double>(y, {.25, 1.25, 2.25, 4.25, 10, 12, 9.25, 20, 22});
  p.count_include_pad = false;
  kernels::avg_pool(y, x, p);
  check_values<double>(y, {1, 2.5, 4.5, 8.5, 10, 12, 18.5, 20, 22});
  // y.backward(torch.arange(1., 10.).view(1, 1, 3, 3)); x.grad
  kernels::avg_pool_grad(dx, make<double>({1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 1, 3, 3}), p);
  check_values<double>(dx, {1,   1,   1,   1.5, 1.5, 2,    1.25, 1.25, 1.5, 1.5, 2,    1.25, 1.25,
                            1.5, 1.5, 3.5, 2,   2,   2.25, 2.25, 3.5,  2,   2,   2.25, 2.25});
}

TEST_CASE("reference softmax and log_softmax match PyTorch, also for infinities") {
  // x = t([[1., 2., 4.], [0., -1., .5]]).double(); dy = t([[1., 2., 3.], [-1., 0., 1.]]).double()
  // y = torch.softmax(x, 1); y.backward(dy); y, x.grad; the same calls with torch.log_softmax
  const Tensor x = make<double>({1, 2, 4, 0, -1, .5}, {2, 3}),
               dy = make<double>({1, 2, 3, -1, 0, 1}, {2, 3});
  Tensor y = blank<double>({2, 3}), dx = blank<double>({2, 3});
  kernels::softmax(y, x, 1, false);
  check_values<double>(y,
                       {0.04201006613406605, 0.11419519938459449, 0.8437947344813395,
                        0.3314989604240915, 0.12195165230972885, 0.5465493872661796},
                       kRounding64);
  kernels::softmax_grad(dx, dy, y, 1, false);
  check_values<double>(dx,
                       {-0.0756930930766152, -0.09155996006542783, 0.1672530531420433,
                        -0.4027879533610008, -0.026225754883305114, 0.429013708244306},
                       kRounding64);
  kernels::softmax(y, x, 1, true);
  check_values<double>(y,
                       {-3.1698460195562856, -2.1698460195562856, -0.16984601955628567,
                        -1.1041306053367284, -2.1041306053367284, -0.6041306053367282},
                       kRounding64);
  kernels::softmax_grad(dx, dy, y, 1, true);
  check_values<double>(dx, {0.7479396031956037, 1.3148288036924332, -2.0627684068880368, -1, 0, 1},
                       kRounding64);
  // torch.softmax(t([[-inf, inf, -inf], [-inf, 1., 0.]]), 0): columns
  Tensor z = blank<double>({2, 3});
  kernels::softmax(z, make<double>({-kInf, kInf, -kInf, -kInf, 1, 0}, {2, 3}), 0, false);
  check_values<double>(z, {kNaN, kNaN, 0, kNaN, kNaN, 1});
}

TEST_CASE(
    "reference batch_norm updates the running statistics and differentiates through the batch's") {
  // x = t([[1., 10.], [2., 30.], [6., 20.]]).double(); w, b = t([2., .5]), t([1., -1.]) in float64
  // rm, rv = zeros, ones; y = F.batch_norm(x, rm, rv, w, b, True, .1, 1e-5)
  // y.backward(t([[1., 2.], [3., 4.], [5., -6.]])); y, rm, rv, x.grad, w.grad, b.grad
  const Tensor x = make<double>({1, 10, 2, 30, 6, 20}, {3, 2}), w = make<double>({2, .5}),
               b = make<double>({1, -1}), dy = make<double>({1, 2, 3, 4, 5, -6}, {3, 2});
  Tensor y = blank<double>({3, 2}), mean = blank<double>({2}), invstd = blank<double>({2});
  Tensor running_mean = make<double>({0, 0}), running_var = make<double>({1, 1});
  const BatchNormParams p;
  kernels::batch_norm(y, mean, invstd, running_mean, running_var, x, w, b, p);
  check_values<double>(y,
                       {-0.8516382156480775, -1.612372389767867, 0.07418089217596124,
                        -0.38762761023213305, 3.7774573234721163, -1.0},
                       kRounding64);
  check_values<double>(mean, {3, 20}, kRounding64);
  check_values<double>(running_mean, {.3, 2}, kRounding64);
  check_values<double>(running_var, {1.6, 10.9}, kRounding64);
  Tensor dx = blank<double>({3, 2}), dw = blank<double>({2}), db = blank<double>({2});
  kernels::batch_norm_grad(dx, dw, db, dy, x, w, mean, invstd, p);
  check_values<double>(dx,
                       {-0.529042324319218, 0.1837117077447756, 0.6612979456644298,
                        0.18371172611594458, -0.13225562134521182, -0.3674234338607202},
                       kRounding64);
  check_values<double>(dw, {4.629095539120193, 2.449489559071468}, kRounding64);
  check_values<double>(db, {9, 0});
}

TEST_CASE("reference batch_norm uses the running statistics in evaluation") {
  // F.batch_norm(t([[1., 2.]]).double(), t([1., 0.]), t([4., 1.]), eps=0.), in float64
  Tensor y = blank<double>({1, 2}), mean = blank<double>({2}), invstd = blank<double>({2});
  Tensor running_mean = make<double>({1, 0}), running_var = make<double>({4, 1});
  kernels::batch_norm(y, mean, invstd, running_mean, running_var, make<double>({1, 2}, {1, 2}), {},
                      {}, {.training = false, .eps = 0});
  check_values<double>(y, {0, 2});
  check_values<double>(invstd, {.5, 1});
  check_values<double>(running_var, {4, 1});
}

TEST_CASE(
    "reference nll_loss applies class weights, ignores one class, and refuses targets out of "
    "range") {
  // F.nll_loss(t([[-1., -2., -3.], [-.5, -.25, -4.], [-1., -1., -1.]]).double(), t([2, -100, 0]),
  //            t([1., 2., 4.]).double(), reduction='none')
  const Tensor x = make<double>({-1, -2, -3, -.5, -.25, -4, -1, -1, -1}, {3, 3}),
               w = make<double>({1, 2, 4});
  Tensor y = blank<double>({3}), weight_sum = blank<double>({});
  kernels::nll_loss(y, weight_sum, x, make<int64_t>({2, -100, 0}), w, -100);
  check_values<double>(y, {12, 0, 1});
  check_values<double>(weight_sum, {5});
  CHECK_THROWS_WITH_AS(kernels::nll_loss(y, weight_sum, x, make<int64_t>({0, 1, 3}), {}, -100),
                       "nll_loss: expected a target in [0, 3), got 3", IndexError);
  check_values<double>(y, {12, 0, 1});
}

TEST_CASE("reference cross_entropy and its gradient agree with PyTorch") {
  // x = t([[1., 2., 4.], [0., 0., 0.], [-1., 3., 0.]]).double(), target t([2, -100, 0]),
  // w = t([1., 2., 4.]).double()
  const Tensor x = make<double>({1, 2, 4, 0, 0, 0, -1, 3, 0}, {3, 3}), w = make<double>({1, 2, 4}),
               target = make<int64_t>({2, -100, 0});
  Tensor y = blank<double>({3}), weight_sum = blank<double>({}), dx = blank<double>({3, 3});
  kernels::cross_entropy(y, weight_sum, x, target, w, -100);
  // F.cross_entropy(x, target, w, reduction='none')
  check_values<double>(y, {0.67938407822514268, 0, 4.0658839037574293}, kRounding64);
  check_values<double>(weight_sum, {5});
  kernels::cross_entropy_grad(dx, make<double>({1, 2, 3}), x, target, w, -100);
  // x.grad, after backward(t([1., 2., 3.]).double())
  check_values<double>(dx,
                       {0.16804026453626419, 0.45678079753837791, -0.62482106207464216, 0, 0, 0,
                        -2.9485565233634388, 2.8087186556295172, 0.13983786773392168},
                       kRounding64);
  CHECK_THROWS_WITH_AS(kernels::cross_entropy(y, weight_sum, x, make<int64_t>({0, 1, 3}), {}, -100),
                       "cross_entropy: expected a target in [0, 3), got 3", IndexError);
}

TEST_CASE("reference unscale equals _amp_foreach_non_finite_check_and_unscale_") {
  Tensor found = make<float>({0});
  Tensor g = make<double>({1, -2}), other = make<double>({4, 0, 3});
  kernels::unscale({g, other}, found, 0.5);
  check_values<double>(g, {0.5, -1}, 0);
  check_values<double>(other, {2, 0, 1.5}, 0);
  CHECK(found.item<float>() == 0);
  g[1] = -HUGE_VAL;
  kernels::unscale({g, other}, found, 0.5);
  CHECK(found.item<float>() == 1);
  CHECK(g[0].item<double>() == 0.25);
  kernels::unscale({other}, found, 0.5);
  CHECK(found.item<float>() == 1);
}

TEST_CASE("reference sgd_step equals torch.optim.SGD") {
  // o = torch.optim.SGD([p], lr=.1, momentum=.9, dampening=.5, weight_decay=.01) on p = [1., 2.]
  // (float64), with gradients [1., -1.] and [.5, 2.]
  Tensor p = make<double>({1, 2}), buf = make<double>({0, 0});
  SgdParams params{.lr = .1, .momentum = .9, .dampening = .5, .weight_decay = .01};
  params.first_step = true;
  kernels::sgd_step({p}, {buf}, {make<double>({1, -1})}, params);
  check_values<double>(p, {0.899, 2.098}, kRounding64);
  params.first_step = false;
  kernels::sgd_step({p}, {buf}, {make<double>({.5, 2})}, params);
  check_values<double>(p, {0.7826505, 2.0851509999999998}, kRounding64);
  check_values<double>(buf, {1.1634950000000002, 0.1284900000000001}, kRounding64);
  // The same optimizer with nesterov=True, dampening=0, weight_decay=0.
  Tensor q = make<double>({1, 2}), v = make<double>({0, 0});
  SgdParams nesterov{.lr = .1, .momentum = .9, .nesterov = true, .first_step = true};
  kernels::sgd_step({q}, {v}, {make<double>({1, -1})}, nesterov);
  nesterov.first_step = false;
  kernels::sgd_step({q}, {v}, {make<double>({.5, 2})}, nesterov);
  check_values<double>(q, {0.634, 1.891}, kRounding64);
  kernels::sgd_step({p, q}, {nullptr, 0}, {make<double>({2, 4}), make<double>({1, 1})}, {.lr = .5});
  check_values<double>(p, {-0.2173495, 0.0851509999999998}, kRounding64);
  check_values<double>(q, {0.134, 1.391}, kRounding64);
}
