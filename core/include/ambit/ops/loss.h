// Losses, of floating-point inputs. `reduction` makes of the losses l of the elements:
//   none: l itself; sum: the sum of l, []; mean: the sum of l divided as each function says, []
// Errors of all: ShapeError, DTypeError, DeviceMismatchError; Error for an undefined tensor.
#pragma once

#include <ambit/tensor.h>

#include <cstdint>

namespace ambit {

/// What becomes of the losses l, as said above.
enum class Reduction : uint8_t { none, mean, sum, None = none, Mean = mean, Sum = sum };

/// Compute the negative log-likelihood of classes.
///   l[n] = -weight[t] * input[n,t] with t = target[n]; 0 where t is ignore_index
///   mean: divided by the sum of weight[t] of the targets not ignored; NaN where there is none
/// input [N,C], [C] or [N,C,d1,...]: log-probabilities; target int64 of input's shape without C,
/// which l has too; weight [C] of input's dtype, the factor of each class; undefined: ones.
/// Errors also: IndexError for a target outside [0, C) that is not ignore_index; AutogradError for
/// a weight that requires grad. Gradient: input. Source: torch.nn.NLLLoss.
AMBIT_API Tensor nll_loss(const Tensor& input, const Tensor& target, const Tensor& weight = {},
                          Reduction reduction = Reduction::mean, int64_t ignore_index = -100);
/// Compute the cross entropy of logits with classes or probabilities; p = softmax(input) over C.
///   classes t: l[n] = -weight[t] * log(p[n,t]), mean as nll_loss, ignored targets as there
///   probabilities q: l[n] = -sum over c of weight[c] * q[n,c] * log(p[n,c]), mean: by their number
///   label_smoothing e: classes (1 - e) l[n] - e/C sum over c of weight[c] * log(p[n,c]), not of
///       ignored targets; probabilities (1 - e) q + e/C in place of q
/// input [N,C], [C] or [N,C,d1,...]; target: classes, int64 of input's shape without C, or
/// probabilities, of input's shape and dtype, for which ignore_index does not count; weight [C] of
/// input's dtype, the factor of each class, which the mean over classes divides by again and the
/// mean over probabilities does not; undefined: ones. label_smoothing in [0, 1], else Error.
/// Errors also: IndexError as nll_loss; AutogradError for classes and a weight that requires grad.
/// Gradient: input, and where target is probabilities, target and weight. Source:
/// torch.nn.CrossEntropyLoss; Szegedy et al. 2015, arXiv:1512.00567, section 7, for the smoothing.
AMBIT_API Tensor cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight = {},
                               Reduction reduction = Reduction::mean, int64_t ignore_index = -100,
                               double label_smoothing = 0);
/// Compute the squared error.
///   l = (input - target)^2; mean: divided by the number of elements, NaN where there are none
/// They broadcast and promote, to a floating-point dtype, which l has; where that is not meant,
/// give both of one shape. Gradient: input, target.
AMBIT_API Tensor mse_loss(const Tensor& input, const Tensor& target,
                          Reduction reduction = Reduction::mean);
/// Compute the connectionist temporal classification of sequences: -log of the probability that
/// classes drawn at each time give the target once repetitions are made one and blanks left out.
///   mean: of each loss divided by its target's length, or by 1 where that is 0
/// log_probs [T,N,C], or [T,C] of one sequence: log-probabilities, as log_softmax makes them;
/// targets int64 or int32 [N,S], padded with anything, or [sum of target_lengths], or of one
/// sequence [S]; input_lengths, target_lengths [N]: how many times and labels count -> l [N] or [].
/// blank: the class that is none. A target that has no path, being longer than its input, has the
/// loss inf and the gradient NaN; with zero_infinity both are 0. Errors also: IndexError for a
/// class outside [0, C); Error for a blank outside. Gradient: log_probs, PyTorch's: e^x less each
/// class's probability given the target, which is right behind a log_softmax, as it is meant, and
/// in front of one backward, else NotImplementedError. Source: Graves et al. 2006, ICML;
/// torch.nn.CTCLoss.
AMBIT_API Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
                          IntArrayRef target_lengths, int64_t blank = 0,
                          Reduction reduction = Reduction::mean, bool zero_infinity = false);
/// The same with lengths as tensors of integers, on cpu or log_probs' device, which are waited for.
AMBIT_API Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets,
                          const Tensor& input_lengths, const Tensor& target_lengths,
                          int64_t blank = 0, Reduction reduction = Reduction::mean,
                          bool zero_infinity = false);

}  // namespace ambit
