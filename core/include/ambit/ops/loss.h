// Losses of floating-point inputs. Each function computes a tensor l of losses and reduces it:
//   none: l; sum: the sum of l, []; mean: the sum of l divided by the number that the function
//   documents, []
// Errors of all: ShapeError, DTypeError, DeviceMismatchError; Error for an undefined tensor.
#pragma once

#include <ambit/tensor.h>

#include <cstdint>

namespace ambit {

/// The reduction of the losses l that a loss function computes.
enum class Reduction : uint8_t {
  none,         ///< l
  mean,         ///< the sum of l divided by the number that the function documents, []
  sum,          ///< the sum of l, []
  None = none,  ///< libtorch's spelling of none; Mean and Sum likewise
  Mean = mean,  ///< mean
  Sum = sum,    ///< sum
};

/// Compute the negative log-likelihood loss.
///   l[n] = -weight[t] * input[n,t] with t = target[n]; 0 where t is ignore_index
///   mean: divided by the sum of weight[t] over targets not ignored; NaN if all are ignored
/// input [N,C], [C] or [N,C,d1,...]: log-probabilities; target int64 or uint8, of input's shape
/// without C; l has the shape of target; weight [C] of input's dtype: a factor for each class
/// (undefined: ones). Errors: also IndexError for a target outside [0, C) that is not ignore_index;
/// AutogradError for a weight that requires grad. Gradient: input. Source: torch.nn.NLLLoss.
AMBIT_API Tensor nll_loss(const Tensor& input, const Tensor& target, const Tensor& weight = {},
                          Reduction reduction = Reduction::mean, int64_t ignore_index = -100);
/// Compute the cross entropy of logits and classes or probabilities; p = softmax(input) over C.
///   classes t: l[n] = -weight[t] * log(p[n,t]); mean and ignored targets as in nll_loss
///   probabilities q: l[n] = -sum over c of weight[c] * q[n,c] * log(p[n,c]); mean: divided by N
///   label_smoothing e: classes: (1 - e) l[n] - e/C sum over c of weight[c] * log(p[n,c]), 0 for
///       ignored targets; probabilities: q becomes (1 - e) q + e/C
/// input [N,C], [C] or [N,C,d1,...]; target: classes, int64 or uint8 of input's shape without C, or
/// probabilities, of input's shape and dtype, for which ignore_index has no effect; weight [C] of
/// input's dtype, a factor for each class (undefined: ones); only the mean over classes divides by
/// it. label_smoothing in [0, 1], else Error. Errors: also IndexError as nll_loss; AutogradError
/// for classes and a weight that requires grad. Gradient: input; for probabilities also target and
/// weight. Source: torch.nn.CrossEntropyLoss; Szegedy et al. 2015, arXiv:1512.00567, section 7, for
/// the smoothing.
AMBIT_API Tensor cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight = {},
                               Reduction reduction = Reduction::mean, int64_t ignore_index = -100,
                               double label_smoothing = 0);
/// Compute the squared error loss.
///   l = (input - target)^2; mean: divided by the number of elements, NaN if there are none
/// input and target broadcast and promote to a floating-point dtype, which l has; pass equal shapes
/// to avoid unintended broadcasting. Gradient: input, target.
AMBIT_API Tensor mse_loss(const Tensor& input, const Tensor& target,
                          Reduction reduction = Reduction::mean);
/// Compute the connectionist temporal classification (CTC) loss: -log of the probability that
/// classes drawn at each time give the target after merging repetitions and removing blanks.
///   mean: of each loss divided by its target's length, or by 1 if that is 0
/// log_probs [T,N,C], or [T,C] for one sequence: log-probabilities, as from log_softmax; targets
/// int64, int32 or uint8 [N,S], padded with any values, or [sum of target_lengths], or [S] for one
/// sequence; input_lengths, target_lengths [N]: number of time steps and labels -> l [N] or [].
/// blank: the blank's class. A target without a path, because it is too long for its input, has
/// loss inf and gradient NaN; with zero_infinity both are 0. Errors: also IndexError for a class
/// outside [0, C); Error for a blank outside. Gradient: log_probs, PyTorch's: e^x minus the
/// posterior probability of each class, which is correct only if log_probs comes from log_softmax;
/// differentiable once, then NotImplementedError. Source: Graves et al. 2006, ICML;
/// torch.nn.CTCLoss.
AMBIT_API Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
                          IntArrayRef target_lengths, int64_t blank = 0,
                          Reduction reduction = Reduction::mean, bool zero_infinity = false);
/// As above, with lengths as integer tensors on cpu or log_probs' device; waits for them.
AMBIT_API Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets,
                          const Tensor& input_lengths, const Tensor& target_lengths,
                          int64_t blank = 0, Reduction reduction = Reduction::mean,
                          bool zero_infinity = false);

}  // namespace ambit
