// linear_map and functions that call it: it equals linear followed by an activation, on every
// device, in training too, rounded once; bad calls.
#include <ambit/ambit.h>
#include <ambit/detail/activation.h>
#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"
#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;

namespace {

struct Layer {
  Tensor x, w, b;
};

Layer layer(int64_t M, int64_t N, int64_t K, Device device, DType dtype = kFloat32) {
  manual_seed(static_cast<uint64_t>(1000 * M + 10 * N + K));
  const auto made = [&](IntArrayRef sizes) { return randn(sizes).to(device, dtype); };
  return {made({M, K}), made({N, K}), made({N})};
}

// Sums of 200 products have the standard deviation 14; libraries may add in another order.
constexpr double kRelative = 1e-5, kAbsolute = 1e-4;

void check_same(const Tensor& fused, const Tensor& composed) {
  CHECK(fused.sizes() == composed.sizes());
  CHECK(fused.allclose(composed, kRelative, kAbsolute));
}

}  // namespace

TEST_CASE("linear_map is linear followed by an activation") {
  for_each_device([](Device d) {
    for (const UnaryOp op : kActivations) {
      CAPTURE(std::string(name(op)));
      // The last one has more than one tile, the one before is a step of a recurrent network.
      for (const Dims& s :
           {Dims{1, 1, 1}, Dims{3, 5, 7}, Dims{32, 512, 256}, Dims{300, 200, 200}}) {
        const Layer l = layer(s[0], s[1], s[2], d);
        check_same(linear_map(l.x, l.w, l.b, op), activated(linear(l.x, l.w, l.b), op));
        check_same(linear_map(l.x, l.w, {}, op), activated(linear(l.x, l.w), op));
      }
      const Layer l = layer(6, 5, 4, d);
      const Tensor y = linear_map(l.x, l.w, l.b, op);
      check_same(linear_map(l.x.view({2, 3, 4}), l.w, l.b, op), y.view({2, 3, 5}));
      check_same(linear_map(l.x[0], l.w, l.b, op), y[0]);
      check_same(linear_map(l.x.t().contiguous().t(), l.w.t().contiguous().t(), l.b, op), y);
      check_same(linear_map(l.x, l.w, l.b.view({5, 1}).expand({5, 2}).select(1, 0), op), y);
      CHECK(linear_map(l.x.narrow(0, 0, 0), l.w, l.b, op).sizes() == IntArrayRef{0, 5});
      check_same(linear_map(l.x.narrow(1, 0, 0), l.w.narrow(1, 0, 0), l.b, op),
                 activated(l.b.expand({6, 5}), op));
    }
  });
}

TEST_CASE("linear_map propagates NaN") {
  for_each_device([](Device d) {
    for (const DType dtype : {kFloat64, kFloat32, kFloat16, kBFloat16}) {
      for (const Dims& s : {Dims{3, 5, 7}, Dims{300, 200, 200}}) {
        const Layer l = layer(s[0], s[1], s[2], d, dtype);
        l.x[1][0].fill_(NAN);
        for (const UnaryOp op : kActivations) {
          CAPTURE(std::string(name(op)));
          const Tensor is_nan = isnan(linear_map(l.x, l.w, l.b, op));
          CHECK(is_nan[1].all().item<bool>());
          CHECK(is_nan.sum().item<int64_t>() == s[1]);
        }
      }
    }
  });
}

TEST_CASE("linear_map of float16 and bfloat16 is rounded once if the device has the activation") {
  for_each_device([](Device d) {
    for (const DType dtype : {kFloat16, kBFloat16}) {
      const Layer l = layer(64, 64, 4, d, dtype);
      const auto wide = [](const Tensor& t) { return t.to(kFloat32); };
      for (const UnaryOp op : {UnaryOp::relu, UnaryOp::gelu_tanh}) {
        const Tensor y = linear_map(l.x, l.w, l.b, op);
        CHECK(y.dtype() == dtype);
        const Tensor exact = linear_map(wide(l.x), wide(l.w), wide(l.b), op);
        // The bound is half a unit in the last place plus the error of gelu's tail in float32. If
        // the sum were rounded, too, the error would be nine times as large.
        CHECK(wide(y).allclose(exact, dtype == kFloat16 ? 0x1p-11 : 0x1p-8, 3e-6));
      }
    }
  });
}

