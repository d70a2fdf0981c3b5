// nn::functional: rows of a table looked up, one by one and in bags.
#pragma once

#include <ambit/nn/loss.h>
#include <ambit/nn/options.h>
#include <ambit/tensor.h>

#include <optional>

namespace ambit {
/// libtorch's kMax: the largest of a bag.
struct MaxReduction {};
inline constexpr MaxReduction kMax;
}  // namespace ambit

namespace ambit::nn {

/// What the rows of a bag become: kSum, kMean or kMax.
class EmbeddingBagMode {
 public:
  enum class Kind : uint8_t { sum, mean, max };
  /// Errors: Error for kNone.
  AMBIT_API EmbeddingBagMode(Reduction reduction);
  EmbeddingBagMode(MaxReduction) : kind_(Kind::max) {}
  Kind kind() const { return kind_; }
  /// "sum", "mean" or "max".
  AMBIT_API const char* name() const;

 private:
  Kind kind_;
};

namespace functional {

/// Options of embedding.
///   padding_idx: the row that gets no gradient; negative ones count from the end
///   max_norm: rows that are used and whose norm_type-norm is larger are made that long, in weight
///   scale_grad_by_freq: a row's gradient is divided by how often it was used
///   sparse changes nothing: there are no sparse tensors
class EmbeddingFuncOptions : public Options<EmbeddingFuncOptions> {
 public:
  AMBIT_OPTION(EmbeddingFuncOptions, std::optional<int64_t>, padding_idx);
  AMBIT_OPTION(EmbeddingFuncOptions, std::optional<double>, max_norm);
  AMBIT_OPTION(EmbeddingFuncOptions, double, norm_type) = 2;
  AMBIT_OPTION(EmbeddingFuncOptions, bool, scale_grad_by_freq) = false;
  AMBIT_OPTION(EmbeddingFuncOptions, bool, sparse) = false;
};
/// Look rows of weight [V,D] up: indices [...], int64 or int32 -> [...,D]. Errors: IndexError (also
/// for a padding_idx outside the table), ShapeError, DTypeError, DeviceMismatchError; Error for an
/// undefined tensor. Gradient: weight.
AMBIT_API Tensor embedding(const Tensor& indices, const Tensor& weight,
                           const EmbeddingFuncOptions& options = {});
/// The same with no option but padding_idx.
AMBIT_API Tensor embedding(const Tensor& indices, const Tensor& weight,
                           std::optional<int64_t> padding_idx);

/// Options of embedding_bag: those of embedding, but that rows of padding_idx belong to no bag, and
///   offsets: where in a 1-dim input each bag begins; with include_last_offset the last one is
///   where the last bag ends per_sample_weights: of input's shape, the factor of each row; for kSum
///   only
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
/// Look bags of rows of weight [V,D] up, and sum, average or take the largest of each: input [B,L]
/// (each row is a bag) or [n] with offsets [B] -> [B,D]; of an empty bag 0. Indices and offsets
/// int64 or int32. Errors: Error for options that do not fit each other and for offsets that do not
/// begin with 0, fall, or end outside of input (on cpu, where they can be seen); else as embedding.
/// Gradient: weight, per_sample_weights; of the largest all to the first.
AMBIT_API Tensor embedding_bag(const Tensor& input, const Tensor& weight,
                               const EmbeddingBagFuncOptions& options = {});

}  // namespace functional
}  // namespace ambit::nn
