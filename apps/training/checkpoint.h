// Checkpoints that allow a training to continue exactly.
#pragma once

#include <ambit/nn/module.h>
#include <ambit/optim/optimizer.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "training/options.h"

namespace training {

/// Position in a training, between two steps.
struct Position {
  int64_t epoch = 0;  ///< current epoch; the first is 0
  int64_t step = 0;   ///< completed steps of the epoch
  /// State of the CPU generator at the start of the epoch; it determines the order.
  uint64_t seed = 0, offset = 0;
  double running_loss = 0;  ///< sum over the steps since the last printed loss

  /// Return the start of an epoch, with the current generator state.
  static Position at_epoch(int64_t epoch);
};

/// Write `path`, in PyTorch's format, for a training on `size` images; only on rank 0. Errors:
/// ambit::SerializationError.
void save_checkpoint(const std::string& path, const Position& position,
                     const ambit::nn::Module& network, const ambit::optim::Optimizer& optimizer,
                     const Options& options, size_t size);

/// Start from options.resume: load network and optimizer, including the checkpoint's learning rate,
/// and set the CPU generator; without it, start at the first epoch. Errors:
/// ambit::SerializationError; ambit::Error for another network or optimizer, and if other options
/// would change the remaining batches of the epoch.
Position begin(const Options& options, size_t size, ambit::nn::Module& network,
               ambit::optim::Optimizer& optimizer);

/// Print where the training stopped, and the command that resumes it; return the program's exit
/// code.
int report_interrupt(const std::string& checkpoint, const Position& position,
                     const Options& options);

}  // namespace training
