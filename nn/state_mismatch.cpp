#include "state_mismatch.h"

#include <ambit/detail/printable.h>
#include <fmt/format.h>

namespace ambit::nn {
namespace {

std::string describe(const Tensor& t) {
  return t.defined() ? ambit::name(t.dtype()) + str(t.sizes()) : "undefined";
}

}  // namespace

std::string state_mismatch(const std::string& name, const Tensor& target, const Tensor& value) {
  if (!value.defined() || target.sizes() != value.sizes() || target.dtype() != value.dtype()) {
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
