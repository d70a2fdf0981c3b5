// Checkpoints: what it takes to go on with a training as if it had never ended.
#pragma once

#include <ambit/nn/module.h>
#include <ambit/optim/optimizer.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "training/options.h"

namespace training {

/// Where a training stands, between two steps.
struct Position {
  int64_t epoch = 0;  ///< that is being trained; the first is 0
  int64_t step = 0;   ///< steps of it that are done
  /// The CPU's generator as the epoch began, from which its order follows.
  uint64_t seed = 0, offset = 0;
  double running_loss = 0;  ///< sum over the steps since a line of loss was printed

  /// The begin of an epoch, with the generator as it is now.
  static Position at_epoch(int64_t epoch);
};

/// Write `path`, in PyTorch's format, for a training on `size` images, on rank 0. Errors:
/// ambit::SerializationError.
void save_checkpoint(const std::string& path, const Position& position,
                     const ambit::nn::Module& network, const ambit::optim::Optimizer& optimizer,
                     const Options& options, size_t size);

/// Begin at options.resume: fill the network and the optimizer from it, which then has the learning
/// rate of the checkpoint, and set the CPU's generator; without one, begin at the first epoch.
/// Errors: ambit::SerializationError; ambit::Error for another network or optimizer, and where
/// other options would put other images into the steps that are left of an epoch.
Position begin(const Options& options, size_t size, ambit::nn::Module& network,
               ambit::optim::Optimizer& optimizer);

/// Say where the training ended, and the command that goes on; return the program's exit code.
int report_interrupt(const std::string& checkpoint, const Position& position,
                     const Options& options);

}  // namespace training
