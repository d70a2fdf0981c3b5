#include "probe.h"

#include <ambit/backend/reference.h>
#include <ambit/backend/registry.h>
#include <ambit/error.h>
#include <ambit/fallback.h>
#include <fmt/format.h>

#include "crash_note.h"

using namespace ambit;

const char* name(Verdict verdict) {
  switch (verdict) {
    case Verdict::native:
      return "native";
    case Verdict::registered:
      return "registered";
    case Verdict::upcast:
      return "upcast";
    case Verdict::reference:
      return "reference";
    case Verdict::composite:
      return "composite";
    case Verdict::fallback:
      return "fallback";
    case Verdict::missing:
      return "missing";
    case Verdict::failed:
      return "failed";
  }
  return "";
}

namespace {

// For a scope, missing kernels throw instead of falling back to the CPU.
class NoFallback {
 public:
  NoFallback() : before_(get_fallback()) { set_fallback(Fallback::error); }
  ~NoFallback() { set_fallback(before_); }
  NoFallback(const NoFallback&) = delete;
  NoFallback& operator=(const NoFallback&) = delete;

 private:
  Fallback before_;
};

// Ops that only move bits process reduced floating-point types without upcasting.
bool is_upcast(const OpBase& op, DType dtype, Device device) {
  return is_reduced_floating(dtype) && op.upcast_rule() != UpcastRule::bitwise &&
         !op.native(device.kind()).contains(dtype);
}

Verdict run(const Example& example, DType dtype, Device device) {
  std::vector<Tensor> operands = example.operands(dtype);
  for (Tensor& t : operands) t = t.to(device);
  synchronize(device);
  const uint64_t before = reference::runs();
  example.call(operands);
  synchronize(device);  // asynchronous kernels fail, and are counted, here
  if (!example.op->has_kernel(device.kind())) return Verdict::composite;
  const bool borrowed = reference::runs() != before && device.type() != "reference";
  if (borrowed) return Verdict::reference;
  return is_upcast(*example.op, dtype, device) ? Verdict::upcast : Verdict::native;
}

// Return the verdict that the registry gives without a device.
Finding look_up(const OpBase& op, Device device) {
  if (op.has_kernel(device.kind())) return {Verdict::registered, ""};
  if (op.has_composite()) return {Verdict::composite, ""};
  try {
    op.throw_missing(device);
  } catch (const std::exception& e) {
    return {get_fallback() == Fallback::error ? Verdict::missing : Verdict::fallback, e.what()};
  }
}

// An op that has a kernel, even one that throws, does not fall back.
bool falls_back(const Example& example, Device device) {
  return get_fallback() != Fallback::error && !example.op->has_kernel(device.kind());
}

}  // namespace

Finding find_out(const Example& example, DType dtype, Device device) {
  if (backend_of(device).device_count() == 0) return look_up(*example.op, device);
  const CrashNote crash(fmt::format("ambit: {}{}{} of {} on {} crashed\n", example.op->name(),
                                    example.function.empty() ? "" : " ", example.function,
                                    ambit::name(dtype), device.str()));
  try {
    const NoFallback no_fallback;
    return {run(example, dtype, device), ""};
  } catch (const NotImplementedError& e) {
    return {falls_back(example, device) ? Verdict::fallback : Verdict::missing, e.what()};
  } catch (const DTypeError& e) {
    return {Verdict::missing, e.what()};
  } catch (const std::exception& e) {
    return {Verdict::failed, e.what()};
  } catch (...) {
    return {Verdict::failed, "an exception of an unknown type"};
  }
}
