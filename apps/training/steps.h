// A training that is counted in steps, each from a batch that is drawn at random: a bar, a curve
// for TensorBoard, a checkpoint at the end and on Ctrl-C, and the way back from it.
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

/// The command line. The defaults are set before parse().
struct StepOptions {
  std::string name;              ///< the program's: its checkpoint is <out>/<name>.pth
  std::string about;             ///< what --help says first
  std::string unit = "images";   ///< what the bar counts
  std::string batch = "images";  ///< what --batch-size counts; empty: there is no such option
  std::string data_help;         ///< what --data names; empty: there is no such option
  std::string device, data;      ///< device: empty: cuda:0 if there is one, else cpu
  int64_t steps = 1000;          ///< in all, those before --resume too
  int64_t batch_size = 32;
  double lr = 1e-3;
  uint64_t seed = 0;
  int64_t log_every = 50;         ///< steps
  std::string resume, out = ".";  ///< a checkpoint; a folder
  std::string amp = {};           ///< "bfloat16": autocast to it while there are Steps; or empty
  bool may_quantize = false;      ///< whether there is an option --quantize
  bool quantize = false;          ///< show figures once more, with int8 weights

  std::vector<std::string> arguments = {};  ///< the whole command line, as it was given

  /// Read the command line, and seed all generators. Ends the program for --help (0) and for a
  /// mistake (2), which it names. `more` adds options of the program's own.
  void parse(int argc, char** argv, const std::function<void(CLI::App&)>& more = {});
  ambit::Device chosen_device() const;
  /// Return the path of a file that the program leaves behind: <out>/<name><ending>.
  std::string file(const std::string& ending) const;
};

class Steps {
 public:
  /// Begin, or go on from options.resume: network, optimizers and generators are then as they were.
  /// Curves go to the folder <out>/logs_<name>. Errors: ambit::SerializationError, ambit::Error for
  /// a checkpoint of something else, or one that has gone beyond options.steps.
  Steps(const StepOptions& options, ambit::nn::Module& network,
        std::vector<ambit::optim::Optimizer*> optimizers);

  /// Return whether there is another step to make: not behind the last, nor after Ctrl-C.
  bool next() const { return step_ < options_.steps && !interrupt_.requested(); }
  /// Return how many are made.
  int64_t count() const { return step_; }
  /// Count a step on so many samples, with its loss: the mean of the last log_every is printed and
  /// added to the curve "loss".
  void done(const ambit::Tensor& loss, int64_t samples);
  /// Print a figure and add it to the curve of that name.
  void report(const std::string& name, double value);
  /// The same of a figure that finish() may ask for again.
  void report(const std::string& name, std::function<double()> figure);
  /// Save the checkpoint. Return 0 where all steps are made; else, after Ctrl-C, say how to go on
  /// and return the program's exit code. With options.quantize the network has int8 weights behind
  /// it, which no checkpoint shows, and what they change is printed.
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
  ambit::Tensor loss_sum_;  // of summed_ steps, on the device: to read it is to wait
  ambit::tensorboard::SummaryWriter writer_;
  std::optional<terminal::Progress> progress_;
  const terminal::Interrupt interrupt_;
};

}  // namespace training
