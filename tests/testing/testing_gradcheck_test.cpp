// gradcheck of <ambit/testing.h> finds wrong gradients.
#include <doctest/doctest.h>

#include <ambit/ambit.h>
#include <ambit/testing.h>

#include <string>
#include <vector>

using namespace ambit;

namespace {

// x * x, with the gradient factor * x.
struct Squared : autograd::Function<Squared> {
  static Tensor forward(autograd::AutogradContext* context, const Tensor& x, double factor) {
    context->save_for_backward({x});
    context->saved_data["factor"] = factor;
    return x * x;
  }
  static std::vector<Tensor> backward(autograd::AutogradContext* context, std::vector<Tensor> g) {
    const double factor = context->saved_data["factor"].toDouble();
    return {g[0] * context->get_saved_variables()[0] * factor, Tensor()};
  }
};

Tensor points() { return tensor({{0.5, -1.25}, {2.0, 0.75}}, kFloat64); }
bool has(const std::string& text, const char* part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("gradcheck accepts functions of tensors and of vectors of tensors, on every device") {
  FOR_EACH_DEVICE(device) {
    const Tensor x = points().to(device), y = exp(x);
    CHECK_GRADIENTS([](const Tensor& a) { return sin(a) * a; }, {x});
    CHECK_GRADIENTS([](const Tensor& a, const Tensor& b) { return matmul(a, b); }, {x, y});
    CHECK_GRADIENTS([](const Tensor& a, const Tensor& b, const Tensor& c) { return a * b / c; },
                    {x, x, y});
    CHECK_SECOND_GRADIENTS([](const std::vector<Tensor>& t) { return tanh(t[0]) * t[1]; }, {x, y});
    CHECK_GRADIENTS([](const Tensor& a, const Tensor& b, const Tensor& c,
                       const Tensor& d) { return a + b * c - d; },
                    {x, y, x, y});
  }
}

TEST_CASE("a wrong gradient is reported by element") {
  const auto right = [](const Tensor& x) { return Squared::apply(x, 2.0); };
  const auto wrong = [](const Tensor& x) { return Squared::apply(x, 2.001); };
  CHECK(test::gradcheck(right, {points()}) == "");
  const std::string report = test::gradcheck(wrong, {points()});
  CHECK(has(report,
            "gradcheck: expected autograd's gradients to be the numeric ones, got 4 elements"));
  CHECK(has(report, "\n  input 0 element 2: numeric "));
  CHECK(has(report, "\n  ..."));
  // 0.001 for gradients up to 4 is within a tolerance of 0.01.
  CHECK(test::gradcheck(wrong, {points()}, {.tolerance = 0.01}) == "");
}

TEST_CASE("a wrong second gradient is reported") {
  // The first gradient is correct, but its own gradient is wrong by a detached part.
  const auto f = [](const Tensor& x) { return x * x * x.detach(); };
  CHECK(has(test::gradcheck(f, {points()}), "gradcheck: "));
  const auto g = [](const Tensor& x) { return x * x * x; };
  CHECK(test::gradgradcheck(g, {points()}) == "");
  CHECK(has(test::gradgradcheck(f, {points()}), "gradgradcheck: "));
}

TEST_CASE("inputs are unchanged, and invalid ones are reported") {
  const Tensor x = points(), before = x.clone();
  CHECK(test::gradcheck([](const Tensor& a) { return a * a; }, {x}) == "");
  CHECK(x.equal(before));
  CHECK_FALSE(x.requires_grad());
  const auto f = [](const Tensor& a) { return a * 2; };
  CHECK(test::gradcheck(f, {points().to(kFloat32)}) ==
        "gradcheck: expected float64, got input 0 of float32");
  CHECK(test::gradcheck(f, {ones({2}, kInt64)}) ==
        "gradcheck: expected a floating-point input, got none");
  // NaN is not a valid gradient.
  CHECK(test::gradcheck([](const Tensor& a) { return log(a - 1e9); }, {points()}) != "");
}
