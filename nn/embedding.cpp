// Embedding.
#include <ambit/autograd.h>
#include <ambit/nn/embedding.h>
#include <ambit/nn/functional.h>
#include <ambit/nn/init.h>
#include <ambit/ops/creation.h>

#include <ostream>

#include "print.h"

namespace ambit::nn {

EmbeddingImpl::EmbeddingImpl(const EmbeddingOptions& opts) : options(opts) {
  const int64_t rows = opts.num_embeddings(), padding = opts.padding_idx().value_or(0);
  if (rows < 0 || opts.embedding_dim() < 0) {
    throw Error(fmt::format("Embedding: expected sizes of at least 0, got {} and {}", rows,
                            opts.embedding_dim()));
  }
  if (opts.padding_idx() && (padding >= rows || padding < -rows)) {
    throw Error(
        fmt::format("Embedding: expected padding_idx in [{}, {}), got {}", -rows, rows, padding));
  }
  if (padding < 0) options.padding_idx(padding + rows);
  EmbeddingImpl::reset();
}

void EmbeddingImpl::reset() {
  weight = register_parameter("weight", empty({options.num_embeddings(), options.embedding_dim()}));
  reset_parameters();
}

void EmbeddingImpl::reset_parameters() {
  init::normal_(weight);
  if (!options.padding_idx()) return;
  const NoGradGuard no_grad;
  weight[*options.padding_idx()].zero_();
}

Tensor EmbeddingImpl::forward(const Tensor& indices) {
  return functional::embedding(indices, weight, options.padding_idx());
}

void EmbeddingImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}({}, {}", name(), options.num_embeddings(), options.embedding_dim());
  if (options.padding_idx()) os << ", padding_idx=" << *options.padding_idx();
  os << ")";
}

}  // namespace ambit::nn
