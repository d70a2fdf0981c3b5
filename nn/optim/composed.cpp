// ComposedOptimizer: state, and the loop over the parameters of a batch.
#include <ambit/backend/kernels.h>
#include <ambit/backend/registry.h>
#include <ambit/ops/creation.h>
#include <ambit/optim/composed.h>

#include <utility>

#include "step_ops.h"

namespace ambit::optim {

void compute(const Tensor& y, UnaryOp op, const Tensor& x) {
  Tensor out = y;
  kernels::unary(out, x, op);
}
void compute(const Tensor& y, BinaryOp op, const Tensor& a, const Tensor& b) {
  Tensor out = y;
  kernels::binary(out, a, b, op);
}
void compute(const Tensor& y, BinaryOp op, const Tensor& x, double number) {
  Tensor out = y;
  kernels::binary_scalar(out, x, ScalarOperand{number}, op);
}
void add_scaled(const Tensor& y, const Tensor& a, const Tensor& b, double factor) {
  Tensor out = y;
  kernels::ternary(out, a, b, {}, factor, TernaryOp::add_scaled);
}
void lerp_into(const Tensor& y, const Tensor& a, const Tensor& b, double weight) {
  Tensor out = y;
  kernels::ternary(out, a, b, {}, weight, TernaryOp::lerp);
}
void lerp_into(const Tensor& y, const Tensor& a, const Tensor& b, const Tensor& weight) {
  Tensor out = y;
  kernels::ternary(out, a, b, weight, 0, TernaryOp::lerp);
}

void ComposedOptimizer::One::decay(double factor) {
  if (factor == 0) return;
  const Tensor& decayed = scratch(kScratch - 1);
  add_scaled(decayed, grad, param(), factor);
  grad = decayed;
}

void ComposedOptimizer::One::update_mean(size_t slot, double beta) const {
  lerp_into(state(slot), state(slot), grad, 1 - beta);
}

void ComposedOptimizer::One::update_square(size_t slot, double beta) const {
  compute(scratch(0), BinaryOp::mul, grad, grad);
  lerp_into(state(slot), state(slot), scratch(0), 1 - beta);
}

void ComposedOptimizer::prepare(const Tensor& param, State& state,
                                const OptimizerOptions& options) const {
  if (state.tensors[0].defined()) return;
  State made = state;
  const auto description = state_tensors();
  for (size_t i = 0; i < description.size(); ++i) {
    if (description[i].optional) continue;
    const DType single = description[i].is_number ? kFloat64 : kInt64;
    made.tensors[i] = description[i].like_param ? zeros(param.sizes(), param.options())
                                                : zeros({}, TensorOptions(single).device(kCPU));
  }
  initialise(made, options);
  state.tensors = std::move(made.tensors);
}

int64_t ComposedOptimizer::batch_key(const State& state) const {
  return *state.tensors[0].data_ptr<int64_t>();  // on cpu
}

void ComposedOptimizer::update(const Batch& batch, const OptimizerOptions& options) const {
  const Device device = batch.params[0].device();
  if (const char* const what = unrepeatable(options); what && !device.is_meta()) {
    backend_of(device).expect_repeatable(device.index(), what);
  }
  for (size_t i = 0; i < batch.params.size(); ++i) {
    One one{batch, i, batch.grads[i], static_cast<double>(batch.batch_key + 1)};
    update_one(one, options);
    ++*batch.state[0][i].data_ptr<int64_t>();
  }
}

}  // namespace ambit::optim
