// The fallback policy, its counters, and explain(op, device), which tells what it leads to.
#include <ambit/error.h>
#include <ambit/fallback.h>
#include <ambit/op.h>
#include <ambit/ops/elementwise.h>
#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>

#include "registry.h"

namespace ambit {
namespace {

Fallback policy_from_environment() {
  const char* value = std::getenv("AMBIT_FALLBACK");
  const std::string_view text = value ? value : "";
  if (text.empty() || text == "error") return Fallback::error;
  if (text == "warn") return Fallback::warn;
  if (text == "cpu") return Fallback::cpu;
  throw Error(fmt::format("AMBIT_FALLBACK: expected error, warn or cpu, got \"{}\"", text));
}

std::atomic<Fallback>& policy() {
  static std::atomic<Fallback> value{policy_from_environment()};
  return value;
}

struct Counts {
  std::mutex mutex;
  std::map<std::pair<const OpBase*, std::string>, FallbackCount> by_op_and_device;
};

// Leaked: the summary at exit reads it.
Counts& counts() {
  static auto* c = new Counts;
  return *c;
}

void print_summary() {
  fmt::print(stderr, "ambit: ops that ran on the CPU for want of a kernel:\n");
  for (const FallbackCount& c : fallback_counts()) {
    fmt::print(stderr, "  {} for {}: {} calls, {} bytes copied\n", c.op, c.device.str(), c.calls,
               c.bytes);
  }
}

}  // namespace

void set_fallback(Fallback p) { policy() = p; }
Fallback get_fallback() { return policy(); }

std::vector<FallbackCount> fallback_counts() {
  Counts& c = counts();
  const std::lock_guard lock(c.mutex);
  std::vector<FallbackCount> all;
  for (const auto& [key, count] : c.by_op_and_device) all.push_back(count);
  return all;
}

CpuFallback::CpuFallback(const OpBase& op, Device device) : op_(op), device_(device) {
  if (get_fallback() == Fallback::error || !op.has_kernel(DeviceKind::cpu))
    op.throw_missing(device);
}

Tensor CpuFallback::to_cpu(const Tensor& t) {
  if (!t.defined()) return t;
  bytes_ += t.nbytes();
  return t.to(kCPU);
}

void CpuFallback::write_back(Tensor& output, const Tensor& host) {
  if (!output.defined()) return;
  bytes_ += output.nbytes();
  output.copy_(host);
}

void CpuFallback::finish() {
  Counts& c = counts();
  const std::lock_guard lock(c.mutex);
  if (c.by_op_and_device.empty()) std::atexit(print_summary);
  FallbackCount& count = c.by_op_and_device[{&op_, device_.str()}];
  if (count.calls == 0) {
    count.op = op_.name();
    count.device = device_;
    if (get_fallback() == Fallback::warn) {
      fmt::print(stderr, "ambit: {} has no kernel for {} and runs on the CPU\n", op_.name(),
                 device_.str());
    }
  }
  ++count.calls;
  count.bytes += bytes_;
}

std::string explain(const OpBase& op, Device device) {
  const std::string head = fmt::format("{} on {}: ", op.name(), device.str());
  if (device.is_meta()) return head + "nothing runs, only shapes are computed";
  if (op.has_kernel(device.kind())) return head + "kernel of " + backend_library(device.kind());
  if (op.has_composite()) return head + "composite of other ops, on the device";
  const bool on_cpu = op.has_kernel(DeviceKind::cpu);
  if (get_fallback() != Fallback::error && on_cpu) {
    return head + "the CPU's kernel, by fallback, with copies";
  }
  return head + "none: " + backend_library(device.kind()) +
         " has no kernel, there is no composite" +
         (on_cpu ? ", and falling back to the CPU is off (AMBIT_FALLBACK)" : "");
}

}  // namespace ambit
