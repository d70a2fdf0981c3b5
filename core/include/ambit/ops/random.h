// Random tensors, from the device's generator (see ../random.h). The same seed gives the same
// numbers on every backend; they are not PyTorch's numbers. Options not given: default dtype, cpu,
// no gradient; in the *_like: self's dtype and device. A generator that is given is used in place
// of the device's, for tensors of any device. In place (`name_`) self is returned and no gradient
// flows through; AutogradError for a leaf that requires grad, outside of NoGradGuard. Errors of
// all: ShapeError (a negative size), DTypeError, OutOfMemoryError; Error for an undefined tensor.
// Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3" (Philox).
#pragma once

#include <ambit/random.h>
#include <ambit/tensor.h>

#include <optional>

namespace ambit {

/// Draw numbers uniform in [0, 1). Floating point only.
AMBIT_API Tensor rand(IntArrayRef sizes, const TensorOptions& options = {});
AMBIT_API Tensor rand(IntArrayRef sizes, const std::optional<Generator>& generator,
                      const TensorOptions& options = {});
/// Draw numbers normal with mean 0 and standard deviation 1. Floating point only.
AMBIT_API Tensor randn(IntArrayRef sizes, const TensorOptions& options = {});
AMBIT_API Tensor randn(IntArrayRef sizes, const std::optional<Generator>& generator,
                       const TensorOptions& options = {});
/// Draw integers uniform in [low, high), low 0 where it is left out; int64 unless options say.
/// Errors also: Error for low >= high; DTypeError for bounds beyond the dtype or 2^53 in size.
AMBIT_API Tensor randint(int64_t low, int64_t high, IntArrayRef sizes,
                         const TensorOptions& options = {});
AMBIT_API Tensor randint(int64_t high, IntArrayRef sizes, const TensorOptions& options = {});
AMBIT_API Tensor randint(int64_t low, int64_t high, IntArrayRef sizes,
                         const std::optional<Generator>& generator,
                         const TensorOptions& options = {});
AMBIT_API Tensor randint(int64_t high, IntArrayRef sizes, const std::optional<Generator>& generator,
                         const TensorOptions& options = {});
/// Draw an order of 0 .. n-1, each of the n! as likely: [n], int64 unless options say. Made on the
/// host for every device. Errors also: DTypeError where n - 1 does not fit the dtype.
AMBIT_API Tensor randperm(int64_t n, const TensorOptions& options = {});
AMBIT_API Tensor randperm(int64_t n, const std::optional<Generator>& generator,
                          const TensorOptions& options = {});
/// Draw as rand, of self's sizes.
AMBIT_API Tensor rand_like(const Tensor& self, const TensorOptions& options = {},
                           std::optional<MemoryFormat> format = {});
/// Draw as randn, of self's sizes.
AMBIT_API Tensor randn_like(const Tensor& self, const TensorOptions& options = {},
                            std::optional<MemoryFormat> format = {});
/// Draw as randint, of self's sizes.
AMBIT_API Tensor randint_like(const Tensor& self, int64_t low, int64_t high,
                              const TensorOptions& options = {},
                              std::optional<MemoryFormat> format = {});
AMBIT_API Tensor randint_like(const Tensor& self, int64_t high, const TensorOptions& options = {},
                              std::optional<MemoryFormat> format = {});
/// Draw normal numbers, each with the mean and standard deviation that stand there; the two
/// broadcast. Floating point only. Errors also: Error for std < 0. No gradient.
AMBIT_API Tensor normal(const Tensor& mean, double std = 1,
                        const std::optional<Generator>& generator = {});
AMBIT_API Tensor normal(double mean, const Tensor& std,
                        const std::optional<Generator>& generator = {});
AMBIT_API Tensor normal(const Tensor& mean, const Tensor& std,
                        const std::optional<Generator>& generator = {});
AMBIT_API Tensor normal(double mean, double std, IntArrayRef sizes,
                        const std::optional<Generator>& generator = {},
                        const TensorOptions& options = {});
/// Draw 1 with the probability that each element of self says, else 0; of self's shape and dtype,
/// floating point only. Waits for the device. Errors also: Error outside [0, 1]. No gradient.
AMBIT_API Tensor bernoulli(const Tensor& self, const std::optional<Generator>& generator = {});
/// Draw 1 with probability p, else 0; of self's shape and dtype. Errors also: Error outside [0, 1].
AMBIT_API Tensor bernoulli(const Tensor& self, double p,
                           const std::optional<Generator>& generator = {});
/// The same with a probability for each element: p floating point, broadcasting to self's sizes.
/// Waits for the device.
AMBIT_API Tensor bernoulli(const Tensor& self, const Tensor& p,
                           const std::optional<Generator>& generator = {});
/// Draw how many of `count` trials succeed, each with probability prob; both broadcast, of one
/// floating-point dtype, which the result has. Made on the host for every device. Errors also:
/// Error for a count < 0 or not finite, or a prob outside [0, 1]. No gradient.
AMBIT_API Tensor binomial(const Tensor& count, const Tensor& prob,
                          const std::optional<Generator>& generator = {});
/// Draw counts of the Poisson distribution whose rate each element of self says; of self's shape
/// and dtype, floating point only. Made on the host for every device. Errors also: Error for a rate
/// < 0 or NaN. No gradient. Source: Hörmann 1993, "The transformed rejection method for generating
/// Poisson random variables", algorithm PTRS.
AMBIT_API Tensor poisson(const Tensor& self, const std::optional<Generator>& generator = {});
/// Draw num_samples places of each row of self [N] or [M,N], as likely as its weights: int64
/// [num_samples] or [M, num_samples]. Weights finite, >= 0, not all 0, of floats; without
/// replacement no place twice, so that num_samples <= N. Waits for the device. Errors also: Error
/// for such weights; ShapeError. No gradient.
AMBIT_API Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement = false,
                             const std::optional<Generator>& generator = {});
