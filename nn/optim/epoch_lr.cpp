// The formulas are those of torch.optim.lr_scheduler, term by term, so that chained schedulers
// round equally.
#include <ambit/error.h>
#include <ambit/optim/schedulers/epoch_lr.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "scheduler_values.h"

namespace ambit::optim {

std::vector<double> EpochLR::rates(int64_t epoch, const std::vector<double>& last) {
  std::vector<double> lrs = last;
  for (size_t g = 0; g < std::min(lrs.size(), base_lrs().size()); ++g) {
    lrs[g] = lr({epoch, base_lrs()[g], last[g], g});
  }
  return lrs;
}

std::vector<double> EpochLR::get_lrs() { return rates(step_count_ + 1, get_current_lrs()); }

void EpochLR::begin() { set_lrs(rates(0, get_current_lrs())); }

void EpochLR::restart() {
  set_lrs(rates(0, base_lrs()));
  step_count_ = 0;
}

namespace {

void check_within(const char* what, double value, bool allows_zero) {
  if (!(value <= 1 && (allows_zero ? value >= 0 : value > 0))) {
    throw Error(fmt::format("{} in {}0, 1], got {}", what, allows_zero ? '[' : '(', value));
  }
}

void check_at_least_1(const char* what, int64_t value) {
  if (value < 1) throw Error(fmt::format("{} of at least 1, got {}", what, value));
}

double cosine(double at, double length) { return std::cos(std::numbers::pi * at / length); }

}  // namespace

// --- MultiStepLR

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma)
    : EpochLR(optimizer), milestones_(std::move(milestones)), gamma_(gamma) {
  begin();
}

double MultiStepLR::lr(const Rate& r) {
  const auto times = std::count(milestones_.begin(), milestones_.end(), r.epoch);
  return times == 0 ? r.last : r.last * std::pow(gamma_, times);
}

// PyTorch stores counts: {milestone: number of occurrences}.
Value::Dict MultiStepLR::values() const {
  std::vector<int64_t> sorted = milestones_;
  std::sort(sorted.begin(), sorted.end());
  Value::Dict counts;
  for (size_t i = 0, n = 0; i < sorted.size(); i += n) {
    n = static_cast<size_t>(std::count(sorted.begin(), sorted.end(), sorted[i]));
    counts.emplace_back(sorted[i], n);
  }
  return {{"milestones", Value::dict(std::move(counts))}, {"gamma", gamma_}};
}

void MultiStepLR::set_values(const Value& dict) {
  std::vector<int64_t> milestones;
  for (const auto& [milestone, count] : dict["milestones"].entries()) {
    if (count.to_int() > 1000)
      throw SerializationError(
          "checkpoint: expected a milestone at most "
          "1000 times, got it more often");
    milestones.insert(milestones.end(), static_cast<size_t>(std::max<int64_t>(0, count.to_int())),
                      milestone.to_int());
  }
  const double gamma = dict["gamma"].to_double();
  milestones_ = std::move(milestones);
  gamma_ = gamma;
}

// --- ExponentialLR

ExponentialLR::ExponentialLR(Optimizer& optimizer, double gamma)
    : EpochLR(optimizer), gamma_(gamma) {}

double ExponentialLR::lr(const Rate& r) { return r.epoch == 0 ? r.last : r.last * gamma_; }
Value::Dict ExponentialLR::values() const { return {{"gamma", gamma_}}; }
void ExponentialLR::set_values(const Value& dict) { gamma_ = dict["gamma"].to_double(); }

// --- LambdaLR, MultiplicativeLR

namespace {

std::vector<LambdaLR::Lambda> checked(const Optimizer& optimizer,
                                      std::vector<LambdaLR::Lambda> lambdas) {
  const size_t groups = optimizer.param_groups().size();
  if (lambdas.size() != groups ||
      std::any_of(lambdas.begin(), lambdas.end(), [](const LambdaLR::Lambda& f) { return !f; })) {
    throw Error(fmt::format("LambdaLR: expected {} functions, one per group, got {}", groups,
                            lambdas.size()));
  }
  return lambdas;
}

// PyTorch stores None for plain functions.
Value::Dict no_lambdas(size_t groups) { return {{"lr_lambdas", Value::list(Value::List(groups))}}; }

}  // namespace

LambdaLR::LambdaLR(Optimizer& optimizer, Lambda lambda)
    : LambdaLR(optimizer, std::vector<Lambda>(optimizer.param_groups().size(), lambda)) {}
LambdaLR::LambdaLR(Optimizer& optimizer, std::vector<Lambda> lambdas)
    : EpochLR(optimizer), lambdas_(checked(optimizer, std::move(lambdas))) {
  begin();
}

Value::Dict LambdaLR::values() const { return no_lambdas(base_lrs().size()); }
Value::Dict MultiplicativeLR::values() const { return no_lambdas(base_lrs().size()); }

double LambdaLR::lr(const Rate& r) { return r.base * lambdas_[r.group](r.epoch); }

MultiplicativeLR::MultiplicativeLR(Optimizer& optimizer, Lambda lambda)
    : EpochLR(optimizer), lambda_(std::move(lambda)) {
  if (!lambda_) throw Error("MultiplicativeLR: expected a function, got an empty one");
}

double MultiplicativeLR::lr(const Rate& r) {
  return r.epoch == 0 ? r.last : r.last * lambda_(r.epoch);
}

