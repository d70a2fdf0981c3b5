// AnyModule.
#include <ambit/nn/any_module.h>

namespace ambit::nn {

Tensor AnyModule::forward(const Tensor& x) const {
  if (!module_) throw Error("AnyModule: expected a module, got an empty one");
  return forward_(*module_, x);
}

AnyModule AnyModule::clone(const std::optional<Device>& device) const {
  AnyModule copy = *this;
  if (module_) copy.module_ = module_->clone(device);
  return copy;
}

}  // namespace ambit::nn
