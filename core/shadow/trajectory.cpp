#include "trajectory.h"

#include <ambit/backend/kernels.h>
#include <ambit/detail/tensor_impl.h>
#include <ambit/error.h>
#include <ambit/finfo.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <vector>

#include "bound.h"
#include "compare.h"
#include "twins.h"

namespace ambit::shadow {
namespace {

// Return the largest difference of the elements, relative to the largest magnitude of all; infinity
// if only one of two elements is finite.
double relative_difference(const Operand& o, const std::byte* a, const std::byte* b) {
  return visit<dtypes::kEvery>(o.dtype() == kBool ? kUInt8 : o.dtype(), [&]<class T>() {
    const T *x = reinterpret_cast<const T*>(a), *y = reinterpret_cast<const T*>(b);
    double difference = 0, magnitude = 0;
    for (const int64_t at : o.positions()) {
      const auto u = static_cast<double>(x[at]), v = static_cast<double>(y[at]);
      if (std::isfinite(u) && std::isfinite(v)) {
        difference = std::max(difference, std::abs(u - v));
        magnitude = std::max({magnitude, std::abs(u), std::abs(v)});
      } else if (u != v && !(std::isnan(u) && std::isnan(v))) {
        return std::numeric_limits<double>::infinity();
      }
    }
    return difference > 0 ? difference / magnitude : 0.;
  });
}

double difference_before(const Call& call) {
  double largest = 0;
  for (const Argument& a : call.arguments()) {
    for (const Operand& o : a.operands) {
      if (o.role == Role::output || o.before.empty()) continue;
      largest = std::max(
          largest, relative_difference(o, &o.before[o.window.first], &o.twin[o.window.first]));
    }
  }
  return largest;
}

double rounding(DType dtype) {
  return is_floating_point(dtype) ? finfo(dtype).eps : epsilon(kFloat32);
}

// The tensor of a call may be a view of the parameter.
bool is_parameter(const Operand& o) {
  const auto& base = o.tensor.impl()->base;
  const Tensor root = base ? Tensor(base) : o.tensor;
  return root.requires_grad() && root.is_leaf();
}

// Return true if the call writes the block of an input.
bool is_updated(const Call& call, const Operand& input) {
  return std::ranges::any_of(call.arguments(), [&](const Argument& a) {
    return std::ranges::any_of(a.operands, [&](const Operand& o) {
      return o.is_defined() && o.is_written() && o.tensor.storage() == input.tensor.storage();
    });
  });
}

// Return the first step of the row that contains `step`. Rows begin at 0 to 9, then at 10, 20 ..
// 90, 100, 200 ..
uint64_t first_of_row(uint64_t step) {
  uint64_t unit = 1;
  while (step / unit >= 10) unit *= 10;
  return step / unit * unit;
}

std::string text_of(double difference) {
  return difference < 0 ? "-" : fmt::format("{:.2g}", difference);
}

std::string place_text(const Call& call, const Place& place) {
  return fmt::format("{}, call {}, module {}", name_of(call), place.calls,
                     place.module.empty() ? "none" : place.module);
}

// Return false for random numbers, which do not depend on the program's data, and for results that
// the contract does not determine.
bool is_followed(const Call& call, size_t argument, const Operand& o) {
  return &call.op() != &kernels::random && bound_of(call, argument, o).is_compared;
}

void print_report() { std::fputs(Trajectory::get().report().c_str(), stderr); }

}  // namespace

bool follows_trajectory() {
  static const bool follows = [] {
    const char* named = std::getenv("AMBIT_SHADOW_MODE");
    const std::string_view mode = named && *named ? named : "calls";
    if (mode == "calls" || mode == "trajectory") return mode == "trajectory";
    throw Error(fmt::format("AMBIT_SHADOW_MODE: expected calls or trajectory, got \"{}\"", mode));
  }();
  return follows;
}

Trajectory& Trajectory::get() {
  static Trajectory* const trajectory = [] {
    static const pid_t process = getpid();
    std::atexit([] {
      if (getpid() == process) print_report();
    });
    return new Trajectory;
  }();
  return *trajectory;
}

void Trajectory::begin(Call& call) {
  for (Argument& a : call.arguments()) {
    for (Operand& o : a.operands) {
      if (o.numel() > 0) Twins::get().read(o);
    }
  }
}

void Trajectory::add_fault(const Call& call, const std::string& fault, const Place& place) {
  if (++wrong_ > 1) return;
  first_wrong_ = fmt::format("{}: {}", place_text(call, place), fault.substr(0, fault.find('\n')));
  const std::string text = report_of(call, fault, place, write_reproducer(call, fault));
  std::fputs(text.c_str(), stderr);
}

uint64_t Trajectory::step_of(const Call& call) {
  uint64_t step = steps_;
  for (const Argument& a : call.arguments()) {
    for (const Operand& o : a.operands) {
      if (o.numel() == 0 || !is_parameter(o)) continue;
      Twin& twin = Twins::get().of(o);
      if (!o.is_written()) {
        twin.was_read |= !is_updated(call, o);
      } else if (twin.was_read) {
        twin.was_read = false;
        step = twin.updates++;
        steps_ = std::max(steps_, twin.updates);
      } else if (twin.updates > 0) {
        step = twin.updates - 1;
      }
    }
  }
  return step;
}

void Trajectory::end(const Call& call, const Place& place, bool is_computed) {
  devices_.insert(call.device().str());
  not_computed_ += !is_computed;
  const uint64_t step = step_of(call);
  Row& row = rows_[first_of_row(step)];
  row.last = std::max(row.last, step);
  ++row.calls;
  const double before = difference_before(call);
  for (size_t i = 0; i < call.arguments().size(); ++i) {
    for (const Operand& o : call.arguments()[i].operands) {
      if (o.numel() == 0 || !o.is_written()) continue;
      const bool follows = is_computed && is_followed(call, i, o);
      Twins::get().write(o, follows);
      if (!follows) continue;
      const double after = relative_difference(o, o.results(), &o.expected[o.window.first]);
      if (is_parameter(o)) row.parameters = std::max(row.parameters, after);
      if (after == 0 || !differing_values(call, i, o)) continue;
      if (after > row.results) {
        row.results = after;
        row.at = place_text(call, place);
      }
      const double factor = after / std::max(before, rounding(o.dtype()));
      if (factor <= largest_.factor) continue;
      largest_ = {
          factor,
          fmt::format("from {:.2g} in the inputs to {:.2g} in {}, step {}\n  at {}\n{}", before,
                      after, o.name, step, place_text(call, place), describe(call))};
    }
  }
}

std::string Trajectory::report() const {
  std::string text = fmt::format(
      "ambit shadow: {} compared with {}, each from its own results\n"
      "  {:<15}{:>7}  {:<12}{:<10}{}\n",
      fmt::join(devices_, ", "), shadow_device().str(), "step", "calls", "parameters", "results",
      "at");
  for (const auto& [first, row] : rows_) {
    text += fmt::format(
        "  {:<15}{:>7}  {:<12}{:<10}{}\n",
        first == row.last ? fmt::format("{}", first) : fmt::format("{} to {}", first, row.last),
        row.calls, text_of(row.parameters), text_of(row.results), row.at);
  }
  if (not_computed_ > 0) {
    text += fmt::format("  {:<15}{} calls, whose results are the device's\n", "not computed",
                        not_computed_);
  }
  text += wrong_ == 0
              ? fmt::format("  {:<15}none: from equal inputs, each result is within its bounds\n",
                            "wrong calls")
              : fmt::format("  {:<15}{}, the first: {}\n", "wrong calls", wrong_, first_wrong_);
  if (largest_.factor > 0) text += fmt::format("  {:<15}{}", "largest growth", largest_.text);
  return text;
}

}  // namespace ambit::shadow
