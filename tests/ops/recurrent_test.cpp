// Steps of LSTM and GRU: values, gradients, the composites, bad calls.
#include <ambit/ambit.h>
#include <ambit/backend/kernels.h>
#include <ambit/detail/recurrent.h>
#include <ambit/detail/repeated_linear.h>
#include <ambit/memory.h>

#include "composite.h"
#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;
using namespace composite_test;

namespace {

// The formulas of the header, composed of ops.
std::tuple<Tensor, Tensor> lstm_by_hand(const Tensor& a, const Tensor& b, const Tensor& c0) {
  const std::vector<Tensor> g = (a + b).chunk(4, 1);
  const Tensor c = sigmoid(g[1]) * c0 + sigmoid(g[0]) * tanh(g[2]);
  return {sigmoid(g[3]) * tanh(c), c};
}
Tensor gru_by_hand(const Tensor& a, const Tensor& b, const Tensor& h0) {
  const std::vector<Tensor> x = a.chunk(3, 1), y = b.chunk(3, 1);
  const Tensor r = sigmoid(x[0] + y[0]), z = sigmoid(x[1] + y[1]), n = tanh(x[2] + r * y[2]);
  return n + z * (h0 - n);
}

}  // namespace

TEST_CASE("a repeated linear map has linear's values and gradients, and frees its memory") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {2, 3}), w = wave(d, {3, 3}, 0.4), b = wave(d, {3}, 0.7);
    const auto chain = [](bool joined) {
      return [joined](const std::vector<Tensor>& in) {
        RepeatedLinear map(in[1], in[2], 3);
        Tensor h = in[0], all;
        for (int i = 0; i < 4; ++i) {  // one call more than was declared
          h = tanh(joined ? map(h) : linear(h, in[1], in[2]));
          all = all.defined() ? all + h : h;
        }
        return all;
      };
    };
    const std::vector<Tensor> in{x, w, b};
    gradcheck(chain(true), in);
    gradgradcheck(chain(true), in);
    const auto grads = [&](const auto& f, size_t first) {
      std::vector<Tensor> leaves;
      for (size_t i = 0; i < 3; ++i) leaves.push_back(in[i].clone().requires_grad_(i >= first));
      const std::vector<Tensor> wanted(leaves.begin() + static_cast<std::ptrdiff_t>(first),
                                       leaves.end());
      return autograd::grad({f(leaves).sum()}, wanted);
    };
    for (const size_t first : {size_t{0}, size_t{1}, size_t{2}}) {
      const std::vector<Tensor> got = grads(chain(true), first), want = grads(chain(false), first);
      for (size_t i = 0; i < got.size(); ++i) CHECK(got[i].allclose(want[i], 1e-12, 1e-12));
    }
    // A graph without a backward is freed with its output, and so is one with a partial backward.
    synchronize(d);
    const size_t before = memory_stats(d).in_use;
    {
      const Tensor weight = wave(d, {3, 3}, 0.4).requires_grad_();
      RepeatedLinear map(weight, {}, 3);
      const Tensor first = map(x), second = map(first), third = map(second);
      CHECK(autograd::grad({second.sum()}, {weight})[0].allclose(
          autograd::grad({linear(linear(x, weight), weight).sum()}, {weight})[0], 1e-12, 1e-12));
    }
    synchronize(d);
    CHECK(memory_stats(d).in_use == before);
  });
}

TEST_CASE("rows_apart() equals split(), with its gradients") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {6, 3});
    const auto mixed = [](bool apart) {
      return [apart](const std::vector<Tensor>& in) {
        const Tensor fresh = in[0] * 2;
        const std::vector<int64_t> sizes{3, 1, 2};
        const std::vector<Tensor> parts = apart ? rows_apart(fresh, sizes) : fresh.split(sizes, 0);
        return tanh(parts[0][1] * parts[2]);  // no result uses the second part
      };
    };
    CHECK(mixed(true)({x}).equal(mixed(false)({x})));
    gradcheck(mixed(true), {x});
    gradgradcheck(mixed(true), {x});
    const Tensor leaf = x.clone().requires_grad_();
    CHECK(autograd::grad({mixed(true)({leaf}).sum()}, {leaf})[0].equal(
        autograd::grad({mixed(false)({leaf}).sum()}, {leaf})[0]));
  });
}

