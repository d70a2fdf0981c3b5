// Losses: every form of call compared with PyTorch, and errors; gradcheck_nn_test tests gradients.
#include <ambit/error.h>
#include <ambit/ops/loss.h>
#include <ambit/ops/norm.h>

#include <limits>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

namespace {
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
}

TEST_CASE("nll_loss agrees with PyTorch") {
  for_each_device([](Device d) {
    // x = wave(3, 4); w = wave(4, k=0.4) + 1; t = tensor([1, 3, 0]); t2 = tensor([1, -100, 0])
    const Tensor x = wave(d, {3, 4}), w = wave(d, {4}, 0.4) + 1;
    const Tensor t = tensor({1, 3, 0}, d), t2 = tensor({1, -100, 0}, d);
    check_values(nll_loss(x, t), {}, {0.323167187753});  // F.nll_loss(x, t)
    check_values(nll_loss(x, t, {}, Reduction::sum), {}, {0.969501563259});
    // F.nll_loss(x, t2, w, reduction='none'); F.nll_loss(x, t2, w); F.nll_loss(x, t, w,
    // ignore_index=3)
    check_values(nll_loss(x, t2, w, Reduction::none), {3}, {-0.895087871088, 0, 0.631266637872});
    check_values(nll_loss(x, t2, w), {}, {-0.110412324432});
    check_values(nll_loss(x, t, w, Reduction::mean, 3), {}, {-0.110412324432});
    check_values(nll_loss(wave(d, {4}), tensor(2, d)), {}, {-0.985449729988});
  });
}

TEST_CASE("cross_entropy of classes agrees with PyTorch") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {3, 4}), w = wave(d, {4}, 0.4) + 1;
    const Tensor t = tensor({1, 3, 0}, d), t2 = tensor({1, -100, 0}, d);
    const auto smooth = [&](const Tensor& weight, Reduction r) {
      return cross_entropy(x, t2, weight, r, -100, 0.2);
    };
    // F.cross_entropy(x, t); F.cross_entropy(x, t2, w); F.cross_entropy(wave(4), tensor(2), w)
    check_values(cross_entropy(x, t), {}, {1.97495264922});
    check_values(cross_entropy(x, t2, w), {}, {1.85659360624});
    check_values(cross_entropy(wave(d, {4}), tensor(2, d), w), {}, {1.088259175});
    // F.cross_entropy(x, t2, w, label_smoothing=0.2), without w, and reduction='none' and 'sum'
    check_values(smooth(w, Reduction::mean), {}, {1.83726586255});
    check_values(smooth({}, Reduction::mean), {}, {1.85295999125});
    check_values(smooth(w, Reduction::none), {3}, {2.00230561286, 0, 2.38769113882});
    check_values(smooth(w, Reduction::sum), {}, {4.38999675168});
    // x = wave(2, 3, 2); t = tensor([[0, 2], [1, -100]]); F.cross_entropy(x, t, reduction='none');
    // F.cross_entropy(x, t, wave(3) + 1, label_smoothing=0.1)
    const Tensor image = wave(d, {2, 3, 2}), labels = tensor({{0, 2}, {1, -100}}, d);
    check_values(cross_entropy(image, labels, {}, Reduction::none), {2, 2},
                 {1.62470877059, 1.95609062832, 1.6887722833, 0});
    check_values(cross_entropy(image, labels, wave(d, {3}) + 1, Reduction::mean, -100, 0.1), {},
                 {1.73159423745});
  });
}

// PyTorch 2.15: x = torch.log_softmax(torch.arange(6.).view(2, 3), 1);
// y = torch.tensor([2, 0], dtype=torch.uint8); F.nll_loss(x, y, reduction='none') and so on.
TEST_CASE("targets may be uint8") {
  for_each_device([](Device d) {
    const Tensor logits = arange(6, TensorOptions(kFloat64).device(d)).view({2, 3});
    const Tensor x = log_softmax(logits, 1), y = tensor({2, 0}, d).to(kUInt8);
    check_values(nll_loss(x, y, {}, Reduction::none), {2}, {0.40760596444438, 2.40760596444438});
    check_values(nll_loss(x, y), {}, {1.40760596444438});
    check_values(nll_loss(x, y, tensor({1., 2., 3.}, logits.options())), {}, {0.90760596444438});
    check_values(nll_loss(x[0], y[0]), {}, {0.40760596444438});
    check_values(nll_loss(x, y, {}, Reduction::mean, 258), {}, {1.40760596444438});
    check_values(cross_entropy(x, y), {}, {1.40760596444438});
    const Tensor leaf = x.detach().requires_grad_();
    nll_loss(leaf, y, {}, Reduction::mean, 0).backward();
    check_values(leaf.grad(), {2, 3}, {0, 0, -1, 0, 0, 0});
    CHECK_THROWS_AS(nll_loss(x, y + 1).cpu(), IndexError);
    for (const DType other : {kInt32, kInt16, kInt8, kBool, kFloat32}) {
      CHECK_THROWS_AS(nll_loss(x, y.to(other)), DTypeError);
    }
  });
}