/// Fill with numbers uniform in [from, to). Floating point only. Errors also: Error for from > to.
AMBIT_API const Tensor& uniform_(const Tensor& self, double from = 0, double to = 1,
                                 const std::optional<Generator>& generator = {});
/// Fill with normal numbers of this mean and standard deviation. Floating point only. Errors also:
/// Error for std < 0.
AMBIT_API const Tensor& normal_(const Tensor& self, double mean = 0, double std = 1,
                                const std::optional<Generator>& generator = {});
/// Fill with integers uniform in [from, to), in any dtype; from is 0 where it is left out, to the
/// largest number of the dtype and that too, of floats 2 to the power of their digits. Errors as
/// randint.
AMBIT_API const Tensor& random_(const Tensor& self, int64_t from, std::optional<int64_t> to,
                                const std::optional<Generator>& generator = {});
AMBIT_API const Tensor& random_(const Tensor& self, int64_t to,
                                const std::optional<Generator>& generator = {});
AMBIT_API const Tensor& random_(const Tensor& self, const std::optional<Generator>& generator = {});
/// Fill with 1 with probability p, else 0, in any dtype. Errors also: Error for p outside [0, 1].
AMBIT_API const Tensor& bernoulli_(const Tensor& self, double p = 0.5,
                                   const std::optional<Generator>& generator = {});
/// The same with a probability for each element: p floating point, broadcasting to self's sizes.
/// Waits for the device.
AMBIT_API const Tensor& bernoulli_(const Tensor& self, const Tensor& p,
                                   const std::optional<Generator>& generator = {});
/// Fill with numbers of the exponential distribution of rate lambd, mean 1 / lambd. Floating point
/// only. Errors also: Error for lambd <= 0.
AMBIT_API const Tensor& exponential_(const Tensor& self, double lambd = 1,
                                     const std::optional<Generator>& generator = {});
/// Fill with how many trials it takes to the first success, 1 or more, each of probability p. Any
/// dtype but bool. Errors also: Error for p outside (0, 1).
AMBIT_API const Tensor& geometric_(const Tensor& self, double p,
                                   const std::optional<Generator>& generator = {});
/// Fill with numbers of the Cauchy distribution: median + sigma tan(pi (u - 1/2)). Floating point
/// only. Errors also: Error for sigma <= 0.
AMBIT_API const Tensor& cauchy_(const Tensor& self, double median = 0, double sigma = 1,
                                const std::optional<Generator>& generator = {});
/// Fill with exp of normal numbers of this mean and standard deviation. Floating point only.
/// Errors also: Error for std <= 0.
AMBIT_API const Tensor& log_normal_(const Tensor& self, double mean = 1, double std = 2,
                                    const std::optional<Generator>& generator = {});
/// While training zero each element with probability p and scale the rest by 1 / (1 - p), so that
/// the expected value stays; p = 1 zeroes all. Else return input itself. Floating point only.
/// Errors also: Error for p outside [0, 1]. Gradient: input. Source: Srivastava et al. 2014,
/// JMLR 15.
AMBIT_API Tensor dropout(const Tensor& input, double p = 0.5, bool training = true);
AMBIT_API const Tensor& dropout_(const Tensor& self, double p = 0.5, bool training = true);

}  // namespace ambit
