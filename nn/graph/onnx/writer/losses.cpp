// Forms: losses.
#include "forms.h"

namespace ambit::graph::onnx {
namespace {

enum Reduction : int64_t { kNone = 0, kMean = 1, kSum = 2 };

void give_reduced(Site& s, const Ref& losses, size_t at) {
  const int64_t reduction = s.integer(at);
  if (reduction == kNone) return s.give(losses);
  s.give(
      s.e.op(reduction == kSum ? "ReduceSum" : "ReduceMean", {losses}, {attribute("keepdims", 0)}));
}

Ref difference(Site& s) {
  const DType d = s.result_dtype();
  return s.e.sub(s.tensor(0, d), s.tensor(1, d));
}

void mse(Site& s) {
  const Ref d = difference(s);
  give_reduced(s, s.e.mul(d, d), 2);
}

void l1(Site& s) { give_reduced(s, s.e.op("Abs", {difference(s)}), 2); }

// The loss is a parabola up to `limit`, and then a line that continues it. smooth_l1 is huber /
// limit.
void huber(Site& s, bool is_smooth_l1) {
  Emitter& e = s.e;
  const double limit = s.real(3);
  const Ref size = e.op("Abs", {difference(s)});
  if (is_smooth_l1 && limit == 0) return give_reduced(s, size, 2);
  const double scale = is_smooth_l1 ? 1 / limit : 1;
  const Ref near = e.mul(e.mul(size, size), scale / 2);
  const Ref far = e.mul(e.add(size, -limit / 2), limit * scale);
  give_reduced(s, e.where(e.compare("Less", size, limit), near, far), 2);
}

// -(t log x + (1 - t) log(1 - x)), with logarithms of at least -100.
void binary_cross_entropy(Site& s) {
  Emitter& e = s.e;
  const Ref x = s.tensor(0), t = s.tensor(1), one = e.number(1, x.dtype);
  const auto log = [&](const Ref& p) {
    return e.op("Max", {e.op("Log", {p}), e.number(-100, x.dtype)});
  };
  const Ref sum = e.add(e.mul(t, log(x)), e.mul(e.sub(one, t), log(e.sub(one, x))));
  Ref losses = e.op("Neg", {sum});
  if (s.has(2)) losses = e.mul(losses, s.tensor(2));
  give_reduced(s, losses, 3);
}

// (1 - t) x + (1 + (p - 1) t) log(1 + e^-x)
void with_logits(Site& s) {
  Emitter& e = s.e;
  const Ref x = s.tensor(0), t = s.tensor(1);
  Ref tail = softplus(e, e.op("Neg", {x}));
  if (s.has(3)) tail = e.mul(tail, e.add(e.mul(e.add(s.tensor(3), -1), t), 1));
  Ref losses = e.add(e.mul(e.sub(e.number(1, x.dtype), t), x), tail);
  if (s.has(2)) losses = e.mul(losses, s.tensor(2));
  give_reduced(s, losses, 4);
}

// Targets are class indices. ONNX has operators with the same definition; they need a batch dim.
void by_class(Site& s, const char* type) {
  Emitter& e = s.e;
  constexpr const char* kReductions[] = {"none", "mean", "sum"};
  Ref x = s.tensor(0), t = s.tensor(1);
  const bool is_single = s.rank(0) == 1;
  if (is_single) {
    x = e.unsqueeze(x, 0);
    t = e.reshape(t, {1});
  }
  if (t.dtype != kInt32) t = e.cast(t, kInt64);
  const int64_t reduction = s.integer(3);
  const Ref y = e.op(
      type, {x, t, s.optional(2)},
      {attribute("reduction", kReductions[reduction]), attribute("ignore_index", s.integer(4))});
  s.give(is_single && reduction == kNone ? e.squeeze(y, 0) : y);
}

// Targets are probabilities of all classes.
void by_probability(Site& s) {
  Emitter& e = s.e;
  const int64_t dim = s.rank(0) == 1 ? 0 : 1;
  const Ref x = s.tensor(0);
  Ref products = e.mul(e.op("LogSoftmax", {x}, {attribute("axis", dim)}), s.tensor(1));
  if (s.has(2)) {
    Dims sizes(static_cast<size_t>(s.rank(0) - dim), 1);
    sizes[0] = -1;
    products = e.mul(products, e.reshape(s.tensor(2), sizes));
  }
  const Ref losses = e.op("Neg", {e.reduce("ReduceSum", products, Dims{dim}, false)});
  give_reduced(s, losses, 3);
}

// Cross entropy with label smoothing: part of the weight is distributed equally over all classes.
void smoothed(Site& s) {
  Emitter& e = s.e;
  if (s.has(2) || s.rank(0) < 2) Site::refuse("label smoothing with weights or without a batch");
  const int64_t classes = s.sizes(0)[1];
  if (classes < 0) Site::refuse("a dynamic number of classes");
  const double part = s.real(5);
  const Ref x = e.op("LogSoftmax", {s.tensor(0)}, {attribute("axis", 1)});
  const Ref t = e.cast(s.tensor(1), kInt64);
  const Ref at_class =
      e.op("NegativeLogLikelihoodLoss", {x, t},
           {attribute("reduction", "none"), attribute("ignore_index", s.integer(4))});
  const Ref is_ignored = e.compare("Equal", t, e.integer(s.integer(4)));
  const Ref over_all =
      e.mul(e.reduce("ReduceSum", x, Dims{1}, false), -part / static_cast<double>(classes));
  const Ref even = e.where(is_ignored, e.number(0, x.dtype), over_all);
  const Ref losses = e.add(e.mul(at_class, 1 - part), even);
  const int64_t reduction = s.integer(3);
  if (reduction == kNone) return s.give(losses);
  const Attributes keep{attribute("keepdims", 0)};
  const Ref sum = e.op("ReduceSum", {losses}, keep);
  if (reduction == kSum) return s.give(sum);
  const Ref counted = e.cast(e.op("Not", {is_ignored}), x.dtype);
  s.give(e.div(sum, e.op("ReduceSum", {counted}, keep)));
}

void cross_entropy(Site& s) {
  const bool smooths = s.real(5) != 0;
  if (!is_floating_point(s.dtype_of(1))) {
    return smooths ? smoothed(s) : by_class(s, "SoftmaxCrossEntropyLoss");
  }
  if (smooths) Site::refuse("label smoothing of probabilities");
  by_probability(s);
}

constexpr Form kRows[] = {
    // clang-format off
    {"mse_loss.default", mse},
    {"l1_loss.default", l1},
    {"smooth_l1_loss.default", [](Site& s) { huber(s, true); }},
    {"huber_loss.default", [](Site& s) { huber(s, false); }},
    {"cross_entropy_loss.default", cross_entropy},
    {"nll_loss_nd.default", [](Site& s) { by_class(s, "NegativeLogLikelihoodLoss"); }},
    {"binary_cross_entropy.default", binary_cross_entropy},
    {"binary_cross_entropy_with_logits.default", with_logits},
    // clang-format on
};

}  // namespace

constinit const std::span<const Form> kLossForms = kRows;

}  // namespace ambit::graph::onnx
