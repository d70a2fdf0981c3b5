// Random tensors from the device's generator (see ../random.h). The same seed gives the same
// numbers on every backend, but not PyTorch's numbers. Defaults of options: default dtype, default
// device, no gradient; for *_like functions self's dtype and device. A given generator is used
// instead of the device's, for tensors of any device. In place (`name_`), self is returned without
// gradient; AutogradError for a leaf that requires grad, outside of NoGradGuard. Errors of all:
// ShapeError (a negative size), DTypeError, OutOfMemoryError; Error for an undefined tensor.
// Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3" (Philox).
#pragma once

#include <ambit/random.h>
#include <ambit/tensor.h>

#include <optional>
#include <tuple>

namespace ambit {

/// Return numbers uniform in [0, 1). Floating point only.
/// @{
AMBIT_API Tensor rand(IntArrayRef sizes, const TensorOptions& options = {});
AMBIT_API Tensor rand(IntArrayRef sizes, const std::optional<Generator>& generator,
                      const TensorOptions& options = {});
/// @}
/// Return normal numbers with mean 0 and standard deviation 1. Floating point only.
/// @{
AMBIT_API Tensor randn(IntArrayRef sizes, const TensorOptions& options = {});
AMBIT_API Tensor randn(IntArrayRef sizes, const std::optional<Generator>& generator,
                       const TensorOptions& options = {});
/// @}
/// Return integers uniform in [low, high); default low: 0, default dtype: int64. Errors: also Error
/// for low >= high; DTypeError for bounds outside the dtype's range or of magnitudes above 2^53.
/// @{
AMBIT_API Tensor randint(int64_t low, int64_t high, IntArrayRef sizes,
                         const TensorOptions& options = {});
AMBIT_API Tensor randint(int64_t high, IntArrayRef sizes, const TensorOptions& options = {});
AMBIT_API Tensor randint(int64_t low, int64_t high, IntArrayRef sizes,
                         const std::optional<Generator>& generator,
                         const TensorOptions& options = {});
AMBIT_API Tensor randint(int64_t high, IntArrayRef sizes, const std::optional<Generator>& generator,
                         const TensorOptions& options = {});
/// @}
/// Return a random permutation of 0 .. n-1: [n], default dtype int64. Generated on the host for
/// every device. Errors: also DTypeError if n - 1 does not fit the dtype.
/// @{
AMBIT_API Tensor randperm(int64_t n, const TensorOptions& options = {});
AMBIT_API Tensor randperm(int64_t n, const std::optional<Generator>& generator,
                          const TensorOptions& options = {});
/// @}
/// Same as rand, with self's sizes.
/// @{
AMBIT_API Tensor rand_like(const Tensor& self, const TensorOptions& options = {},
                           std::optional<MemoryFormat> format = {});
AMBIT_API Tensor rand_like(const Tensor& self, const std::optional<Generator>& generator,
                           const TensorOptions& options = {},
                           std::optional<MemoryFormat> format = {});
/// @}
/// Same as randn, with self's sizes.
/// @{
AMBIT_API Tensor randn_like(const Tensor& self, const TensorOptions& options = {},
                            std::optional<MemoryFormat> format = {});
AMBIT_API Tensor randn_like(const Tensor& self, const std::optional<Generator>& generator,
                            const TensorOptions& options = {},
                            std::optional<MemoryFormat> format = {});
/// @}
/// Same as randint, with self's sizes.
/// @{
AMBIT_API Tensor randint_like(const Tensor& self, int64_t low, int64_t high,
                              const TensorOptions& options = {},
                              std::optional<MemoryFormat> format = {});
AMBIT_API Tensor randint_like(const Tensor& self, int64_t high, const TensorOptions& options = {},
                              std::optional<MemoryFormat> format = {});
AMBIT_API Tensor randint_like(const Tensor& self, int64_t low, int64_t high,
                              const std::optional<Generator>& generator,
                              const TensorOptions& options = {},
                              std::optional<MemoryFormat> format = {});
AMBIT_API Tensor randint_like(const Tensor& self, int64_t high,
                              const std::optional<Generator>& generator,
                              const TensorOptions& options = {},
                              std::optional<MemoryFormat> format = {});
/// @}
/// As above, with `high` as a 0-dim tensor; waits for its device. Errors: also DeviceMismatchError.
/// @{
AMBIT_API Tensor randint_like(const Tensor& self, const Tensor& high,
                              const TensorOptions& options = {},
                              std::optional<MemoryFormat> format = {});
AMBIT_API Tensor randint_like(const Tensor& self, const Tensor& high,
                              const std::optional<Generator>& generator,
                              const TensorOptions& options = {},
                              std::optional<MemoryFormat> format = {});
/// @}
/// Return normal numbers with elementwise mean and standard deviation, which broadcast. Floating
/// point only. Errors: also Error for std < 0. No gradient.
/// @{
AMBIT_API Tensor normal(const Tensor& mean, double std = 1,
                        const std::optional<Generator>& generator = {});
AMBIT_API Tensor normal(double mean, const Tensor& std,
                        const std::optional<Generator>& generator = {});
AMBIT_API Tensor normal(const Tensor& mean, const Tensor& std,
                        const std::optional<Generator>& generator = {});
AMBIT_API Tensor normal(double mean, double std, IntArrayRef sizes,
                        const std::optional<Generator>& generator = {},
                        const TensorOptions& options = {});
/// @}
/// Return 1 with the probability given by each element of self, else 0; of self's shape and dtype,
/// floating point only. Waits for the device. Errors: also Error outside [0, 1]. No gradient.
AMBIT_API Tensor bernoulli(const Tensor& self, const std::optional<Generator>& generator = {});
/// Return 1 with probability p, else 0; of self's shape and dtype. Errors: also Error outside [0,
/// 1].
AMBIT_API Tensor bernoulli(const Tensor& self, double p,
                           const std::optional<Generator>& generator = {});
/// As above, with a probability for each element: p floating point, broadcasting to self's sizes.
/// Waits for the device.
AMBIT_API Tensor bernoulli(const Tensor& self, const Tensor& p,
                           const std::optional<Generator>& generator = {});
/// Return the number of successes in `count` trials with probability prob; both broadcast and have
/// the same floating-point dtype, as the result. Generated on the host for every device. Errors:
/// also Error for a count < 0 or not finite, or a prob outside [0, 1]. No gradient.
AMBIT_API Tensor binomial(const Tensor& count, const Tensor& prob,
                          const std::optional<Generator>& generator = {});
/// Return Poisson-distributed counts with the rate given by each element of self; of self's shape
/// and dtype, floating point only. Generated on the host for every device. Errors: also Error for a
/// rate < 0 or NaN. No gradient. Source: Hörmann 1993, "The transformed rejection method for
/// generating Poisson random variables", algorithm PTRS.
AMBIT_API Tensor poisson(const Tensor& self, const std::optional<Generator>& generator = {});
/// Sample num_samples indices from each row of weights self [N] or [M,N]: int64 [num_samples] or
/// [M, num_samples]. Weights are floats, finite, >= 0, not all 0; without replacement indices are
/// distinct, so num_samples <= N. Waits for the device. Errors: also Error for invalid weights;
/// ShapeError. No gradient.
AMBIT_API Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement = false,
                             const std::optional<Generator>& generator = {});
