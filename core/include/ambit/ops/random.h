// Random tensors, from the device's generator (see ../random.h). The same seed gives the same
// numbers on every backend; they are not PyTorch's numbers.
#pragma once

#include <ambit/random.h>
#include <ambit/tensor.h>

namespace ambit {

/// Uniform in [0, 1). Floating point only: DTypeError.
AMBIT_API Tensor rand(IntArrayRef sizes, const TensorOptions& options = {});
/// Normal with mean 0 and standard deviation 1. Floating point only: DTypeError.
AMBIT_API Tensor randn(IntArrayRef sizes, const TensorOptions& options = {});
/// Uniform integers in [low, high); int64 unless options say. Errors: Error when low >= high.
AMBIT_API Tensor randint(int64_t low, int64_t high, IntArrayRef sizes,
                         const TensorOptions& options = {});
AMBIT_API Tensor randint(int64_t high, IntArrayRef sizes, const TensorOptions& options = {});
/// A random order of 0 .. n-1; int64 unless options say.
AMBIT_API Tensor randperm(int64_t n, const TensorOptions& options = {});
AMBIT_API Tensor rand_like(const Tensor& self, const TensorOptions& options = {});
AMBIT_API Tensor randn_like(const Tensor& self, const TensorOptions& options = {});
AMBIT_API Tensor randint_like(const Tensor& self, int64_t low, int64_t high,
                              const TensorOptions& options = {});
/// 1 with the probability that each element of `self` says, else 0. Errors: DTypeError; Error
/// outside [0, 1] where the data can be seen.
AMBIT_API Tensor bernoulli(const Tensor& self);
AMBIT_API const Tensor& uniform_(const Tensor& self, double from = 0, double to = 1);
AMBIT_API const Tensor& normal_(const Tensor& self, double mean = 0, double std = 1);
/// Integers in [from, to), in any dtype.
AMBIT_API const Tensor& random_(const Tensor& self, int64_t from, int64_t to);
AMBIT_API const Tensor& bernoulli_(const Tensor& self, double p = 0.5);
/// While training zero each element with probability p and scale the rest by 1 / (1 - p).
/// Errors: Error for p outside [0, 1]. Gradient: input. Source: Srivastava et al. 2014, JMLR 15.
AMBIT_API Tensor dropout(const Tensor& input, double p = 0.5, bool training = true);

}  // namespace ambit
