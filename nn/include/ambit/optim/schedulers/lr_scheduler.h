// Schedulers set an optimizer's learning rates from step to step.
#pragma once

#include <ambit/optim/optimizer.h>
#include <ambit/value.h>

#include <cstdint>
#include <vector>

namespace ambit::optim {

/// Base of the schedulers. The optimizer must outlive it. To write one: compute, in get_lrs(), a
/// rate for each group from get_current_lrs() and step_count_, the number of steps before this one.
/// The first scheduler of an optimizer keeps each group's rate as its "initial_lr" (schedule()).
class AMBIT_API LRScheduler {
 public:
  explicit LRScheduler(Optimizer& optimizer);
  virtual ~LRScheduler();
  LRScheduler(const LRScheduler&) = delete;
  LRScheduler& operator=(const LRScheduler&) = delete;

  /// Set the learning rates of the next epoch, or batch; call it after the optimizer's steps.
  /// Errors: Error for another number of rates than of groups; those of get_lrs(). No rate has
  /// changed then.
  void step();
  /// Begin anew: the groups' initial rates, no steps.
  virtual void restart();
  /// Return the rates that the groups have now.
  std::vector<double> get_last_lr() const { return get_current_lrs(); }
  /// Return how many steps there were since it was made, or began anew.
  int64_t last_epoch() const { return step_count_; }
  const Optimizer& optimizer() const { return optimizer_; }
  /// Return each group's initial_lr, from which the schedule starts.
  const std::vector<double>& base_lrs() const { return base_lrs_; }

  /// Return the state and the options as PyTorch's state_dict() of this scheduler has them.
  Value checkpoint() const;
  /// Replace them by those of a checkpoint, ambit's or PyTorch's. The optimizer's rates are its own
  /// checkpoint's. Errors: SerializationError or Error for what does not fit; then nothing has
  /// changed.
  virtual void load_checkpoint(const Value& checkpoint);

 protected:
  virtual std::vector<double> get_lrs() = 0;
  std::vector<double> get_current_lrs() const;
  /// Errors: Error for another number than of groups.
  void set_lrs(const std::vector<double>& lrs);
  /// Return the options and what else the scheduler keeps; take them over, all or nothing.
  virtual Value::Dict values() const { return {}; }
  virtual void set_values(const Value& /*dict*/) {}
  /// Return how many steps later than PyTorch's in Python its rates change: checkpoints, which are
  /// Python's, count so many steps less.
  virtual int64_t steps_behind() const { return 0; }

  Optimizer& optimizer_;
  int64_t step_count_ = 0;

 private:
  std::vector<double> base_lrs_;
};

/// Multiply the rates by gamma before every step_size-th step, but not the first: as libtorch's,
/// whose rates fall with step number step_size + 1, 2 step_size + 1, ..., one later than Python's.
/// A checkpoint of Python's after n steps goes on as Python would: as this one after n + 1.
/// Errors: Error for a step_size below 1.
class AMBIT_API StepLR : public LRScheduler {
 public:
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
