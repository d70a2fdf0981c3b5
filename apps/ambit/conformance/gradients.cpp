// Gradients: for each family of differentiable ops the device's gradients are compared with those
// of `reference`, which ambit's tests verify by numeric differentiation. This file has the
// elementwise, reduction and index families, and the check of a case.
#include "gradients.h"

#include <ambit/autograd.h>
#include <ambit/nn/functional/activation.h>
#include <ambit/nn/functional/loss.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/loss.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/scan.h>
#include <ambit/ops/shape.h>
#include <ambit/ops/sort.h>
#include <ambit/ops/special.h>
#include <ambit/random.h>
#include <fmt/format.h>

#include <algorithm>

#include "bound.h"
#include "cases.h"
#include "expect.h"

using namespace ambit;

namespace conformance {
namespace {

bool is_differentiable(UnaryOp op) {
  return row_of(op).dtypes.contains(kFloat32) && row_of(op).result == FunctionRow::Result::same;
}

// All functions are differentiable in [0.5, 1.5), or both devices reach a kink with equal operands.
std::vector<Gradient> elementwise_gradients() {
  std::vector<Gradient> all;
  const auto map = [&](const char* name, Tensor (*f)(const Tensor&)) {
    all.push_back({name, "unary", {{5, 7}}, [f](const Tensors& x) { return f(x[0]); }});
  };
  // In half of that interval all functions are defined, and are smooth or step functions; acosh is
  // defined from 1 on.
#define AMBIT_GRADIENT(f, ...)                                           \
  if (is_differentiable(UnaryOp::f)) {                                   \
    map(#f, [](const Tensor& x) {                                        \
      return ambit::f(x * 0.5 + (UnaryOp::f == UnaryOp::acosh ? 1 : 0)); \
    });                                                                  \
  }
  AMBIT_UNARY_MAPS(AMBIT_GRADIENT)
#undef AMBIT_GRADIENT
  map("gelu", gelu);
  map("gelu_tanh", [](const Tensor& x) { return gelu(x, "tanh"); });
  map("logit", [](const Tensor& x) { return logit(x * 0.5); });
  map("special_i1", special_i1);
  map("relu_at_kink", [](const Tensor& x) { return relu(x - 1); });

  const auto scalar = [&](const char* name, const char* op, Tensor (*f)(const Tensor&)) {
    all.push_back({name, op, {{5, 7}}, [f](const Tensors& x) { return f(x[0]); }});
  };
  scalar("numbers", "binary_scalar", [](const Tensor& x) { return 3 - (x * 2 - 1) / 0.7; });
  scalar("powers", "binary_scalar", [](const Tensor& x) { return pow(x, 2.5) + pow(0.3, x); });
  scalar("clamp", "clamp", [](const Tensor& x) { return x.clamp(0.75, 1.25); });
  namespace F = nn::functional;  // values below, within and above the limits
  scalar("limits", "clamp_grad", [](const Tensor& x) {
    return x.clamp(0.75, 1.25) + x.clamp_min(1) + F::hardtanh(x, 0.75, 1.5) +
           F::threshold(x, 1, 0.5);
  });
  scalar("activations", "unary", [](const Tensor& x) {
    const Tensor z = (x - 1) * 8;
    return F::silu(F::hardsigmoid(z)) + F::mish(z) + F::selu(z) + F::logsigmoid(F::hardswish(z));
  });
  scalar("parameters", "ternary", [](const Tensor& x) {
    const Tensor z = (x - 1) * 8, none = zeros_like(x.detach());
    return F::elu(z, 0.7) + F::celu(z, 0.7) + F::leaky_relu(z, 0.1) + F::softplus(z, 2) +
           F::smooth_l1_loss(z, none, Reduction::none) + F::huber_loss(z, none, Reduction::none);
  });
  scalar("masked_fill", "masked_fill", [](const Tensor& x) {
    return x.masked_fill(x > 1.25, 2) + where(x < 0.75, x * x, 0.5) + where(x > 1, 3, x);
  });

