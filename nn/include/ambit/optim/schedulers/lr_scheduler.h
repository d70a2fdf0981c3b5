// Base of the learning-rate schedulers, and StepLR.
#pragma once

#include <ambit/optim/optimizer.h>
#include <ambit/value.h>

#include <cstdint>
#include <vector>

namespace ambit::optim {

/// Base of the schedulers. The optimizer must outlive it. A derived class computes in get_lrs() a
/// rate for each group from get_current_lrs() and step_count_, the number of previous steps. The
/// first scheduler of an optimizer stores each group's rate as "initial_lr" in schedule().
class AMBIT_API LRScheduler {
 public:
  /// Store each group's rate as "initial_lr", unless it has one.
  explicit LRScheduler(Optimizer& optimizer);
  virtual ~LRScheduler();
  LRScheduler(const LRScheduler&) = delete;
  LRScheduler& operator=(const LRScheduler&) = delete;

  /// Set the learning rates of the next epoch or batch; call it after the optimizer's steps.
  /// Errors: Error if the number of rates is not that of the groups; those of get_lrs(); then no
  /// rate has changed.
  void step();
  /// Reset the rates to the groups' initial rates and the number of steps to 0.
  virtual void restart();
  /// Return the groups' current rates.
  std::vector<double> get_last_lr() const { return get_current_lrs(); }
  /// Return the number of steps since construction or restart().
  int64_t last_epoch() const { return step_count_; }
  /// Return the optimizer whose rates this sets.
  const Optimizer& optimizer() const { return optimizer_; }
  /// Return each group's initial_lr, where the schedule starts.
  const std::vector<double>& base_lrs() const { return base_lrs_; }

  /// Return state and options in the format of PyTorch's state_dict() of this scheduler.
  Value checkpoint() const;
  /// Replace state and options by those of a checkpoint of ambit or PyTorch. The optimizer's rates
  /// are part of its own checkpoint. Errors: SerializationError or Error for a mismatch; then
  /// nothing has changed.
  virtual void load_checkpoint(const Value& checkpoint);

 protected:
  /// Return the rate of each group after the next step().
  virtual std::vector<double> get_lrs() = 0;
  /// Return the groups' current rates.
  std::vector<double> get_current_lrs() const;
  /// Errors: Error if the number of rates is not that of the groups.
  void set_lrs(const std::vector<double>& lrs);
  /// Return options and further state under PyTorch's names.
  virtual Value::Dict values() const { return {}; }
  /// Set the options and state from values(); after an error nothing has changed.
  virtual void set_values(const Value& /*dict*/) {}
  /// Return how many steps later than in Python's PyTorch the rates change. Checkpoints use
  /// Python's count, which is lower by this number.
  virtual int64_t steps_behind() const { return 0; }

  /// The optimizer whose rates this sets.
  Optimizer& optimizer_;
  /// Number of steps since construction or restart().
  int64_t step_count_ = 0;

 private:
  std::vector<double> base_lrs_;
};

/// Multiply the rates by gamma before every step_size-th step except the first, as in libtorch,
/// where rates change in steps step_size + 1, 2 step_size + 1, ..., one later than in Python. A
/// Python checkpoint after n steps continues as in Python: like this scheduler after n + 1 steps.
/// Errors: Error for a step_size below 1.
class AMBIT_API StepLR : public LRScheduler {
 public:
  /// step_size: steps between changes; gamma: factor of each change.
  StepLR(Optimizer& optimizer, int64_t step_size, double gamma = 0.1);

 protected:
  std::vector<double> get_lrs() override;
  Value::Dict values() const override;
  void set_values(const Value& dict) override;
  int64_t steps_behind() const override { return 1; }

 private:
  int64_t step_size_;
  double gamma_;
};

}  // namespace ambit::optim
