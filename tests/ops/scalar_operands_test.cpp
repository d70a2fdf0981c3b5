// Numbers as operands: they are arguments of the call, not tensors; and the kernels with numbers,
// compared with their composites.
#include <ambit/ambit.h>
#include <ambit/backend/kernels.h>
#include <ambit/backend/reference.h>

#include <functional>
#include <limits>

#include "composite.h"
#include "tests/autograd/gradcheck.h"
#include "tests/expected.h"
#include "tests/mismatch/mismatch.h"

using namespace ambit;
using namespace composite_test;
using mismatch::CountingBackend;

namespace {

// Counts kernel calls of f on a device, including the loops of `reference`.
struct Calls {
  size_t counted, reference;
  bool operator==(const Calls&) const = default;
};

Calls calls_of(const std::function<void(const Tensor& x)>& f) {
  const mismatch::CountingDevices present;
  const Tensor there = ones({2, 3}, "counted_a"), oracle = ones({2, 3}, "reference");
  const size_t kernels = CountingBackend::kernels;
  f(there);
  const size_t counted = CountingBackend::kernels - kernels;
  const uint64_t runs = reference::runs();
  f(oracle);
  return {counted, static_cast<size_t>(reference::runs() - runs)};
}

// Counts only the kernels of the gradient.
Calls backward_calls_of(const std::function<Tensor(const Tensor& x)>& f) {
  Calls calls{};
  const mismatch::CountingDevices present;
  for (const char* device : {"counted_a", "reference"}) {
    const Tensor x = ones({2, 3}, TensorOptions(device).requires_grad(true));
    const Tensor y = f(x), g = ones(y.sizes(), device);
    const size_t kernels = CountingBackend::kernels;
    const uint64_t runs = reference::runs();
    autograd::grad({y}, {x}, {g});
    calls.counted += CountingBackend::kernels - kernels;
    calls.reference += static_cast<size_t>(reference::runs() - runs);
  }
  return calls;
}

}  // namespace

TEST_CASE("a number as an operand needs no additional kernel") {
  const std::pair<const char*, std::function<void(const Tensor&)>> kOps[] = {
      {"x + 2", [](const Tensor& x) { x + 2; }},
      {"2 - x", [](const Tensor& x) { 2 - x; }},
      {"x * 2", [](const Tensor& x) { x * 2; }},
      {"0.5 * x", [](const Tensor& x) { 0.5 * x; }},
      {"x / 3", [](const Tensor& x) { x / 3; }},
      {"3 / x", [](const Tensor& x) { 3 / x; }},
      {"remainder", [](const Tensor& x) { x.remainder(2); }},
      {"x.mul_(2)", [](const Tensor& x) { x.mul_(2); }},
      {"x.div_(2)", [](const Tensor& x) { x.div_(2); }},
      {"pow", [](const Tensor& x) { x.pow(3); }},
      {"pow_", [](const Tensor& x) { x.pow_(3); }},
      {"pow of a number", [](const Tensor& x) { pow(2, x); }},
      {"x > 0", [](const Tensor& x) { x > 0; }},
      {"x == 1", [](const Tensor& x) { x == 1; }},
      {"clamp", [](const Tensor& x) { x.clamp(0, 1); }},
      {"clamp_", [](const Tensor& x) { x.clamp_(0, 1); }},
      {"clamp to one side", [](const Tensor& x) { x.clamp(0); }},
      {"add with alpha", [](const Tensor& x) { x.add(x, 3); }},
      {"sub with alpha", [](const Tensor& x) { x.sub(x, 3); }},
      {"add_ with alpha", [](const Tensor& x) { x.add_(x, 3); }},
      {"sub_ with alpha", [](const Tensor& x) { x.sub_(x, 3); }},
      {"add a number with alpha", [](const Tensor& x) { x.add(2, 3); }},
      {"mean", [](const Tensor& x) { x.mean(); }},
      {"mean of a dim", [](const Tensor& x) { x.mean(1); }},
  };
  for (const auto& [name, f] : kOps) {
    CAPTURE(name);
    CHECK(calls_of(f) == Calls{1, 1});
  }
  // One kernel in addition to the comparison.
  const auto filled = [](const Tensor& x) { x.masked_fill(x > 0, 2); };
  const auto chosen = [](const Tensor& x) { where(x > 0, x, 2); };
  const auto in_place = [](const Tensor& x) { x.masked_fill_(x > 0, 2); };
  CHECK(calls_of(filled) == Calls{2, 2});
  CHECK(calls_of(chosen) == Calls{2, 2});
  CHECK(calls_of(in_place) == Calls{2, 2});
}

