// torch::nn::parallel: replicas of one module on several devices, each with a part of the batch and
// a thread. Gradients are accumulated in the module itself. DistributedDataParallel, with one
// process per device, is preferable.
#pragma once

#include <torch/nn.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace ambit::nn::parallel {

/// Clone a module to each device; gradients of a clone's parameters flow to the module's. Buffers
/// are copies, so updates by clones, for example of running statistics, are lost.
template <class M>
std::vector<std::shared_ptr<M>> replicate(const std::shared_ptr<M>& module,
                                          const std::vector<Device>& devices) {
  const std::vector<Tensor> originals = module->parameters();
  std::vector<std::shared_ptr<M>> replicas;
  for (const Device device : devices) {
    replicas.push_back(std::dynamic_pointer_cast<M>(module->clone(device)));
    const std::vector<Tensor> copies = replicas.back()->parameters();
    for (size_t i = 0; i < copies.size(); ++i) {
      copies[i].requires_grad_(false);
      copies[i].copy_(originals[i]);
    }
  }
  return replicas;
}
template <class M>
std::vector<ModuleHolder<M>> replicate(const ModuleHolder<M>& module,
                                       const std::vector<Device>& devices) {
  std::vector<ModuleHolder<M>> replicas;
  for (auto& replica : replicate(module.ptr(), devices)) replicas.emplace_back(std::move(replica));
  return replicas;
}

/// Return the output of each module for its input, on its device, each in its own thread. Errors:
/// Error if the numbers of inputs, devices and modules differ; when all threads have ended, the
/// first exception of a module.
template <class ModulePtr>
std::vector<Tensor> parallel_apply(
    std::vector<ModulePtr>& modules, const std::vector<Tensor>& inputs,
    const std::optional<std::vector<Device>>& devices = std::nullopt) {
  if (modules.size() != inputs.size() || (devices && modules.size() != devices->size())) {
    throw Error("parallel_apply: expected an input and a device for each module");
  }
  const bool grad_mode = GradMode::is_enabled();
  std::vector<Tensor> outputs(modules.size());
  std::vector<std::exception_ptr> errors(modules.size());
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < modules.size(); ++i) {
      threads.emplace_back([&, i] {
        try {
          const AutoGradMode mode(grad_mode);
          const Device device = devices ? (*devices)[i] : inputs[i].device();
          const DeviceGuard guard(device);
          outputs[i] = modules[i]->forward(inputs[i].to(device)).to(device);
        } catch (...) {
          errors[i] = std::current_exception();
        }
      });
    }
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return outputs;
}

/// Split `input` along `dim`, one part per device, and return the module's output on output_device.
/// Defaults: all devices named cuda, and the first of them. With one device the module moves there.
/// Errors: Error for no devices; those of the module.
template <class ModulePtr>
Tensor data_parallel(ModulePtr module, Tensor input,
                     std::optional<std::vector<Device>> devices = std::nullopt,
                     std::optional<Device> output_device = std::nullopt, int64_t dim = 0) {
  if (!devices) {
    devices.emplace();
    for (int i = 0; i < cuda::device_count(); ++i) devices->emplace_back(kCUDA, i);
  }
  if (devices->empty()) throw Error("data_parallel: expected at least one device, got none");
  const Device to = output_device.value_or(devices->front());
  if (devices->size() == 1) {
    module->to(devices->front());
    return module->forward(input.to(devices->front())).to(to);
  }
  std::vector<Tensor> inputs = input.chunk(static_cast<int64_t>(devices->size()), dim);
  devices->resize(inputs.size());  // a small batch has fewer parts than devices
  auto replicas = replicate(module, *devices);
  std::vector<Tensor> outputs = parallel_apply(replicas, inputs, *devices);
  for (Tensor& output : outputs) output = output.to(to);
  return cat(outputs, dim);
}

}  // namespace ambit::nn::parallel
