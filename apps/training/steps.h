// Training counted in steps, each on a random batch: a progress bar, a TensorBoard curve, a
// checkpoint at the end and on Ctrl-C, and resuming from it.
//   training::Steps steps(options, *net, {&optimizer});
//   while (steps.next()) {
//     Tensor loss = criterion(net(inputs), targets);
//     ...
//     steps.done(loss, inputs.size(0));
//   }
//   if (const int exit_code = steps.finish()) return exit_code;
#pragma once

#include <ambit/autocast.h>
#include <ambit/nn/module.h>
#include <ambit/optim/optimizer.h>
#include <ambit/tensorboard/summary_writer.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "terminal/interrupt.h"
#include "terminal/progress.h"

namespace CLI {
class App;
}

namespace training {

/// Command-line options. Set the defaults before parse().
struct StepOptions {
  std::string name;              ///< the program's name; its checkpoint is <out>/<name>.pth
  std::string about;             ///< the first line of --help
  std::string unit = "images";   ///< unit of the bar
  std::string batch = "images";  ///< unit of --batch-size; empty: no such option
  std::string data_help;         ///< help for --data; empty: no such option
  std::string device, data;      ///< empty device: cuda:0 if there is one, else cpu
  int64_t steps = 1000;          ///< in total, including those before --resume
  int64_t batch_size = 32;
  double lr = 1e-3;
  uint64_t seed = 0;
  int64_t log_every = 50;         ///< in steps
  std::string resume, out = ".";  ///< a checkpoint; a folder
  std::string amp = {};           ///< "bfloat16": autocast while Steps exist; or empty
  bool may_quantize = false;      ///< add the option --quantize
  bool quantize = false;          ///< report figures again with int8 weights

  std::vector<std::string> arguments = {};  ///< the original command line

  /// Parse the command line, and seed all generators. Exits for --help (0) and for wrong usage (2),
  /// with a message. `more` adds the program's own options.
  void parse(int argc, char** argv, const std::function<void(CLI::App&)>& more = {});
  ambit::Device chosen_device() const;
  /// Return the path of an output file: <out>/<name><ending>.
  std::string file(const std::string& ending) const;
};

class Steps {
 public:
  /// Start, or continue from options.resume with the saved network, optimizers and generators.
  /// Curves are written to the folder <out>/logs_<name>. Errors: ambit::SerializationError,
  /// ambit::Error for a checkpoint of another program, or one with more than options.steps steps.
  Steps(const StepOptions& options, ambit::nn::Module& network,
        std::vector<ambit::optim::Optimizer*> optimizers);

  /// Return whether to run another step: false after the last one and after Ctrl-C.
  bool next() const { return step_ < options_.steps && !interrupt_.requested(); }
  /// Return the number of completed steps.
  int64_t count() const { return step_; }
  /// Count a step on that number of samples, with its loss: the mean of the last log_every is
  /// printed and added to the curve "loss".
  void done(const ambit::Tensor& loss, int64_t samples);
  /// Print a figure and add it to the curve of that name.
  void report(const std::string& name, double value);
  /// As above, for a figure that finish() may compute again.
  void report(const std::string& name, std::function<double()> figure);
  /// Save the checkpoint. Return 0 if all steps are complete; after Ctrl-C, print how to resume and
  /// return the program's exit code. With options.quantize the network's weights are then converted
  /// to int8 (not in the checkpoint), and the changed figures are printed.
  int finish();

 private:
  void resume();
  void save() const;
  void quantize();

  const StepOptions& options_;
  const ambit::AutocastGuard autocast_;
  ambit::nn::Module& network_;
  std::vector<ambit::optim::Optimizer*> optimizers_;
  std::vector<std::pair<std::string, std::function<double()>>> figures_;
  int64_t step_ = 0, summed_ = 0;
  ambit::Tensor loss_sum_;  // of summed_ steps, on the device, because reading it waits
  ambit::tensorboard::SummaryWriter writer_;
  std::optional<terminal::Progress> progress_;
  const terminal::Interrupt interrupt_;
};

}  // namespace training
