// Works that call one function, in two kinds: forward alone, and with the way back.
#pragma once

#include <ambit/autograd.h>
#include <ambit/device.h>
#include <ambit/ops/reduce.h>

#include "../row.h"

namespace bench {

using Tensors = std::vector<ambit::Tensor>;
using Parameters = std::vector<int64_t>;
using Function = ambit::Tensor (*)(const Tensors&, const Parameters&);

class Forward : public Work {
 public:
  Forward(Function function, const Inputs& inputs, const Parameters& parameters,
          ambit::Device device)
      : function_(function), parameters_(parameters), device_(device) {
    for (const Input& input : inputs) {
      tensors_.push_back(input.value.to(device, /*non_blocking=*/false, /*copy=*/true));
      if (input.requires_grad) tensors_.back().requires_grad_();
    }
  }

  void run() override {
    out_.reset();  // before the next one is made: memory may be used again
    out_ = function_(tensors_, parameters_);
    // On the cpu nothing is to be waited for, and the shortest works would show the call.
    if (!device_.is_cpu()) synchronize(device_);
  }
  double result() override { return out_.detach().sum().item<double>(); }

 protected:
  Function function_;
  Parameters parameters_;
  ambit::Device device_;
  Tensors tensors_;
  ambit::Tensor out_;
};

/// The last of the inputs is the gradient of the output. The result is the sum of the gradient of
/// the last input that has one.
class ForwardBackward final : public Forward {
 public:
  using Forward::Forward;

  void run() override {
    for (const ambit::Tensor& x : tensors_) {
      if (x.requires_grad()) x.mutable_grad().reset();
    }
    function_(tensors_, parameters_).backward(tensors_.back());
    if (!device_.is_cpu()) synchronize(device_);
  }
  double result() override {
    double sum = 0;
    for (const ambit::Tensor& x : tensors_) {
      if (x.requires_grad()) sum = x.grad().sum().item<double>();
    }
    return sum;
  }
};

}  // namespace bench
