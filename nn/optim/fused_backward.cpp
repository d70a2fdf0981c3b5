// Optimizer steps during backward.
#include <ambit/autograd.h>
#include <ambit/detail/leaf_listener.h>
#include <ambit/error.h>
#include <ambit/optim/fused_backward.h>
#include <ambit/optim/lbfgs.h>

namespace ambit::optim {

class FusedBackward::Listener final : public LeafGradListener {
 public:
  explicit Listener(Optimizer& optimizer) : optimizer_(optimizer) {}

  bool begin(std::span<const Tensor>, bool create_graph) override {
    if (!create_graph) return true;
    throw AutogradError("FusedBackward: expected backward without create_graph, got one with it");
  }
  void ready(const Tensor& leaf, const Tensor& gradient) override {
    // step() updates only parameters that have a gradient, here only this one.
    const Gradient set(leaf, gradient);
    optimizer_.step();
  }
  void end() override {}
  void abandon() noexcept override {}

 private:
  // Sets the `.grad` of a parameter for the lifetime of the object.
  class Gradient {
   public:
    Gradient(const Tensor& leaf, const Tensor& gradient) : leaf_(leaf) {
      leaf_.mutable_grad() = gradient;
    }
    ~Gradient() { leaf_.mutable_grad().reset(); }
    Gradient(const Gradient&) = delete;
    Gradient& operator=(const Gradient&) = delete;

   private:
    const Tensor& leaf_;
  };

  Optimizer& optimizer_;
};

FusedBackward::FusedBackward(Optimizer& optimizer)
    : listener_(std::make_shared<Listener>(optimizer)) {
  if (dynamic_cast<LBFGS*>(&optimizer)) {
    throw Error(
        "FusedBackward: expected an optimizer that updates parameters independently, got LBFGS");
  }
  for (const Tensor& parameter : optimizer.parameters()) {
    if (parameter.requires_grad()) listen_to_leaf(parameter, listener_);
  }
}

}  // namespace ambit::optim
