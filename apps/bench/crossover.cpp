#include "crossover.h"

#include <ambit/error.h>
#include <ambit/nn/activation.h>
#include <ambit/nn/linear.h>
#include <ambit/nn/sequential.h>
#include <ambit/ops/loss.h>
#include <ambit/ops/random.h>
#include <ambit/optim/sgd.h>
#include <ambit/random.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "../ambit/table.h"
#include "measure.h"

namespace bench {
namespace {

using namespace ambit;
using nn::Linear, nn::ReLU;

class Step final : public Work {
 public:
  Step(int64_t batch, int64_t width, Device device)
      : perceptron_(Linear(width, width), ReLU(), Linear(width, width), ReLU(),
                    Linear(width, width), ReLU(), Linear(width, 10)),
        input_(rand({batch, width}).to(device)),
        target_(randint(0, 10, {batch}).to(device)) {
    perceptron_->to(device);
  }
  void run() override {
    optimizer_.zero_grad();
    const Tensor loss = cross_entropy(perceptron_->forward(input_), target_);
    loss.backward();
    optimizer_.step();
    loss_ = loss.item<double>();  // waits for the device
  }
  double result() override { return loss_; }

 private:
  nn::Sequential perceptron_;
  Tensor input_, target_;
  optim::SGD optimizer_{perceptron_->parameters(), optim::SGDOptions(0.01)};
  double loss_ = 0;
};

double gain(const Crossover::Cell& cell) { return cell.cpu_seconds / cell.device_seconds; }

Rows table(const Crossover& crossover) {
  Rows rows{{"batch \\ width"}};
  for (const int64_t width : crossover.grid.widths) rows[0].push_back(std::to_string(width));
  size_t next = 0;
  for (const int64_t batch : crossover.grid.batches) {
    rows.push_back({std::to_string(batch)});
    while (rows.back().size() < rows[0].size()) {
      rows.back().push_back(fmt::format("{:.2f}", gain(crossover.cells[next++])));
    }
  }
  return rows;
}

// Return "batch 64: cuda:0 is ahead from width 256 on".
std::string summary(const Crossover& crossover) {
  std::string text;
  for (const int64_t batch : crossover.grid.batches) {
    int64_t from = 0;  // 0: never
    for (const Crossover::Cell& cell : crossover.cells) {
      if (cell.batch != batch) continue;
      if (gain(cell) < 1) from = 0;
      if (gain(cell) >= 1 && from == 0) from = cell.width;
    }
    text += from == 0 ? fmt::format("batch {}: the cpu is ahead\n", batch)
                      : fmt::format("batch {}: {} is ahead from width {} on\n", batch,
                                    crossover.device, from);
  }
  return text;
}

}  // namespace

Crossover measure_crossover(Device device, const Grid& grid, double seconds,
                            const std::function<void(const std::string&)>& progress) {
  if (device.is_cpu()) throw Error("--crossover: expected --device other than the cpu");
  Crossover crossover{device.str(), grid, {}};
  for (const int64_t batch : grid.batches) {
    for (const int64_t width : grid.widths) {
      progress(fmt::format("batch {}, width {}", batch, width));
      manual_seed(1);
      Step cpu(batch, width, kCPU), other(batch, width, device);
      const Timings timings = measure({&cpu, &other}, seconds);
      crossover.cells.push_back({batch, width, timings.works[0].seconds, timings.works[1].seconds});
    }
  }
  return crossover;
}

std::string text_of(const Crossover& crossover) {
  return fmt::format("How many times faster than the cpu {} trains\n\n{}\n{}", crossover.device,
                     plain_table(table(crossover)), summary(crossover));
}

std::string markdown_of(const Crossover& crossover) {
  return markdown_table(table(crossover)) + "\n" + summary(crossover);
}

std::string json_of(const Crossover& crossover) {
  nlohmann::ordered_json all{{"device", crossover.device}, {"cells", nlohmann::json::array()}};
  for (const Crossover::Cell& cell : crossover.cells) {
    all["cells"].push_back({{"batch", cell.batch},
                            {"width", cell.width},
                            {"cpu_seconds", cell.cpu_seconds},
                            {"device_seconds", cell.device_seconds}});
  }
  return all.dump(2) + "\n";
}

}  // namespace bench
