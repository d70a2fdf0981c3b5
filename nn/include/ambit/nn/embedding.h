// Embedding, EmbeddingBag: look up rows of a table, singly or reduced in bags.
#pragma once

#include <ambit/nn/any_module.h>
#include <ambit/nn/cloneable.h>
#include <ambit/nn/functional/embedding.h>
#include <ambit/nn/options.h>

#include <optional>

namespace ambit::nn {

/// Options of Embedding.
class EmbeddingOptions : public Options<EmbeddingOptions> {
 public:
  EmbeddingOptions(int64_t num_embeddings, int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}

  /// Number of rows of the table.
  AMBIT_OPTION(EmbeddingOptions, int64_t, num_embeddings);
  /// Size of a row.
  AMBIT_OPTION(EmbeddingOptions, int64_t, embedding_dim);
  /// Row that is initialised to zeros and gets no gradient; negative values count from the
  /// end. Default: none.
  AMBIT_OPTION(EmbeddingOptions, std::optional<int64_t>, padding_idx);
  /// Largest norm of a row: forward() scales longer ones that it looks up, in the weight
  /// itself. Default: none.
  AMBIT_OPTION(EmbeddingOptions, std::optional<double>, max_norm);
  /// Order of the norm that max_norm limits.
  AMBIT_OPTION(EmbeddingOptions, double, norm_type) = 2;
  /// Divide a row's gradient by the number of its lookups in the call.
  AMBIT_OPTION(EmbeddingOptions, bool, scale_grad_by_freq) = false;
  /// Ignored; there are no sparse tensors.
  AMBIT_OPTION(EmbeddingOptions, bool, sparse) = false;
  /// Initial table, used without a copy. Default: undefined, so random.
  AMBIT_OPTION(EmbeddingOptions, Tensor, _weight);
};

/// Options of Embedding::from_pretrained.
class EmbeddingFromPretrainedOptions : public Options<EmbeddingFromPretrainedOptions> {
 public:
  /// The weight does not require a gradient.
  AMBIT_OPTION(EmbeddingFromPretrainedOptions, bool, freeze) = true;
  /// Row that gets no gradient; its values are kept. Default: none.
  AMBIT_OPTION(EmbeddingFromPretrainedOptions, std::optional<int64_t>, padding_idx);
  /// As in EmbeddingOptions.
  AMBIT_OPTION(EmbeddingFromPretrainedOptions, std::optional<double>, max_norm);
  /// As in EmbeddingOptions.
  AMBIT_OPTION(EmbeddingFromPretrainedOptions, double, norm_type) = 2;
  /// As in EmbeddingOptions.
  AMBIT_OPTION(EmbeddingFromPretrainedOptions, bool, scale_grad_by_freq) = false;
  /// Ignored; there are no sparse tensors.
  AMBIT_OPTION(EmbeddingFromPretrainedOptions, bool, sparse) = false;
};

/// Look up rows of weight [num_embeddings, embedding_dim]: indices [...], int64 or int32 -> [...,
/// embedding_dim]; see functional::embedding. weight is initialised from N(0, 1). Errors: Error for
/// negative sizes or a padding_idx outside the table, ShapeError for a _weight of other sizes; of
/// forward IndexError for an index outside [0, num_embeddings).
class AMBIT_API EmbeddingImpl : public Cloneable<EmbeddingImpl> {
 public:
  EmbeddingImpl(int64_t num_embeddings, int64_t embedding_dim);
  explicit EmbeddingImpl(const EmbeddingOptions& opts);
  void reset() override;
  /// Reinitialise weight with random values, and zero the row of padding_idx.
  void reset_parameters();
  Tensor forward(const Tensor& indices);
  void pretty_print(std::ostream& os) const override;

  EmbeddingOptions options;
  /// The table, [num_embeddings, embedding_dim].
  Tensor weight;
};

/// The holder of an EmbeddingImpl.
class Embedding : public NamedHolder<EmbeddingImpl, Embedding> {
 public:
  using Impl = EmbeddingImpl;
  using NamedHolder<EmbeddingImpl, Embedding>::NamedHolder;

  /// Make a layer from a table [num_embeddings, embedding_dim]; the weight shares its memory.
  /// Errors: ShapeError, DTypeError; Error for an undefined table.
  AMBIT_API static Embedding from_pretrained(const Tensor& embeddings,
                                             const EmbeddingFromPretrainedOptions& options = {});
};

/// Options of EmbeddingBag.
class EmbeddingBagOptions : public Options<EmbeddingBagOptions> {
 public:
  EmbeddingBagOptions(int64_t num_embeddings, int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}