  const auto of_two = [&](const char* name, Tensor (*f)(const Tensor&, const Tensor&)) {
    for (const Dims& other : {Dims{5, 7}, Dims{7}, Dims{5, 1}, Dims{}}) {
      all.push_back({fmt::format("{}/{}", name, str(other)),
                     "binary",
                     {{5, 7}, other},
                     [f](const Tensors& x) { return f(x[0], x[1]); }});
    }
  };
  of_two("add", [](const Tensor& a, const Tensor& b) { return add(a, b); });
  of_two("sub", [](const Tensor& a, const Tensor& b) { return sub(b, a); });
  of_two("add_scaled",
         [](const Tensor& a, const Tensor& b) { return add(a, b, 3) - sub(b, a, 3); });
  of_two("mul", [](const Tensor& a, const Tensor& b) { return a * b; });
  of_two("div", [](const Tensor& a, const Tensor& b) { return a / b; });
  of_two("pow", [](const Tensor& a, const Tensor& b) { return pow(a, b); });
  of_two("maximum", [](const Tensor& a, const Tensor& b) { return maximum(a, b); });
  of_two("logits", [](const Tensor& a, const Tensor& b) {
    return F::binary_cross_entropy_with_logits(a, b.expand(a.sizes()));
  });
  of_two("hypot", [](const Tensor& a, const Tensor& b) { return hypot(a, b); });
  of_two("xlogy", [](const Tensor& a, const Tensor& b) { return xlogy(a, b); });
  of_two("logaddexp", [](const Tensor& a, const Tensor& b) { return logaddexp(a, b); });
  of_two("lerp", [](const Tensor& a, const Tensor& b) { return lerp(a, b, b); });
  of_two("addcmul", [](const Tensor& a, const Tensor& b) { return addcmul(a, b, a, 0.5); });
  of_two("clamp", [](const Tensor& a, const Tensor& b) { return clamp(a, b, b + 0.25); });
  of_two("atan2", [](const Tensor& a, const Tensor& b) { return atan2(a, b); });
  of_two("where", [](const Tensor& a, const Tensor& b) { return where(a > 1, a * 2, b); });
  of_two("add_", [](const Tensor& a, const Tensor& b) { return (a * 1).add_(b).mul_(b); });
  return all;
}

std::vector<Gradient> reduction_gradients() {
  std::vector<Gradient> all;
  const auto of_one = [&](const char* name, const char* op, Tensor (*f)(const Tensor&)) {
    all.push_back({name, op, {{5, 7}}, [f](const Tensors& x) { return f(x[0]); }});
  };
  of_one("sum", "reduce", [](const Tensor& x) { return x.sum(0) * x.sum(); });
  of_one("mean", "reduce", [](const Tensor& x) { return x.mean(1) * x.mean(); });
  of_one("prod", "reduce", [](const Tensor& x) { return x.prod(1); });
  of_one("var", "reduce", [](const Tensor& x) { return x.var(IntArrayRef{0}) + x.std(); });
  of_one("norm", "reduce", [](const Tensor& x) { return x.norm(2, {1}); });
  of_one("logsumexp", "reduce", [](const Tensor& x) { return x.logsumexp({1}); });
  of_one("max", "arg_reduce", [](const Tensor& x) { return std::get<0>(x.max(1)) + x.max(); });
  of_one("cumsum", "scan", [](const Tensor& x) { return x.cumsum(1); });
  of_one("cumprod", "scan", [](const Tensor& x) { return x.cumprod(0); });
  of_one("logcumsumexp", "scan", [](const Tensor& x) { return x.logcumsumexp(1); });
  of_one("cummax", "cum_extremum", [](const Tensor& x) { return std::get<0>(x.cummax(1)); });
  of_one("cummin", "cum_extremum", [](const Tensor& x) { return std::get<0>(x.cummin(0)); });
  of_one("sort", "sort", [](const Tensor& x) { return std::get<0>(x.sort(1)) * x; });
  of_one("median", "sort", [](const Tensor& x) { return x.median() * std::get<0>(x.median(0)); });
  of_one("topk", "topk", [](const Tensor& x) { return std::get<0>(x.topk(3, 1)); });
  return all;
}

std::vector<Gradient> index_gradients() {
  std::vector<Gradient> all;
  const auto of_one = [&](const char* name, const char* op, Tensor (*f)(const Tensor&)) {
    all.push_back({name, op, {{5, 7}}, [f](const Tensors& x) { return f(x[0]); }});
  };
  of_one("transpose", "copy", [](const Tensor& x) { return x.t().contiguous() * 2; });
  of_one("slice", "copy", [](const Tensor& x) { return x.slice(1, 1, 7, 2).clone(); });
  of_one("expand", "copy", [](const Tensor& x) { return x.unsqueeze(0).expand({3, 5, 7}) * 2; });
  of_one("cat", "copy", [](const Tensor& x) { return cat({x, x.slice(0, 1, 3), x * 2}); });
  of_one("convert", "copy", [](const Tensor& x) { return x.to(kFloat32) * 2; });
  of_one("gather", "gather", [](const Tensor& x) {
    return x.gather(1, index_on(x, {{0, 0}, {6, 1}, {2, 2}, {3, 6}, {5, 4}}));
  });
  of_one("scatter_add", "scatter_add", [](const Tensor& x) {
    return (x * 1).scatter_add(0, index_on(x, {{0, 1}, {0, 4}}), x.slice(0, 0, 2).slice(1, 0, 2));
  });
  of_one("scatter_reduce", "scatter_reduce", [](const Tensor& x) {
    const Tensor index = index_on(x, {{0, 1}, {0, 4}}), src = x.slice(0, 0, 2).slice(1, 0, 2);
    return (x * 1).scatter_reduce(0, index, src, "prod") +
           (x * 1).scatter_reduce(0, index, src * 2, "amax", false);
  });
  of_one("index_select", "index_select", [](const Tensor& x) {
    return x.index_select(0, index_on(x, {1, 1, 4, 1}));
  });
  of_one("embedding", "index_select", [](const Tensor& x) {
    return embedding(x, index_on(x, {{1, 0}, {4, 1}}), 0);
  });
  of_one("masked_select", "nonzero", [](const Tensor& x) { return x.masked_select(x > 1); });
  return all;
}

// Return the value and the gradients of sum(f(x) * weights) on one device.
Tensors value_and_gradients(const Gradient& g, const Tensors& host, Device device) {
  Tensors x;
  for (const Tensor& t : host) x.push_back(t.to(device, false, true).requires_grad_());
  manual_seed(3);
  const Tensor y = g.f(x);
  // Distinct weights reveal permuted elements.
  const Tensor weights = (numbers(y.sizes(), kInt64).to(y.dtype()) / 101.0 + 0.5).to(device);
  Tensors all = autograd::grad({(y * weights).sum()}, x, {}, false, false, /*allow_unused=*/true);
  for (size_t i = 0; i < x.size(); ++i) {
    expect(!all[i].defined() || all[i].device() == device,
           fmt::format("the gradient of operand {} is not on {}", i, device.str()));
    if (!all[i].defined()) all[i] = zeros_like(host[i]);
  }
  all.push_back(y.detach());
  return all;
}

void check_gradient(const Gradient& g, DType dtype, Device device) {
  manual_seed(2);
  Tensors host;
  for (const Dims& sizes : g.sizes) host.push_back((rand(sizes) + 0.5).to(dtype));
  const Tensors got = value_and_gradients(g, host, device);
  const Tensors want = value_and_gradients(g, host, "reference");
  for (size_t i = 0; i < got.size(); ++i) {
    // Each element is a sum of at most 100 products of numbers below the largest. The function, its
    // derivative and the sum have errors of a few ulps: allow 4 ulps of the largest for each
    // product. Reduced floating-point types round all three.
    const double largest = want[i].cpu().abs().max().item<double>();
    const double rounding = 400 * epsilon(dtype) + 3 * last_place(dtype);
    const bool is_value = i + 1 == got.size();
    expect_close(is_value ? "the value" : fmt::format("the gradient of operand {}", i), got[i],
                 want[i], 0, rounding * std::max(largest, 1.0));
  }
}

}  // namespace

void add_gradient_cases(Cases& cases) {
  for (const auto& family : {elementwise_gradients(), reduction_gradients(), index_gradients(),
                             layer_gradients(), factor_gradients()}) {
    for (const Gradient& g : family) {
      for (const DType dtype : dtypes::kAnyFloating) {
        cases.push_back({fmt::format("gradients/{}/{}", g.name, name(dtype)), g.op,
                         [g, dtype](Device device) { check_gradient(g, dtype, device); }});
      }
    }
  }
}

}  // namespace conformance
