// nn::functional: table lookup, of single rows and of bags.
#pragma once

#include <ambit/nn/loss.h>
#include <ambit/nn/options.h>
#include <ambit/tensor.h>

#include <optional>

namespace ambit {
/// Tag type of libtorch's kMax: the maximum of each bag.
struct MaxReduction {};
/// The mode "max" of EmbeddingBag.
inline constexpr MaxReduction kMax;
}  // namespace ambit

namespace ambit::nn {

/// Reduction of the rows of a bag: kSum, kMean or kMax.
class EmbeddingBagMode {
 public:
  /// The reductions, as a number.
  enum class Kind : uint8_t { sum, mean, max };
  /// kSum, kMean or kMax. Errors: Error for kNone.
  AMBIT_API EmbeddingBagMode(Reduction reduction);
  EmbeddingBagMode(MaxReduction) : kind_(Kind::max) {}
  /// Return the reduction as a number.
  Kind kind() const { return kind_; }
  /// Return "sum", "mean" or "max".
  AMBIT_API const char* name() const;

 private:
  Kind kind_;
};

namespace functional {

/// Options of embedding.
class EmbeddingFuncOptions : public Options<EmbeddingFuncOptions> {
 public:
  /// Row that gets no gradient; negative values count from the end. Default: none.
  AMBIT_OPTION(EmbeddingFuncOptions, std::optional<int64_t>, padding_idx);
  /// Largest norm of a row: longer ones that are looked up are scaled, in the weight itself.
  /// Default: none.
  AMBIT_OPTION(EmbeddingFuncOptions, std::optional<double>, max_norm);
  /// Order of the norm that max_norm limits.
  AMBIT_OPTION(EmbeddingFuncOptions, double, norm_type) = 2;
  /// Divide a row's gradient by the number of its lookups in the call.
  AMBIT_OPTION(EmbeddingFuncOptions, bool, scale_grad_by_freq) = false;
  /// Ignored; there are no sparse tensors.
  AMBIT_OPTION(EmbeddingFuncOptions, bool, sparse) = false;
};
/// Look up rows of weight [V,D]: indices [...], int64 or int32 -> [...,D]. Errors: IndexError (also
/// for a padding_idx outside the table), ShapeError, DTypeError, DeviceMismatchError; Error for an
/// undefined tensor. Gradient: weight.
AMBIT_API Tensor embedding(const Tensor& indices, const Tensor& weight,
                           const EmbeddingFuncOptions& options = {});
/// As above, with padding_idx as the only option.
AMBIT_API Tensor embedding(const Tensor& indices, const Tensor& weight,
                           std::optional<int64_t> padding_idx);

/// Options of embedding_bag.
class EmbeddingBagFuncOptions : public Options<EmbeddingBagFuncOptions> {
 public:
  /// Start of each bag in a 1-D input, [B]. Default: undefined, for a 2-D input.
  AMBIT_OPTION(EmbeddingBagFuncOptions, Tensor, offsets);
  /// As in EmbeddingFuncOptions.
  AMBIT_OPTION(EmbeddingBagFuncOptions, std::optional<double>, max_norm);
  /// As in EmbeddingFuncOptions.
  AMBIT_OPTION(EmbeddingBagFuncOptions, double, norm_type) = 2;
  /// As in EmbeddingFuncOptions.
  AMBIT_OPTION(EmbeddingBagFuncOptions, bool, scale_grad_by_freq) = false;
  /// Reduction of the rows of a bag: kMean, kSum or kMax.
  AMBIT_OPTION(EmbeddingBagFuncOptions, EmbeddingBagMode, mode) = Reduction::mean;
  /// Ignored; there are no sparse tensors.
  AMBIT_OPTION(EmbeddingBagFuncOptions, bool, sparse) = false;
  /// Factor of each row, of input's shape; only for kSum. Default: undefined (1).
  AMBIT_OPTION(EmbeddingBagFuncOptions, Tensor, per_sample_weights);
  /// The last offset is the end of the last bag, not the start of another one.
  AMBIT_OPTION(EmbeddingBagFuncOptions, bool, include_last_offset) = false;
  /// Row that is part of no bag; negative values count from the end. Default: none.
  AMBIT_OPTION(EmbeddingBagFuncOptions, std::optional<int64_t>, padding_idx);
};
/// Reduce bags of rows of weight [V,D] to their sum, mean or maximum: input [B,L] (one bag per row)
/// or [n] with offsets [B] -> [B,D]; an empty bag gives 0. Indices and offsets are int64 or int32.
/// Errors: Error for incompatible options and for offsets that do not start with 0, decrease, or
/// exceed the input (checked on cpu only); otherwise as embedding. Gradient: weight,
/// per_sample_weights; for the maximum, to the first of equal elements.
AMBIT_API Tensor embedding_bag(const Tensor& input, const Tensor& weight,
                               const EmbeddingBagFuncOptions& options = {});

}  // namespace functional
}  // namespace ambit::nn
