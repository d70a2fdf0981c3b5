// One sample of a dataset, or one batch of them.
#pragma once

#include <ambit/tensor.h>

#include <concepts>
#include <iterator>
#include <utility>

namespace ambit::data {

/// What is put in, and what shall come out: an image and its class.
template <class Data = Tensor, class Target = Tensor>
struct Example {
  using DataType = Data;
  using TargetType = Target;

  Example() = default;
  Example(Data d, Target t) : data(std::move(d)), target(std::move(t)) {}

  Data data;
  Target target;
};

namespace example {
using NoTarget = void;
}  // namespace example

/// What is put in, where nothing is known of what shall come out. It stands for its data.
template <class Data>
struct Example<Data, example::NoTarget> {
  using DataType = Data;
  using TargetType = example::NoTarget;

  Example() = default;
  Example(Data d) : data(std::move(d)) {}
  operator Data&() { return data; }
  operator const Data&() const { return data; }

  Data data;
};

using TensorExample = Example<Tensor, example::NoTarget>;

/// Return a sample, or a batch of any shape, with its tensors in pinned memory, from which copies
/// to `device` need not wait. Errors: those of Tensor::pin_memory.
template <class T>
T pinned(T value, Device device) {
  if constexpr (std::same_as<T, Tensor>) {
    if (value.defined()) value = value.pin_memory(device);
  } else if constexpr (requires { value.data, value.target; }) {
    value.data = pinned(std::move(value.data), device);
    value.target = pinned(std::move(value.target), device);
  } else if constexpr (std::same_as<T, TensorExample>) {
    value.data = pinned(std::move(value.data), device);
  } else if constexpr (requires {
                         requires std::random_access_iterator<decltype(value.begin())>;
                       }) {
    for (auto&& element : value) element = pinned(std::move(element), device);
  }
  return value;
}

}  // namespace ambit::data
