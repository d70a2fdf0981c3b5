// SequentialLR: one scheduler after another, for example after a warm-up.
#pragma once

#include <ambit/optim/schedulers/lr_scheduler.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace ambit::optim {

/// Step schedulers[0] until epoch milestones[0], then restart and step schedulers[1], and so on:
///   SequentialLR warm(sgd, {std::make_shared<LinearLR>(sgd, 0.1),
///                           std::make_shared<CosineAnnealingLR>(sgd, 95)}, {5});
/// Errors: Error for schedulers of another optimizer, an empty list, milestones that do not
/// increase, and if there is not one milestone fewer than schedulers.
class AMBIT_API SequentialLR : public LRScheduler {
 public:
  /// milestones: the epochs in which the second and later schedulers start.
  SequentialLR(Optimizer& optimizer, std::vector<std::shared_ptr<LRScheduler>> schedulers,
               std::vector<int64_t> milestones);
  void restart() override;
  void load_checkpoint(const Value& checkpoint) override;

 protected:
  std::vector<double> get_lrs() override;
  Value::Dict values() const override;

 private:
  std::vector<std::shared_ptr<LRScheduler>> schedulers_;
  std::vector<int64_t> milestones_;
};

}  // namespace ambit::optim