TEST_CASE("linear_map and _addmm_activation have correct first and second gradients") {
  for_each_device([](Device d) {
    const Tensor w = wave(d, {2, 3}, 0.3), b = wave(d, {2}, 1.1);
    for (const UnaryOp op : kActivations) {
      CAPTURE(std::string(name(op)));
      const TensorFn f = [op](const std::vector<Tensor>& in) {
        return linear_map(in[0], in[1], in.size() > 2 ? in[2] : Tensor(), op);
      };
      for (const Tensor& x : {wave(d, {3}), wave(d, {4, 3}), wave(d, {2, 2, 3})}) {
        gradcheck(f, {x, w, b});
        gradgradcheck(f, {x, w, b});
      }
      gradcheck(f, {wave(d, {4, 3}), w});
    }
    for (const bool use_gelu : {false, true}) {
      const TensorFn f = [=](const std::vector<Tensor>& in) {
        return _addmm_activation(in[0], in[1], in[2], 1, 1, use_gelu);
      };
      gradcheck(f, {b, wave(d, {4, 3}), wave(d, {3, 2}, 0.3)});
    }
  });
}

TEST_CASE("linear_map with relu saves its result for the gradient, and detects writes to it") {
  for_each_device([](Device d) {
    const Layer l = layer(4, 3, 2, d);
    l.w.requires_grad_();
    const Tensor y = linear_map(l.x, l.w, l.b, UnaryOp::relu);
    y.sum().backward();
    const Tensor grad = l.w.grad().clone();
    l.w.mutable_grad().zero_();
    relu(linear(l.x, l.w, l.b)).sum().backward();
    CHECK(grad.equal(l.w.grad()));
    const Tensor changed = linear_map(l.x, l.w, l.b, UnaryOp::relu);
    {
      const NoGradGuard no_grad;
      changed.add_(1);
    }
    CHECK_THROWS_AS(changed.sum().backward(), AutogradError);
  });
}

TEST_CASE("_addmm_activation is relu or gelu of addmm") {
  for_each_device([](Device d) {
    const Layer l = layer(4, 3, 5, d);
    const Tensor m = l.w.t();
    check_same(_addmm_activation(l.b, l.x, m), relu(addmm(l.b, l.x, m)));
    check_same(_addmm_activation(l.b, l.x, m, 1, 1, true), gelu(addmm(l.b, l.x, m)));
    check_same(_addmm_activation(l.b, l.x, m, 0.5, -2), relu(addmm(l.b, l.x, m, 0.5, -2)));
    const Tensor all = ones({4, 3}, d);
    check_same(_addmm_activation(all, l.x, m, 1, 1, true), gelu(addmm(all, l.x, m)));
    const Tensor i = full({2, 2}, -3, TensorOptions(kInt64).device(d));
    CHECK(_addmm_activation(i, i, i).equal(relu(addmm(i, i, i))));
  });
}

TEST_CASE("Linear::forward_map and transformers' layers apply activations, int8 weights or not") {
  for_each_device([](Device d) {
    manual_seed(3);
    nn::Linear l(8, 6);
    l->to(d);
    const Tensor x = randn({5, 8}).to(d);
    for (const bool is_int8 : {false, true}) {
      if (is_int8) nn::quantize_dynamic(*l);
      for (const UnaryOp op : kActivations) check_same(l->forward_map(x, op), activated(l(x), op));
    }
    const auto options = nn::TransformerEncoderLayerOptions(8, 2).dim_feedforward(16).dropout(0);
    for (const bool by_gelu : {false, true}) {
      auto mine = options, own = options;
      if (by_gelu) mine.activation(kGELU);
      own.activation(std::function<Tensor(const Tensor&)>(
          [=](const Tensor& t) { return by_gelu ? gelu(t) : relu(t); }));
      nn::TransformerEncoderLayer a(mine), b(own);
      {
        const NoGradGuard no_grad;
        for (size_t i = 0; i < a->parameters().size(); ++i) {
          b->parameters()[i].copy_(a->parameters()[i]);
        }
      }
      a->to(d), b->to(d);
      const Tensor rows = x.view({5, 1, 8});
      check_same(a(rows), b(rows));
      const NoGradGuard no_grad;
      check_same(a(rows), b(rows));
    }
  });
}