TEST_CASE("steps of LSTM and GRU equal their formulas, for any layout") {
  for_each_device([](Device d) {
    for (const int64_t H : {1, 19}) {
      const Tensor a = wave(d, {4 * H, 3}).t(), b = wave(d, {3, 4 * H}, 0.3),
                   c0 = wave(d, {3, 2 * H}, 0.5).slice(1, 0, 2 * H, 2);
      const auto [h, c] = lstm_step(a, b, c0);
      const auto [want_h, want_c] = lstm_by_hand(a, b, c0);
      CHECK(h.allclose(want_h, 1e-13, 1e-13));
      CHECK(c.allclose(want_c, 1e-13, 1e-13));
      const Tensor x = a.narrow(1, 0, 3 * H), y = b.narrow(1, 0, 3 * H);
      CHECK(gru_step(x, y, c0).allclose(gru_by_hand(x, y, c0), 1e-13, 1e-13));
    }
    const Tensor none = zeros({0, 8}, wave(d, {1}).options()), state = none.narrow(1, 0, 2);
    CHECK(std::get<1>(lstm_step(none, none, state)).sizes() == IntArrayRef{0, 2});
  });
}

TEST_CASE("steps of LSTM and GRU have correct first and second gradients, of each output") {
  for_each_device([](Device d) {
    const Tensor a = wave(d, {2, 12}), b = wave(d, {2, 12}, 0.3), c0 = wave(d, {2, 3}, 0.5);
    const auto both = [](const std::vector<Tensor>& in) {
      const auto [h, c] = lstm_step(in[0], in[1], in[2]);
      return h * 2 + c * c;
    };
    const auto of_h = [](const std::vector<Tensor>& in) {
      return std::get<0>(lstm_step(in[0], in[1], in[2]));
    };
    const auto of_c = [](const std::vector<Tensor>& in) {
      return std::get<1>(lstm_step(in[0], in[1], in[2]));
    };
    const auto gru = [](const std::vector<Tensor>& in) {
      return gru_step(in[0].narrow(1, 0, 9), in[1].narrow(1, 0, 9), in[2]);
    };
    for (const auto& f :
         std::vector<std::function<Tensor(const std::vector<Tensor>&)>>{both, of_h, of_c, gru}) {
      gradcheck(f, {a, b, c0});
      gradgradcheck(f, {a, b, c0});
    }
  });
}

TEST_CASE("composite steps of LSTM and GRU agree with the kernels") {
  manual_seed(6);
  const Tensor a = normal({5, 12}), b = normal({5, 12}), state = normal({5, 3}),
               gates = rand({5, 12}, oracle()), c = normal({5, 3}), dh = normal({5, 3});
  const Tensor a3 = normal({5, 9}), b3 = normal({5, 9});
  const Tensor one = unwritten({5, 3}), three = unwritten({5, 9}), four = unwritten({5, 12});
  check_composite(
      kernels::lstm_cell, {one, one, four}, {a, b, state},
      [](auto&& f, Tensors& o, const Tensors& in) { f(o[0], o[1], o[2], in[0], in[1], in[2]); });
  for (const Tensor& dc : {normal({5, 3}), Tensor()}) {
    for (const Tensor& g : {dh, Tensor()}) {
      check_composite(kernels::lstm_cell_grad, {four, one}, {g, dc, gates, c, state},
                      [](auto&& f, Tensors& o, const Tensors& in) {
                        f(o[0], o[1], in[0], in[1], in[2], in[3], in[4]);
                      });
    }
  }
  check_composite(
      kernels::gru_cell, {one, four}, {a3, b3, state},
      [](auto&& f, Tensors& o, const Tensors& in) { f(o[0], o[1], in[0], in[1], in[2]); });
  check_composite(
      kernels::gru_cell_grad, {three, three, one}, {dh, gates, state},
      [](auto&& f, Tensors& o, const Tensors& in) { f(o[0], o[1], o[2], in[0], in[1], in[2]); });
}

TEST_CASE("steps of LSTM and GRU refuse invalid arguments") {
  const Tensor gates = ones({2, 12}), state = ones({2, 3});
  CHECK_THROWS_AS(lstm_step(gates, ones({2, 9}), state), ShapeError);
  CHECK_THROWS_AS(lstm_step(gates, gates, ones({3})), ShapeError);
  CHECK_THROWS_AS(lstm_step(gates, gates, state.to(kFloat64)), DTypeError);
  CHECK_THROWS_AS(lstm_step(gates.to(kInt64), gates, state), DTypeError);
  CHECK_THROWS_AS(lstm_step(gates, {}, state), Error);
  CHECK_THROWS_AS(gru_step(gates, gates, state), ShapeError);
  CHECK_THROWS_AS(gru_step(ones({2, 9}), ones({2, 9}), state.to(Device("reference"))),
                  DeviceMismatchError);
}
