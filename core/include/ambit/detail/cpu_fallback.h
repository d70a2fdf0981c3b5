// Runs a dispatched call on the CPU, if the policy of fallback.h says so.
#pragma once

#include <ambit/tensor.h>

#include <cstddef>

namespace ambit {

class OpBase;

/// One call that runs on the CPU because its device has no kernel.
class AMBIT_API CpuFallback {
 public:
  /// Errors: NotImplementedError if the policy forbids it or the CPU has no kernel.
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
