// One sample of a dataset, or one batch of them.
#pragma once

#include <ambit/tensor.h>

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

}  // namespace ambit::data
