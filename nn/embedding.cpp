// Embedding, EmbeddingBag.
#include <ambit/autograd.h>
#include <ambit/nn/embedding.h>
#include <ambit/nn/init.h>
#include <ambit/ops/creation.h>

#include <ostream>

#include "nn/functional/check.h"
#include "print.h"

namespace ambit::nn {
namespace {

// Check the options that both modules have.
template <class Options>
void check(const char* module, Options& options) {
  const int64_t rows = options.num_embeddings(), padding = options.padding_idx().value_or(0);
  if (rows < 0 || options.embedding_dim() < 0) {
    throw Error(fmt::format("{}: expected sizes of at least 0, got {} and {}", module, rows,
                            options.embedding_dim()));
  }
  if (options.padding_idx() && (padding >= rows || padding < -rows)) {
    throw Error(
        fmt::format("{}: expected padding_idx in [{}, {}), got {}", module, -rows, rows, padding));
  }
  if (padding < 0) options.padding_idx(padding + rows);
  const Tensor& weight = options._weight();
  const Dims sizes{rows, options.embedding_dim()};
  if (!weight.defined()) return;
  functional::check_floating(module, weight);
  if (weight.sizes() != sizes) {
    throw ShapeError(fmt::format("{}: expected a weight of shape {}, got {}", module, str(sizes),
                                 str(weight.sizes())));
  }
}

// Return the given table as a separate tensor, so that clone() can replace its data.
template <class Options>
Tensor first_weight(const Options& options) {
  if (options._weight().defined()) return options._weight().detach();
  return empty({options.num_embeddings(), options.embedding_dim()});
}

template <class Options>
void draw(const Tensor& weight, const Options& options) {
  init::normal_(weight);
  if (!options.padding_idx()) return;
  const NoGradGuard no_grad;
  weight[*options.padding_idx()].zero_();
}

template <class Options>
std::string norms_text(const Options& options) {
  std::string text;
  if (options.max_norm()) text += ", max_norm=" + number(*options.max_norm());
  if (options.norm_type() != 2) text += ", norm_type=" + number(options.norm_type());
  if (options.scale_grad_by_freq()) text += ", scale_grad_by_freq=True";
  return text;
}

template <class Options>
std::string padding_text(const Options& options) {
  return options.padding_idx() ? fmt::format(", padding_idx={}", *options.padding_idx()) : "";
}

// Return the options of a layer for a given table.
template <class LayerOptions, class Given>
LayerOptions options_for(const char* module, const Tensor& embeddings, const Given& given) {
  functional::check_floating(module, embeddings);
  if (embeddings.dim() != 2) {
    throw ShapeError(fmt::format("{}: expected embeddings of two dims, got shape {}", module,
                                 str(embeddings.sizes())));
  }
  return LayerOptions(embeddings.size(0), embeddings.size(1))
      ._weight(embeddings)
      .padding_idx(given.padding_idx())
      .max_norm(given.max_norm())
      .norm_type(given.norm_type())
      .scale_grad_by_freq(given.scale_grad_by_freq())
      .sparse(given.sparse());
}

}  // namespace

EmbeddingImpl::EmbeddingImpl(int64_t num_embeddings, int64_t embedding_dim)
    : EmbeddingImpl(EmbeddingOptions(num_embeddings, embedding_dim)) {}
EmbeddingImpl::EmbeddingImpl(const EmbeddingOptions& opts) : options(opts) {
  check("Embedding", options);
  EmbeddingImpl::reset();
}

void EmbeddingImpl::reset() {
  weight = register_parameter("weight", first_weight(options));
  if (!options._weight().defined()) reset_parameters();
}

void EmbeddingImpl::reset_parameters() { draw(weight, options); }

Tensor EmbeddingImpl::forward(const Tensor& indices) {
  return functional::embedding(indices, weight,
                               functional::EmbeddingFuncOptions()
                                   .padding_idx(options.padding_idx())
                                   .max_norm(options.max_norm())
                                   .norm_type(options.norm_type())
                                   .scale_grad_by_freq(options.scale_grad_by_freq())
                                   .sparse(options.sparse()));
}

void EmbeddingImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}({}, {}{}{}{})", name(), options.num_embeddings(), options.embedding_dim(),
                    padding_text(options), norms_text(options),
                    options.sparse() ? ", sparse=True" : "");
}

Embedding Embedding::from_pretrained(const Tensor& embeddings,
                                     const EmbeddingFromPretrainedOptions& options) {
  Embedding layer(options_for<EmbeddingOptions>("Embedding", embeddings, options));
  layer->weight.requires_grad_(!options.freeze());
  return layer;
}

EmbeddingBagImpl::EmbeddingBagImpl(int64_t num_embeddings, int64_t embedding_dim)
    : EmbeddingBagImpl(EmbeddingBagOptions(num_embeddings, embedding_dim)) {}
EmbeddingBagImpl::EmbeddingBagImpl(const EmbeddingBagOptions& opts) : options(opts) {
  check("EmbeddingBag", options);
  EmbeddingBagImpl::reset();
}

void EmbeddingBagImpl::reset() {
  weight = register_parameter("weight", first_weight(options));
  if (!options._weight().defined()) reset_parameters();
}

void EmbeddingBagImpl::reset_parameters() { draw(weight, options); }

Tensor EmbeddingBagImpl::forward(const Tensor& input, const Tensor& offsets,
                                 const Tensor& per_sample_weights) {
  return functional::embedding_bag(input, weight,
                                   functional::EmbeddingBagFuncOptions()
                                       .offsets(offsets)
                                       .max_norm(options.max_norm())
                                       .norm_type(options.norm_type())
                                       .scale_grad_by_freq(options.scale_grad_by_freq())
                                       .mode(options.mode())
                                       .sparse(options.sparse())
                                       .per_sample_weights(per_sample_weights)
                                       .include_last_offset(options.include_last_offset())
                                       .padding_idx(options.padding_idx()));
}

void EmbeddingBagImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}({}, {}{}, mode={}{})", name(), options.num_embeddings(),
                    options.embedding_dim(), norms_text(options), options.mode().name(),
                    padding_text(options));
}

EmbeddingBag EmbeddingBag::from_pretrained(const Tensor& embeddings,
                                           const EmbeddingBagFromPretrainedOptions& options) {
  EmbeddingBag layer(options_for<EmbeddingBagOptions>("EmbeddingBag", embeddings, options)
                         .mode(options.mode())
                         .include_last_offset(options.include_last_offset()));
  layer->weight.requires_grad_(!options.freeze());
  return layer;
}

}  // namespace ambit::nn
