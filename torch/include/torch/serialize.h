// save() and load(). torch::save() of a file writes an archive, which libtorch reads, whatever the
// extension; ambit::save() chooses a format by the extension. load() reads all of them. An
// unqualified call means torch::save(): these functions have the parameters of ambit's templates,
// which overload resolution therefore ranks lower.
#pragma once

#include <ATen/core/ivalue.h>
#include <ambit/checkpoint.h>
#include <ambit/nn/serialize.h>
#include <ambit/serialize.h>
#include <torch/nn.h>
#include <torch/optim.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ambit {

/// load() from a callback: `read` reads n bytes at a position; size() is the total size.
template <class T>
void load(T& value, const std::function<size_t(uint64_t position, void* to, size_t n)>& read,
          const std::function<size_t()>& size, std::optional<Device> device = {}) {
  serialize::InputArchive archive;
  archive.load_from(read, size, device);
  archive >> value;
}

}  // namespace ambit

namespace torch {

using ambit::load;
using ambit::save;

namespace detail {

template <class T>
void save_archive(const T& value, const std::string& path) {
  ambit::serialize::OutputArchive archive;
  archive << value;
  archive.save_to(path);
}
template <class>
concept Any = true;

}  // namespace detail

// Errors: those of OutputArchive.
inline void save(const Tensor& tensor, const std::string& path) {
  detail::save_archive(tensor, path);
}
inline void save(const std::vector<Tensor>& tensors, const std::string& path) {
  detail::save_archive(tensors, path);
}
inline void save(const nn::Module& module, const std::string& path) {
  detail::save_archive(module, path);
}
inline void save(const optim::Optimizer& optimizer, const std::string& path) {
  detail::save_archive(optimizer, path);
}
/// Save the module of a holder or a shared pointer.
template <ambit::ModuleHandle M>
requires detail::Any<M>
void save(const M& module, const std::string& path) {
  detail::save_archive(static_cast<const nn::Module&>(*module), path);
}

/// The tensor of a file, on this device. A defined one keeps its identity and its requires_grad.
inline void load(Tensor& tensor, const std::string& path, std::optional<Device> device) {
  if (!device) return load(tensor, path);
  Tensor loaded;
  load(loaded, path);
  Tensor moved = loaded.detach().to(*device);
  if (tensor.defined()) {
    tensor.set_data(moved);
  } else {
    tensor = moved.requires_grad_(loaded.requires_grad());
  }
}
/// The state of an optimizer: on the devices of its parameters, whatever `device` is.
inline void load(optim::Optimizer& optimizer, const std::string& path,
                 std::optional<Device> /*device*/) {
  load(optimizer, path);
}

}  // namespace torch
