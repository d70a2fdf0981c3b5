// The lessons' networks, those of apps/quickstart ("net") and apps/tudui ("tudui"): a whole
// training step, and inference.
#pragma once

#include "network.h"
#include "peer.h"
#include "sgd.h"

namespace bench::floor {

enum class Lesson { net, tudui };

/// Operands: input, target, then the parameters in the module's order.
class Training : public Work {
 public:
  Training(Lesson lesson, const Specification& specification);
  void run() override;
  double result() override { return loss_; }

  const Network& network() const { return network_; }

 private:
  Network network_;
  const int64_t* targets_;
  Sgd optimizer_;
  double loss_ = 0;
};

/// Operands: input, then the parameters.
class Inference : public Work {
 public:
  Inference(Lesson lesson, const Specification& specification);
  void run() override { network_.forward(); }
  double result() override;

 private:
  Network network_;
};

}  // namespace bench::floor
