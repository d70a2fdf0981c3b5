// The device check, and errors of calls without a kernel.
#include <ambit/backend/kernels.h>
#include <ambit/backend/registry.h>
#include <ambit/detail/check.h>
#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/devices/backend_call.h"
#include "core/devices/registry.h"

namespace ambit {
namespace {

struct Found {
  const Tensor* tensor = nullptr;
  bool set_by_dim = false;  // false: all tensors so far are 0-dim
};

// Find the tensor whose device the others must match; see DeviceRule.
Found find_expected(std::span<const DeviceArg> args, DeviceRule rule) {
  Found found;
  const bool first_decides =
      rule == DeviceRule::in_place || rule == DeviceRule::in_place_elementwise;
  for (const DeviceArg& arg : args) {
    for (size_t i = 0; i < arg.count; ++i) {
      const Tensor& t = arg.tensors[i];
      if (!t.defined()) continue;
      if (t.dim() > 0 || first_decides) return {&t, true};
      const bool prefer = rule == DeviceRule::elementwise && found.tensor &&
                          found.tensor->device().is_cpu() && !t.device().is_cpu();
      if (!found.tensor || prefer) found.tensor = &t;
    }
  }
  return found;
}

bool may_differ(const DeviceArg& arg, const Tensor& t, DeviceRule rule) {
  if (!t.device().is_cpu()) return false;
  const bool scalars_mix =
      rule == DeviceRule::elementwise || rule == DeviceRule::in_place_elementwise;
  return arg.may_be_on_cpu || (scalars_mix && t.dim() == 0);
}

[[noreturn]] void throw_mismatch(const char* op, std::span<const DeviceArg> args,
                                 const Tensor* expected, const Tensor* actual) {
  std::vector<ArgumentInfo> infos;
  size_t expected_at = 0, actual_at = 0;
  for (const DeviceArg& arg : args) {
    for (size_t i = 0; i < arg.count; ++i) {
      const Tensor& t = arg.tensors[i];
      if (&t == expected) expected_at = infos.size();
      if (&t == actual) actual_at = infos.size();
      ArgumentInfo info;
      info.name = arg.is_list ? fmt::format("{}[{}]", arg.name, i) : arg.name;
      info.type = "undefined";
      if (t.defined()) {
        info.type = name(t.dtype()) + str(t.sizes());
        info.device = t.device();
        info.parameter = t.name();
      }
      infos.push_back(std::move(info));
    }
  }
  if (const CheckLibrary* check = check_library()) check->operands(args);
  throw DeviceMismatchError(op, std::move(infos), expected_at, actual_at);
}

}  // namespace

Device check_devices(const char* op, std::span<const DeviceArg> args, DeviceRule rule) {
  OneDevice one;
  for (const DeviceArg& arg : args) one.add(TensorList(arg.tensors, arg.count));
  if (one) return *one;
  const Found expected = find_expected(args, rule);
  if (!expected.tensor) {
    throw Error(fmt::format("{}: expected a tensor, got only undefined ones", op));
  }
  const Device device = expected.tensor->device();
  for (const DeviceArg& arg : args) {
    for (size_t i = 0; i < arg.count; ++i) {
      const Tensor& t = arg.tensors[i];
      if (t.defined() && t.device() != device && !may_differ(arg, t, rule)) [[unlikely]] {
        throw_mismatch(op, args, expected.tensor, &t);
      }
    }
  }
  return device;
}

bool OpBase::has_kernel(DeviceKind kind) const {
  device_name(DeviceKind::cpu);  // the registry loads the built-in backends on first use
  return find(kind) != nullptr;
}

DTypeSet OpBase::native(DeviceKind kind) const {
  if (!has_kernel(kind)) return {};
  if (upcast_rule_ == UpcastRule::native) return dtypes::kReducedFloating;
  return DTypeSet(DTypeBits(native_[static_cast<size_t>(kind)].load(std::memory_order_relaxed)));
}

void OpBase::rethrow_typed(Device device, const char* function) const {
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {  // e.g. for a kernel's temporary std::vector
    throw_out_of_host_memory(name_);
  } catch (...) {
    const std::string code =
        find(device.kind())
            ? fmt::format("the kernel {} of {}", name_, printable(backend_library(device.kind())))
            : fmt::format("{} without a kernel", name_);
    rethrow_as_backend_error(fmt::format("{}: expected {} to succeed on {}",
                                         function ? function : name_, code, device.str()));
  }
}

void OpBase::activate(Device device) { usable_backend(device).activate(device.index()); }

void throw_out_of_host_memory(const char* op) {
  std::string text;
  try {
    text = fmt::format("{}: expected free host memory, got none", op);
  } catch (const std::bad_alloc&) {
    text = "out of memory";  // e.g. for a kernel's temporary std::vector
  }
  throw OutOfMemoryError(std::move(text));
}

void OpBase::throw_missing(Device device) const {
  std::vector<std::string> have;
  for (const std::string& backend : backend_names()) {
    if (has_kernel(Device(backend).kind())) have.push_back(backend);
  }
  throw NotImplementedError(fmt::format(
      "{}: expected a kernel for device {}, got none; {}", name_, device.str(),
      have.empty() ? "no backend has one" : fmt::format("it runs on {}", fmt::join(have, ", "))));
}

}  // namespace ambit