// --- ConstantLR, LinearLR

ConstantLR::ConstantLR(Optimizer& optimizer, double factor, int64_t total_iters)
    : EpochLR((check_within("ConstantLR: expected a factor", factor, true), optimizer)),
      factor_(factor),
      total_iters_(total_iters) {
  begin();
}

double ConstantLR::lr(const Rate& r) {
  if (r.epoch == 0) return r.last * factor_;
  if (r.epoch != total_iters_) return r.last;
  return factor_ == 0 ? r.base : r.last * (1 / factor_);
}

Value::Dict ConstantLR::values() const {
  return {{"factor", factor_}, {"total_iters", total_iters_}};
}

void ConstantLR::set_values(const Value& dict) {
  const double factor = dict["factor"].to_double();
  check_within("checkpoint: expected a factor", factor, true);
  total_iters_ = dict["total_iters"].to_int();
  factor_ = factor;
}

LinearLR::LinearLR(Optimizer& optimizer, double start_factor, double end_factor,
                   int64_t total_iters)
    : EpochLR((check_within("LinearLR: expected a start_factor", start_factor, false),
               check_within("LinearLR: expected an end_factor", end_factor, true), optimizer)),
      start_factor_(start_factor),
      end_factor_(end_factor),
      total_iters_(total_iters) {
  begin();
}

double LinearLR::lr(const Rate& r) {
  if (r.epoch == 0) return r.last * start_factor_;
  if (r.epoch > total_iters_) return r.last;
  const double total = static_cast<double>(total_iters_), rise = end_factor_ - start_factor_;
  return r.last * (1 + rise / (total * start_factor_ + static_cast<double>(r.epoch - 1) * rise));
}

Value::Dict LinearLR::values() const {
  return {
      {"start_factor", start_factor_}, {"end_factor", end_factor_}, {"total_iters", total_iters_}};
}

void LinearLR::set_values(const Value& dict) {
  const double start = dict["start_factor"].to_double(), end = dict["end_factor"].to_double();
  check_within("checkpoint: expected a start_factor", start, false);
  check_within("checkpoint: expected an end_factor", end, true);
  total_iters_ = dict["total_iters"].to_int();
  start_factor_ = start;
  end_factor_ = end;
}

// --- CosineAnnealingLR

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min)
    : EpochLR((check_at_least_1("CosineAnnealingLR: expected a T_max", T_max), optimizer)),
      T_max_(T_max),
      eta_min_(eta_min) {}

double CosineAnnealingLR::lr(const Rate& r) {
  if (r.epoch == 0) return r.last;
  const double length = static_cast<double>(T_max_), epoch = static_cast<double>(r.epoch);
  if ((r.epoch - 1 - T_max_) % (2 * T_max_) == 0) {  // the previous factor was 0
    return r.last + (r.base - eta_min_) * (1 - cosine(1, length)) / 2;
  }
  return (1 + cosine(epoch, length)) / (1 + cosine(epoch - 1, length)) * (r.last - eta_min_) +
         eta_min_;
}

Value::Dict CosineAnnealingLR::values() const { return {{"T_max", T_max_}, {"eta_min", eta_min_}}; }

void CosineAnnealingLR::set_values(const Value& dict) {
  const int64_t length = count_of(dict, "T_max", 1);
  eta_min_ = dict["eta_min"].to_double();
  T_max_ = length;
}

// --- CosineAnnealingWarmRestarts

CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(Optimizer& optimizer, int64_t T_0,
                                                         int64_t T_mult, double eta_min)
    : EpochLR((check_at_least_1("CosineAnnealingWarmRestarts: expected a T_0", T_0),
               check_at_least_1("CosineAnnealingWarmRestarts: expected a T_mult", T_mult),
               optimizer)),
      T_0_(T_0),
      T_mult_(T_mult),
      eta_min_(eta_min) {
  begin();
}

CosineAnnealingWarmRestarts::Cycle CosineAnnealingWarmRestarts::cycle(int64_t epoch) const {
  if (T_mult_ == 1) return {epoch % T_0_, T_0_};
  Cycle c{epoch, T_0_};
  while (c.at >= c.length) {
    c.at -= c.length;
    if (c.length > c.at)
      return {c.at, c.length > INT64_MAX / T_mult_ ? INT64_MAX : c.length * T_mult_};
    c.length *= T_mult_;
  }
  return c;
}

double CosineAnnealingWarmRestarts::lr(const Rate& r) {
  const Cycle c = cycle(r.epoch);
  return eta_min_ + (r.base - eta_min_) *
                        (1 + cosine(static_cast<double>(c.at), static_cast<double>(c.length))) / 2;
}

Value::Dict CosineAnnealingWarmRestarts::values() const {
  const Cycle c = cycle(step_count_);
  return {{"T_0", T_0_},
          {"T_i", c.length},
          {"T_mult", T_mult_},
          {"eta_min", eta_min_},
          {"T_cur", c.at}};
}

void CosineAnnealingWarmRestarts::set_values(const Value& dict) {
  const int64_t first = count_of(dict, "T_0", 1), times = count_of(dict, "T_mult", 1);
  eta_min_ = dict["eta_min"].to_double();
  T_0_ = first;
  T_mult_ = times;
}

}  // namespace ambit::optim
