#include <ambit/autograd.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/nn/to_empty.h>
#include <ambit/ops/creation.h>

#include <utility>
#include <vector>

namespace ambit::nn {

void to_empty(Module& module, Device device) {
  typed_memory_errors("to_empty", [&] {
    const NoGradGuard no_grad;
    std::vector<std::pair<Tensor, Tensor>> tensors;  // pairs of a tensor and its replacement
    const auto plan = [&](const Tensor& t) {
      tensors.emplace_back(t, empty(t.sizes(), t.options().device(device)));
    };
    for (const Tensor& parameter : module.parameters()) plan(parameter);
    for (const Tensor& buffer : module.buffers()) plan(buffer);
    for (const auto& [tensor, memory] : tensors) {
      tensor.mutable_grad() = Tensor();
      tensor.set_data(memory);
    }
  });
}

}  // namespace ambit::nn
