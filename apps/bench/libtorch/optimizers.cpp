// A step of an optimizer with constant gradients. Operands are pairs of a parameter and its
// gradient.
#include "works.h"

namespace bench::libtorch {
namespace {

template <class Optimizer, class Options>
class Step final : public Work {
 public:
  Step(const Specification& s, const Options& options)
      : parameters_(parameters_of(s)), optimizer_(parameters_, options) {}
  void run() override { optimizer_.step(); }
  double result() override { return parameters_[0].detach().sum().template item<double>(); }

 private:
  static std::vector<torch::Tensor> parameters_of(const Specification& s) {
    std::vector<torch::Tensor> parameters;
    for (size_t i = 0; i < s.operands.size(); i += 2) {
      parameters.push_back(borrow(s.operands[i]).clone().requires_grad_());
      parameters.back().mutable_grad() = borrow(s.operands[i + 1]);
    }
    return parameters;
  }

  std::vector<torch::Tensor> parameters_;
  Optimizer optimizer_;
};

}  // namespace

std::unique_ptr<Work> make_optimizer(const Specification& s) {
  using namespace torch::optim;
  if (s.what == "sgd") return std::make_unique<Step<SGD, SGDOptions>>(s, SGDOptions(1e-3));
  if (s.what == "sgd_momentum") {
    return std::make_unique<Step<SGD, SGDOptions>>(s, SGDOptions(1e-3).momentum(0.9));
  }
  if (s.what == "adam") return std::make_unique<Step<Adam, AdamOptions>>(s, AdamOptions(1e-3));
  return nullptr;
}

}  // namespace bench::libtorch
