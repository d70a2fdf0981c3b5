// The sizes of a kernel's operands, as shown in a profile.
#include <ambit/backend/kernels.h>
#include <ambit/shape.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <type_traits>

#include "recorder.h"

namespace ambit::profiler {
namespace {

// Return the number of output tensors, which come first.
template <class... A>
constexpr size_t outputs(const Op<void(A...)>&) {
  return (size_t{0} + ... + size_t{std::is_same_v<A, Tensor&>});
}

size_t outputs_of(const char* name) {
  size_t n = 0;
  std::apply([&](const auto&... op) { ((n = op.name() == name ? outputs(op) : n), ...); },
             kernels::all);
  return n;
}

std::string list(std::span<const DeviceArg> tensors) {
  std::string text;
  for (const DeviceArg& arg : tensors) {
    for (size_t i = 0; i < arg.count; ++i) {
      if (!text.empty()) text += ", ";
      text += arg.tensors[i].defined() ? str(arg.tensors[i].sizes()) : "[]";
    }
  }
  return text;
}

}  // namespace

std::string shapes_text(const char* op, std::span<const DeviceArg> tensors) {
  const size_t written = std::min(outputs_of(op), tensors.size());
  return list(tensors.first(written)) + kOutputsEnd + list(tensors.subspan(written));
}

}  // namespace ambit::profiler