TEST_CASE("a number as an operand needs no additional kernel in the gradient") {
  CHECK(backward_calls_of([](const Tensor& x) { return x + 2; }) == Calls{0, 0});
  CHECK(backward_calls_of([](const Tensor& x) { return 2 - x; }) == Calls{1, 1});
  CHECK(backward_calls_of([](const Tensor& x) { return x * 2; }) == Calls{1, 1});
  CHECK(backward_calls_of([](const Tensor& x) { return x / 2; }) == Calls{1, 1});
  CHECK(backward_calls_of([](const Tensor& x) { return x.mean(); }) == Calls{1, 1});
  CHECK(backward_calls_of([](const Tensor& x) { return x.clamp(0); }) == Calls{1, 1});
  CHECK(backward_calls_of([](const Tensor& x) { return zeros_like(x).add(x, 3); }) == Calls{1, 1});
}

TEST_CASE("elementwise activations and losses are one kernel, and so are their gradients") {
  namespace F = nn::functional;
  const std::pair<const char*, std::function<Tensor(const Tensor&)>> kOps[] = {
      {"silu", [](const Tensor& x) { return F::silu(x); }},
      {"mish", [](const Tensor& x) { return F::mish(x); }},
      {"selu", [](const Tensor& x) { return F::selu(x); }},
      {"logsigmoid", [](const Tensor& x) { return F::logsigmoid(x); }},
      {"hardsigmoid", [](const Tensor& x) { return F::hardsigmoid(x); }},
      {"hardswish", [](const Tensor& x) { return F::hardswish(x); }},
      {"elu", [](const Tensor& x) { return F::elu(x, 0.5); }},
      {"celu", [](const Tensor& x) { return F::celu(x, 0.5); }},
      {"leaky_relu", [](const Tensor& x) { return F::leaky_relu(x); }},
      {"softplus", [](const Tensor& x) { return F::softplus(x, 2); }},
      {"logits",
       [](const Tensor& x) {
         return F::binary_cross_entropy_with_logits(x, x.detach(), {}, Reduction::none);
       }},
      {"maximum", [](const Tensor& x) { return maximum(x, x.detach()); }},
      {"minimum", [](const Tensor& x) { return minimum(x.detach(), x); }},
      {"pow", [](const Tensor& x) { return pow(x, x.detach()); }},
      {"pow of an exponent", [](const Tensor& x) { return pow(x.detach(), x); }},
      {"logaddexp", [](const Tensor& x) { return logaddexp(x, x.detach()); }},
  };
  for (const auto& [name, f] : kOps) {
    CAPTURE(name);
    CHECK(calls_of([&](const Tensor& x) { static_cast<void>(f(x)); }) == Calls{1, 1});
    CHECK(backward_calls_of(f) == Calls{1, 1});
  }
  // One kernel in addition to the difference.
  for (const auto& loss : {+[](const Tensor&x, const Tensor&t) {
                             return F::smooth_l1_loss(x, t, Reduction::none, 0.5);
                           },
                           +[](const Tensor&x, const Tensor&t) {
                             return F::huber_loss(x, t, Reduction::none, 0.5);
                           }}) {
    const auto f = [&](const Tensor& x) { return loss(x, x.detach()); };
    CHECK(calls_of([&](const Tensor& x) { static_cast<void>(f(x)); }) == Calls{2, 2});
    CHECK(backward_calls_of(f) == Calls{1, 1});
  }
}

TEST_CASE("composites of three operands agree with the kernels") {
  manual_seed(2);
  const Tensor a = normal({3, 4}), b = normal({3, 4}), y = unwritten({3, 4});
  const Tensor c = rand({3, 4}, oracle()) + 0.5;  // a parameter
  for (const TernaryOp op : functions<TernaryOp>()) {
    INFO(std::string(name(op)));
    check_composite(
        kernels::ternary, {y}, {a, b, c},
        [&](auto&& f, Tensors& out, const Tensors& in) { f(out[0], in[0], in[1], in[2], {}, op); });
    check_composite(kernels::ternary, {y}, {a, b}, [&](auto&& f, Tensors& out, const Tensors& in) {
      f(out[0], in[0], in[1], {}, 0.75, op);
    });
  }
  // The gradient of equal operands is half for each.
  for (const TernaryOp op : {TernaryOp::maximum_grad, TernaryOp::minimum_grad}) {
    check_composite(
        kernels::ternary, {y}, {a, b.round(), (b * 2).round()},
        [&](auto&& f, Tensors& out, const Tensors& in) { f(out[0], in[0], in[1], in[2], {}, op); });
  }
}

