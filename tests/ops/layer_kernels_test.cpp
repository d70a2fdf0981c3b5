// The composites of kernels of layers, compared with the reference's loops: interpolation, bags of
// rows, CTC. And the independence of the number of threads.
#include <ambit/ambit.h>
#include <ambit/backend/kernels.h>

#include <cmath>
#include <limits>

#include "composite.h"

using namespace ambit;
using namespace composite_test;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor integers(const std::vector<int64_t>& numbers, IntArrayRef sizes) {
  return tensor(numbers, TensorOptions(kInt64)).view(sizes).to("reference");
}

}  // namespace

TEST_CASE("composite interpolation and its gradient agree with the kernels") {
  using Mode = InterpolateParams::Mode;
  manual_seed(1);
  struct Case {
    Dims x, y;
    InterpolateParams p;
  };
  const Case cases[] = {
      {{2, 3, 7}, {2, 3, 16}, {}},
      {{2, 3, 9, 8}, {2, 3, 4, 11}, {.mode = Mode::nearest_exact}},
      {{1, 2, 3, 4, 5}, {1, 2, 7, 4, 2}, {.mode = Mode::linear}},
      {{1, 2, 4, 5}, {1, 2, 7, 1}, {.mode = Mode::linear, .align_corners = true}},
      {{1, 2, 4, 5}, {1, 2, 9, 3}, {.mode = Mode::cubic, .scale = {2.3, 0.5}}},
      {{1, 2, 30}, {1, 2, 40}, {.mode = Mode::linear, .scale = {1e-300}}},
      {{1, 2, 1}, {1, 2, 50}, {.mode = Mode::linear}},
      {{1, 2, 5}, {1, 2, 5}, {.mode = Mode::linear, .scale = {3}}},
  };
  for (const Case& c : cases) {
    INFO(str(c.x), " -> ", str(c.y));
    const Tensor x = normal(c.x), dy = normal(c.y);
    const auto call = [&](auto&& f, Tensors& o, const Tensors& in) { f(o[0], in[0], c.p); };
    check_composite(kernels::interpolate, {unwritten(c.y)}, {x}, call);
    check_composite(kernels::interpolate_grad, {unwritten(c.x)}, {dy}, call);
    // One is the transpose of the other.
    Tensor y = unwritten(c.y), dx = unwritten(c.x);
    kernels::interpolate(y, x, c.p);
    kernels::interpolate_grad(dx, dy, c.p);
    CHECK((y * dy).sum().allclose((x * dx).sum(), 1e-12, 1e-12));
  }
}

TEST_CASE("composite bags and their gradient agree with the kernels") {
  using Mode = EmbeddingBagParams::Mode;
  manual_seed(2);
  const Tensor w = normal({5, 3}), factors = normal({9}), dy = normal({5, 3});
  const Tensor index = integers({1, 0, 3, 3, 2, 1, 4, 0, 3}, {9});
  const double nan = std::nan("");
  w.select(0, 3).copy_(tensor({nan, 1., -kInfinity}, w.options()));
  w.select(0, 1).copy_(tensor({-kInfinity, nan, 1.}, w.options()));
  for (const Tensor& offsets :
       {integers({0, 3, 3, 4, 8, 9}, {6}), integers({1, 2, 2, 5, 7, 8}, {6})}) {
    for (const Mode mode : {Mode::sum, Mode::mean, Mode::max}) {
      for (const int64_t padding : {-1, 3}) {
        const EmbeddingBagParams p{.mode = mode, .padding = padding};
        const bool is_max = mode == Mode::max;
        const Tensor best = is_max ? integers(std::vector<int64_t>(15, 99), {5, 3}) : Tensor();
        const Tensor scale = is_max ? Tensor() : factors;
        const auto forward = [&](auto&& f, Tensors& o, const Tensors& in) {
          f(o[0], o[1], in[0], in[1], in[2], in[3], p);
        };
        const Tensor rows = is_max ? w : w.nan_to_num(0.5, 1, -1);
        check_composite(kernels::embedding_bag, {unwritten({5, 3}), best},
                        {rows, index, offsets, scale}, forward);
        Tensor y = unwritten({5, 3}), chosen = is_max ? best.clone() : best;
        kernels::embedding_bag(y, chosen, rows, index, offsets, scale, p);
        const auto backward = [&](auto&& f, Tensors& o, const Tensors& in) {
          f(o[0], in[0], in[1], in[2], in[3], in[4], p);
        };
        check_composite(kernels::embedding_bag_grad, {unwritten({5, 3})},
                        {dy, chosen, index, offsets, scale}, backward);
      }
    }
  }
}

