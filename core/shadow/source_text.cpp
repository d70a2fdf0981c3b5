#include "source_text.h"

#include <cmath>

namespace ambit::shadow {
namespace {

std::string list(IntArrayRef numbers) {
  return fmt::format("{{{}}}", fmt::join(numbers.begin(), numbers.end(), ", "));
}

}  // namespace

std::string source_text(bool value) { return value ? "true" : "false"; }

std::string source_text(int64_t value) {
  if (value == INT64_MIN) return "INT64_MIN";
  return fmt::format("int64_t{{{}}}", value);
}

std::string source_text(double value) {
  if (std::isnan(value)) return "double(NAN)";
  if (std::isinf(value)) return value > 0 ? "HUGE_VAL" : "-HUGE_VAL";
  // 17 digits identify a double. The text gets a point, so that a Scalar made from it is floating
  // point.
  std::string text = fmt::format("{:.17g}", value);
  if (text.find_first_of(".e") == text.npos) text += ".0";
  return text;
}

std::string source_text(const Scalar& value) {
  if (value.is_floating_point()) return fmt::format("Scalar({})", source_text(value.toDouble()));
  if (value.dtype() == kBool) return fmt::format("Scalar({})", value.toBool());
  return fmt::format("Scalar({})", source_text(value.toLong()));
}

std::string source_text(const std::optional<Scalar>& value) {
  return fmt::format("std::optional<Scalar>({})", value ? source_text(*value) : "");
}

std::string source_text(const ScalarOperand& p) {
  return fmt::format("ScalarOperand{{{}, {}}}", source_text(p.value), p.first);
}

std::string source_text(const RandomParams& p) {
  return fmt::format("RandomParams{{static_cast<RandomParams::Kind>({}), {}, {}, {}u, {}u}}",
                     static_cast<int>(p.kind), source_text(p.low), source_text(p.high), p.seed,
                     p.offset);
}

std::string source_text(const ScanParams& p) {
  return fmt::format("ScanParams{{{}, {}, {}}}", p.dim, p.reverse, p.exclusive);
}

std::string source_text(const ActivationParams& p) {
  return fmt::format("ActivationParams({})", source_text(p.op));
}

std::string source_text(const ConvParams& p) {
  return fmt::format("ConvParams{{.stride = {}, .padding = {}, .dilation = {}, .groups = {}}}",
                     list(p.stride), list(p.padding), list(p.dilation), p.groups);
}

std::string source_text(const PoolParams& p) {
  return fmt::format(
      "PoolParams{{.kernel = {}, .stride = {}, .padding = {}, .dilation = {}, .ceil_mode = {}, "
      ".count_include_pad = {}, .divisor = {}, .adaptive = {}}}",
      list(p.kernel), list(p.stride), list(p.padding), list(p.dilation), p.ceil_mode,
      p.count_include_pad, p.divisor, p.adaptive);
}

std::string source_text(const InterpolateParams& p) {
  return fmt::format(
      "InterpolateParams{{.mode = static_cast<InterpolateParams::Mode>({}), .align_corners = {}, "
      ".scale = {{{}, {}, {}}}}}",
      static_cast<int>(p.mode), p.align_corners, source_text(p.scale[0]), source_text(p.scale[1]),
      source_text(p.scale[2]));
}

std::string source_text(const EmbeddingBagParams& p) {
  return fmt::format(
      "EmbeddingBagParams{{.mode = static_cast<EmbeddingBagParams::Mode>({}), .padding = {}}}",
      static_cast<int>(p.mode), p.padding);
}

std::string source_text(const BatchNormParams& p) {
  return fmt::format("BatchNormParams{{.training = {}, .momentum = {}, .eps = {}}}", p.training,
                     source_text(p.momentum), source_text(p.eps));
}

std::string source_text(const AttentionParams& p) {
  return fmt::format("AttentionParams{{.scale = {}, .causal = {}}}", source_text(p.scale),
                     p.causal);
}

std::string source_text(const TriangularParams& p) {
  return fmt::format("TriangularParams{{.upper = {}, .transpose = {}, .unitriangular = {}}}",
                     p.upper, p.transpose, p.unitriangular);
}

std::string source_text(const SgdParams& p) {
  return fmt::format(
      "SgdParams{{.lr = {}, .momentum = {}, .dampening = {}, .weight_decay = {}, .nesterov = {}, "
      ".first_step = {}}}",
      source_text(p.lr), source_text(p.momentum), source_text(p.dampening),
      source_text(p.weight_decay), p.nesterov, p.first_step);
}

std::string source_text(const AdamParams& p) {
  return fmt::format(
      "AdamParams{{.lr = {}, .beta1 = {}, .beta2 = {}, .eps = {}, .weight_decay = {}, .decoupled = "
      "{}, .step = {}}}",
      source_text(p.lr), source_text(p.beta1), source_text(p.beta2), source_text(p.eps),
      source_text(p.weight_decay), p.decoupled, p.step);
}

}  // namespace ambit::shadow
