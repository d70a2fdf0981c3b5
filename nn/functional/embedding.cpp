// embedding, composed of ops, and the checks of embedding_bag.
#include <ambit/autograd.h>
#include <ambit/detail/embedding_bag.h>
#include <ambit/detail/record.h>
#include <ambit/nn/functional/aten.h>
#include <ambit/nn/functional/embedding.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>

#include "check.h"

namespace ambit::nn {

EmbeddingBagMode::EmbeddingBagMode(Reduction reduction)
    : kind_(reduction == Reduction::sum ? Kind::sum : Kind::mean) {
  if (reduction == Reduction::none) {
    throw Error("embedding_bag: expected the mode kSum, kMean or kMax, got kNone");
  }
}

const char* EmbeddingBagMode::name() const {
  return kind_ == Kind::sum ? "sum" : kind_ == Kind::mean ? "mean" : "max";
}

namespace functional {
namespace {

// Return the row of padding_idx, -1 if none.
int64_t padding_row(const char* function, const Tensor& weight, std::optional<int64_t> padding) {
  if (!padding || weight.dim() == 0) return -1;
  const int64_t rows = weight.size(0);
  if (*padding < -rows || *padding >= rows) {
    throw IndexError(fmt::format("{}: expected a padding_idx in [{}, {}), got {}", function, -rows,
                                 rows, *padding));
  }
  return *padding < 0 ? *padding + rows : *padding;
}

// Scale the rows that are looked up to at most max_norm. Duplicates are written with equal values.
void renormalize(const Tensor& weight, const Tensor& indices, double max_norm, double norm_type) {
  const NoGradGuard no_grad;
  const Tensor used = indices.reshape({indices.numel()}), rows = ambit::embedding(weight, used);
  const Tensor norms = norm(rows, norm_type, {1}, true);
  const Tensor factor = where(norms > max_norm, max_norm / (norms + 1e-7), 1);
  weight.index_copy_(0, used.to(kInt64), rows * factor);
}

}  // namespace
}  // namespace functional
}  // namespace ambit::nn

namespace ambit {

const Tensor& embedding_renorm_(const Tensor& self, const Tensor& indices, double max_norm,
                                double norm_type) {
  nn::functional::check_floating("embedding_renorm_", self);
  if (!indices.defined()) {
    throw Error("embedding_renorm_: expected indices, got an undefined tensor");
  }
  nn::functional::check_same_device("embedding_renorm_", {{"self", self}, {"indices", indices}});
  if (self.dim() != 2) {
    throw ShapeError(
        fmt::format("embedding_renorm_: expected self [V,D], got {}", str(self.sizes())));
  }
  nn::functional::renormalize(self, indices, max_norm, norm_type);
  return self;
}

}  // namespace ambit

