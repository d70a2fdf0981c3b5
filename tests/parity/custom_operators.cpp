// Custom operators registered as in extensions, and called by name without Python.
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <string>
#include <vector>

#include "tests/parity/parity.h"

using parity::report;
using parity::report_refusal;
using parity::wave;

namespace {

using at::Tensor;

Tensor scaled(const Tensor& x, double by) { return x * by; }
Tensor scaled_on_meta(const Tensor& x, double) { return torch::empty_like(x); }
Tensor joined(at::TensorList all, int64_t dim) { return torch::cat(all, dim); }
Tensor with_bias(const Tensor& x, const c10::optional<Tensor>& bias) {
  return bias ? x + *bias : x;
}

// A custom forward and backward, registered for Autograd, with the device's kernel.
struct Cube : torch::autograd::Function<Cube> {
  static Tensor forward(torch::autograd::AutogradContext* ctx, const Tensor& x) {
    at::AutoDispatchBelowADInplaceOrView guard;
    ctx->save_for_backward({x});
    static auto op = torch::Dispatcher::singleton()
                         .findSchemaOrThrow("parity_ops::cube", "")
                         .typed<Tensor(const Tensor&)>();
    return op.call(x);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    const Tensor x = ctx->get_saved_variables()[0];
    return {grads[0] * 3 * x * x};
  }
};
Tensor cube_with_gradient(const Tensor& x) { return Cube::apply(x); }
Tensor cube(const Tensor& x) { return x * x * x; }

}  // namespace

TORCH_LIBRARY(parity_ops, m) {
  m.def("scaled(Tensor x, float by) -> Tensor");
  m.def("joined(Tensor[] all, int dim=0) -> Tensor", &joined);
  m.def("with_bias(Tensor x, Tensor? bias) -> Tensor", TORCH_FN(with_bias));
  m.def("cube(Tensor x) -> Tensor");
  m.def("count", [](const Tensor& x) { return x.numel(); });
  m.def("without_kernels(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(parity_ops, CompositeExplicitAutograd, m) {
  m.impl("scaled", &scaled);
  m.impl("cube", TORCH_FN(cube));
}
TORCH_LIBRARY_IMPL(parity_ops, Meta, m) { m.impl("scaled", scaled_on_meta); }
TORCH_LIBRARY_IMPL(parity_ops, Autograd, m) { m.impl("cube", &cube_with_gradient); }

TORCH_LIBRARY_FRAGMENT(parity_ops, m) {
  m.def("scaled.twice(Tensor x) -> Tensor", [](const Tensor& x) -> Tensor { return x + x; });
}

PARITY(operators_by_name) {
  auto& dispatcher = c10::Dispatcher::singleton();
  const Tensor x = wave({2, 3});
  const auto scale =
      dispatcher.findSchemaOrThrow("parity_ops::scaled", "").typed<Tensor(const Tensor&, double)>();
  report("scaled", scale.call(x, 2.5));
  {
    const at::AutoDispatchBelowADInplaceOrView guard;  // 1.13 has no Autograd key for meta
    report("on meta", scale.call(x.to(torch::kMeta), 2.5).is_meta());
  }
  report("twice", dispatcher.findSchemaOrThrow("parity_ops::scaled", "twice")
                      .typed<Tensor(const Tensor&)>()
                      .call(x));
  const auto join = dispatcher.findSchemaOrThrow("parity_ops::joined", "")
                        .typed<Tensor(at::TensorList, int64_t)>();
  report("joined", join.call({x, x}, 1));
  const auto add = dispatcher.findSchemaOrThrow("parity_ops::with_bias", "")
                       .typed<Tensor(const Tensor&, const c10::optional<Tensor>&)>();
  report("bias", add.call(x, wave({3}, 0.3)), 2);
  report("no bias", add.call(x, c10::nullopt));
  report("count", static_cast<double>(dispatcher.findSchemaOrThrow("parity_ops::count", "")
                                          .typed<int64_t(const Tensor&)>()
                                          .call(x)));
}

PARITY(operators_with_gradients) {
  const auto op = c10::Dispatcher::singleton()
                      .findSchemaOrThrow("parity_ops::cube", "")
                      .typed<Tensor(const Tensor&)>();
  const Tensor x = wave({3}, 0.7, torch::kDouble).requires_grad_();
  const Tensor y = op.call(x);
  report("cube", y.detach(), 4);
  y.sum().backward();
  report("gradient", x.grad(), 4);
}

PARITY(operators_that_are_not_there) {
  auto& dispatcher = c10::Dispatcher::singleton();
  report("found", dispatcher.findSchema({"parity_ops::scaled", ""}).has_value());
  report("unknown", dispatcher.findSchema({"parity_ops::nothing", ""}).has_value());
  report_refusal("unknown", [&] { dispatcher.findSchemaOrThrow("parity_ops::nothing", ""); });
  report_refusal("another signature", [&] {
    dispatcher.findSchemaOrThrow("parity_ops::scaled", "")
        .typed<Tensor(const Tensor&, int64_t)>()
        .call(wave({2}), 2);
  });
  report_refusal("no kernel", [&] {
    dispatcher.findSchemaOrThrow("parity_ops::without_kernels", "")
        .typed<Tensor(const Tensor&)>()
        .call(wave({2}));
  });
}
