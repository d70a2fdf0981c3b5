// Refusals of tensors made in InferenceMode. PyTorch 2.15 refuses and accepts the same calls with
// torch.inference_mode(), except those of the last test case.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

namespace {

/// Return the result of `make` in the scope of an InferenceMode.
template <class F>
auto inferred(F make) {
  const InferenceMode guard;
  return make();
}

Tensor inference_ones(Device d) {
  return inferred([&] { return ones({2, 2}, d); });
}

/// Check that `call` throws AutogradError with `text`, and changes neither the version nor the
/// values of the tensors.
void check_refused(const char* text, const std::vector<Tensor>& unchanged,
                   const std::function<void()>& call) {
  INFO(text);
  std::vector<Tensor> before;
  std::vector<uint32_t> versions;
  for (const Tensor& t : unchanged) {
    before.push_back(t.detach().clone());
    versions.push_back(t.version());
  }
  CHECK_THROWS_WITH_AS(call(), text, AutogradError);
  for (size_t i = 0; i < unchanged.size(); ++i) {
    CHECK(unchanged[i].equal(before[i]));
    CHECK(unchanged[i].version() == versions[i]);
  }
}

std::string write_of(const char* op) {
  return std::string(op) +
         ": expected a tensor that may be overwritten outside of InferenceMode, got one made in "
         "it; use clone()";
}

std::string save_of(const char* op) {
  return std::string(op) +
         ": expected tensors that may be saved for backward, got one made in InferenceMode; use "
         "clone(), or NoGradGuard instead of InferenceMode";
}

}  // namespace

TEST_CASE("a tensor made in InferenceMode is written only inside of it") {
  for_each_device([](Device d) {
    const Tensor x = inference_ones(d), plain = full({2, 2}, 3, d);
    const auto refused = [&](const char* op, auto call) {
      check_refused(write_of(op).c_str(), {x}, call);
      const NoGradGuard no_grad;
      check_refused(write_of(op).c_str(), {x}, call);
    };
    refused("add_", [&] { x.add_(1); });
    refused("add_", [&] { x[0].add_(1); });
    refused("mul_", [&] { x.t().mul_(plain); });
    refused("relu_", [&] { x.relu_(); });
    refused("fill_", [&] { x.fill_(2); });
    refused("fill_", [&] { x.zero_(); });
    refused("copy_", [&] { x.copy_(plain); });
    refused("index_fill_", [&] { x.index_fill_(0, tensor({0}, d), 2); });
    refused("masked_fill_", [&] { x.masked_fill_(plain > 0, 2); });
    refused("uniform_", [&] { x.uniform_(); });
    refused("t_", [&] { x.t_(); });
    refused("unsqueeze_", [&] { x.unsqueeze_(0); });
    refused("resize_", [&] { x.resize_({4}); });
    Tensor out = x;
    CHECK_THROWS_AS(add_out(out, plain, plain), AutogradError);
    CHECK(x.equal(ones({2, 2}, d)));
    CHECK_THROWS_AS(x.index_put_({0}, 2), AutogradError);
    {
      const InferenceMode guard;
      x.add_(1);
      x[0].mul_(2);
      const InferenceMode off(false);
      CHECK_THROWS_AS(x.add_(1), AutogradError);
    }
    check_values(x, {2, 2}, {4, 4, 2, 2});
    check_values(plain.copy_(x), {2, 2}, {4, 4, 2, 2});
    CHECK(x.detach_().is_inference());
  });
}

TEST_CASE("an ordinary tensor is written inside InferenceMode, and its version counts it") {
  for_each_device([](Device d) {
    const Tensor x = ones({2, 2}, d), leaf = ones({2, 2}, d).requires_grad_();
    const int64_t before = x._version(), leaf_before = leaf._version();
    {
      const InferenceMode guard;
      x.add_(1);
      x[0].add_(1);
      leaf.add_(1);
    }
    CHECK(x._version() == before + 2);
    CHECK(leaf._version() == leaf_before + 1);
    check_values(x, {2, 2}, {3, 3, 2, 2});
    check_values(leaf, {2, 2}, {2, 2, 2, 2});
    CHECK_THROWS_AS(inference_ones(d)._version(), AutogradError);
  });
}

