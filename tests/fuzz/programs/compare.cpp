#include "compare.h"

#include <ambit/error.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <ostream>
#include <typeinfo>

#include "generator.h"

namespace fuzz {

using namespace ambit;

namespace {

struct Outcome {
  Tensor result;
  std::string error;  // kind of the error; empty: none
  std::string what;
  std::vector<double> values;
};

std::vector<double> numbers(const Tensor& t) {
  const Tensor host = t.detach().to(kCPU, kFloat64).contiguous();
  const double* p = host.data_ptr<double>();
  return {p, p + host.numel()};
}

Outcome run(const Step& step, State& state) {
  Outcome o;
  try {
    o.result = execute(step, state);
    // Where kernels run late, so do their errors.
    if (o.result.defined() && !state.device.is_meta()) o.values = numbers(o.result);
  } catch (const Error& e) {
    o.error = typeid(e).name();
    o.what = e.what();
  } catch (const std::exception& e) {
    o.error = std::string("not an ambit::Error: ") + typeid(e).name();
    o.what = e.what();
  }
  return o;
}

std::string describe(const Tensor& t, bool in_full) {
  if (!t.defined()) return "undefined";
  const std::string text = fmt::format("{} {}{}", name(t.dtype()), str(t.sizes()),
                                       t.requires_grad() ? " requires_grad" : "");
  if (!in_full) return text;
  return fmt::format("{} strides {} version {}", text, str(t.strides()), t.version());
}

std::string difference(const std::vector<double>& got, const std::vector<double>& expected,
                       double tolerance) {
  double scale = 1;
  for (const double v : expected) {
    if (std::isfinite(v)) scale = std::max(scale, std::abs(v));
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    const double a = got[i], b = expected[i];
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (std::abs(a - b) <= tolerance * scale) continue;
    return fmt::format("element {}: {}, on reference {}; tolerance {}", i, a, b, tolerance * scale);
  }
  return {};
}

constexpr const char* kIndexWritten =
    "index_select: expected a tensor saved for backward unchanged";
constexpr const char* kIndexFreed = "index_select: expected a graph that was not yet used";

bool is_in(const std::string& text, const char* part) { return text.find(part) != text.npos; }

std::string difference(const Outcome& got, const Outcome& expected, const Step& step) {
  // With several invalid arguments in one call, any of them may be named.
  if (got.error.empty() != expected.error.empty()) {
    return fmt::format("error \"{}\", on reference \"{}\"", got.what, expected.what);
  }
  if (!got.error.empty()) {
    return got.error.starts_with("not") ? got.error + ": " + got.what : std::string();
  }
  // Strides of gradients on meta may differ, because meta has no other device to which a move would
  // copy an expanded gradient. Versions of gradients differ, because in-place accumulation depends
  // on the other owners of their memory.
  const bool in_full = !is_in(step.python, "grad(") && !is_in(step.python, "backward(") &&
                       (!got.result.defined() || !got.result.is_meta());
  const std::string a = describe(got.result, in_full), b = describe(expected.result, in_full);
  if (a != b) return fmt::format("{}, on reference {}", a, b);
  if (!got.result.defined() || got.result.is_meta()) return {};
  return difference(got.values, expected.values, step.tolerance);
}

State state_on(Device device, const Program& program) {
  State s;
  s.slots.resize(program.steps.size());  // undefined for skipped steps
  s.device = device;
  s.other = device.is_cpu() ? Device("reference") : kCPU;
  if (device.is_meta()) s.other = kMeta;
  return s;
}

// Wait for the queued work of an earlier program, and ignore its late errors.
void forget_errors(Device device) {
  try {
    synchronize(device);
  } catch (const Error&) {
  }
}

// Slots share memory on all devices or on none: a write that is visible on only one device is found
// here.
std::string slots_differ(const State& a, const State& b, const Program& program) {
  for (const Step& step : program.steps) {
    const auto i = static_cast<size_t>(step.slot);
    if (step.slot < 0 || i >= a.slots.size() || i >= b.slots.size()) continue;
    if (!a.slots[i].defined() || !b.slots[i].defined()) continue;
    // A later write may be less accurate than the step's result: compare shapes, and find large
    // errors.
    std::string d;
    try {
      d = difference(numbers(a.slots[i]), numbers(b.slots[i]), 1e-2);
    } catch (const Error& e) {
      d = std::string("late error: ") + e.what();
    }
    if (!d.empty()) return fmt::format("r[{}] at the end: {}", i, d);
  }
  return {};
}

}  // namespace

std::string compare(const Program& program, const std::vector<bool>& skip, Device device) {
  State reference = state_on(Device("reference"), program), state = state_on(device, program);
  forget_errors(device);
  for (size_t i = 0; i < program.steps.size(); ++i) {
    if (skip[i]) continue;
    const Step& step = program.steps[i];
    const Outcome expected = run(step, reference), got = run(step, state);
    // meta has no data, so no invalid data, and no sizes that depend on data.
    if (device.is_meta() && got.error != expected.error) return {};
    // The cpu saves an index for backward. Other devices save a copy of it, so that writes to the
    // index and freed graphs, which are errors on the cpu, have no effect.
    if (got.error != expected.error &&
        (is_in(got.what, kIndexWritten) || is_in(got.what, kIndexFreed))) {
      return {};
    }
    const std::string d = difference(got, expected, step);
    if (!d.empty()) return fmt::format("step {}: {}\n  {}", i, step.python, d);
    // A late error comes after the version has changed and the history was recorded: end here.
    if (!got.error.empty() && step.slot < 0 && device != kCPU) return {};
  }
  return device.is_meta() ? std::string() : slots_differ(state, reference, program);
}

std::string shrink(const Program& program, Device device) {
  std::vector<bool> skip(program.steps.size());
  for (size_t i = program.steps.size(); i-- > 0;) {
    skip[i] = true;
    if (compare(program, skip, device).empty()) skip[i] = false;
  }
  std::string text;
  for (size_t i = 0; i < skip.size(); ++i) {
    if (!skip[i]) text += "  " + program.steps[i].python + "\n";
  }
  return text + compare(program, skip, device);
}

void write_python(const Program& program, std::ostream& to) {
  State state = state_on(Device("reference"), program);
  to << "P " << program.seed << '\n';
  for (const Step& step : program.steps) {
    const Outcome o = run(step, state);
    to << "S " << step.python << '\n';
    if (!o.error.empty()) {
      to << "! " << o.what.substr(0, o.what.find('\n')) << '\n';
    } else if (!o.result.defined()) {
      to << "= None\n";
    } else {
      to << "= " << step.slot << ' ' << step.tolerance << ' ' << name(o.result.dtype()) << ' '
         << list_text(o.result.sizes()) << ' ' << o.result.requires_grad() << ' '
         << o.result.is_contiguous();
      for (const double v : o.values) to << fmt::format(" {}", v);
      to << '\n';
    }
  }
}

}  // namespace fuzz
