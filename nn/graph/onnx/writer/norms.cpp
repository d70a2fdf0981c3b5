// Forms: normalization, softmax and dropout.
#include <ambit/ops/creation.h>

#include "forms.h"

namespace ambit::graph::onnx {

Ref softmax(Emitter& e, const Ref& x, int64_t dim) {
  return e.op("Softmax", {x}, {attribute("axis", dim)});
}

namespace {

Ref ones_of(Site& s, IntArrayRef sizes, DType d) {
  return s.e.constant(ones(sizes, TensorOptions(d)));
}
Ref zeros_of(Site& s, IntArrayRef sizes, DType d) {
  return s.e.constant(zeros(sizes, TensorOptions(d)));
}

int64_t channels_of(Site& s) {
  const int64_t n = s.sizes(0).size() > 1 ? s.sizes(0)[1] : -1;
  if (n < 0) Site::refuse("a dynamic number of channels");
  return n;
}

// Apply the factor at argument `weight` and the summand at argument `bias`, each with one element
// per channel.
Ref scaled_by_channel(Site& s, Ref y, size_t weight, size_t bias) {
  Dims sizes(static_cast<size_t>(s.rank(0) - 1), 1);
  sizes[0] = -1;
  if (s.has(weight)) y = s.e.mul(y, s.e.reshape(s.tensor(weight), sizes));
  return s.has(bias) ? s.e.add(y, s.e.reshape(s.tensor(bias), sizes)) : y;
}

// Normalize x with its mean and variance over dims.
Ref normalized(Emitter& e, const Ref& x, const Dims& dims, double eps) {
  const Ref distance = e.sub(x, e.reduce("ReduceMean", x, dims, true));
  const Ref var = e.reduce("ReduceMean", e.mul(distance, distance), dims, true);
  return e.div(distance, e.op("Sqrt", {e.add(var, eps)}));
}

void batch_norm(Site& s, bool training, bool has_statistics, double eps) {
  const Ref x = s.tensor(0);
  const int64_t channels = channels_of(s);
  if (training && has_statistics) Site::refuse("batch norm in training: call eval() first");
  if (training) {
    Dims dims;
    for (int64_t d = 0; d < s.rank(0); ++d) {
      if (d != 1) dims.push_back(d);
    }
    return s.give(scaled_by_channel(s, normalized(s.e, x, dims, eps), 1, 2));
  }
  const Ref weight = s.has(1) ? s.tensor(1) : ones_of(s, channels, x.dtype);
  const Ref bias = s.has(2) ? s.tensor(2) : zeros_of(s, channels, x.dtype);
  s.give(s.e.op("BatchNormalization", {x, weight, bias, s.tensor(3), s.tensor(4)},
                {attribute("epsilon", eps)}));
}

// ONNX's instance norm has a weight and a bias, and no statistics.
void instance_norm(Site& s) {
  if (!s.flag(5)) return batch_norm(s, false, true, s.real(7));
  if (s.has(3) && s.mode().value_or(false)) Site::refuse("running statistics");
  const Ref x = s.tensor(0);
  const int64_t channels = channels_of(s);
  const Ref weight = s.has(1) ? s.tensor(1) : ones_of(s, channels, x.dtype);
  const Ref bias = s.has(2) ? s.tensor(2) : zeros_of(s, channels, x.dtype);
  s.give(s.e.op("InstanceNormalization", {x, weight, bias}, {attribute("epsilon", s.real(7))}));
}

void layer_norm(Site& s) {
  const Ref x = s.tensor(0);
  const Dims shape = s.integers(1);
  const Ref weight = s.has(2) ? s.tensor(2) : ones_of(s, shape, x.dtype);
  s.give(s.e.op(
      "LayerNormalization", {x, weight, s.optional(3)},
      {attribute("axis", -static_cast<int64_t>(shape.size())), attribute("epsilon", s.real(4))}));
}

// ONNX has an operator for it only since opset 23.
void rms_norm(Site& s) {
  Emitter& e = s.e;
  const Ref x = s.tensor(0);
  Dims dims;
  const auto count = static_cast<int64_t>(s.integers(1).size());
  for (int64_t d = s.rank(0) - count; d < s.rank(0); ++d) dims.push_back(d);
  // PyTorch's default eps is the distance from 1 to the next larger number; float16 and
  // bfloat16 use that of float32.
  const double eps = s.has(3) ? s.real(3) : x.dtype == kFloat64 ? 0x1p-52 : 0x1p-23;
  const Ref mean = e.reduce("ReduceMean", e.mul(x, x), dims, true);
  const Ref y = e.div(x, e.op("Sqrt", {e.add(mean, eps)}));
  s.give(s.has(2) ? e.mul(y, s.tensor(2)) : y);
}

// Written as an instance norm of [N, groups, all]; ONNX has an operator for it only since opset 21.
void group_norm(Site& s, int64_t groups, size_t weight, size_t bias, double eps) {
  Emitter& e = s.e;
  const Ref x = s.tensor(0);
  const Ref shape = s.sizes(0)[0] < 0 ? e.concat({e.sizes(x, 0, 1), e.integers({groups, -1})}, 0)
                                      : e.integers({s.sizes(0)[0], groups, -1});
  const Ref grouped = e.reshape(x, shape);
  const Ref y = e.op("InstanceNormalization",
                     {grouped, ones_of(s, groups, x.dtype), zeros_of(s, groups, x.dtype)},
                     {attribute("epsilon", eps)});
  const Ref back = e.reshape(y, s.sizes_of(0, 0, s.rank(0)));
  s.give(scaled_by_channel(s, back, weight, bias));
}

// v g / |v|, where the norm is over all dims but one.
void weight_norm(Site& s) {
  Emitter& e = s.e;
  const Ref v = s.tensor(0);
  const int64_t dim = s.integer(2) == -1 ? -1 : s.dim(2, 0);
  Dims dims;
  for (int64_t d = 0; d < s.rank(0); ++d) {
    if (d != dim) dims.push_back(d);
  }
  s.give(e.mul(v, e.div(s.tensor(1), e.reduce("ReduceL2", v, dims, true))));
}

void give_softmax(Site& s, const char* type) {
  const int64_t rank = s.rank(0);
  Ref x = s.tensor(0, s.result_dtype());
  if (rank == 0) x = s.e.reshape(x, {1});
  const Ref y = s.e.op(type, {x}, {attribute("axis", rank == 0 ? 0 : s.dim(1, 0))});
  s.give(rank == 0 ? s.e.reshape(y, Dims()) : y);
}

void dropout(Site& s, size_t training) {
  if (s.has(training) && s.training(training) && s.real(1) != 0) {
    Site::refuse("dropout in training: call eval() first");
  }
  const Ref x = s.tensor(0);
  s.give(x);
  if (s.results() < 2 || !s.needs(1)) return;
  s.give(s.e.op("Expand", {s.e.number(true, kBool), s.sizes_of(0, 0, s.rank(0))}));
}

constexpr Form kRows[] = {
    // clang-format off
    {"batch_norm.default", [](Site& s) {
       batch_norm(s, s.has(3) ? s.training(5) : s.flag(5), s.has(3), s.real(7)); }},
    {"_native_batch_norm_legit_no_training.default", [](Site& s) {
       batch_norm(s, false, true, s.real(6)); }},
    {"_native_batch_norm_legit_functional.default", [](Site& s) {
       if (s.training(5)) Site::refuse("batch norm in training: call eval() first");
       batch_norm(s, false, true, s.real(7)); }},
    {"_native_batch_norm_legit.no_stats", [](Site& s) { batch_norm(s, true, false, s.real(5)); }},
    {"instance_norm.default", instance_norm},
    {"layer_norm.default", layer_norm},
    {"native_layer_norm.default", layer_norm},
    {"rms_norm.default", rms_norm},
    {"group_norm.default", [](Site& s) { group_norm(s, s.integer(1), 2, 3, s.real(4)); }},
    {"native_group_norm.default", [](Site& s) { group_norm(s, s.integer(6), 1, 2, s.real(7)); }},
    {"_weight_norm.default", weight_norm},
    {"softmax.int", [](Site& s) { give_softmax(s, "Softmax"); }},
    {"_softmax.default", [](Site& s) { give_softmax(s, "Softmax"); }},
    {"log_softmax.int", [](Site& s) { give_softmax(s, "LogSoftmax"); }},
    {"_log_softmax.default", [](Site& s) { give_softmax(s, "LogSoftmax"); }},
    {"dropout.default", [](Site& s) { dropout(s, 2); }},
    {"feature_dropout.default", [](Site& s) { dropout(s, 2); }},
    {"native_dropout.default", [](Site& s) { dropout(s, 2); }},
    // clang-format on
};

}  // namespace

constinit const std::span<const Form> kNormForms = kRows;

}  // namespace ambit::graph::onnx
