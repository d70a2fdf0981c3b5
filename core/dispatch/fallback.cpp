// The fallback policy, its counters, and explain(op, device).
#include <ambit/backend/kernels.h>
#include <ambit/backend/op.h>
#include <ambit/backend/registry.h>
#include <ambit/detail/cpu_fallback.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/fallback.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>

#include "core/devices/backend_call.h"
#include "core/devices/registry.h"
#include "core/ops/on_host.h"

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

struct Count : FallbackCount {
  bool warned = false;  // the line of Fallback::warn was printed
};

struct Counts {
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, Count> by_op_and_device;
};

// Leaked: the summary at exit reads it.
Counts& counts() {
  static auto* c = new Counts;
  return *c;
}

// Not fmt::print, which throws if stderr is closed.
void say(const std::string& text) { std::fputs(text.c_str(), stderr); }

void say_summary() {
  say("ambit: ops that ran on the CPU, because their device has no kernel:\n");
  for (const FallbackCount& c : fallback_counts()) {
    say(fmt::format("  {} for {}: {} call{}, {} bytes copied\n", c.op, c.device.str(), c.calls,
                    c.calls == 1 ? "" : "s", c.bytes));
  }
}

// True if a tensor's bytes are copied across devices including gaps: a device without a `copy`
// kernel cannot pack them, and packing is the call that falls back.
bool crosses_unpacked(const OpBase& op, const Tensor& t) {
  return &op == &kernels::copy && !t.is_contiguous();
}

// Return the number of elements from t's first to its last, gaps included.
int64_t extent(const Tensor& t) {
  int64_t last = 0;
  for (int64_t d = 0; d < t.dim(); ++d) last += (t.size(d) - 1) * t.stride(d);
  return last + 1;
}

size_t extent_bytes(const Tensor& t) {
  return static_cast<size_t>(extent(t)) * element_size(t.dtype());
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
  if (!crosses_unpacked(op_, t)) {
    bytes_ += t.nbytes();
    return t.to(kCPU);
  }
  bytes_ += extent_bytes(t);
  const Tensor flat = empty({extent(t)}, TensorOptions(t.dtype()).device(kCPU));
  Backend& backend = usable_backend(device_);
  call_backend(device_, "copy_to_host()", [&] {
    backend.copy_to_host(device_.index(), flat.data_ptr(), t.data_ptr(), extent_bytes(t), false);
  });
  return make_view(flat, t.sizes(), t.strides(), 0);
}

void CpuFallback::write_back(Tensor& output, const Tensor& host) {
  if (!output.defined()) return;
  if (!crosses_unpacked(op_, output)) {
    bytes_ += output.nbytes();
    ambit::write_back(output, host);
    return;
  }
  bytes_ += extent_bytes(output);
  Backend& backend = usable_backend(device_);
  call_backend(device_, "copy_from_host()", [&] {
    backend.copy_from_host(device_.index(), output.data_ptr(), host.data_ptr(),
                           extent_bytes(output), false);
  });
}

void CpuFallback::finish() {
  Counts& c = counts();
  const std::lock_guard lock(c.mutex);
  if (c.by_op_and_device.empty()) std::atexit(say_summary);
  Count& count = c.by_op_and_device[{op_.name(), device_.str()}];
  count.op = op_.name();
  count.device = device_;
  ++count.calls;
  count.bytes += bytes_;
  if (get_fallback() == Fallback::warn && !count.warned) {
    say(fmt::format("ambit: {} has no kernel for {} and runs on the CPU\n", op_.name(),
                    device_.str()));
    count.warned = true;
  }
}

std::string explain(const OpBase& op, Device device) {
  const std::string head = fmt::format("{} on {}: ", op.name(), device.str());
  if (device.is_meta()) return head + "nothing runs, only shapes are computed";
  if (op.has_kernel(device.kind())) return head + "kernel of " + backend_library(device.kind());
  if (op.has_composite()) {
    return head + (is_on_host(op) ? "composite: the CPU's kernel, on copies"
                                  : "composite of other ops, on the device");
  }
  const bool on_cpu = op.has_kernel(DeviceKind::cpu);
  if (get_fallback() != Fallback::error && on_cpu) {
    return head + "the CPU's kernel, by fallback, with copies";
  }
  return head + "none: " + backend_library(device.kind()) +
         " has no kernel, there is no composite" +
         (on_cpu ? ", and falling back to the CPU is off (AMBIT_FALLBACK)" : "");
}

}  // namespace ambit
