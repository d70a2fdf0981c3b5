#include "worker.h"

#include <ambit/backend/kernels.h>
#include <ambit/backend/registry.h>
#include <ambit/error.h>
#include <ambit/fallback.h>
#include <ambit/plugins.h>
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "cases.h"
#include "result.h"

namespace conformance {
namespace {

using nlohmann::json;

// State of the running case; a worker runs one at a time.
uint64_t run_seed = 0;
double largest_error = 0;

void send(int fd, const json& message) {
  // Invalid UTF-8, for example in a plugin's error, must not end the worker.
  const std::string line = message.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  for (size_t sent = 0; sent < line.size();) {
    const ssize_t n = write(fd, line.data() + sent, line.size() - sent);
    if (n < 0) throw std::runtime_error("conformance: the pipe of results is closed");
    sent += static_cast<size_t>(n);
  }
}

std::string kernel_of(const ambit::OpBase& op, ambit::Device device) {
  if (op.has_kernel(device.kind())) return "native";
  return op.has_composite() ? "composite" : "missing";
}

Plan plan_of(ambit::Device device, const Cases& cases) {
  Plan plan;
  plan.device = device.str();
  plan.hardware = fmt::format("{}, {}", ambit::backend_of(device).properties(device.index()).name,
                              ambit::backend_library(device.kind()));
  for (const ambit::OpBase* op : ambit::all_ops()) {
    plan.coverage.push_back({op->name(), kernel_of(*op, device), ambit::explain(*op, device)});
  }
  for (const Case& c : cases) plan.cases.push_back({c.name, c.op});
  return plan;
}

/// Run the case, including its queued work.
void check(const Case& c, ambit::Device device) {
  try {
    c.check(device);
  } catch (...) {
    // Pending errors must not affect the next case; the first error is more informative.
    try {
      ambit::synchronize(device);
    } catch (...) {
    }
    throw;
  }
  ambit::synchronize(device);
}

size_t memory_in_use(ambit::Device device) {
  return ambit::backend_of(device).memory_stats(device.index()).in_use;
}

/// A library may allocate a workspace once; memory that grows in a second run is a leak.
void check_memory(const Case& c, ambit::Device device, size_t before) {
  const size_t first = memory_in_use(device);
  if (first <= before) return;
  check(c, device);
  const size_t second = memory_in_use(device);
  if (second <= first) return;
  throw Failure(
      fmt::format("expected all memory of {} to be freed at the end of the case, but {} bytes are "
                  "still in use, and {} more after another run",
                  device.str(), first - before, second - first));
}

Result run(const Case& c, ambit::Device device) {
  Result r{c.name, c.op};
  largest_error = 0;
  const auto start = std::chrono::steady_clock::now();
  const auto finish = [&](Outcome outcome, std::string text) {
    r.outcome = outcome;
    r.text = std::move(text);
  };
  try {
    const size_t before = memory_in_use(device);
    check(c, device);
    check_memory(c, device, before);
  } catch (const Failure& e) {
    finish(Outcome::failed, e.what());
  } catch (const Skipped& e) {
    finish(Outcome::skipped, e.what());
  } catch (const ambit::NotImplementedError& e) {
    finish(Outcome::missing, e.what());
  } catch (const ambit::DTypeError& e) {
    finish(Outcome::missing, e.what());
  } catch (const ambit::Error& e) {
    finish(Outcome::failed, "unexpected error: " + e.explain());
  } catch (const std::exception& e) {
    finish(Outcome::failed, fmt::format("unexpected exception: {}", e.what()));
  } catch (...) {
    finish(Outcome::failed, "unexpected exception of an unknown type");
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  r.error = largest_error;
  r.seconds = seconds.count();
  return r;
}

}  // namespace

uint64_t seed() { return run_seed; }
void note_error(double bounds) {
  if (std::isfinite(bounds)) largest_error = std::max(largest_error, bounds);
}

void work(const Options& options) {
  // Keep the pages of freed operands of a megabyte.
  mallopt(M_MMAP_THRESHOLD, 1 << 25);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  const int fd = options.results_fd;
  run_seed = options.seed;
  ambit::Device device;
  try {
    ambit::set_fallback(ambit::Fallback::error);  // otherwise a missing kernel would seem present
    if (!options.backend.empty()) ambit::load_backend(options.backend);
    device = ambit::Device(options.device);
    ambit::usable_backend(device);
  } catch (const ambit::Error& e) {
    return send(fd, {{"refused", e.explain()}});
  }
  Cases cases = all_cases();
  std::erase_if(cases, [&](const Case& c) { return c.name.find(options.filter) == c.name.npos; });
  send(fd, {{"plan", plan_of(device, cases)}});
  if (options.list) return;
  for (size_t i = options.first; i < cases.size(); ++i) {
    send(fd, {{"start", i}});
    send(fd, {{"result", run(cases[i], device)}});
  }
  send(fd, {{"done", true}});
}

}  // namespace conformance
