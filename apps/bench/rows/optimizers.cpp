// A step of an optimizer on tudui's parameters, with constant gradients.
#include <ambit/ops/random.h>
#include <ambit/optim/adam.h>
#include <ambit/optim/sgd.h>
#include <ambit/random.h>

#include "networks.h"
#include "rows.h"

namespace bench {
namespace {

using namespace ambit;

using MakeOptimizer = std::unique_ptr<optim::Optimizer> (*)(const std::vector<Tensor>&);

// The inputs are pairs of a parameter and its gradient.
class Step final : public Work {
 public:
  Step(MakeOptimizer make, const Inputs& inputs, Device device) : device_(device) {
    std::vector<Tensor> parameters;
    for (size_t i = 0; i < inputs.size(); i += 2) {
      parameters.push_back(inputs[i].value.to(device, false, /*copy=*/true).requires_grad_());
      parameters.back().mutable_grad() = inputs[i + 1].value.to(device);
    }
    first_ = parameters[0];
    optimizer_ = make(parameters);
  }
  void run() override {
    optimizer_->step();
    if (!device_.is_cpu()) synchronize(device_);
  }
  double result() override { return first_.detach().sum().item<double>(); }

 private:
  Device device_;
  Tensor first_;
  std::unique_ptr<optim::Optimizer> optimizer_;
};

Inputs inputs() {
  manual_seed(1);
  Inputs all;
  for (const auto& [name, parameter] : Tudui()->state_dict()) {
    all.push_back({name, parameter, /*requires_grad=*/true});
    all.push_back({name + ".grad", randn(parameter.sizes())});
  }
  return all;
}

// `passes`: number of passes over memory of the parameters' size.
Row row(const char* what, double passes, MakeOptimizer make) {
  Row row{what, "tudui"};
  double bytes = 0;
  for (const Tensor& p : Tudui()->parameters()) bytes += static_cast<double>(p.nbytes());
  row.cost.bytes = passes * bytes;
  row.amount = row.cost.bytes * 1e-9;
  row.unit = "GB";
  row.inputs = inputs;
  row.make = [make](const Inputs& in, Device device) {
    return std::make_unique<Step>(make, in, device);
  };
  return row;
}

}  // namespace

std::vector<Row> optimizer_rows() {
  // Read parameters, gradients and state; write parameters and state.
  return {row("sgd", 3,
              [](const std::vector<Tensor>& p) -> std::unique_ptr<optim::Optimizer> {
                return std::make_unique<optim::SGD>(p, optim::SGDOptions(1e-3));
              }),
          row("sgd_momentum", 5,
              [](const std::vector<Tensor>& p) -> std::unique_ptr<optim::Optimizer> {
                return std::make_unique<optim::SGD>(p, optim::SGDOptions(1e-3).momentum(0.9));
              }),
          row("adam", 7, [](const std::vector<Tensor>& p) -> std::unique_ptr<optim::Optimizer> {
            return std::make_unique<optim::Adam>(p, optim::AdamOptions(1e-3));
          })};
}

}  // namespace bench
