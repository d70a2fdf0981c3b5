// Transforms for Dataset::map: of single samples (Transform) or of a list of samples
// (BatchTransform).
#pragma once

#include <ambit/data/example.h>

#include <functional>
#include <utility>
#include <vector>

namespace ambit::data::transforms {

/// Converts a batch to another, possibly of another type.
template <class InputBatch, class OutputBatch>
class BatchTransform {
 public:
  using InputBatchType = InputBatch;
  using OutputBatchType = OutputBatch;

  virtual ~BatchTransform() = default;
  /// Return the converted batch. Workers call it, each on its own copy of the transform.
  virtual OutputBatch apply_batch(InputBatch batch) = 0;
};

/// Converts each sample of a batch.
template <class Input, class Output>
class Transform : public BatchTransform<std::vector<Input>, std::vector<Output>> {
 public:
  using InputType = Input;
  using OutputType = Output;

  /// Return the converted sample.
  virtual Output apply(Input input) = 0;
  /// Return apply() of each sample.
  std::vector<Output> apply_batch(std::vector<Input> inputs) override {
    std::vector<Output> outputs;
    outputs.reserve(inputs.size());
    for (Input& input : inputs) outputs.push_back(apply(std::move(input)));
    return outputs;
  }
};

/// Converts batches by a function.
template <class Input, class Output = Input>
class BatchLambda : public BatchTransform<Input, Output> {
 public:
  using FunctionType = std::function<Output(Input)>;
  /// Convert each batch by this function, which several workers may call at once.
  explicit BatchLambda(FunctionType function) : function_(std::move(function)) {}
  /// Return function(batch).
  Output apply_batch(Input batch) override { return function_(std::move(batch)); }

 private:
  FunctionType function_;
};

/// Converts a list of samples to one value.
template <class T, class Batch = std::vector<T>>
using Collation = BatchTransform<Batch, T>;
/// Converts a list of samples to one value by a function.
template <class T, class Batch = std::vector<T>>
using Collate = BatchLambda<Batch, T>;

/// Converts samples by a function.
template <class Input, class Output = Input>
class Lambda : public Transform<Input, Output> {
 public:
  using FunctionType = std::function<Output(Input)>;
  /// Convert each sample by this function, which several workers may call at once.
  explicit Lambda(FunctionType function) : function_(std::move(function)) {}
  /// Return function(input).
  Output apply(Input input) override { return function_(std::move(input)); }

 private:
  FunctionType function_;
};

/// Converts the data of each sample and keeps its target.
template <class Target = Tensor>
class TensorTransform : public Transform<Example<Tensor, Target>, Example<Tensor, Target>> {
 public:
  /// Return the converted data of a sample.
  virtual Tensor operator()(Tensor input) = 0;
  /// Convert the data; the target is kept.
  Example<Tensor, Target> apply(Example<Tensor, Target> example) override {
    example.data = (*this)(std::move(example.data));
    return example;
  }
};

/// Converts the data of each sample by a function.
template <class Target = Tensor>
class TensorLambda : public TensorTransform<Target> {
 public:
  using FunctionType = std::function<Tensor(Tensor)>;
  /// Convert the data of samples by this function, which several workers may call at once.
  explicit TensorLambda(FunctionType function) : function_(std::move(function)) {}
  /// Return function(input).
  Tensor operator()(Tensor input) override { return function_(std::move(input)); }

 private:
  FunctionType function_;
};

/// Mean and standard deviation of each channel, and normalisation with them.
class AMBIT_API ChannelStatistics {
 public:
  /// Errors: ShapeError unless both have the same positive length; Error for a deviation of 0.
  ChannelStatistics(std::vector<double> mean, std::vector<double> stddev);
  /// Return (x - mean) / stddev of x [..., C, H, W] on cpu, integers as float32. Statistics of one
  /// channel apply to all channels, and to x with fewer dims, which is extended to 3: [H,W] ->
  /// [1,H,W]. Errors: ShapeError for a different C.
  Tensor normalize(const Tensor& x) const;
  /// Return the mean of each channel.
  const std::vector<double>& mean() const { return mean_; }
  /// Return the standard deviation of each channel.
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
  /// One number per channel, or one for all.
  Normalize(std::vector<double> mean, std::vector<double> stddev)
      : statistics_(std::move(mean), std::move(stddev)) {}
  Normalize(double mean, double stddev) : Normalize(std::vector{mean}, std::vector{stddev}) {}

  /// Return ChannelStatistics::normalize(input).
  Tensor operator()(Tensor input) override { return statistics_.normalize(input); }
  /// Return the mean and standard deviation.
  const ChannelStatistics& statistics() const { return statistics_; }

 private:
  ChannelStatistics statistics_;
};
/// `Normalize(0.5, 0.25)` is a Normalize<>.
Normalize(double, double)->Normalize<>;
Normalize(std::vector<double>, std::vector<double>)->Normalize<>;

/// Stack the samples' data, and their targets, along a new first dim: B samples of [C,H,W] and []
/// -> [B,C,H,W] and [B]. Errors: those of ambit::stack.
AMBIT_API Example<> stack_examples(const std::vector<Example<>>& examples);
AMBIT_API TensorExample stack_examples(const std::vector<TensorExample>& examples);

/// Stack samples (Example<> or TensorExample) into one: data and targets get a new first dim.
/// Errors: those of ambit::stack.
template <class E = Example<>>
class Stack : public Collation<E> {
 public:
  /// Return stack_examples(examples).
  E apply_batch(std::vector<E> examples) override { return stack_examples(examples); }
};

}  // namespace ambit::data::transforms
