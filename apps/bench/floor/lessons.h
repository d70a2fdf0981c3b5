// The networks of the lessons in apps/quickstart and apps/tudui, with their optimizers: training
// steps and inference.
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
  dnnl::memory logits_grad_;
  Sgd optimizer_;
  double loss_ = 0;
};

/// Operands: input, then the parameters.
class Inference : public Work {
 public:
  Inference(Lesson lesson, const Specification& specification);
  void run() override { network_.forward(); }
  double result() override { return sum(network_.output()); }

 private:
  Network network_;
};

}  // namespace bench::floor
