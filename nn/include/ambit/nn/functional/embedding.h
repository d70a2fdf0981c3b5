// nn::functional: table lookup, of single rows and of bags.
#pragma once

#include <ambit/nn/loss.h>
#include <ambit/nn/options.h>
#include <ambit/tensor.h>

#include <optional>

namespace ambit {
/// Tag type of libtorch's kMax: the maximum of each bag.
struct MaxReduction {};
inline constexpr MaxReduction kMax;
}  // namespace ambit

namespace ambit::nn {

/// Reduction of the rows of a bag: kSum, kMean or kMax.
class EmbeddingBagMode {
 public:
  enum class Kind : uint8_t { sum, mean, max };
  /// Errors: Error for kNone.
  AMBIT_API EmbeddingBagMode(Reduction reduction);
  EmbeddingBagMode(MaxReduction) : kind_(Kind::max) {}
  Kind kind() const { return kind_; }
  /// Return "sum", "mean" or "max".
  AMBIT_API const char* name() const;

 private:
  Kind kind_;
};

namespace functional {

/// Options of embedding.
///   padding_idx: row that gets no gradient; negative values count from the end; default none
///   max_norm: scale rows that are looked up to at most this norm, in the weight itself; default
///   none
///   norm_type: order of that norm, default 2
///   scale_grad_by_freq: divide a row's gradient by its number of lookups, default false
///   sparse: ignored; there are no sparse tensors
class EmbeddingFuncOptions : public Options<EmbeddingFuncOptions> {
 public:
  AMBIT_OPTION(EmbeddingFuncOptions, std::optional<int64_t>, padding_idx);
  AMBIT_OPTION(EmbeddingFuncOptions, std::optional<double>, max_norm);
  AMBIT_OPTION(EmbeddingFuncOptions, double, norm_type) = 2;
  AMBIT_OPTION(EmbeddingFuncOptions, bool, scale_grad_by_freq) = false;
  AMBIT_OPTION(EmbeddingFuncOptions, bool, sparse) = false;
};
/// Look up rows of weight [V,D]: indices [...], int64 or int32 -> [...,D]. Errors: IndexError (also
/// for a padding_idx outside the table), ShapeError, DTypeError, DeviceMismatchError; Error for an
/// undefined tensor. Gradient: weight.
AMBIT_API Tensor embedding(const Tensor& indices, const Tensor& weight,
                           const EmbeddingFuncOptions& options = {});
/// The same with padding_idx as the only option.
AMBIT_API Tensor embedding(const Tensor& indices, const Tensor& weight,
                           std::optional<int64_t> padding_idx);

/// Options of embedding_bag: those of embedding, except that rows of padding_idx are not part of
/// any bag, and
///   mode: default kMean
///   offsets: start of each bag in a 1-D input
///   include_last_offset: the last offset is the end of the last bag, default false
///   per_sample_weights: factor of each row, of input's shape; only for kSum
class EmbeddingBagFuncOptions : public Options<EmbeddingBagFuncOptions> {
 public:
  AMBIT_OPTION(EmbeddingBagFuncOptions, Tensor, offsets);
  AMBIT_OPTION(EmbeddingBagFuncOptions, std::optional<double>, max_norm);
  AMBIT_OPTION(EmbeddingBagFuncOptions, double, norm_type) = 2;
  AMBIT_OPTION(EmbeddingBagFuncOptions, bool, scale_grad_by_freq) = false;
  AMBIT_OPTION(EmbeddingBagFuncOptions, EmbeddingBagMode, mode) = Reduction::mean;
  AMBIT_OPTION(EmbeddingBagFuncOptions, bool, sparse) = false;
  AMBIT_OPTION(EmbeddingBagFuncOptions, Tensor, per_sample_weights);
  AMBIT_OPTION(EmbeddingBagFuncOptions, bool, include_last_offset) = false;
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