TEST_CASE("cross_entropy of probabilities agrees with PyTorch") {
  for_each_device([](Device d) {
    // p = wave(3, 4, k=1.3).softmax(1); F.cross_entropy(x, p);
    // F.cross_entropy(x, p, w, label_smoothing=0.2); F.cross_entropy(x, p, w, reduction='none');
    // F.cross_entropy(wave(4), wave(4, k=1.3).softmax(0), w)
    const Tensor x = wave(d, {3, 4}), w = wave(d, {4}, 0.4) + 1;
    const Tensor p = wave(d, {3, 4}, 1.3).softmax(1);
    check_values(cross_entropy(x, p), {}, {1.44712499255});
    check_values(cross_entropy(x, p, w, Reduction::mean, -100, 0.2), {}, {2.27753532904});
    check_values(cross_entropy(x, p, w, Reduction::none), {3},
                 {1.99797201685, 2.99309366675, 1.87550131647});
    check_values(cross_entropy(wave(d, {4}), wave(d, {4}, 1.3).softmax(0), w), {}, {1.99797201685});
  });
}

TEST_CASE("losses of float16 and bfloat16 with class weights have gradients") {
  for_each_device([](Device d) {
    const Tensor t = tensor({1, 0}, d);
    for (const DType dtype : {kFloat16, kBFloat16}) {
      const TensorOptions o = TensorOptions(dtype).device(d);
      const Tensor x = zeros({2, 2}, o).set_requires_grad(true), w = full({2}, 0.5, o);
      nll_loss(x, t, w).backward();
      check_values(x.grad().to(kFloat64), {2, 2}, {0, -0.5, -0.5, 0});
      CHECK(x.grad().dtype() == dtype);
    }
  });
}

TEST_CASE("ignored rows have a gradient of 0, although the mean over no rows is NaN") {
  for_each_device([](Device d) {
    // x = torch.ones(2, 3, requires_grad=True); F.cross_entropy(x, torch.tensor([1, 1]),
    // ignore_index=1).backward(); x.grad
    const Tensor x = ones({2, 3}, d).set_requires_grad(true);
    cross_entropy(x, full({2}, 1, d), {}, Reduction::mean, 1).backward();
    check_values(x.grad(), {2, 3}, {0, 0, 0, 0, 0, 0});
  });
}

TEST_CASE("the mean over no targets is NaN") {
  for_each_device([](Device d) {
    const Tensor x = ones({2, 3}, d), ignored = full({2}, -100, d);
    check_values(nll_loss(x, ignored), {}, {kNan});
    check_values(cross_entropy(x, ignored, {}, Reduction::mean, -100, 0.1), {}, {kNan});
    check_values(cross_entropy(x, ignored, {}, Reduction::sum), {}, {0});
    check_values(nll_loss(zeros({0, 3}, d), zeros({0}, TensorOptions(kInt64).device(d))), {},
                 {kNan});
  });
}

TEST_CASE("mse_loss agrees with PyTorch") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {2, 3}), y = wave(d, {2, 3}, 0.3);
    check_values(mse_loss(x, y), {},
                 {0.413228975032});  // F.mse_loss(wave(2, 3), wave(2, 3, k=0.3))
    check_values(mse_loss(x, y, Reduction::sum), {}, {6 * 0.413228975032});
    CHECK(mse_loss(x, y, Reduction::none).sizes() == x.sizes());
  });
}

TEST_CASE("losses refuse invalid arguments, and say why") {
  const Tensor x = ones({2, 3});
  CHECK_THROWS_WITH_AS(nll_loss(x, tensor({0, 1, 2})),
                       "nll_loss: expected target of shape [2], got [3]", ShapeError);
  CHECK_THROWS_WITH_AS(nll_loss(x, tensor({0., 1.})),
                       "nll_loss: expected target of dtype int64, got float32", DTypeError);
  CHECK_THROWS_WITH_AS(cross_entropy(x, tensor({0, 1}), ones({2})),
                       "cross_entropy: expected weight of shape [3], got [2]", ShapeError);
  CHECK_THROWS_AS(cross_entropy(x, ones({2, 3}, kInt64)), DTypeError);
  CHECK_THROWS_AS(cross_entropy(x, tensor({0, 1}), {}, Reduction::mean, -100, 1.5), Error);
  CHECK_THROWS_AS(cross_entropy(ones({}), tensor(0)), ShapeError);
  CHECK_THROWS_AS(mse_loss(x, ones({2})), ShapeError);
  CHECK_THROWS_AS(mse_loss(ones({2}, kInt64), ones({2}, kBool)), DTypeError);
}

TEST_CASE("a class out of range is an IndexError, and the next step works") {
  const Tensor x = ones({2, 10}).requires_grad_();
  for (const int64_t bad : {10, -1, 12}) {
    CHECK_THROWS_AS(cross_entropy(x, tensor({int64_t{3}, bad})), IndexError);
  }
  cross_entropy(x, tensor({3, 9})).backward();
  CHECK(x.grad().isfinite().all().item<bool>());
}
