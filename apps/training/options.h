// Command-line options shared by all training apps.
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

/// A program sets its own defaults, then calls add_options().
struct Options {
  std::string device;  ///< empty: cuda:0 if there is one, else cpu
  images::Source images;
  int64_t epochs = 1;
  size_t batch_size = 1;
  double lr = 0.01;
  uint64_t seed = 0;
  size_t limit = 0;         ///< images of the training set and of the test set; 0: all
  int64_t log_every = 100;  ///< in mini-batches
  int64_t save_every = 0;   ///< steps between checkpoints within an epoch; 0: none
  std::string distributed;  ///< a communicator, such as mpi; empty: only this process
  std::string resume;       ///< a checkpoint; empty: start from scratch
  std::string amp;          ///< "bfloat16": use autocast; empty: off

  std::vector<std::string> arguments;  ///< the original command line
};

/// Add the options to a command line, with the values in `options` as their defaults. Parsing
/// stores the result in `options`; both must outlive it.
void add_options(CLI::App& app, Options& options);

/// Add --amp to a command line.
void add_amp_option(CLI::App& app, std::string& amp);

/// Reject --out before the training if `file` could not be saved. Errors: CLI::ValidationError with
/// the reason.
void check_out(const std::string& file);

/// Return the number of images to use.
size_t count_used(const ambit::data::datasets::CIFAR10& images, const Options& options);

/// Return the number of images in mini-batch `step` of an epoch, over all ranks.
size_t count_in_step(size_t size, const Options& options, int64_t step);

/// Return the number of mini-batches of options.batch_size in an epoch of `size` images.
size_t count_steps(size_t size, const Options& options);

}  // namespace training