  /// Number of rows of the table.
  AMBIT_OPTION(EmbeddingBagOptions, int64_t, num_embeddings);
  /// Size of a row.
  AMBIT_OPTION(EmbeddingBagOptions, int64_t, embedding_dim);
  /// As in EmbeddingOptions.
  AMBIT_OPTION(EmbeddingBagOptions, std::optional<double>, max_norm);
  /// As in EmbeddingOptions.
  AMBIT_OPTION(EmbeddingBagOptions, double, norm_type) = 2;
  /// As in EmbeddingOptions.
  AMBIT_OPTION(EmbeddingBagOptions, bool, scale_grad_by_freq) = false;
  /// Reduction of the rows of a bag: kMean, kSum or kMax.
  AMBIT_OPTION(EmbeddingBagOptions, EmbeddingBagMode, mode) = Reduction::mean;
  /// Ignored; there are no sparse tensors.
  AMBIT_OPTION(EmbeddingBagOptions, bool, sparse) = false;
  /// Initial table, used without a copy. Default: undefined, so random.
  AMBIT_OPTION(EmbeddingBagOptions, Tensor, _weight);
  /// The last offset is the end of the last bag, not the start of another one.
  AMBIT_OPTION(EmbeddingBagOptions, bool, include_last_offset) = false;
  /// Row that is part of no bag; it is initialised to zeros. Default: none.
  AMBIT_OPTION(EmbeddingBagOptions, std::optional<int64_t>, padding_idx);
};

/// Options of EmbeddingBag::from_pretrained.
class EmbeddingBagFromPretrainedOptions : public Options<EmbeddingBagFromPretrainedOptions> {
 public:
  /// The weight does not require a gradient.
  AMBIT_OPTION(EmbeddingBagFromPretrainedOptions, bool, freeze) = true;
  /// As in EmbeddingOptions.
  AMBIT_OPTION(EmbeddingBagFromPretrainedOptions, std::optional<double>, max_norm);
  /// As in EmbeddingOptions.
  AMBIT_OPTION(EmbeddingBagFromPretrainedOptions, double, norm_type) = 2;
  /// As in EmbeddingOptions.
  AMBIT_OPTION(EmbeddingBagFromPretrainedOptions, bool, scale_grad_by_freq) = false;
  /// As in EmbeddingBagOptions.
  AMBIT_OPTION(EmbeddingBagFromPretrainedOptions, EmbeddingBagMode, mode) = Reduction::mean;
  /// Ignored; there are no sparse tensors.
  AMBIT_OPTION(EmbeddingBagFromPretrainedOptions, bool, sparse) = false;
  /// As in EmbeddingBagOptions.
  AMBIT_OPTION(EmbeddingBagFromPretrainedOptions, bool, include_last_offset) = false;
  /// Row that is part of no bag; its values are kept. Default: none.
  AMBIT_OPTION(EmbeddingBagFromPretrainedOptions, std::optional<int64_t>, padding_idx);
};

/// Sum, average or take the maximum of bags of rows of weight: indices [B,L], or [n] with offsets
/// [B] -> [B, embedding_dim]; see functional::embedding_bag. weight is initialised as in Embedding.
/// Errors: as Embedding; of forward those of embedding_bag.
class AMBIT_API EmbeddingBagImpl : public Cloneable<EmbeddingBagImpl> {
 public:
  EmbeddingBagImpl(int64_t num_embeddings, int64_t embedding_dim);
  explicit EmbeddingBagImpl(const EmbeddingBagOptions& opts);
  void reset() override;
  /// Reinitialise weight with random values, and zero the row of padding_idx.
  void reset_parameters();
  /// input [B,L], or [n] with offsets [B]; per_sample_weights, factors of the rows, have
  /// input's shape and need mode kSum -> [B, embedding_dim].
  Tensor forward(const Tensor& input, const Tensor& offsets = {},
                 const Tensor& per_sample_weights = {});
  void pretty_print(std::ostream& os) const override;

  EmbeddingBagOptions options;
  /// The table, [num_embeddings, embedding_dim].
  Tensor weight;

 private:
  friend AnyModule;
  static AnyModule::Defaults forward_defaults() { return AnyModule::undefined(1, 3); }
};

/// The holder of an EmbeddingBagImpl.
class EmbeddingBag : public NamedHolder<EmbeddingBagImpl, EmbeddingBag> {
 public:
  using Impl = EmbeddingBagImpl;
  using NamedHolder<EmbeddingBagImpl, EmbeddingBag>::NamedHolder;

  /// Same as Embedding::from_pretrained.
  AMBIT_API static EmbeddingBag from_pretrained(
      const Tensor& embeddings, const EmbeddingBagFromPretrainedOptions& options = {});
};

}  // namespace ambit::nn
