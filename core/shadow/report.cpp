#include "report.h"

#include <ambit/detail/tensor_impl.h>
#include <fmt/format.h>

namespace ambit::shadow {
namespace {

std::string parameter_name(const Tensor& t) {
  if (!t.defined()) return {};
  const std::string own = t.name();
  return own.empty() && t.impl()->base ? Tensor(t.impl()->base).name() : own;
}

const char* role_text(Role role) {
  switch (role) {
    case Role::input:
      return "read";
    case Role::output:
      return "written";
    case Role::updated:
      return "updated";
  }
  return "";
}

}  // namespace

std::string parameter_of(const Call& call) {
  for (const Argument& a : call.arguments()) {
    for (const Operand& o : a.operands) {
      if (std::string name = parameter_name(o.tensor); !name.empty()) return name;
    }
  }
  return {};
}

std::string name_of(const Call& call) {
  std::string function;
  for (const Parameter& p : call.parameters()) {
    const std::string text = p.text(p.value);
    if (const size_t at = text.find("Op::"); text.rfind("ActivationParams", 0) != 0 &&
                                             text.rfind("ScalarOperand", 0) != 0 &&
                                             at != text.npos) {
      function = " " + text.substr(at + 4);
    }
  }
  return fmt::format("{}{} on {}", call.op().name(), function, call.device().str());
}

std::string describe(const Call& call) {
  std::string text;
  for (const Argument& a : call.arguments()) {
    for (const Operand& o : a.operands) {
      if (!o.is_defined()) {
        text += fmt::format("  {:<14} undefined\n", o.name);
        continue;
      }
      const Tensor& t = o.tensor;
      text += fmt::format("  {:<14} {:<22} strides {:<14} {}", o.name,
                          std::string(name(t.dtype())) + str(t.sizes()), str(t.strides()),
                          role_text(o.role));
      if (t.storage_offset() != 0) text += fmt::format(", offset {}", t.storage_offset());
      if (const std::string parameter = parameter_name(t); !parameter.empty()) {
        text += fmt::format(", {}", parameter);
      }
      text += '\n';
    }
  }
  for (const Parameter& p : call.parameters()) {
    text += fmt::format("  parameter      {}\n", p.text(p.value));
  }
  return text;
}

std::string report_of(const Call& call, const std::string& fault, const Place& place,
                      const std::string& reproducer) {
  return fmt::format(
      "ambit shadow: {} differs from {}\n"
      "  {}\n"
      "  module         {}\n"
      "  call           {} of all kernels, {} of {}; optimizer steps so far: {}\n"
      "{}"
      "  reproducer     {}\n",
      name_of(call), shadow_device().str(), fault, place.module.empty() ? "none" : place.module,
      place.calls, place.calls_of_op, call.op().name(), place.optimizer_calls, describe(call),
      reproducer);
}

}  // namespace ambit::shadow