TEST_CASE("composites of a tensor and a number agree with the kernels") {
  manual_seed(1);
  const Tensor x = normal({3, 4}), y = unwritten({3, 4});
  for (const bool first : {false, true}) {
    for (const BinaryOp op : {BinaryOp::sub, BinaryOp::div, BinaryOp::remainder, BinaryOp::pow}) {
      check_composite(kernels::binary_scalar, {y}, {x.abs()},
                      [&](auto&& f, Tensors& out, const Tensors& in) {
                        f(out[0], in[0], {1.5, first}, op);
                      });
    }
    check_composite(
        kernels::masked_fill, {y}, {x, x > 0},
        [&](auto&& f, Tensors& out, const Tensors& in) { f(out[0], in[0], in[1], 2, first); });
  }
  check_composite(
      kernels::compare_scalar, {x > 0}, {x.round()},
      [&](auto&& f, Tensors& out, const Tensors& in) { f(out[0], in[0], 1, CompareOp::ge); });
  using Bound = std::optional<Scalar>;
  for (const auto& [min, max] :
       {std::pair<Bound, Bound>{-0.5, 0.5}, {-0.5, {}}, {{}, 0.5}, {0.5, -0.5}, {{}, {}}}) {
    check_composite(kernels::clamp, {y}, {x},
                    [&](auto&& f, Tensors& out, const Tensors& in) { f(out[0], in[0], min, max); });
  }
}

TEST_CASE("alpha scales integers modulo their range, and bools") {
  for_each_device([](Device d) {
    const Tensor a = tensor({250, 3}, TensorOptions(kUInt8).device(d));
    check_values(a.add(a, 3), {2}, {(250 * 4) % 256, 12});
    check_values(a.sub(a, 3), {2}, {(256 * 2 - 250 * 2 % 256) % 256, 250});
    const Tensor least = full({1}, std::numeric_limits<int64_t>::min(), d);
    check_values(least.sub(least, 3).eq(0), {1}, {1});  // 2^63 * -2
    const Tensor t = tensor({true, false}, d), f = tensor({false, false}, d);
    check_values(f.add(t, true), {2}, {1, 0});
    check_values(f.add(t, false), {2}, {0, 0});
  });
}

TEST_CASE("integers are divided by a number in place") {
  for_each_device([](Device d) {
    check_values(tensor({7, -7, 9}, d).floor_divide_(2), {3}, {3, -4, 4});
    empty({0}, TensorOptions(kInt64).device(d)).floor_divide_(0);  // no element, no error
    const Tensor x = tensor({7, -7, 9}, d);
    CHECK_THROWS_AS(
        [&] {
          x.floor_divide_(0);
          synchronize(d);  // wait for late work
        }(),
        Error);
  });
}

TEST_CASE("a refused division by a number changes nothing") {
  for (const Device d :
       {Device(), Device("reference")}) {  // on other devices the error is thrown late
    const Tensor x = tensor({7, -7, 9}, d);
    CHECK_THROWS_AS(x.floor_divide_(0), Error);
    check_values(x, {3}, {7, -7, 9});
    const Tensor least = full({2}, std::numeric_limits<int64_t>::min(), d);
    CHECK_THROWS_AS(least.floor_divide_(-1), Error);
    CHECK(least.equal(full({2}, std::numeric_limits<int64_t>::min(), d)));
  }
}

TEST_CASE("means are rounded once, and overflow only if their elements do") {
  for_each_device([](Device d) {
    const float most = std::numeric_limits<float>::max();
    CHECK(full({4}, most, d).mean().item<float>() == most);
    CHECK(std::isnan(empty({0}, d).mean().item<float>()));
    check_values(empty({0, 2}, d).mean(0).isnan(), {2}, {1, 1});
    CHECK(empty({2, 0}, d).mean(0).numel() == 0);
  });
}

TEST_CASE("powers of a number have gradients, also at 0") {
  const Tensor e = tensor({-1.5, 0., 0.5, 2.}, TensorOptions(kFloat64).requires_grad(true));
  gradcheck([](const auto& in) { return pow(2.5, in[0]); }, {e});
  gradgradcheck([](const auto& in) { return pow(2.5, in[0]); }, {e});
  pow(0, e.slice(0, 1)).sum().backward();
  check_values(e.grad(), {4}, {0, 0, 0, 0});
}
