// The graph and its functions: nodes, backward for some leaves, graphs without saved tensors,
// anomaly mode.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/devices.h"

using namespace ambit;

TEST_CASE("a program can walk the graph") {
  const Tensor x = ones({2}).requires_grad_();
  const Tensor y = (x * x + 1).sum();
  std::string names;
  for (autograd::Node* node = y.grad_fn().get(); node;) {
    names += node->name() + " ";
    node = node->next_edges().empty() ? nullptr : node->next_edge(0).function.get();
  }
  CHECK(names == "SumBackward0 AddBackward0 MulBackward0 ");
  const auto mul = y.grad_fn()->next_edge(0).function->next_edges()[0].function;
  REQUIRE(mul->num_outputs() == 2);
  CHECK(mul->num_inputs() == 1);
  for (const autograd::Edge& edge : mul->next_edges()) {
    CHECK(edge);
    CHECK_FALSE(edge.is_valid());
    CHECK(edge.leaf.get() == x.impl());
  }
  CHECK_THROWS_AS(mul->next_edge(2), IndexError);
  CHECK(mul->sequence_nr() < y.grad_fn()->sequence_nr());
  CHECK(std::string(log_softmax(x, 0).grad_fn()->op()) == "log_softmax");
}

TEST_CASE("a graph that saved nothing may be used again; one that did, with retain_graph") {
  for_each_device([](Device device) {
    const Tensor x = ones({2, 3}, device).requires_grad_(), w = ones({2, 3}, device);
    const auto twice = [&](const Tensor& y) {
      const Tensor loss = y.sum();
      loss.backward();
      loss.backward();
    };
    CHECK_NOTHROW(twice(x + 1));
    CHECK_NOTHROW(twice(-x));
    CHECK_NOTHROW(twice(x.t().reshape({6}).view({2, 3}) - w));
    CHECK_NOTHROW(twice(cat({x, w})));
    CHECK_NOTHROW(twice(stack({x, x})));
    CHECK_NOTHROW(twice(x.mean(0)));
    CHECK_NOTHROW(twice(x.expand({4, 2, 3})[1]));
    CHECK(x.grad().equal(full({2, 3}, 11.0, device)));
    x.mutable_grad().reset();
    CHECK_THROWS_AS(twice(x * w), AutogradError);
    CHECK_THROWS_AS(twice(x.exp()), AutogradError);
    CHECK_THROWS_AS(twice(x.matmul(w.t())), AutogradError);
    CHECK_THROWS_AS(twice(x.masked_fill(w > 0, 1)), AutogradError);
  });
}

TEST_CASE("backward with inputs changes only their .grad") {
  for_each_device([](Device device) {
    const Tensor a = full({2}, 2.0, device).requires_grad_(),
                 b = full({2}, 3.0, device).requires_grad_();
    const Tensor middle = a * b, y = (middle * middle).sum();
    int below = 0;
    b.register_hook([&below](const Tensor&) {
      ++below;
      return Tensor();
    });
    y.backward({}, true, false, {{a}});
    CHECK(a.grad().equal(full({2}, 36.0, device)));  // 2 a b^2
    CHECK_FALSE(b.grad().defined());
    CHECK(below == 0);
    CHECK_FALSE(middle.retains_grad());
    y.backward({}, true, false, std::vector<Tensor>{middle, a});
    CHECK(a.grad().equal(full({2}, 72.0, device)));
    CHECK(middle.retains_grad());
    CHECK(middle.grad().equal(full({2}, 12.0, device)));
    CHECK_THROWS_AS(y.backward({}, true, false, std::vector<Tensor>{}), AutogradError);
    CHECK_THROWS_AS(y.backward({}, true, false, {{ones({1}, device)}}), AutogradError);
    const Tensor unused = ones({1}, device).requires_grad_();
    CHECK_NOTHROW(y.backward({}, std::nullopt, false, {{unused}}));
    CHECK_FALSE(unused.grad().defined());
  });
}

TEST_CASE("grad of no inputs is an error, and retain_graph follows create_graph") {
  const Tensor x = full({1}, 3.0).requires_grad_();
  const Tensor y = x * x * x;
  CHECK_THROWS_WITH_AS(autograd::grad({y}, {}), "grad: expected one input or more, got none",
                       AutogradError);
  const Tensor g = autograd::grad({y}, {x}, {}, std::nullopt, /*create_graph=*/true)[0];
  CHECK(autograd::grad({g}, {x})[0].item<float>() == 18);
  const Tensor z = x * x * x;
  const Tensor freed = autograd::grad({z}, {x}, {}, /*retain_graph=*/false, true)[0];
  CHECK_THROWS_AS(autograd::grad({freed}, {x}), AutogradError);
}

TEST_CASE("anomaly mode looks for NaN where requested, and ends with its guard") {
  const Tensor x = zeros({1}).requires_grad_();
  const auto loss = [&] { return (x.sqrt() * 0).sum(); };  // its gradient is 0 * inf
  CHECK_NOTHROW(loss().backward());
  {
    const autograd::DetectAnomalyGuard guard;
    CHECK(autograd::AnomalyMode::is_enabled());
    CHECK_THROWS_AS(loss().backward(), AutogradError);
    {
      const autograd::DetectAnomalyGuard inner(/*check_nan=*/false);
      CHECK_FALSE(autograd::AnomalyMode::should_check_nan());
      CHECK_NOTHROW(loss().backward());
    }
    CHECK(autograd::AnomalyMode::should_check_nan());
  }
  CHECK_FALSE(autograd::AnomalyMode::is_enabled());
}

TEST_CASE("a tensor has the number of its output in its node") {
  const Tensor x = ones({2, 2}).requires_grad_();
  CHECK(x.output_nr() == 0);
  CHECK((x * 2).output_nr() == 0);
  CHECK_FALSE(x.retains_grad());
}

TEST_CASE("backward with inputs checks their .grad, and no other's") {
  const Tensor x = ones({3}).requires_grad_(), z = ones({3}).requires_grad_();
  x.mutable_grad() = ones({2, 3});
  CHECK_THROWS_AS((x * 2).sum().backward({}, {}, false, TensorList({x})), Error);
  CHECK(x.grad().equal(ones({2, 3})));
  const Tensor one = ones({1}).requires_grad_();
  one.backward({}, {}, false, TensorList({z}));
  CHECK_FALSE(one.grad().defined());
}