/// Fill with numbers uniform in [from, to). Floating point only. Errors: also Error for from > to.
AMBIT_API const Tensor& uniform_(const Tensor& self, double from = 0, double to = 1,
                                 const std::optional<Generator>& generator = {});
/// Fill with normal numbers with this mean and standard deviation. Floating point only. Errors:
/// also Error for std < 0.
AMBIT_API const Tensor& normal_(const Tensor& self, double mean = 0, double std = 1,
                                const std::optional<Generator>& generator = {});
/// Fill with integers uniform in [from, to), any dtype. Default from: 0; default to: one above the
/// dtype's largest number, for floats 2 to the power of their digits, included. Errors as randint.
/// @{
AMBIT_API const Tensor& random_(const Tensor& self, int64_t from, std::optional<int64_t> to,
                                const std::optional<Generator>& generator = {});
AMBIT_API const Tensor& random_(const Tensor& self, int64_t to,
                                const std::optional<Generator>& generator = {});
AMBIT_API const Tensor& random_(const Tensor& self, const std::optional<Generator>& generator = {});
/// @}
/// Fill with 1 with probability p, else 0, in any dtype. Errors: also Error for p outside [0, 1].
AMBIT_API const Tensor& bernoulli_(const Tensor& self, double p = 0.5,
                                   const std::optional<Generator>& generator = {});
/// As above, with a probability for each element: p floating point, broadcasting to self's sizes.
/// Waits for the device.
AMBIT_API const Tensor& bernoulli_(const Tensor& self, const Tensor& p,
                                   const std::optional<Generator>& generator = {});
/// Fill with numbers of the exponential distribution with rate lambd, mean 1 / lambd. Floating
/// point only. Errors: also Error for lambd <= 0.
AMBIT_API const Tensor& exponential_(const Tensor& self, double lambd = 1,
                                     const std::optional<Generator>& generator = {});
/// Fill with the number of trials up to the first success, 1 or more, with probability p each. Any
/// dtype but bool. Errors: also Error for p outside (0, 1).
AMBIT_API const Tensor& geometric_(const Tensor& self, double p,
                                   const std::optional<Generator>& generator = {});
/// Fill with numbers of the Cauchy distribution: median + sigma tan(pi (u - 1/2)). Floating point
/// only. Errors: also Error for sigma <= 0.
AMBIT_API const Tensor& cauchy_(const Tensor& self, double median = 0, double sigma = 1,
                                const std::optional<Generator>& generator = {});
/// Fill with exp of normal numbers with this mean and standard deviation. Floating point only.
/// Errors: also Error for std <= 0.
AMBIT_API const Tensor& log_normal_(const Tensor& self, double mean = 1, double std = 2,
                                    const std::optional<Generator>& generator = {});
/// In training, zero each element with probability p and scale the others by 1 / (1 - p), which
/// preserves the expected value; p = 1 zeroes all. Otherwise return input itself. Floating point
/// only. Errors: also Error for p outside [0, 1]. Gradient: input. Source: Srivastava et al. 2014,
/// JMLR 15.
AMBIT_API Tensor dropout(const Tensor& input, double p = 0.5, bool training = true);
/// As dropout(); return {result, mask}, a bool mask that is true for the elements that are kept.
/// train: default true; false returns a copy of input and a mask of ones.
AMBIT_API std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p,
                                                    std::optional<bool> train);
/// As dropout(), but in place; without training self is unchanged.
AMBIT_API const Tensor& dropout_(const Tensor& self, double p = 0.5, bool training = true);

}  // namespace ambit
