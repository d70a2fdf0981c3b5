// The arithmetic of transforms, composed of ops.
#include <ambit/data/transforms.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>

#include <fmt/format.h>

#include <algorithm>

namespace ambit::data::transforms {
namespace {

Tensor column(const std::vector<double>& values) {
  return tensor(values, TensorOptions(kFloat32).device(kCPU))
      .view({static_cast<int64_t>(values.size()), 1, 1});
}

}  // namespace

ChannelStatistics::ChannelStatistics(std::vector<double> mean, std::vector<double> stddev)
    : mean_(std::move(mean)), stddev_(std::move(stddev)) {
  if (mean_.empty() || mean_.size() != stddev_.size()) {
    throw ShapeError(fmt::format("Normalize: expected as many means as deviations, got {} and {}",
                                 mean_.size(), stddev_.size()));
  }
  if (std::count(stddev_.begin(), stddev_.end(), 0.0) > 0) {
    throw Error("Normalize: expected deviations that are not 0, got 0");
  }
  mean_column_ = column(mean_);
  stddev_column_ = column(stddev_);
}

Tensor ChannelStatistics::normalize(const Tensor& x) const {
  const auto channels = static_cast<int64_t>(mean_.size());
  if (channels != 1 && (x.dim() < 3 || x.size(-3) != channels)) {
    throw ShapeError(fmt::format("Normalize: expected [..., {}, H, W], got {}", channels,
                                 ambit::str(x.sizes())));
  }
  return (x - mean_column_) / stddev_column_;
}

Example<> stack_examples(const std::vector<Example<>>& examples) {
  std::vector<Tensor> data, targets;
  for (const Example<>& example : examples) {
    data.push_back(example.data);
    targets.push_back(example.target);
  }
  return {stack(data), stack(targets)};
}

TensorExample stack_examples(const std::vector<TensorExample>& examples) {
  std::vector<Tensor> data;
  for (const TensorExample& example : examples) data.push_back(example.data);
  return stack(data);
}

}  // namespace ambit::data::transforms