TEST_CASE("a tensor made in InferenceMode is not saved for backward") {
  for_each_device([](Device d) {
    const Tensor x = inference_ones(d), plain = ones({2, 2}, d);
    const Tensor w = ones({2, 2}, d).requires_grad_(), b = ones({2}, d).requires_grad_();
    const Tensor mask = inferred([&] { return plain > 0; });
    const Tensor index = inferred([&] { return zeros({1, 2}, TensorOptions(kInt64).device(d)); });
    const auto refused = [&](const char* op, auto call) {
      check_refused(save_of(op).c_str(), {w, b, x}, call);
      const NoGradGuard no_grad;
      CHECK_NOTHROW(call());
    };
    refused("mul", [&] { w* x; });
    refused("mul", [&] { x* w; });
    refused("div", [&] { w / x; });
    refused("div", [&] { x / w; });
    refused("pow", [&] { w.pow(x); });
    refused("matmul", [&] { w.matmul(x); });
    refused("linear", [&] { linear(x, w); });
    refused("where", [&] { where(mask, w, plain); });
    refused("masked_fill", [&] { w.masked_fill(mask, 0); });
    refused("gather", [&] { w.gather(0, index); });
    refused("leaky_relu", [&] { prelu(x, tensor(0.25, d).requires_grad_()); });
    refused("scatter_reduce", [&] { w.scatter_reduce(0, index, w, "amax"); });
    // None of these saves x.
    CHECK((w + x).requires_grad());
    CHECK((w - x).requires_grad());
    CHECK((x - w).requires_grad());
    CHECK(cat({w, x}).requires_grad());
    CHECK(linear(x, plain, b).requires_grad());
    CHECK(where(x > 0, w, plain).requires_grad());
    CHECK(!(x * x).requires_grad());
    CHECK(!(x * plain).is_inference());
    (w * x.clone()).sum().backward();
    check_values(w.grad(), {2, 2}, {1, 1, 1, 1});
  });
}

TEST_CASE("an op in place that would save a tensor made in InferenceMode writes nothing") {
  for_each_device([](Device d) {
    const Tensor x = inference_ones(d), leaf = ones({2, 2}, d).requires_grad_();
    const Tensor mask = inferred([&] { return x > 0; });
    const Tensor index = inferred([&] { return zeros({1, 2}, TensorOptions(kInt64).device(d)); });
    const Tensor y = leaf * 3, plain = ones({2, 2}, d);
    const auto refused = [&](const char* op, auto call) {
      check_refused(save_of(op).c_str(), {y}, call);
    };
    refused("mul_", [&] { y.mul_(x); });
    refused("div_", [&] { y.div_(x); });
    refused("masked_fill_", [&] { y.masked_fill_(mask, 0); });
    refused("scatter_", [&] { y.scatter_(0, index, plain); });
    refused("lerp_", [&] { y.lerp_(plain, x); });
    refused("clamp_", [&] { y.clamp_(x, std::optional<Tensor>()); });
    y.add_(x).sub_(x).copy_(x);
    CHECK(y.requires_grad());
    plain.mul_(x).masked_fill_(mask, 2);
    check_values(plain, {2, 2}, {2, 2, 2, 2});
  });
}

TEST_CASE("functions of the user's and modules do not save tensors made in InferenceMode either") {
  struct Product : autograd::Function<Product> {
    static Tensor forward(autograd::AutogradContext* c, const Tensor& a, const Tensor& b) {
      c->save_for_backward({a, b});
      return a * b;
    }
    static std::vector<Tensor> backward(autograd::AutogradContext*, std::vector<Tensor> g) {
      return {g[0], g[0]};
    }
  };
  for_each_device([](Device d) {
    const Tensor x = inference_ones(d), w = ones({2, 2}, d).requires_grad_();
    CHECK_THROWS_AS(Product::apply(w, x), AutogradError);
    nn::Linear linear(2, 2);
    nn::BatchNorm1d norm(2);
    nn::LayerNorm layer_norm(nn::LayerNormOptions({2}));
    nn::LSTMCell cell(2, 2);
    const Tensor images = inferred([&] { return ones({1, 2, 4, 4}, d); });
    nn::Conv2d conv(2, 2, 3);
    nn::MultiheadAttention attention(2, 1);
    for (nn::Module* m : std::vector<nn::Module*>{linear.get(), norm.get(), layer_norm.get(),
                                                  cell.get(), conv.get(), attention.get()}) {
      m->to(d);
    }
    CHECK_THROWS_AS(linear(x), AutogradError);
    CHECK_THROWS_AS(norm(x), AutogradError);
    CHECK_THROWS_AS(layer_norm(x), AutogradError);
    CHECK_THROWS_AS(cell(x), AutogradError);
    CHECK_THROWS_AS(conv(images), AutogradError);
    const Tensor sequence = x.unsqueeze(0);
    CHECK_THROWS_AS(attention(sequence, sequence, sequence), AutogradError);
    const NoGradGuard no_grad;
    CHECK(linear(x).sizes() == IntArrayRef{2, 2});
    CHECK(conv(images).sizes() == IntArrayRef{1, 2, 2, 2});
  });
}