TEST_CASE("composite CTC and its gradient agree with the kernels") {
  manual_seed(3);
  const auto check = [](const Tensor& x, const Tensor& target, const std::vector<int64_t>& lengths,
                        const std::vector<int64_t>& counts, int64_t blank) {
    const int64_t N = x.size(1), T = x.size(0), S = target.size(1);
    const Tensor times = integers(lengths, {N}), labels = integers(counts, {N});
    const auto forward = [&](auto&& f, Tensors& o, const Tensors& in) {
      f(o[0], o[1], in[0], in[1], in[2], in[3], blank);
    };
    check_composite(kernels::ctc_loss, {unwritten({N}), unwritten({N, T, 2 * S + 1})},
                    {x, target, times, labels}, forward);
    Tensor y = unwritten({N}), alpha = unwritten({N, T, 2 * S + 1});
    kernels::ctc_loss(y, alpha, x, target, times, labels, blank);
    const auto backward = [&](auto&& f, Tensors& o, const Tensors& in) {
      f(o[0], in[0], in[1], in[2], in[3], in[4], in[5], in[6], blank);
    };
    check_composite(kernels::ctc_loss_grad, {unwritten(x.sizes())},
                    {normal({N}), x, target, times, labels, y, alpha}, backward);
  };
  const Tensor x = log_softmax(normal({6, 4, 5}), 2);
  x[2].select(0, 1).select(0, 3).fill_(-kInfinity);
  const Tensor target = integers({1, 2, 2, 3, 3, -9, 4, 77, -1, 2, 1, 3}, {4, 3});
  check(x, target, {6, 4, 3, 0}, {3, 2, 1, 3}, 0);  // -9 and 77 are after an end
  check(x, target, {2, 6, 0, 6}, {3, 2, 0, 3}, 4);
  check(x, integers({}, {4, 0}), {6, 4, 3, 0}, {0, 0, 0, 0}, 2);
  check(zeros({0, 2, 3}, oracle()), integers({1, 2}, {2, 1}), {0, 0}, {0, 1}, 0);
}

TEST_CASE("interpolation, bags and CTC do not depend on the number of threads") {
  manual_seed(4);
  const Tensor x = randn({4, 20, 30, 31}), w = randn({2000, 40}),
               lp = log_softmax(randn({60, 16, 30}), 2);
  const Tensor index = randint(0, 2000, {6000}, TensorOptions(kInt64)),
               target = randint(1, 30, {16, 20}, TensorOptions(kInt64));
  const auto results = [&](int threads) {
    set_num_threads(threads);
    std::vector<Tensor> all;
    const auto with_gradient = [&](const Tensor& in, const auto& f) {
      const Tensor leaf = in.clone().requires_grad_();
      const Tensor y = f(leaf);
      all.push_back(y.detach());
      all.push_back(autograd::grad({(y * y).sum()}, {leaf})[0]);
    };
    with_gradient(x, [](const Tensor& t) { return upsample_bicubic2d(t, {47, 60}, false); });
    with_gradient(w, [&](const Tensor& t) {
      return nn::functional::embedding_bag(index.view({60, 100}), t);
    });
    with_gradient(lp, [&](const Tensor& t) {
      return ctc_loss(t, target, std::vector<int64_t>(16, 60), std::vector<int64_t>(16, 20), 0,
                      kNone);
    });
    return all;
  };
  const int before = get_num_threads();
  const std::vector<Tensor> one = results(1), three = results(3);
  set_num_threads(before);
  for (size_t i = 0; i < one.size(); ++i) CHECK(one[i].equal(three[i]));
}
