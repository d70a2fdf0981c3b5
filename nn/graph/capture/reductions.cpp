#include <fmt/format.h>

#include "kernels.h"

namespace ambit::graph::capturing {

void Writer::reduce(const Tensor& y, const Tensor& x, ReduceOp op) {
  Dims dims, none_reduced;
  for (int64_t d = 0; d < x.dim(); ++d) {
    if (x.size(d) != y.size(d)) dims.push_back(d);
    if (x.size(d) == 1) none_reduced.push_back(d);
  }
  if (dims.empty()) dims = none_reduced;  // an empty list means all dims
  if (dims.empty() && x.dim() > 0) r_.refuse("reductions of at least one dim");
  json self = r_.tensor(x);
  const auto give_over_dims = [&](const char* target, std::vector<Named> more = {}) {
    std::vector<Named> arguments{{"self", self}, {"dim", ints(dims)}, {"keepdim", flag(true)}};
    arguments.insert(arguments.end(), more.begin(), more.end());
    give(y, target, std::move(arguments));
  };
  const auto one_by_one = [&](const char* target) {
    Dims sizes = x.sizes();
    std::string last = self.at("as_tensor").at("name");
    for (const int64_t d : dims) {
      sizes[static_cast<size_t>(d)] = 1;
      last = r_.call(
          target, {{"self", Recorder::value(last)}, {"dim", integer(d)}, {"keepdim", flag(true)}},
          y.dtype(), sizes);
    }
    r_.write(y, last);
  };
  const auto with_correction = [&](const char* target, int64_t n) {
    give(
        y, target,
        {{"self", self}, {"dim", ints(dims)}, {"correction", integer(n)}, {"keepdim", flag(true)}});
  };
  switch (op) {
    case ReduceOp::sum:
      if (x.dtype() != y.dtype())
        return give_over_dims("sum.dim_IntList", {{"dtype", type(y.dtype())}});
      return give_over_dims("sum.dim_IntList");
    case ReduceOp::mean:
      return give_over_dims("mean.dim");
    case ReduceOp::max:
      return give_over_dims("amax.default");
    case ReduceOp::min:
      return give_over_dims("amin.default");
    case ReduceOp::prod:
      return one_by_one("prod.dim_int");
    case ReduceOp::any:
      return one_by_one("any.dim");
    case ReduceOp::all:
      return one_by_one("all.dim");
    case ReduceOp::abs_sum:
      self = Recorder::value(r_.call("abs.default", {{"self", self}}, x.dtype(), x.sizes()));
      return give_over_dims("sum.dim_IntList");
    case ReduceOp::norm:
      return give(y, "linalg_vector_norm.default",
                  {{"self", self}, {"ord", real(2)}, {"dim", ints(dims)}, {"keepdim", flag(true)}});
    case ReduceOp::var:
      return with_correction("var.correction", 0);
    case ReduceOp::var_unbiased:
      return with_correction("var.correction", 1);
    case ReduceOp::std:
      return with_correction("std.correction", 0);
    case ReduceOp::std_unbiased:
      return with_correction("std.correction", 1);
    case ReduceOp::nansum:
      break;
  }
  r_.refuse(fmt::format("functions that torch.export has, not {}", name(op)));
}

void Writer::arg_reduce(const Tensor& values, const Tensor& indices, const Tensor& x, int64_t dim,
                        bool largest) {
  const auto names =
      r_.call_many(largest ? "max.dim" : "min.dim",
                   {{"self", r_.tensor(x)}, {"dim", integer(dim)}, {"keepdim", flag(true)}},
                   {{x.dtype(), Dims(indices.sizes())}, {kInt64, Dims(indices.sizes())}});
  if (values.defined()) r_.write(values, names[0]);
  r_.write(indices, names[1]);
}

void Writer::scan(const Tensor& y, const Tensor& x, const ScanParams& p, ScanOp op) {
  if (p.reverse || p.exclusive || op == ScanOp::logsumexp) r_.refuse("inclusive scans, forwards");
  give(y, op == ScanOp::sum ? "cumsum.default" : "cumprod.default",
       {{"self", r_.tensor(x)}, {"dim", integer(p.dim)}});
}

void Writer::sort(const Tensor& y, const Tensor& index, const Tensor& x, int64_t dim,
                  bool descending) {
  const auto names = r_.call_many("sort.stable",
                                  {{"self", r_.tensor(x)},
                                   {"stable", flag(true)},
                                   {"dim", integer(dim)},
                                   {"descending", flag(descending)}},
                                  {{x.dtype(), Dims(y.sizes())}, {kInt64, Dims(y.sizes())}});
  r_.write(y, names[0]);
  r_.write(index, names[1]);
}

void Writer::topk(const Tensor& y, const Tensor& index, const Tensor& x, int64_t dim,
                  bool largest) {
  const auto names = r_.call_many("topk.default",
                                  {{"self", r_.tensor(x)},
                                   {"k", integer(y.size(dim))},
                                   {"dim", integer(dim)},
                                   {"largest", flag(largest)}},
                                  {{x.dtype(), Dims(y.sizes())}, {kInt64, Dims(y.sizes())}});
  r_.write(y, names[0]);
  r_.write(index, names[1]);
}

void Writer::gather(const Tensor& y, const Tensor& x, const Tensor& index, int64_t dim) {
  give(y, "gather.default",
       {{"self", r_.tensor(x)}, {"dim", integer(dim)}, {"index", r_.tensor(index)}});
}

void Writer::scatter(const Tensor& y, const Tensor& index, const Tensor& src, int64_t dim) {
  give(y, "scatter.src",
       {{"self", r_.tensor(y)},
        {"dim", integer(dim)},
        {"index", r_.tensor(index)},
        {"src", r_.tensor(src)}});
}

void Writer::scatter_add(const Tensor& y, const Tensor& index, const Tensor& src, int64_t dim) {
  give(y, "scatter_add.default",
       {{"self", r_.tensor(y)},
        {"dim", integer(dim)},
        {"index", r_.tensor(index)},
        {"src", r_.tensor(src)}});
}

void Writer::index_select(const Tensor& y, const Tensor& x, const Tensor& index, int64_t dim) {
  give(y, "index_select.default",
       {{"self", r_.tensor(x)}, {"dim", integer(dim)}, {"index", r_.tensor(index)}});
}

void Writer::embedding_bag(const Tensor& y, const Tensor& best, const Tensor& w,
                           const Tensor& index, const Tensor& offsets, const Tensor& factors,
                           const EmbeddingBagParams& p) {
  using Mode = EmbeddingBagParams::Mode;
  const int64_t mode = p.mode == Mode::sum ? 0 : p.mode == Mode::mean ? 1 : 2;
  const json table = r_.tensor(w);
  r_.forget(best);
  const Dims bags{y.size(0)};
  // Only libtorch's gradient uses the other results.
  const auto names = r_.call_many("embedding_bag.padding_idx",
                                  {{"weight", table},
                                   {"indices", r_.tensor(index)},
                                   {"offsets", r_.tensor(offsets)},
                                   {"scale_grad_by_freq", flag(false)},
                                   {"mode", integer(mode)},
                                   {"sparse", flag(false)},
                                   {"per_sample_weights", r_.optional(factors)},
                                   {"include_last_offset", flag(true)},
                                   {"padding_idx", p.padding < 0 ? none() : integer(p.padding)}},
                                  {{y.dtype(), Dims(y.sizes())},
                                   {kInt64, Dims(index.sizes())},
                                   {kInt64, bags},
                                   {kInt64, bags}});
  r_.write(y, names[0]);
}

void Writer::matmul(const Tensor& y, const Tensor& a, const Tensor& b) {
  give(y, "bmm.default", {{"self", r_.tensor(a)}, {"mat2", r_.tensor(b)}});
}

void Writer::loss(const Tensor& y, const Tensor& weight_sum, const Tensor& target, const Tensor& w,
                  int64_t ignore_index, std::string_view function, const Tensor& x) {
  const json t = r_.tensor(target), weights = r_.optional(w);
  give(y, function,
       {{"self", r_.tensor(x)},
        {"target", t},
        {"weight", weights},
        {"reduction", integer(0)},
        {"ignore_index", integer(ignore_index)}});
  if (w.defined()) return r_.forget(weight_sum);
  const std::string counted =
      r_.call("ne.Scalar", {{"self", t}, {"other", integer(ignore_index)}}, kBool, target.sizes());
  give(weight_sum, "sum.default",
       {{"self", Recorder::value(counted)}, {"dtype", type(weight_sum.dtype())}});
}

void Writer::nll_loss(const Tensor& y, const Tensor& weight_sum, const Tensor& x,
                      const Tensor& target, const Tensor& w, int64_t ignore_index) {
  loss(y, weight_sum, target, w, ignore_index, "nll_loss_nd.default", x);
}

void Writer::cross_entropy(const Tensor& y, const Tensor& weight_sum, const Tensor& x,
                           const Tensor& target, const Tensor& w, int64_t ignore_index) {
  loss(y, weight_sum, target, w, ignore_index, "cross_entropy_loss.default", x);
}

}  // namespace ambit::graph::capturing
