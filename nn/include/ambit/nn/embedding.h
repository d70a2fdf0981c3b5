// Embedding.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/options.h>

#include <optional>

namespace ambit::nn {

/// Options of Embedding: num_embeddings rows of embedding_dim numbers.
class EmbeddingOptions : public Options<EmbeddingOptions> {
 public:
  EmbeddingOptions(int64_t num_embeddings, int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  EmbeddingOptions& num_embeddings(int64_t n) { return set(num_embeddings_, n); }
  EmbeddingOptions& embedding_dim(int64_t n) { return set(embedding_dim_, n); }
  /// A row that starts as zeros and gets no gradient; negative ones count from the end.
  EmbeddingOptions& padding_idx(std::optional<int64_t> i) { return set(padding_idx_, i); }
  int64_t num_embeddings() const { return num_embeddings_; }
  int64_t embedding_dim() const { return embedding_dim_; }
  std::optional<int64_t> padding_idx() const { return padding_idx_; }

 private:
  int64_t num_embeddings_, embedding_dim_;
  std::optional<int64_t> padding_idx_;
};

/// Look rows of weight [num_embeddings, embedding_dim] up: indices [...], int64 or int32 ->
/// [..., embedding_dim]; see embedding(). weight starts normal with mean 0 and standard
/// deviation 1. Errors: Error for negative sizes or a padding_idx outside the table; of forward
/// IndexError for an index outside [0, num_embeddings).
class AMBIT_API EmbeddingImpl : public Cloneable<EmbeddingImpl> {
 public:
  EmbeddingImpl(int64_t num_embeddings, int64_t embedding_dim)
      : EmbeddingImpl(EmbeddingOptions(num_embeddings, embedding_dim)) {}
  explicit EmbeddingImpl(const EmbeddingOptions& opts);
  void reset() override;
  /// Draw weight anew, and zero the row of padding_idx.
  void reset_parameters();
  Tensor forward(const Tensor& indices);
  void pretty_print(std::ostream& os) const override;

  EmbeddingOptions options;
  Tensor weight;
};
AMBIT_MODULE(Embedding);

}  // namespace ambit::nn