namespace {

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
  return {
      SHAPE(linear_map, m23(), ones({4, 2}), {}, UnaryOp::relu),
      SHAPE(linear_map, m23(), ones({4, 3}), ones({3}), UnaryOp::relu),
      SHAPE(linear_map, ones({}), ones({4, 3}), {}, UnaryOp::gelu),
      SHAPE(linear_map, m23(), ones({3}), {}, UnaryOp::relu),
      DTYPE(linear_map, m23(), ones({4, 3}, kFloat64), {}, UnaryOp::relu),
      DTYPE(linear_map, m23(), ones({4, 3}), ones({4}, kFloat64), UnaryOp::relu),
      DTYPE(linear_map, i23(), ones({4, 3}, kInt64), {}, UnaryOp::relu),
      DEVICE(linear_map, there(), ones({4, 3}), {}, UnaryOp::relu),
      VALUE(linear_map, none(), ones({4, 3}), {}, UnaryOp::relu),
      VALUE(linear_map, m23(), none(), {}, UnaryOp::relu),
      VALUE(linear_map, m23(), ones({4, 3}), {}, UnaryOp::exp),
      SHAPE(_addmm_activation, ones({4}), m23(), m23()),
      SHAPE(_addmm_activation, ones({4}), m23(), ones({3, 2})),
      SHAPE(_addmm_activation, ones({2}), ones({3}), ones({3, 2})),
      DTYPE(_addmm_activation, ones({2}), m23(), ones({3, 2}, kFloat64)),
      DTYPE(_addmm_activation, ones({2}, kFloat64), m23(), ones({3, 2})),
      DTYPE(_addmm_activation, ones({2}, kInt64), i23(), ones({3, 2}, kInt64), 1e30),
      DTYPE(_addmm_activation, ones({2}, kInt64), i23(), ones({3, 2}, kInt64), 1, 1, true),
      DEVICE(_addmm_activation, ones({2}), there(), ones({3, 2})),
      VALUE(_addmm_activation, none(), m23(), ones({3, 2})),
      VALUE(_addmm_activation, ones({2}), none(), ones({3, 2})),
      VALUE(gelu, m23(), "erf"),
      DTYPE(gelu, i23(), "tanh"),
      VALUE(gelu, none(), "tanh"),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
  return {
      CALL(linear_map, strict, given(f(), f(), f({2})), t[0], t[1], t[2], UnaryOp::relu),
      CALL(_addmm_activation, strict, given(f({2}), f(), f()), t[0], t[1], t[2]),
  };
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
  return {
      with_dims(RESULT(linear_map, linear_map(o.a, o.unit, {}, UnaryOp::relu),
                       linear_map(o.a, o.unit, MADE(o.a.sum(1)), UnaryOp::gelu),
                       linear_map(o.a, o.unit, MADE(o.a.sum(1)), UnaryOp::gelu_tanh))),
      with_dims(RESULT(_addmm_activation, _addmm_activation(MADE(o.a.sum(1)), o.a, o.unit.t()),
                       _addmm_activation(MADE(o.a.sum(1)), o.a, o.unit.t(), 1, 1, true),
                       _addmm_activation(MADE(o.a.sum(1)), o.a, o.unit.t(), 0.5, 2))),
  };
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

}  // namespace
