// save() and load().
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