TEST_CASE("requires_grad is set on a tensor made in InferenceMode only inside of it") {
  for_each_device([](Device d) {
    const Tensor x = inference_ones(d);
    check_refused(
        "requires_grad_: expected a tensor made outside of InferenceMode, got one made in it; use "
        "clone()",
        {}, [&] { x.requires_grad_(); });
    CHECK(!x.requires_grad());
    x.requires_grad_(false);
    CHECK(inferred([&] { return ones({2}, d).requires_grad_(); }).requires_grad());
    CHECK(x.clone().requires_grad_().requires_grad());
    const nn::Linear made = inferred([] { return nn::Linear(2, 2); });
    CHECK(made->weight.requires_grad());
    CHECK(made->weight.is_inference());
  });
}

TEST_CASE("views made in InferenceMode of other tensors keep their gradients and memory") {
  const Tensor leaf = ones({2, 2}).requires_grad_();
  const Tensor view = inferred([&] { return leaf[0]; });
  CHECK(view.requires_grad());
  CHECK(!view.is_inference());
  CHECK((view * leaf).requires_grad());
  CHECK_THROWS_AS(view.add_(1), AutogradError);
  {
    const NoGradGuard no_grad;
    view.add_(1);
  }
  check_values(leaf, {2, 2}, {2, 2, 1, 1});
}

TEST_CASE("the grad mode is off in InferenceMode, also where a scope turns it on") {
  const Tensor w = ones({2}).requires_grad_();
  const InferenceMode guard;
  {
    const AutoGradMode on(true);
    const Tensor y = w * w;
    CHECK(!y.requires_grad());
    CHECK(y.is_inference());
  }
  const InferenceMode off(false);
  CHECK((w * w).requires_grad());
}

TEST_CASE("a gradient made in InferenceMode is passed to backward, but not differentiated") {
  const Tensor w = ones({2}).requires_grad_(), g = inferred([] { return ones({2}); });
  (w * w).backward(g);
  check_values(w.grad(), {2}, {2, 2});
  CHECK_THROWS_AS(autograd::grad({w * w}, {w}, {g}, true, /*create_graph=*/true), AutogradError);
}

TEST_CASE("an optimizer does not update parameters made in InferenceMode outside of it") {
  for_each_device([](Device d) {
    const Tensor p = inferred([&] { return ones({2}, d).requires_grad_(); });
    p.mutable_grad() = ones({2}, d);
    optim::SGD sgd({p}, optim::SGDOptions(0.5));
    CHECK_THROWS_AS(sgd.step(), AutogradError);
    check_values(p, {2}, {1, 1});
    const InferenceMode guard;
    sgd.step();
    check_values(p, {2}, {0.5, 0.5});
  });
}

// PyTorch's batch_norm updates them; its module refuses, since it counts batches in place.
TEST_CASE("running statistics made in InferenceMode are not updated outside of it") {
  const Tensor x = ones({2, 2}), mean = inferred([] { return ones({2}); }), var = ones({2});
  namespace F = nn::functional;
  CHECK_THROWS_AS(F::batch_norm(x, mean, var, F::BatchNormFuncOptions().training(true)),
                  AutogradError);
  check_values(mean, {2}, {1, 1});
  check_values(var, {2}, {1, 1});
}
