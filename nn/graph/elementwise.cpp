// Functions of programs: elementwise functions.
#include <ambit/error.h>
#include <ambit/nn/functional/aten.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/elementwise.h>
#include <ambit/special.h>

#include <string>

#include "call.h"

namespace ambit::graph {
namespace {

std::optional<std::string_view> rounding(const Call& c, size_t i) {
  return c.has(i) ? std::optional(c.text(i)) : std::nullopt;
}

#define AMBIT_UNARY(name, ...) \
  {#name ".default", "self", unary(name)}, {#name "_.default", "self", unary_in_place(name##_)},
#define AMBIT_MAP(name) {#name ".default", "self", unary(name)},
#define AMBIT_BINARY(name)                                                 \
  {#name ".Tensor", "self other", binary(name, name)},                     \
      {#name ".Scalar", "self other", binary(name, name)},                 \
      {#name "_.Tensor", "self other", binary_in_place(name##_, name##_)}, \
      {#name "_.Scalar", "self other", binary_in_place(name##_, name##_)},
#define AMBIT_TENSORS(name) {#name ".default", "self other", tensors(name)},
#define AMBIT_BITS(name, function)                            \
  {name ".Tensor", "self other", binary(function, function)}, \
      {name ".Scalar", "self other", binary(function, function)},

constexpr Function kRows[] = {
    AMBIT_UNARY_MAPS(AMBIT_UNARY) AMBIT_MAP(isnan) AMBIT_MAP(isinf) AMBIT_MAP(isfinite)
        AMBIT_MAP(signbit) AMBIT_BINARY(mul) AMBIT_BINARY(div) AMBIT_BINARY(remainder)
            AMBIT_BINARY(fmod) AMBIT_BINARY(eq) AMBIT_BINARY(ne) AMBIT_BINARY(lt) AMBIT_BINARY(le)
                AMBIT_BINARY(gt) AMBIT_BINARY(ge) AMBIT_BINARY(bitwise_and) AMBIT_BINARY(bitwise_or)
                    AMBIT_BINARY(bitwise_xor) AMBIT_BITS("multiply", mul)
                        AMBIT_BITS("__and__", bitwise_and) AMBIT_BITS("__or__", bitwise_or)
                            AMBIT_BITS("__xor__", bitwise_xor) AMBIT_TENSORS(maximum)
                                AMBIT_TENSORS(minimum) AMBIT_TENSORS(atan2) AMBIT_TENSORS(logaddexp)
                                    AMBIT_TENSORS(logical_and) AMBIT_TENSORS(logical_or)
                                        AMBIT_TENSORS(logical_xor)
    // clang-format off
    {"max.other", "self other", tensors(maximum)},
    {"min.other", "self other", tensors(minimum)},
    {"floor_divide.default", "self other", binary(floor_divide, floor_divide)},
    {"floor_divide_.Tensor", "self other", binary_in_place(floor_divide_, floor_divide_)},
    {"pow.Tensor_Tensor", "self exponent", binary(pow, pow)},
    {"pow.Tensor_Scalar", "self exponent", binary(pow, pow)},
    {"pow_.Scalar", "self exponent", binary_in_place(pow_, pow_)},
    {"pow.Scalar", "self exponent", one([](Call& c) { return pow(c.scalar(0), c.tensor(1)); })},
    {"add.Tensor", "self other alpha=1", one([](Call& c) {
       return c.is_number(1) ? add(c.tensor(0), c.scalar(1), c.scalar(2))
                             : add(c.tensor(0), c.tensor(1), c.scalar(2)); })},
    {"add.Scalar", "self other alpha=1", one([](Call& c) {
       return add(c.tensor(0), c.scalar(1), c.scalar(2)); })},
    {"add_.Tensor", "self other alpha=1", one([](Call& c) -> Tensor {
       return c.is_number(1) ? add_(c.tensor(0), c.scalar(1), c.scalar(2))
                             : add_(c.tensor(0), c.tensor(1), c.scalar(2)); })},
    {"add_.Scalar", "self other alpha=1", one([](Call& c) -> Tensor {
       return add_(c.tensor(0), c.scalar(1), c.scalar(2)); })},
    {"sub.Tensor", "self other alpha=1", one([](Call& c) {
       return c.is_number(1) ? sub(c.tensor(0), c.scalar(1), c.scalar(2))
                             : sub(c.tensor(0), c.tensor(1), c.scalar(2)); })},
    {"sub.Scalar", "self other alpha=1", one([](Call& c) {
       return sub(c.tensor(0), c.scalar(1), c.scalar(2)); })},
    {"sub_.Tensor", "self other alpha=1", one([](Call& c) -> Tensor {
       return c.is_number(1) ? sub_(c.tensor(0), c.scalar(1), c.scalar(2))
                             : sub_(c.tensor(0), c.tensor(1), c.scalar(2)); })},
    {"rsub.Scalar", "self other alpha=1", one([](Call& c) {
       return rsub(c.tensor(0), c.scalar(1), c.scalar(2)); })},
    {"rsub.Tensor", "self other alpha=1", one([](Call& c) {
       return rsub(c.tensor(0), c.tensor(1), c.scalar(2)); })},
    {"div.Tensor_mode", "self other rounding_mode", one([](Call& c) {
       return c.is_number(1) ? div(c.tensor(0), c.scalar(1), rounding(c, 2))
                             : div(c.tensor(0), c.tensor(1), rounding(c, 2)); })},
    {"div.Scalar_mode", "self other rounding_mode", one([](Call& c) {
       return div(c.tensor(0), c.scalar(1), rounding(c, 2)); })},
    {"addcmul.default", "self tensor1 tensor2 value=1", one([](Call& c) {
       return addcmul(c.tensor(0), c.tensor(1), c.tensor(2), c.scalar(3)); })},
    {"addcdiv.default", "self tensor1 tensor2 value=1", one([](Call& c) {
       return addcdiv(c.tensor(0), c.tensor(1), c.tensor(2), c.scalar(3)); })},
    {"lerp.Scalar", "self end weight", one([](Call& c) {
       return lerp(c.tensor(0), c.tensor(1), c.scalar(2)); })},
    {"lerp.Tensor", "self end weight", one([](Call& c) {
       return lerp(c.tensor(0), c.tensor(1), c.tensor(2)); })},
    {"clamp.default", "self min=None max=None", one([](Call& c) {
       return clamp(c.tensor(0), c.optional_scalar(1), c.optional_scalar(2)); })},
    {"clamp_.default", "self min=None max=None", one([](Call& c) -> Tensor {
       return clamp_(c.tensor(0), c.optional_scalar(1), c.optional_scalar(2)); })},
    {"clamp_min.default", "self min", one([](Call& c) {
       return clamp_min(c.tensor(0), c.scalar(1)); })},
    {"clamp_min_.default", "self min", one([](Call& c) -> Tensor {
       return clamp_min_(c.tensor(0), c.scalar(1)); })},
    {"clamp_max.default", "self max", one([](Call& c) {
       return clamp_max(c.tensor(0), c.scalar(1)); })},
    {"where.self", "condition self other", one([](Call& c) {
       return where(c.tensor(0), c.tensor(1), c.tensor(2)); })},
    {"where.ScalarOther", "condition self other", one([](Call& c) {
       return where(c.tensor(0), c.tensor(1), c.scalar(2)); })},
    {"where.ScalarSelf", "condition self other", one([](Call& c) {
       return where(c.tensor(0), c.scalar(1), c.tensor(2)); })},
    {"where.Scalar", "condition self other", one([](Call& c) {
       return where(c.tensor(0), c.scalar(1), c.scalar(2)); })},
    {"masked_fill.Scalar", "self mask value", one([](Call& c) {
       return masked_fill(c.tensor(0), c.tensor(1), c.scalar(2)); })},
    {"masked_fill_.Scalar", "self mask value", one([](Call& c) -> Tensor {
       return masked_fill_(c.tensor(0), c.tensor(1), c.scalar(2)); })},
    {"masked_fill.Tensor", "self mask value", one([](Call& c) {
       return masked_fill(c.tensor(0), c.tensor(1), c.tensor(2)); })},
    {"masked_fill_.Tensor", "self mask value", one([](Call& c) -> Tensor {
       return masked_fill_(c.tensor(0), c.tensor(1), c.tensor(2)); })},
    {"fill_.Scalar", "self value", one([](Call& c) -> Tensor {
       return fill_(c.tensor(0), c.scalar(1)); })},
    {"fill_.Tensor", "self value", one([](Call& c) -> Tensor {
       return fill_(c.tensor(0), c.tensor(1)); })},
    {"fill.Scalar", "self value", one([](Call& c) { return fill(c.tensor(0), c.scalar(1)); })},
    {"zero_.default", "self", one([](Call& c) -> Tensor { return zero_(c.tensor(0)); })},
    {"copy_.default", "self src non_blocking=False", one([](Call& c) -> Tensor {
       return copy_(c.tensor(0), c.tensor(1)); })},
    {"copy.default", "self src non_blocking=False", one([](Call& c) {
       const Tensor self = c.tensor(0);
       return c.tensor(1).to(self.device(), self.dtype(), false, true).expand(self.sizes()).clone();
     })},
    {"nan_to_num.default", "self nan=None posinf=None neginf=None", one([](Call& c) {
       return nan_to_num(c.tensor(0), c.optional_real(1), c.optional_real(2), c.optional_real(3));
     })},
    {"logit.default", "self eps=None", one([](Call& c) {
       return logit(c.tensor(0), c.optional_real(1)); })},
    {"real.default", "self", unary(real)},
    {"_conj.default", "self", one([](Call& c) { return c.tensor(0).conj(); })},
    // activations
    {"gelu.default", "self approximate=none", one([](Call& c) {
       return gelu(c.tensor(0), c.text(1)); })},
    {"gelu_.default", "self approximate=none", one([](Call& c) -> Tensor {
       return gelu_(c.tensor(0), c.text(1)); })},
    {"silu.default", "self", one([](Call& c) { return nn::functional::silu(c.tensor(0)); })},
    {"silu_.default", "self", unary_in_place(silu_)},
    {"mish.default", "self", one([](Call& c) { return nn::functional::mish(c.tensor(0)); })},
    {"mish_.default", "self", unary_in_place(mish_)},
    {"relu6.default", "self", one([](Call& c) { return nn::functional::relu6(c.tensor(0)); })},
    {"selu.default", "self", one([](Call& c) { return nn::functional::selu(c.tensor(0)); })},
    {"celu.default", "self alpha=1.0", one([](Call& c) {
       return nn::functional::celu(c.tensor(0), c.real(1)); })},
    {"elu.default", "self alpha=1 scale=1 input_scale=1", one([](Call& c) {
       return elu(c.tensor(0), c.real(1), c.real(2), c.real(3)); })},
    {"elu_.default", "self alpha=1 scale=1 input_scale=1", one([](Call& c) -> Tensor {
       const Tensor x = c.tensor(0);
       return copy_(x, elu(x.clone(), c.real(1), c.real(2), c.real(3))); })},
    {"hardsigmoid.default", "self", one([](Call& c) {
       return nn::functional::hardsigmoid(c.tensor(0)); })},
    {"hardsigmoid_.default", "self", one([](Call& c) {
       return nn::functional::hardsigmoid(c.tensor(0), true); })},
    {"hardswish.default", "self", one([](Call& c) {
       return nn::functional::hardswish(c.tensor(0)); })},
    {"hardswish_.default", "self", one([](Call& c) {
       return nn::functional::hardswish(c.tensor(0), true); })},
    {"hardtanh.default", "self min_val=-1 max_val=1", one([](Call& c) {
       return nn::functional::hardtanh(c.tensor(0), c.real(1), c.real(2)); })},
    {"hardtanh_.default", "self min_val=-1 max_val=1", one([](Call& c) {
       return nn::functional::hardtanh(c.tensor(0), c.real(1), c.real(2), true); })},
    {"leaky_relu.default", "self negative_slope=0.01", one([](Call& c) {
       return nn::functional::leaky_relu(c.tensor(0), c.real(1)); })},
    {"leaky_relu_.default", "self negative_slope=0.01", one([](Call& c) {
       return nn::functional::leaky_relu(c.tensor(0), c.real(1), true); })},
    {"softplus.default", "self beta=1 threshold=20", one([](Call& c) {
       return nn::functional::softplus(c.tensor(0), c.real(1), c.real(2)); })},
    {"threshold.default", "self threshold value", one([](Call& c) {
       return nn::functional::threshold(c.tensor(0), c.real(1), c.real(2)); })},
    {"log_sigmoid.default", "self", one([](Call& c) {
       return nn::functional::logsigmoid(c.tensor(0)); })},
    {"log_sigmoid_forward.default", "self", many([](Call& c) {
       c.give(nn::functional::logsigmoid(c.tensor(0)));
       c.give(Tensor()); })},
    {"hardshrink.default", "self lambd=0.5", one([](Call& c) {
       return nn::functional::hardshrink(c.tensor(0), c.real(1)); })},
    {"softshrink.default", "self lambd=0.5", one([](Call& c) {
       return nn::functional::softshrink(c.tensor(0), c.real(1)); })},
    {"prelu.default", "self weight", one([](Call& c) {
       return nn::functional::prelu(c.tensor(0), c.tensor(1)); })},
    {"glu.default", "self dim=-1", one([](Call& c) {
       return nn::functional::glu(c.tensor(0), c.integer(1)); })},
    // clang-format on
};

}  // namespace

constinit const std::span<const Function> kElementwiseFunctions = kRows;

}  // namespace ambit::graph
