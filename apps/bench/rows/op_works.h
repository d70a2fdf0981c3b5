// Rows that call one function, of two kinds: forward only, and with backward.
#pragma once

#include <ambit/autograd.h>
#include <ambit/device.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>
#include <ambit/random.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../row.h"

namespace bench {

using Sizes = std::vector<int64_t>;
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
    out_.reset();  // free it first, so that the next result reuses its memory
    out_ = function_(tensors_, parameters_);
    // Do not wait on the cpu, because the cost of the call would be visible in short workloads.
    if (!device_.is_cpu()) synchronize(device_);
  }
  double result() override { return out_.detach().to(ambit::kFloat32).sum().item<double>(); }

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

inline double count(const Sizes& sizes) {
  double n = 1;
  for (const int64_t size : sizes) n *= static_cast<double>(size);
  return n;
}

/// The values are uniform in [0, 1), so that the sums, which are compared, do not cancel.
inline Input random_input(const char* name, const Sizes& sizes, bool requires_grad = false) {
  return {name, ambit::rand(sizes), requires_grad};
}

/// A row of W, Forward or derived from it; `what` identifies its function for peers.
template <class W>
Row op_row(const std::string& what, std::string size, Function function,
           std::function<Inputs()> inputs, Parameters parameters = {}) {
  Row row{what, std::move(size), parameters};
  row.inputs = [inputs = std::move(inputs)] {
    ambit::manual_seed(1);
    return inputs();
  };
  row.make = [=](const Inputs& in, ambit::Device device) {
    return std::make_unique<W>(function, in, parameters, device);
  };
  return row;
}

inline Row with_bytes(Row row, double bytes) {
  row.cost.bytes = bytes;
  row.amount = bytes * 1e-9;
  row.unit = "GB";
  return row;
}

inline Row with_flops(Row row, double flops) {
  row.cost.flops = flops;
  row.amount = flops * 1e-9;
  row.unit = "GFLOP";
  return row;
}

inline constexpr double kFloat = 4;  // bytes

}  // namespace bench
