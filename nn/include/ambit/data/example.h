// One sample of a dataset, or a batch of samples.
#pragma once

#include <ambit/tensor.h>

#include <concepts>
#include <iterator>
#include <utility>

namespace ambit::data {

/// Input data and target of a network, for example an image and its class.
template <class Data = Tensor, class Target = Tensor>
struct Example {
  using DataType = Data;
  using TargetType = Target;

  /// Hold undefined tensors, or other default-constructed values.
  Example() = default;
  /// Hold data and target.
  Example(Data d, Target t) : data(std::move(d)), target(std::move(t)) {}

  Data data;      ///< input of the network
  Target target;  ///< the desired output
};

namespace example {
using NoTarget = void;
}  // namespace example

/// A sample without a target. It converts to its data.
template <class Data>
struct Example<Data, example::NoTarget> {
  using DataType = Data;
  using TargetType = example::NoTarget;

  /// Hold data, by default an undefined tensor.
  Example() = default;
  Example(Data d) : data(std::move(d)) {}
  /// Return the data, which can be changed: functions of Data accept such a sample.
  operator Data&() { return data; }
  operator const Data&() const { return data; }

  Data data;  ///< input of the network
};

using TensorExample = Example<Tensor, example::NoTarget>;

/// Return a sample, or a batch of any type, with its tensors in pinned memory, so that copies to
/// `device` can be asynchronous. Errors: those of Tensor::pin_memory.
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
