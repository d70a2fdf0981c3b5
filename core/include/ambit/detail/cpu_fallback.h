// How the dispatcher runs a call on the CPU, where the policy of fallback.h has it so.
#pragma once

#include <ambit/tensor.h>

#include <cstddef>

namespace ambit {

class OpBase;

/// One call that runs on the CPU in place of a device without a kernel.
class AMBIT_API CpuFallback {
 public:
  /// Errors: NotImplementedError where the policy, or the want of a CPU kernel, forbids it.
  CpuFallback(const OpBase& op, Device device);
  Tensor to_cpu(const Tensor& t);
  template <class Parameter>
  const Parameter& to_cpu(const Parameter& p) {
    return p;
  }
  void write_back(Tensor& output, const Tensor& host);
  template <class Input>
  void write_back(const Input&, const Input&) {}
  void finish();

 private:
  const OpBase& op_;
  Device device_;
  size_t bytes_ = 0;
};

}  // namespace ambit
