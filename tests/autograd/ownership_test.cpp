// Ownership: long chains are destroyed without recursion, and no graph owns itself.
#include <ambit/ambit.h>
#include <ambit/memory.h>
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <utility>

using namespace ambit;

namespace {

constexpr int kDeep = 500'000;

// A tensor whose destruction decrements a counter.
Tensor counted(int& alive) {
  ++alive;
  static float one = 1;
  return from_blob(&one, {1}, kFloat32, [&alive](void*) { --alive; });
}

}  // namespace

TEST_CASE("a chain of gradients of gradients is dropped without recursion") {
  int alive = 0;
  {
    Tensor head = counted(alive);
    for (int i = 1; i < kDeep; ++i) {
      const Tensor next = counted(alive);
      next.mutable_grad() = std::move(head);
      head = next;
    }
    CHECK(alive == kDeep);
  }
  CHECK(alive == 0);
}

TEST_CASE("a chain of tensors captured by hooks of leaves is dropped without recursion") {
  int alive = 0;
  {
    Tensor head = counted(alive);
    for (int i = 1; i < kDeep; ++i) {
      Tensor next = counted(alive);
      next.requires_grad_();
      next.register_hook([captured = std::move(head)](const Tensor&) { return captured; });
      head = std::move(next);
    }
  }
  CHECK(alive == 0);
}

TEST_CASE("a chain of tensors captured by deleters is dropped without recursion") {
  int alive = 0;
  static float one = 1;
  {
    Tensor head = counted(alive);
    for (int i = 1; i < kDeep; ++i) {
      ++alive;
      head = from_blob(&one, {1}, kFloat32, [&alive, captured = head](void*) { --alive; });
    }
  }
  CHECK(alive == 0);
}

TEST_CASE("a chain of results, their hooks, gradients and deleters is dropped without recursion") {
  int alive = 0;
  static float one = 1;
  {
    Tensor head = counted(alive);
    for (int i = 1; i < kDeep / 4; ++i) {
      ++alive;
      Tensor leaf = from_blob(&one, {1}, kFloat32, [&alive, captured = head](void*) { --alive; });
      leaf.requires_grad_();
      const Tensor result = leaf * 1;
      result.register_hook([captured = std::move(head)](const Tensor&) { return captured; });
      head = ones({1});
      head.mutable_grad() = result;
    }
  }
  CHECK(alive == 0);
}

TEST_CASE("from_blob that fails leaves the memory to the caller") {
  int freed = 0;
  float one = 1;
  const auto deleter = [&freed](void*) { ++freed; };
  const TensorOptions grad = TensorOptions(kInt64).requires_grad(true);
  CHECK_THROWS_AS(from_blob(&one, {1}, grad, deleter), DTypeError);
  CHECK_THROWS_AS(from_blob(&one, {-1}, kFloat32, deleter), ShapeError);
  CHECK(freed == 0);
  from_blob(&one, {1}, kFloat32, deleter);
  CHECK(freed == 1);
}

namespace {

// Return true if no object remains after `write` has modified the tensor it gets.
bool is_freed(const std::function<void(const Tensor& y)>& write) {
  int alive = 0;
  {
    Tensor x = counted(alive);
    x.requires_grad_();
    write(x * 2);
  }
  return alive == 0;
}

}  // namespace

TEST_CASE("a tensor overwritten with a result of itself does not own itself") {
  CHECK(is_freed([](const Tensor& y) { y.add_(y.sin()); }));
  CHECK(is_freed([](const Tensor& y) { y.mul_(y); }));
  CHECK(is_freed([](const Tensor& y) { y.add_(y * y).mul_(y.exp()).add_(y.cos()); }));
  CHECK(is_freed([](const Tensor& y) { y.copy_(y.pow(2)); }));
  CHECK(is_freed([](const Tensor& y) { y.slice(0, 0, 1).add_(y.sin()); }));
  CHECK(is_freed([](const Tensor& y) { y.add_(y.slice(0, 0, 1).sin()); }));
  CHECK(is_freed([](const Tensor& y) { y.index_put_({0}, y.softmax(0).sum()); }));
  CHECK(is_freed([](const Tensor& y) {
    const Tensor state = zeros({1});  // does not require grad when it is saved
    state.add_(state * y);
    state.add_(state.tanh() * y);
  }));
  CHECK(is_freed([](const Tensor& y) {
    const Tensor w = y.detach().clone().view({1, 1});
    const Tensor h = zeros({1, 1});
    h.copy_(linear(h, w * y));
    h.copy_(linear(h, w * y));
  }));
}

TEST_CASE("a saved result keeps its history in a backward with create_graph") {
  Tensor x = tensor({0.5}).requires_grad_();
  const Tensor y = x * 2, z = y * y * y;  // 8 x^3
  const Tensor g = autograd::grad({z}, {x}, {}, std::nullopt, /*create_graph=*/true)[0];
  CHECK(g.item<float>() == 6);                             // 24 x^2
  CHECK(autograd::grad({g}, {x})[0].item<float>() == 24);  // 48 x
  // Through y: dz/dy = 3 y^2, and its derivative 6 y.
  const Tensor u = x * 2, v = u * u * u;
  const Tensor gu = autograd::grad({v}, {u}, {}, std::nullopt, true)[0];
  CHECK(gu.item<float>() == 3);
  CHECK(autograd::grad({gu}, {u})[0].item<float>() == 6);
}
