// Training steps and inference of the lessons' networks, with the lessons' optimizers.
#include "networks.h"

#include <ambit/ops/creation.h>
#include <ambit/ops/loss.h>
#include <ambit/ops/random.h>
#include <ambit/optim/sgd.h>
#include <ambit/random.h>

#include "rows.h"

namespace bench {
namespace {

using namespace ambit;

template <class Network>
Network network_of(const Inputs& inputs, size_t first_parameter, Device device) {
  Network network;
  StateDict state;
  for (size_t i = first_parameter; i < inputs.size(); ++i) {
    state.emplace_back(inputs[i].name, inputs[i].value);
  }
  network->load_state_dict(state);
  network.to(device);
  return network;
}

template <class Network>
class Training final : public Work {
 public:
  Training(const Inputs& inputs, Device device, const optim::SGDOptions& options)
      : network_(network_of<Network>(inputs, 2, device)),
        optimizer_(network_->parameters(), options),
        images_(inputs[0].value.to(device)),
        labels_(inputs[1].value.to(device)) {}

  void run() override {
    optimizer_.zero_grad();
    const Tensor loss = cross_entropy(network_(images_), labels_);
    loss.backward();
    optimizer_.step();
    loss_ = loss.item<double>();
  }
  double result() override { return loss_; }

 private:
  Network network_;
  optim::SGD optimizer_;
  Tensor images_, labels_;
  double loss_ = 0;
};

template <class Network>
class Inference final : public Work {
 public:
  Inference(const Inputs& inputs, Device device)
      : network_(network_of<Network>(inputs, 1, device)), images_(inputs[0].value.to(device)) {
    network_->eval();
  }

  void run() override {
    const NoGradGuard no_grad;
    logits_.reset();  // before the next ones are made
    logits_ = network_(images_);
    synchronize(logits_.device());
  }
  double result() override { return logits_.sum().item<double>(); }

 private:
  Network network_;
  Tensor images_, logits_;
};

template <class Network>
Inputs inputs(int64_t batch, bool with_labels) {
  manual_seed(1);
  Inputs all{{"input", rand({batch, 3, 32, 32})}};
  if (with_labels) all.push_back({"target", randint(0, 10, {batch})});
  for (const auto& [name, parameter] : Network()->state_dict()) all.push_back({name, parameter});
  return all;
}

template <class Network>
Row training_row(const std::string& name, int64_t batch, const optim::SGDOptions& options) {
  Row row{name + "/train", std::to_string(batch)};
  row.amount = static_cast<double>(batch);
  row.unit = "images";
  row.memory = true;
  row.inputs = [batch] { return inputs<Network>(batch, true); };
  row.make = [options](const Inputs& in, Device device) {
    return std::make_unique<Training<Network>>(in, device, options);
  };
  return row;
}

template <class Network>
Row inference_row(const std::string& name, int64_t batch) {
  Row row{name + "/infer", std::to_string(batch)};
  row.amount = static_cast<double>(batch);
  row.unit = "images";
  row.memory = true;
  row.inputs = [batch] { return inputs<Network>(batch, false); };
  row.make = [](const Inputs& in, Device device) {
    return std::make_unique<Inference<Network>>(in, device);
  };
  return row;
}

}  // namespace

std::vector<Row> network_rows() {
  constexpr int64_t kBatches[] = {4, 64, 256, 1024};
  std::vector<Row> rows;
  for (const int64_t n : kBatches) {
    rows.push_back(training_row<Net>("net", n, optim::SGDOptions(0.001).momentum(0.9)));
  }
  for (const int64_t n : kBatches) rows.push_back(inference_row<Net>("net", n));
  for (const int64_t n : kBatches) {
    rows.push_back(training_row<Tudui>("tudui", n, optim::SGDOptions(0.01)));
  }
  for (const int64_t n : kBatches) rows.push_back(inference_row<Tudui>("tudui", n));
  return rows;
}

}  // namespace bench
