// The file is a dict as is usual with PyTorch, readable by torch.load(weights_only=True):
//   {"module": "Net", "model": ..., "optimizer": ..., "epoch": 3, "step": 0, ...}
#include "training/checkpoint.h"

#include <ambit/checkpoint.h>
#include <ambit/error.h>
#include <ambit/random.h>

#include <fmt/format.h>

#include "terminal/interrupt.h"
#include "terminal/program.h"
#include "training/ranks.h"

namespace training {

using ambit::Value;

Position Position::at_epoch(int64_t epoch) {
  const ambit::Generator& generator = ambit::default_generator();
  return {.epoch = epoch, .seed = generator.seed(), .offset = generator.offset()};
}

void save_checkpoint(const std::string& path, const Position& position,
                     const ambit::nn::Module& network, const ambit::optim::Optimizer& optimizer,
                     const Options& options, size_t size) {
  const Ranks& ranks = Ranks::of_process();
  if (!ranks.is_first()) return ranks.wait_for_all();
  const auto checkpoint = Value::dict({{"module", network.name()},
                                       {"model", network.state_dict()},
                                       {"optimizer", optimizer.checkpoint()},
                                       {"epoch", position.epoch},
                                       {"step", position.step},
                                       {"running_loss", position.running_loss},
                                       {"seed", position.seed},
                                       {"offset", position.offset},
                                       {"batch_size", options.batch_size},
                                       {"images", size}});
  ambit::save_checkpoint(checkpoint, path);
  ranks.wait_for_all();  // wait until the file exists for all ranks
}

Position begin(const Options& options, size_t size, ambit::nn::Module& network,
               ambit::optim::Optimizer& optimizer) {
  if (options.resume.empty()) return Position::at_epoch(0);
  const Value saved =
      Ranks::of_process().from_first([&] { return ambit::load_checkpoint(options.resume); });
  if (const std::string& module = saved["module"].to_string(); module != network.name()) {
    throw ambit::Error(fmt::format("--resume: expected a {} in '{}', got a {}", network.name(),
                                   options.resume, module));
  }
  const Position position{.epoch = saved["epoch"].to_int(),
                          .step = saved["step"].to_int(),
                          .seed = static_cast<uint64_t>(saved["seed"].to_int()),
                          .offset = static_cast<uint64_t>(saved["offset"].to_int()),
                          .running_loss = saved["running_loss"].to_double()};
  const auto batch_size = static_cast<size_t>(saved["batch_size"].to_int());
  const auto images = static_cast<size_t>(saved["images"].to_int());
  if (position.epoch < 0 || position.step < 0) {
    throw ambit::Error(
        fmt::format("--resume: expected an epoch and a step >= 0 in '{}', got {}, {}",
                    options.resume, position.epoch, position.step));
  }
  if (position.step > 0 && (batch_size != options.batch_size || images != size)) {
    throw ambit::Error(
        fmt::format("--resume: expected --batch-size {} with {} images, as in the epoch that '{}' "
                    "ends in, got {} with {}",
                    batch_size, images, options.resume, options.batch_size, size));
  }
  network.load_state_dict(saved["model"].to_state_dict());
  optimizer.load_checkpoint(saved["optimizer"]);
  ambit::Generator& generator = ambit::default_generator();
  generator.set_seed(position.seed);
  generator.advance(position.offset);
  return position;
}

int report_interrupt(const std::string& checkpoint, const Position& position,
                     const Options& options) {
  if (!Ranks::of_process().is_first()) return terminal::kInterrupted;
  const std::string where = position.step > 0 ? fmt::format("in epoch {}, after step {}",
                                                            position.epoch + 1, position.step)
                                              : fmt::format("after epoch {}", position.epoch);
  terminal::print_notice(fmt::format("Interrupted {}; saved '{}'. To continue:\n  {}\n", where,
                                     checkpoint,
                                     terminal::command_to_resume(options.arguments, checkpoint)));
  return terminal::kInterrupted;
}

}  // namespace training
