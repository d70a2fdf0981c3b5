// What Dataset::map applies: to samples one by one (Transform) or to a list of them
// (BatchTransform).
#pragma once

#include <ambit/data/example.h>

#include <functional>
#include <utility>
#include <vector>

namespace ambit::data::transforms {

/// Maps a batch to another, which may be of another type.
template <class InputBatch, class OutputBatch>
class BatchTransform {
 public:
  virtual ~BatchTransform() = default;
  /// Return what becomes of the batch. Called by several workers, each on a copy of the transform.
  virtual OutputBatch apply_batch(InputBatch batch) = 0;
};

/// Maps each sample of a batch.
template <class Input, class Output>
class Transform : public BatchTransform<std::vector<Input>, std::vector<Output>> {
 public:
  /// Return what becomes of one sample.
  virtual Output apply(Input input) = 0;
  std::vector<Output> apply_batch(std::vector<Input> inputs) override {
    std::vector<Output> outputs;
    outputs.reserve(inputs.size());
    for (Input& input : inputs) outputs.push_back(apply(std::move(input)));
    return outputs;
  }
};

/// Maps samples by a function.
template <class Input, class Output = Input>
class Lambda : public Transform<Input, Output> {
 public:
  explicit Lambda(std::function<Output(Input)> function) : function_(std::move(function)) {}
  Output apply(Input input) override { return function_(std::move(input)); }

 private:
  std::function<Output(Input)> function_;
};

/// Maps the data of each sample and keeps its target.
template <class Target = Tensor>
class TensorTransform : public Transform<Example<Tensor, Target>, Example<Tensor, Target>> {
 public:
  /// Return what becomes of a sample's data.
  virtual Tensor operator()(Tensor input) = 0;
  Example<Tensor, Target> apply(Example<Tensor, Target> example) override {
    example.data = (*this)(std::move(example.data));
    return example;
  }
};

/// Maps the data of each sample by a function.
template <class Target = Tensor>
class TensorLambda : public TensorTransform<Target> {
 public:
  explicit TensorLambda(std::function<Tensor(Tensor)> function) : function_(std::move(function)) {}
  Tensor operator()(Tensor input) override { return function_(std::move(input)); }

 private:
  std::function<Tensor(Tensor)> function_;
};

/// Mean and standard deviation of each channel, and the arithmetic with them.
class AMBIT_API ChannelStatistics {
 public:
  /// Errors: ShapeError unless both have the same length, not 0; Error for a deviation of 0.
  ChannelStatistics(std::vector<double> mean, std::vector<double> stddev);
  /// Return (x - mean) / stddev of x [..., C, H, W] on cpu, integers as float32; statistics of one
  /// channel hold for all. Errors: ShapeError for less than 3 dims or another C.
  Tensor normalize(const Tensor& x) const;
  const std::vector<double>& mean() const { return mean_; }
  const std::vector<double>& stddev() const { return stddev_; }

 private:
  std::vector<double> mean_, stddev_;
  Tensor mean_column_, stddev_column_;  // float32 [C,1,1]
};

/// Subtract the mean and divide by the standard deviation, per channel of data [C,H,W]. Errors:
/// those of ChannelStatistics.
template <class Target = Tensor>
class Normalize : public TensorTransform<Target> {
 public:
  Normalize(std::vector<double> mean, std::vector<double> stddev)
      : statistics_(std::move(mean), std::move(stddev)) {}
  Normalize(double mean, double stddev) : Normalize(std::vector{mean}, std::vector{stddev}) {}

  Tensor operator()(Tensor input) override { return statistics_.normalize(input); }
  const ChannelStatistics& statistics() const { return statistics_; }

 private:
  ChannelStatistics statistics_;
};
Normalize(double, double)->Normalize<>;
Normalize(std::vector<double>, std::vector<double>)->Normalize<>;

/// Return the samples' data and targets joined along a new first dim: B of [C,H,W] and [] ->
/// [B,C,H,W] and [B]. Errors: those of ambit::stack.
AMBIT_API Example<> stack_examples(const std::vector<Example<>>& examples);

/// Join samples into one: data and targets get a new first dim. Errors: those of ambit::stack.
template <class E = Example<>>
class Stack : public BatchTransform<std::vector<E>, E> {
 public:
  E apply_batch(std::vector<E> examples) override { return stack_examples(examples); }
};

}  // namespace ambit::data::transforms
