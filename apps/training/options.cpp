// Command-line options, with CLI11. Mistakes are detected before anything is loaded.
#include "training/options.h"

#include <ambit/error.h>
#include <ambit/serialize.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <limits>

#include "terminal/numbers.h"

namespace training {
void check_out(const std::string& file) {
  try {
    ambit::check_writable(file);
  } catch (const ambit::SerializationError& e) {
    const std::string text = e.what(), op = "save: ";
    throw CLI::ValidationError("--out", text.starts_with(op) ? text.substr(op.size()) : text);
  }
}

void add_amp_option(CLI::App& app, std::string& amp) {
  app.add_option("--amp", amp, "autocast: products in this dtype, parameters and losses in float32")
      ->option_text("bfloat16")
      ->check(CLI::IsMember({"bfloat16"}));
}

void add_options(CLI::App& app, Options& o) {
  using terminal::finite_number, terminal::whole_number;
  constexpr double kMostReal = std::numeric_limits<double>::max();
  app.add_option("--device", o.device,
                 "cpu, cuda:0, ... (default: cuda:0 if there is one, else cpu)")
      ->type_name("NAME");
  app.add_option("--data", o.images.folder,
                 "folder that is or contains cifar-10-batches-bin, cifar-10-sample or mnist\n"
                 "(default: $AMBIT_DATA, else ./data)")
      ->type_name("DIR");
  app.add_flag("--download", o.images.download,
               "download CIFAR-10 (163 MB) into that folder first");
  app.add_option("--epochs", o.epochs, "number of epochs")
      ->capture_default_str()
      ->check(whole_number(0, INT64_MAX));
  app.add_option("--batch-size", o.batch_size, "images per step, over all processes")
      ->capture_default_str()
      ->check(whole_number(1, SIZE_MAX));
  app.add_option("--lr", o.lr, "learning rate")
      ->capture_default_str()
      ->check(finite_number(0, kMostReal));
  app.add_option("--seed", o.seed, "seed of weights, order and generated images")
      ->capture_default_str()
      ->check(whole_number(0, UINT64_MAX));
  app.add_option("--limit", o.limit, "use only the first N images for training and for testing")
      ->check(whole_number(1, SIZE_MAX));
  app.add_option("--log-every", o.log_every, "mini-batches between two lines of loss")
      ->capture_default_str()
      ->check(whole_number(1, INT64_MAX));
  add_amp_option(app, o.amp);
  app.add_option("--save-every", o.save_every,
                 "steps between two checkpoints within an epoch, for --resume (default: none)")
      ->check(whole_number(1, INT64_MAX));
  app.add_flag("--distributed{mpi}", o.distributed,
               "train with all processes started by mpirun or srun");
  app.add_option("--resume", o.resume, "continue from this checkpoint, with the same other options")
      ->type_name("FILE");
}

size_t count_used(const ambit::data::datasets::CIFAR10& images, const Options& options) {
  const size_t all = *images.size();
  return options.limit == 0 ? all : std::min(all, options.limit);
}

size_t count_in_step(size_t size, const Options& options, int64_t step) {
  return std::min(options.batch_size, size - static_cast<size_t>(step) * options.batch_size);
}

size_t count_steps(size_t size, const Options& options) {
  return size / options.batch_size + (size % options.batch_size != 0);
}

}  // namespace training
