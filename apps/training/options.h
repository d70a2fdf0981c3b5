// What the command lines of all apps that train have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "images/images.h"

namespace CLI {
class App;
}

namespace training {

/// The defaults that differ from lesson to lesson are set before add_options().
struct Options {
  std::string device;  ///< empty: cuda:0 if there is one, else cpu
  images::Source images;
  int64_t epochs = 1;
  size_t batch_size = 1;
  double lr = 0.01;
  uint64_t seed = 0;
  size_t limit = 0;         ///< images of each part; 0: all
  int64_t log_every = 100;  ///< mini-batches
  int64_t save_every = 0;   ///< steps between two checkpoints within an epoch; 0: none
  std::string distributed;  ///< a communicator, such as mpi; empty: this process alone
  std::string resume;       ///< a checkpoint; empty: begin anew
  std::string amp;          ///< "bfloat16": autocast to it; empty: none

  std::vector<std::string> arguments;  ///< the whole command line, as it was given
};

/// Add the options to a command line, which shows the values in `options` as their defaults. The
/// result is in `options` once the command line is read; both must live until then.
void add_options(CLI::App& app, Options& options);

/// Add --amp to a command line.
void add_amp_option(CLI::App& app, std::string& amp);

/// Refuse --out where `file` could not be saved, before the training and not behind it.
/// Errors: CLI::ValidationError, which says why.
void check_out(const std::string& file);

/// How many images to use of those that there are.
size_t count_used(const ambit::data::datasets::CIFAR10& images, const Options& options);

/// How many images mini-batch number `step` of an epoch has, on all ranks together.
size_t count_in_step(size_t size, const Options& options, int64_t step);

/// How many mini-batches of options.batch_size make an epoch of `size` images.
size_t count_steps(size_t size, const Options& options);

}  // namespace training
