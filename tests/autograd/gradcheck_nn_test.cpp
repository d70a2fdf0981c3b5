// First and second gradients of the ops of networks, compared with finite differences.
#include <ambit/ops/conv.h>
#include <ambit/ops/loss.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/pool.h>

#include "gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

namespace {

void check_both(TensorFnRef f, const std::vector<Tensor>& inputs) {
  gradcheck(f, inputs);
  gradgradcheck(f, inputs);
}

}  // namespace

TEST_CASE("conv2d has correct first and second gradients") {
  for_each_device([](Device d) {
    for (const ConvParams& p :
         {ConvParams{}, ConvParams{.stride = {2, 1}, .padding = {1, 2}, .dilation = {2, 1}},
          ConvParams{.stride = {1, 2}, .padding = {0, 1}, .groups = 2}}) {
      const TensorFn f = [&](const std::vector<Tensor>& in) {
        return conv2d(in[0], in[1], in.size() > 2 ? in[2] : Tensor(), p);
      };
      const Tensor x = wave(d, {1, 2, 4, 3});
      const Tensor w = wave(d, {2, p.groups == 2 ? 1 : 2, 2, 2}, 0.3), b = wave(d, {2}, 1.1);
      check_both(f, {x, w, b});
      gradcheck(f, {x.squeeze(0), w});
    }
  });
}

TEST_CASE("the gradients of conv2d are ops with correct gradients") {
  for_each_device([](Device d) {
    const ConvParams p{.stride = {2, 1}, .padding = {1, 0}};
    const Tensor x = wave(d, {1, 2, 4, 3}), w = wave(d, {1, 2, 2, 2}, 0.3);
    const Tensor g = wave(d, {1, 1, 3, 2}, 1.1);
    gradcheck(
        [&](const std::vector<Tensor>& in) {
          return convolution_input_grad(in[0], in[1], x.sizes(), p);
        },
        {g, w});
    gradcheck(
        [&](const std::vector<Tensor>& in) {
          return convolution_weight_grad(in[0], in[1], w.sizes(), p);
        },
        {g, x});
  });
}

TEST_CASE("pooling has correct first and second gradients") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {1, 2, 5, 4});
    PoolParams p{.kernel = {2, 3}, .stride = {2, 1}, .padding = {1, 1}, .ceil_mode = true};
    check_both([&](const std::vector<Tensor>& in) { return max_pool2d(in[0] * in[0], p); }, {x});
    for (const bool pad : {true, false}) {
      p.count_include_pad = pad;
      check_both([&](const std::vector<Tensor>& in) { return avg_pool2d(in[0] * in[0], p); }, {x});
    }
    for (const PerAxis& out : {PerAxis{5, 2}, PerAxis{2, 3}}) {
      gradcheck([&](const std::vector<Tensor>& in) { return adaptive_avg_pool2d(in[0], out); },
                {x});
    }
  });
}

TEST_CASE("softmax and log_softmax have correct first and second gradients") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {2, 3, 2});
    for (const int64_t dim : {0, 1, 2}) {
      check_both([&](const std::vector<Tensor>& in) { return softmax(in[0], dim); }, {x});
      check_both([&](const std::vector<Tensor>& in) { return log_softmax(in[0], dim); }, {x});
    }
    check_both([](const std::vector<Tensor>& in) { return softmax(in[0] * in[0], 0); },
               {wave(d, {}) + 1});
  });
}

TEST_CASE("batch_norm has correct first and second gradients, in training and evaluation") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {3, 2, 2}), w = wave(d, {2}) + 1.2, b = wave(d, {2}, 1.1);
    const Tensor mean = wave(d, {2}, 0.2), var = wave(d, {2}, 0.3) + 1;
    for (const bool training : {true, false}) {
      const auto f = [&](const std::vector<Tensor>& in) {
        // The running statistics are copied: the numeric side calls f many times.
        return batch_norm(in[0], in.size() > 1 ? in[1] : Tensor(), in.size() > 2 ? in[2] : Tensor(),
                          mean.clone(), var.clone(), {.training = training, .eps = 1e-2});
      };
      check_both(f, {x, w, b});
      check_both(f, {x});
    }
  });
}

TEST_CASE("losses have correct first and second gradients in every reduction") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {3, 4}), w = wave(d, {4}, 0.4) + 1, t = tensor({1, -100, 0}, d);
    for (const Reduction r : {Reduction::none, Reduction::mean, Reduction::sum}) {
      check_both([&](const std::vector<Tensor>& in) { return nll_loss(in[0], t, {}, r); }, {x});
      check_both([&](const std::vector<Tensor>& in) { return nll_loss(in[0], t, w, r); }, {x});
      for (const double smoothing : {0., 0.2}) {
        check_both(
            [&](const std::vector<Tensor>& in) {
              return cross_entropy(in[0], t, w, r, -100, smoothing);
            },
            {x});
        check_both(
            [&](const std::vector<Tensor>& in) {
              return cross_entropy(in[0], in[1].softmax(1), w, r, -100, smoothing);
            },
            {x, wave(d, {3, 4}, 1.3)});
      }
      check_both([&](const std::vector<Tensor>& in) { return mse_loss(in[0], in[1], r); },
                 {x, wave(d, {3, 4}, 0.3)});
    }
    const Tensor labels = tensor({{0, 2}, {1, -100}}, d);
    check_both([&](const std::vector<Tensor>& in) { return cross_entropy(in[0], labels); },
               {wave(d, {2, 3, 2})});
    check_both([&](const std::vector<Tensor>& in) { return cross_entropy(in[0], tensor(2, d)); },
               {wave(d, {4})});
  });
}
