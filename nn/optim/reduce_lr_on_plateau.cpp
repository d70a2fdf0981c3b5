#include <ambit/error.h>
#include <ambit/optim/schedulers/reduce_lr_on_plateau.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "scheduler_values.h"

namespace ambit::optim {
namespace {

using Mode = ReduceLROnPlateauOptions::Mode;
using ThresholdMode = ReduceLROnPlateauOptions::ThresholdMode;

const char* name(Mode mode) { return mode == Mode::min ? "min" : "max"; }
const char* name(ThresholdMode mode) { return mode == ThresholdMode::rel ? "rel" : "abs"; }

// Return the one of two enumerators whose name is dict[which].
template <class Enum>
Enum one_of(const Value& dict, const char* which, Enum a, Enum b) {
  const std::string& text = dict[which].to_string();
  if (text == name(a)) return a;
  if (text == name(b)) return b;
  throw SerializationError(fmt::format("checkpoint: expected {} of {} or {}, got \"{}\"", which,
                                       name(a), name(b), text));
}

}  // namespace

void ReduceLROnPlateau::check(const Options& o, size_t groups) {
  if (!(o.factor() < 1)) {
    throw Error(fmt::format("ReduceLROnPlateau: expected a factor below 1, got {}", o.factor()));
  }
  if (o.min_lr().size() != 1 && o.min_lr().size() != groups) {
    throw Error(fmt::format("ReduceLROnPlateau: expected one min_lr or {}, one per group, got {}",
                            groups, o.min_lr().size()));
  }
}

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer& optimizer, const Options& options)
    : optimizer_(optimizer), options_(options) {
  check(options, optimizer.param_groups().size());
  reset();
}

void ReduceLROnPlateau::reset() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  best_ = options_.mode() == Mode::min ? kInfinity : -kInfinity;
  cooldown_counter_ = num_bad_epochs_ = 0;
}

bool ReduceLROnPlateau::is_better(double metric) const {
  const double by = options_.threshold();
  const bool relative = options_.threshold_mode() == ThresholdMode::rel;
  if (options_.mode() == Mode::min) return metric < (relative ? best_ * (1 - by) : best_ - by);
  return metric > (relative ? best_ * (1 + by) : best_ + by);
}

void ReduceLROnPlateau::step(double metric) {
  ++last_epoch_;
  if (is_better(metric)) {
    best_ = metric;
    num_bad_epochs_ = 0;
  } else {
    ++num_bad_epochs_;
  }
  if (cooldown_counter_ > 0) {
    --cooldown_counter_;
    num_bad_epochs_ = 0;
  }
  if (num_bad_epochs_ <= options_.patience()) return;
  reduce();
  cooldown_counter_ = options_.cooldown();
  num_bad_epochs_ = 0;
}

void ReduceLROnPlateau::reduce() {
  const std::vector<double>& least = options_.min_lr();
  auto& groups = optimizer_.param_groups();
  for (size_t g = 0; g < groups.size(); ++g) {
    OptimizerOptions& options = groups[g].options();
    const double low = least.size() == 1 ? least[0] : g < least.size() ? least[g] : 0;
    const double before = options.current_lr(), after = std::max(before * options_.factor(), low);
    if (before - after > options_.eps()) options.set_lr(after);
  }
}

std::vector<double> ReduceLROnPlateau::get_last_lr() const {
  std::vector<double> lrs;
  for (const auto& group : optimizer_.param_groups()) lrs.push_back(group.options().current_lr());
  return lrs;
}

Value ReduceLROnPlateau::checkpoint() const {
  const Options& o = options_;
  std::vector<double> least = o.min_lr();
  if (least.size() == 1) least.resize(optimizer_.param_groups().size(), least[0]);
  return Value::dict({{"factor", o.factor()},
                      {"min_lrs", least},
                      {"patience", o.patience()},
                      {"verbose", false},
                      {"cooldown", o.cooldown()},
                      {"cooldown_counter", cooldown_counter_},
                      {"mode", name(o.mode())},
                      {"threshold", o.threshold()},
                      {"threshold_mode", name(o.threshold_mode())},
                      {"best", best_},
                      {"num_bad_epochs", num_bad_epochs_},
                      {"eps", o.eps()},
                      {"last_epoch", last_epoch_},
                      {"_last_lr", get_last_lr()}});
}

void ReduceLROnPlateau::load_checkpoint(const Value& c) {
  Options o(one_of(c, "mode", Mode::min, Mode::max));
  o.threshold_mode(one_of(c, "threshold_mode", ThresholdMode::rel, ThresholdMode::abs));
  o.factor(c["factor"].to_double()).patience(c["patience"].to_int());
  o.threshold(c["threshold"].to_double()).cooldown(c["cooldown"].to_int());
  o.eps(c["eps"].to_double()).min_lr(c["min_lrs"].toDoubleVector());
  check(o, optimizer_.param_groups().size());
  const double best = c["best"].to_double();
  const int64_t bad = count_of(c, "num_bad_epochs"), wait = count_of(c, "cooldown_counter");
  last_epoch_ = count_of(c, "last_epoch");
  options_ = std::move(o);
  best_ = best;
  num_bad_epochs_ = bad;
  cooldown_counter_ = wait;
}

}  // namespace ambit::optim
