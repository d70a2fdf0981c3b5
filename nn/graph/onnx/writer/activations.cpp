// Forms: activations.
#include <cmath>

#include "forms.h"

namespace ambit::graph::onnx {

Ref softplus(Emitter& e, const Ref& x) { return e.op("Softplus", {x}); }

namespace {

void give(Site& s, const char* type, const Attributes& attributes = {}) {
  s.give(s.e.op(type, {s.tensor(0)}, attributes));
}

// ONNX has the operator Gelu only from opset 20 on; runtimes fuse these nodes.
void gelu(Site& s) {
  const Ref x = s.tensor(0);
  Emitter& e = s.e;
  Ref factor;
  if (s.text(1) == "tanh") {
    const Ref cube = e.mul(e.mul(x, x), x);
    const Ref inner = e.mul(e.add(x, e.mul(cube, 0.044715)), std::sqrt(M_2_PI));
    factor = e.op("Tanh", {inner});
  } else {
    factor = e.op("Erf", {e.div(x, e.number(M_SQRT2, x.dtype))});
  }
  s.give(e.mul(e.mul(x, e.add(factor, 1)), 0.5));
}

void silu(Site& s) {
  const Ref x = s.tensor(0);
  s.give(s.e.mul(x, s.e.op("Sigmoid", {x})));
}

// scale * (x > 0 ? x : alpha (e^(input_scale x) - 1))
void elu(Site& s) {
  const Ref x = s.tensor(0);
  Emitter& e = s.e;
  const double alpha = s.real(1), scale = s.real(2), input_scale = s.real(3);
  Ref y = e.op("Elu", {input_scale == 1 ? x : e.mul(x, input_scale)}, {attribute("alpha", alpha)});
  if (input_scale != 1) y = e.where(e.compare("Greater", x, 0), x, y);
  s.give(scale == 1 ? y : e.mul(y, scale));
}

void celu(Site& s) {
  const Ref x = s.tensor(0);
  Emitter& e = s.e;
  const double alpha = s.real(1);
  const Ref low = e.op("Elu", {e.mul(x, 1 / alpha)}, {attribute("alpha", alpha)});
  s.give(e.where(e.compare("Greater", x, 0), x, low));
}

// Beyond the threshold the result is x.
void softplus_above(Site& s) {
  const Ref x = s.tensor(0);
  Emitter& e = s.e;
  const double beta = s.real(1), threshold = s.real(2);
  if (beta == 1 && threshold == 20)
    return s.give(softplus(e, x));  // which rounds to x in float32 from x = 17 on
  const Ref scaled = e.mul(x, beta);
  const Ref y = e.mul(softplus(e, scaled), 1 / beta);
  s.give(e.where(e.compare("Greater", scaled, threshold), x, y));
}

void log_sigmoid(Site& s) { s.give(s.e.op("Neg", {softplus(s.e, s.e.op("Neg", {s.tensor(0)}))})); }

// ONNX's Shrink and ThresholdedRelu are not used: they replace NaN by 0, but PyTorch's functions
// keep NaN.
void hard_shrink(Site& s) {
  const Ref x = s.tensor(0);
  Emitter& e = s.e;
  const Ref is_small = e.compare("LessOrEqual", e.op("Abs", {x}), s.real(1));
  s.give(e.where(is_small, e.number(0, x.dtype), x));
}

void soft_shrink(Site& s) {
  const Ref x = s.tensor(0);
  Emitter& e = s.e;
  const double lambda = s.real(1);
  const Ref inside = e.op("Clip", {x, e.number(-lambda, x.dtype), e.number(lambda, x.dtype)});
  s.give(e.sub(x, inside));
}

void threshold(Site& s) {
  const Ref x = s.tensor(0);
  const Ref is_low = s.e.compare("LessOrEqual", x, s.real(1));
  s.give(s.e.where(is_low, s.e.number(s.scalar(2), x.dtype), x));
}

// One slope for each channel.
void prelu(Site& s) {
  const Ref x = s.tensor(0);
  Dims sizes(static_cast<size_t>(std::max<int64_t>(s.rank(0) - 1, 1)), 1);
  sizes[0] = -1;
  s.give(s.e.op("PRelu", {x, s.e.reshape(s.tensor(1), sizes)}));
}

void glu(Site& s) {
  const Ref x = s.tensor(0);
  const int64_t dim = s.dim(1, 0);
  const std::vector<Ref> halves = s.e.ops(
      "Split", {x}, {attribute("axis", dim), attribute("num_outputs", 2)}, {x.dtype, x.dtype});
  s.give(s.e.mul(halves[0], s.e.op("Sigmoid", {halves[1]})));
}

constexpr Form kRows[] = {
    // clang-format off
    {"gelu.default", gelu},
    {"silu.default", silu},
    {"mish.default", [](Site& s) { give(s, "Mish"); }},
    {"relu6.default", [](Site& s) {
       const Ref x = s.tensor(0);
       s.give(s.e.op("Clip", {x, s.e.number(0, x.dtype), s.e.number(6, x.dtype)})); }},
    {"selu.default", [](Site& s) { give(s, "Selu"); }},
    {"celu.default", celu},
    {"elu.default", elu},
    {"hardsigmoid.default", [](Site& s) { give(s, "HardSigmoid", {attribute("alpha", 1.0 / 6)}); }},
    {"hardswish.default", [](Site& s) { give(s, "HardSwish"); }},
    {"leaky_relu.default", [](Site& s) {
       give(s, "LeakyRelu", {attribute("alpha", s.real(1))}); }},
    {"softplus.default", softplus_above},
    {"threshold.default", threshold},
    {"log_sigmoid.default", log_sigmoid},
    {"log_sigmoid_forward.default", log_sigmoid},
    {"hardshrink.default", hard_shrink},
    {"softshrink.default", soft_shrink},
    {"prelu.default", prelu},
    {"glu.default", glu},
    // clang-format on
};

}  // namespace

constinit const std::span<const Form> kActivationForms = kRows;

}  // namespace ambit::graph::onnx
