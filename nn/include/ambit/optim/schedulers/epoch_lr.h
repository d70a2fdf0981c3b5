// The schedulers of torch.optim.lr_scheduler whose rate is a function of the epoch number, which
// starts at 0. Schedulers that multiply the current rate can be chained: several may step the same
// optimizer.
#pragma once

#include <ambit/optim/schedulers/lr_scheduler.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace ambit::optim {

/// Base of the schedulers below.
class AMBIT_API EpochLR : public LRScheduler {
 public:
  void restart() override;

 protected:
  using LRScheduler::LRScheduler;

  /// Arguments of lr(): the rate of one group in `epoch`.
  struct Rate {
    int64_t epoch;      ///< from 0
    double base, last;  ///< initial_lr, and the current rate
    size_t group;       ///< position of the group
  };
  /// Return the group's rate in rate.epoch.
  virtual double lr(const Rate& rate) = 0;
  /// Set the rates of epoch 0. Constructors call it last.
  void begin();
  /// Return lr() of each group for the next epoch.
  std::vector<double> get_lrs() final;

 private:
  std::vector<double> rates(int64_t epoch, const std::vector<double>& last);
};

/// lr *= gamma at each milestone; a milestone that is listed twice counts twice.
class AMBIT_API MultiStepLR : public EpochLR {
 public:
  /// milestones: the epochs, in any order.
  MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma = 0.1);

 protected:
  double lr(const Rate& rate) override;
  Value::Dict values() const override;
  void set_values(const Value& dict) override;

 private:
  std::vector<int64_t> milestones_;
  double gamma_;
};

/// lr *= gamma in each epoch.
class AMBIT_API ExponentialLR : public EpochLR {
 public:
  /// gamma: the factor of each epoch.
  ExponentialLR(Optimizer& optimizer, double gamma);

 protected:
  double lr(const Rate& rate) override;
  Value::Dict values() const override;
  void set_values(const Value& dict) override;

 private:
  double gamma_;
};

/// lr = initial_lr * function(epoch). Checkpoints do not contain the functions.
class AMBIT_API LambdaLR : public EpochLR {
 public:
  /// Returns the factor of initial_lr in an epoch.
  using Lambda = std::function<double(int64_t epoch)>;
  /// One function for all groups, or one per group. Errors: Error for a different number.
  LambdaLR(Optimizer& optimizer, Lambda lambda);
  LambdaLR(Optimizer& optimizer, std::vector<Lambda> lambdas);

 protected:
  double lr(const Rate& rate) override;
  Value::Dict values() const override;

 private:
  std::vector<Lambda> lambdas_;
};

/// lr *= function(epoch), from epoch 1 on.
class AMBIT_API MultiplicativeLR : public EpochLR {
 public:
  /// Returns the factor of the current rate in an epoch.
  using Lambda = LambdaLR::Lambda;
  /// One function for all groups.
  MultiplicativeLR(Optimizer& optimizer, Lambda lambda);

 protected:
  double lr(const Rate& rate) override;
  Value::Dict values() const override;

 private:
  Lambda lambda_;
};

/// Warm-up: lr = initial_lr * factor until epoch total_iters. Errors: Error for a factor outside
/// [0, 1].
class AMBIT_API ConstantLR : public EpochLR {
 public:
  /// Set the rate of epoch 0 to initial_lr * factor.
  explicit ConstantLR(Optimizer& optimizer, double factor = 1.0 / 3, int64_t total_iters = 5);

 protected:
  double lr(const Rate& rate) override;
  Value::Dict values() const override;
  void set_values(const Value& dict) override;

 private:
  double factor_;
  int64_t total_iters_;
};

/// Warm-up: lr = initial_lr * a factor that changes linearly from start_factor to end_factor in
/// total_iters epochs. Errors: Error for a start_factor outside (0, 1] or an end_factor outside [0,
/// 1].
class AMBIT_API LinearLR : public EpochLR {
 public:
  /// Set the rate of epoch 0 to initial_lr * start_factor.
  explicit LinearLR(Optimizer& optimizer, double start_factor = 1.0 / 3, double end_factor = 1,
                    int64_t total_iters = 5);

 protected:
  double lr(const Rate& rate) override;
  Value::Dict values() const override;
  void set_values(const Value& dict) override;

 private:
  double start_factor_, end_factor_;
  int64_t total_iters_;
};

/// lr follows half a cosine from initial_lr to eta_min in T_max epochs, then back. Errors: Error
/// for a T_max below 1. Source: Loshchilov & Hutter 2017, arXiv:1608.03983.
class AMBIT_API CosineAnnealingLR : public EpochLR {
 public:
  /// T_max: epochs from initial_lr to eta_min.
  CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min = 0);

 protected:
  double lr(const Rate& rate) override;
  Value::Dict values() const override;
  void set_values(const Value& dict) override;

 private:
  int64_t T_max_;
  double eta_min_;
};

/// CosineAnnealingLR that restarts at initial_lr after T_0 epochs, then after T_0 T_mult, T_0
/// T_mult^2, ... more. Errors: Error for a T_0 or T_mult below 1.
class AMBIT_API CosineAnnealingWarmRestarts : public EpochLR {
 public:
  /// T_0: epochs before the first restart; T_mult: factor by which each period is longer than the
  /// last.
  CosineAnnealingWarmRestarts(Optimizer& optimizer, int64_t T_0, int64_t T_mult = 1,
                              double eta_min = 0);

 protected:
  double lr(const Rate& rate) override;
  Value::Dict values() const override;
  void set_values(const Value& dict) override;

 private:
  struct Cycle {
    int64_t at, length;
  };
  Cycle cycle(int64_t epoch) const;

  int64_t T_0_, T_mult_;
  double eta_min_;
};

}  // namespace ambit::optim