namespace ambit::nn {
namespace functional {
namespace {

// Return for each element of `used` [n] how often it occurs, as [n].
Tensor frequencies(const Tensor& used, const Tensor& weight) {
  const NoGradGuard no_grad;
  const Tensor one = ones({used.numel()}, weight.options());
  const Tensor of_rows = zeros({weight.size(0)}, weight.options()).index_add_(0, used, one);
  return of_rows.index_select(0, used);
}

// Look up rows; with scale_grad their gradients are divided by the number of lookups.
Tensor look_up(const Tensor& indices, const Tensor& weight, int64_t padding, bool scale_grad) {
  const Tensor rows = ambit::embedding(weight, indices, padding);
  if (!scale_grad || !rows.requires_grad()) return rows;
  Dims sizes(indices.sizes());
  sizes.push_back(1);
  const Tensor times = frequencies(indices.reshape({indices.numel()}), weight).reshape(sizes);
  return record("embedding", rows.detach(),
                wrt(rows, [n = saved(times)](const Tensor& g) { return g / n(); }));
}

}  // namespace

Tensor embedding(const Tensor& indices, const Tensor& weight, const EmbeddingFuncOptions& o) {
  if (!indices.defined() || !weight.defined()) return ambit::embedding(weight, indices);  // throws
  const int64_t padding = padding_row("embedding", weight, o.padding_idx());
  if (o.max_norm()) renormalize(weight, indices, *o.max_norm(), o.norm_type());
  return look_up(indices, weight, padding, o.scale_grad_by_freq());
}

Tensor embedding(const Tensor& indices, const Tensor& weight, std::optional<int64_t> padding_idx) {
  return embedding(indices, weight, EmbeddingFuncOptions().padding_idx(padding_idx));
}

namespace {

[[noreturn]] void refuse(const std::string& expected) {
  throw Error("embedding_bag: expected " + expected);
}

void check(const Tensor& input, const Tensor& weight, const EmbeddingBagFuncOptions& o) {
  constexpr const char* kFunction = "embedding_bag";
  check_floating(kFunction, weight);
  if (!input.defined()) refuse("a tensor, got an undefined one");
  const Tensor &offsets = o.offsets(), &factors = o.per_sample_weights();
  check_same_device(kFunction, {{"input", input},
                                {"weight", weight},
                                {"offsets", offsets},
                                {"per_sample_weights", factors}});
  if (input.dtype() != kInt64 && input.dtype() != kInt32) {
    throw DTypeError(fmt::format("{}: expected an input of int64 or int32, got {}", kFunction,
                                 ambit::name(input.dtype())));
  }
  if (weight.dim() != 2 || (input.dim() != 1 && input.dim() != 2)) {
    throw ShapeError(
        fmt::format("{}: expected weight [V,D] and an input of one or two dims, got {} and {}",
                    kFunction, str(weight.sizes()), str(input.sizes())));
  }
  if (offsets.defined() != (input.dim() == 1)) {
    refuse(fmt::format("offsets for an input of one dim, and for no other, got {} for shape {}",
                       offsets.defined() ? "some" : "none", str(input.sizes())));
  }
  if (offsets.defined()) {
    if (offsets.dim() != 1) {
      throw ShapeError(fmt::format("{}: expected offsets of one dim, got shape {}", kFunction,
                                   str(offsets.sizes())));
    }
    if (offsets.dtype() != kInt64 && offsets.dtype() != kInt32) {
      throw DTypeError(fmt::format("{}: expected offsets of int64 or int32, got {}", kFunction,
                                   ambit::name(offsets.dtype())));
    }
    if (o.include_last_offset() && offsets.numel() == 0) {
      refuse("one offset at least with include_last_offset, got none");
    }
  }
  const bool is_max = o.mode().kind() == EmbeddingBagMode::Kind::max;
  if (is_max && (o.scale_grad_by_freq() || o.sparse())) {
    refuse("neither scale_grad_by_freq nor sparse for kMax, got one");
  }
  if (!factors.defined()) return;
  if (o.mode().kind() != EmbeddingBagMode::Kind::sum) {
    refuse(fmt::format("per_sample_weights for kSum only, got k{}", is_max ? "Max" : "Mean"));
  }
  if (factors.sizes() != input.sizes()) {
    throw ShapeError(fmt::format("{}: expected per_sample_weights of shape {}, got {}", kFunction,
                                 str(input.sizes()), str(factors.sizes())));
  }
  if (factors.dtype() != weight.dtype()) {
    throw DTypeError(fmt::format("{}: expected per_sample_weights of {}, got {}", kFunction,
                                 ambit::name(weight.dtype()), ambit::name(factors.dtype())));
  }
}

// Return [B+1]: the start of each bag, and the end of the last one.
Tensor ends_of_bags(const Tensor& input, const EmbeddingBagFuncOptions& o) {
  const NoGradGuard no_grad;
  const int64_t n = input.numel();
  if (input.dim() == 2) {
    return arange(input.size(0) + 1, TensorOptions(kInt64).device(input.device())) * input.size(1);
  }
  const Tensor offsets = o.offsets().to(kInt64);
  check_bag_offsets(offsets, n);
  if (o.include_last_offset()) return offsets;
  return cat({offsets, full({1}, n, offsets.options())}, 0);
}

EmbeddingBagParams::Mode mode_of(const EmbeddingBagFuncOptions& o) {
  switch (o.mode().kind()) {
    case EmbeddingBagMode::Kind::sum:
      return EmbeddingBagParams::Mode::sum;
    case EmbeddingBagMode::Kind::mean:
      return EmbeddingBagParams::Mode::mean;
    case EmbeddingBagMode::Kind::max:
      break;
  }
  return EmbeddingBagParams::Mode::max;
}

}  // namespace

Tensor embedding_bag(const Tensor& input, const Tensor& weight, const EmbeddingBagFuncOptions& o) {
  check(input, weight, o);
  const EmbeddingBagParams p{.mode = mode_of(o),
                             .padding = padding_row("embedding_bag", weight, o.padding_idx())};
  const Tensor ends = ends_of_bags(input, o);
  const Tensor given = input.reshape({input.numel()}), index = given.to(kInt64);
  if (o.max_norm()) renormalize(weight, given, *o.max_norm(), o.norm_type());
  const Tensor times = o.scale_grad_by_freq() ? frequencies(index, weight) : Tensor();
  const Tensor& factors = o.per_sample_weights();
  return embedding_bags(weight, index, ends,
                        factors.defined() ? factors.reshape({input.numel()}) : factors, times, p);
}

}  // namespace functional
}  // namespace ambit::nn
