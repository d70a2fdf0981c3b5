#include "state_mismatch.h"

#include <ambit/detail/printable.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

namespace ambit::nn {
namespace {

std::string describe(const Tensor& t) {
  return t.defined() ? ambit::name(t.dtype()) + str(t.sizes()) : "undefined";
}

}  // namespace

Tensor fitted(const Tensor& target, const Tensor& value) {
  const bool is_list = value.defined() && value.dim() == 1 && value.size(0) > 0;
  return target.dim() == 0 && is_list ? value.select(0, 0) : value;
}

bool is_batch_count(std::string_view name, const Tensor& target) {
  constexpr std::string_view kName = "num_batches_tracked";
  const size_t dot = name.rfind('.');
  return name.substr(dot == name.npos ? 0 : dot + 1) == kName && target.dim() == 0 &&
         target.dtype() == kInt64;
}

std::string state_mismatch(const std::string& name, const Tensor& target, const Tensor& value) {
  const auto converts = [&] {
    if (target.dtype() == value.dtype()) return true;
    if (target.is_floating_point()) return value.is_floating_point();
    return is_batch_count(name, target) && !value.is_floating_point() && value.dtype() != kBool;
  };
  if (!value.defined() || target.sizes() != value.sizes() || !converts()) {
    return fmt::format("\n  {}: expected {}, got {}", printable(name), describe(target),
                       describe(value));
  }
  if (value.is_meta() && !target.is_meta()) {
    return fmt::format("\n  {}: expected data, got a tensor on meta, which has none",
                       printable(name));
  }
  return "";
}

}  // namespace ambit::nn
