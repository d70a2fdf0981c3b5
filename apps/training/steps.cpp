// The checkpoint is a dict like those of PyTorch users:
//   {"module": "GPT", "model": ..., "optimizers": [...], "step": 300, "generators": [cpu's,
//   device's]}
#include "training/steps.h"

#include <ambit/autograd.h>
#include <ambit/checkpoint.h>
#include <ambit/device.h>
#include <ambit/error.h>
#include <ambit/nn/quantize.h>
#include <ambit/ops/elementwise.h>
#include <ambit/random.h>
#include <ambit/serialize.h>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <limits>
#include <utility>

#include "terminal/numbers.h"
#include "terminal/program.h"
#include "training/options.h"

namespace training {

using ambit::Value;

void StepOptions::parse(int argc, char** argv, const std::function<void(CLI::App&)>& more) {
  using terminal::finite_number, terminal::whole_number;
  arguments.assign(argv, argv + argc);
  CLI::App app(about, name);
  app.add_option("--device", device, "cpu, cuda:0, ... (default: cuda:0 if there is one, else cpu)")
      ->type_name("NAME");
  if (!data_help.empty()) app.add_option("--data", data, data_help)->type_name("PATH");
  app.add_option("--steps", steps, "steps of the training")
      ->capture_default_str()
      ->check(whole_number(0, INT64_MAX));
  if (!batch.empty()) {
    app.add_option("--batch-size", batch_size, batch + " per step")
        ->capture_default_str()
        ->check(whole_number(1, INT32_MAX));
  }
  app.add_option("--lr", lr, "learning rate")
      ->capture_default_str()
      ->check(finite_number(0, std::numeric_limits<double>::max()));
  app.add_option("--seed", seed, "seed of all random numbers")
      ->capture_default_str()
      ->check(whole_number(0, UINT64_MAX));
  app.add_option("--log-every", log_every, "steps between two lines of loss")
      ->capture_default_str()
      ->check(whole_number(1, INT64_MAX));
  add_amp_option(app, amp);
  if (may_quantize) {
    app.add_flag("--quantize", quantize, "then show the figures with int8 weights, too");
  }
  app.add_option("--resume", resume, "continue from this checkpoint, with the same other options")
      ->type_name("FILE");
  app.add_option("--out", out, "folder for the checkpoint, the curves and the samples")
      ->capture_default_str()
      ->type_name("DIR");
  if (more) more(app);
  app.callback([&] { check_out(file(".pth")); });
  terminal::parse_command_line(app, argc, argv);
  ambit::manual_seed(seed);
}

ambit::Device StepOptions::chosen_device() const {
  if (!device.empty()) return ambit::Device(device);
  return ambit::cuda::is_available() ? ambit::Device("cuda:0") : ambit::kCPU;
}

std::string StepOptions::file(const std::string& ending) const {
  return (std::filesystem::path(out) / (name + ending)).string();
}

Steps::Steps(const StepOptions& options, ambit::nn::Module& network,
             std::vector<ambit::optim::Optimizer*> optimizers)
    : options_(options),
      autocast_(options.chosen_device(), ambit::kBFloat16, !options.amp.empty()),
      network_(network),
      optimizers_(std::move(optimizers)),
      writer_((std::filesystem::path(options.out) / ("logs_" + options.name)).string()) {
  if (!options.resume.empty()) resume();
  progress_.emplace(options.name, static_cast<size_t>(options.steps), static_cast<size_t>(step_),
                    options.unit);
}

void Steps::done(const ambit::Tensor& loss, int64_t samples) {
  const ambit::NoGradGuard no_grad;
  loss_sum_ = loss_sum_.defined() ? loss_sum_ + loss : loss.detach();
  ++summed_;
  ++step_;
  progress_->step(static_cast<size_t>(samples), [&] { return loss.item<double>(); });
  if (step_ % options_.log_every != 0 && step_ != options_.steps) return;
  report("loss", loss_sum_.item<double>() / static_cast<double>(summed_));
  loss_sum_ = {};
  summed_ = 0;
}

void Steps::report(const std::string& name, double value) {
  progress_->clear();
  fmt::print("step {:5d} {}: {:.4f}\n", step_, name, value);
  writer_.add_scalar(name, value, step_);
}

void Steps::report(const std::string& name, std::function<double()> figure) {
  report(name, figure());
  figures_.emplace_back(name, std::move(figure));
}

int Steps::finish() {
  progress_->clear();
  save();
  if (options_.quantize && step_ >= options_.steps) quantize();
  writer_.flush();
  if (step_ >= options_.steps) return 0;
  const std::string file = options_.file(".pth");
  terminal::print_notice(fmt::format("Interrupted after step {}; saved '{}'. To continue:\n  {}\n",
                                     step_, file,
                                     terminal::command_to_resume(options_.arguments, file)));
  return terminal::kInterrupted;
}

void Steps::quantize() {
  const auto mebibytes = [&] {
    double bytes = 0;
    for (const auto& [name, t] : network_.state_dict()) {
      bytes += static_cast<double>(t.nbytes());
    }
    return bytes / (1 << 20);
  };
  const double before = mebibytes();
  const size_t modules = ambit::nn::quantize_dynamic(network_).size();
  fmt::print("int8 weights in {} modules: {:.2f} MiB of tensors became {:.2f} MiB\n", modules,
             before, mebibytes());
  for (const auto& [name, figure] : figures_) report("int8 " + name, figure());
}

void Steps::save() const {
  Value::List optimizers;
  for (const ambit::optim::Optimizer* o : optimizers_) optimizers.push_back(o->checkpoint());
  const auto generator = [](ambit::Device device) {
    return Value(ambit::default_generator(device).get_state());
  };
  ambit::save_checkpoint(
      Value::dict({{"module", network_.name()},
                   {"model", network_.state_dict()},
                   {"optimizers", Value::list(std::move(optimizers))},
                   {"step", step_},
                   {"generators",
                    Value::list({generator(ambit::kCPU), generator(options_.chosen_device())})}}),
      options_.file(".pth"));
}

void Steps::resume() {
  const Value saved = ambit::load_checkpoint(options_.resume);
  const std::string& module = saved["module"].to_string();
  const Value::List optimizers = saved["optimizers"].items();
  const Value::List generators = saved["generators"].items();
  const int64_t step = saved["step"].to_int();
  if (module != network_.name() || optimizers.size() != optimizers_.size() ||
      generators.size() != 2) {
    throw ambit::Error(fmt::format("--resume: expected a checkpoint of {} in '{}', got one of {}",
                                   network_.name(), options_.resume, module));
  }
  if (step < 0 || step > options_.steps) {
    throw ambit::Error(fmt::format("--resume: expected at most --steps {} in '{}', got {}",
                                   options_.steps, options_.resume, step));
  }
  network_.load_state_dict(saved["model"].to_state_dict());
  for (size_t i = 0; i < optimizers.size(); ++i) optimizers_[i]->load_checkpoint(optimizers[i]);
  ambit::default_generator(options_.chosen_device()).set_state(generators[1].to_tensor());
  ambit::default_generator().set_state(generators[0].to_tensor());
  step_ = step;
}

}  // namespace training
