// OptimizerOptions: members that classes override, and the learning rate as a tensor.
#include <ambit/autograd.h>
#include <ambit/error.h>
#include <ambit/optim/optimizer.h>
#include <fmt/format.h>

namespace ambit::optim {

namespace {

[[noreturn]] void not_overridden(const char* function) {
  throw NotImplementedError(fmt::format(
      "{}: expected options whose class overrides this function, got others", function));
}

}  // namespace

OptimizerOptions::~OptimizerOptions() = default;
std::unique_ptr<OptimizerOptions> OptimizerOptions::clone() const { not_overridden("clone"); }
double OptimizerOptions::get_lr() const { not_overridden("get_lr"); }
void OptimizerOptions::set_lr(double) { not_overridden("set_lr"); }

void OptimizerOptions::bind_lr(const Tensor& lr) {
  if (!lr.defined() || lr.numel() != 1) {
    throw ShapeError(fmt::format("lr: expected a tensor of one element, got {}",
                                 lr.defined() ? str(lr.sizes()) : "an undefined one"));
  }
  set_lr(lr.item<double>());
  lr_tensor_ = lr;
  lr_of_tensor_ = get_lr();
}

// If lr was set since the last call, write it to the tensor; then read the tensor, which may round
// it.
void OptimizerOptions::read_lr() {
  if (!lr_tensor_.defined()) return;
  if (get_lr() != lr_of_tensor_) {
    const NoGradGuard no_grad;
    lr_tensor_.fill_(get_lr());
  }
  set_lr(lr_tensor_.item<double>());
  lr_of_tensor_ = get_lr();
}

void OptimizerOptions::set_momentum(double) { not_overridden("set_momentum"); }
Value::Dict OptimizerOptions::values() const { not_overridden("values"); }
void OptimizerOptions::set_values(const Value&) { not_overridden("set_values"); }

}  // namespace ambit::optim
