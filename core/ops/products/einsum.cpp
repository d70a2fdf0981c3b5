// Einstein summation: terms are contracted two at a time. The labels of two terms are split into
// shared labels that are kept (the batch), shared labels that are summed (the inner dims), and
// labels of one term only; with dims grouped this way it is a batched matrix product.
#include <ambit/backend/op.h>
#include <ambit/detail/autocast.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/error.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/products.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include "core/ops/operands/expect.h"
#include "equation.h"

namespace ambit {
namespace {

bool has(const std::string& labels, char label) { return labels.find(label) != std::string::npos; }

// Return the labels for which `wanted` is true.
template <class F>
std::string those(const std::string& labels, F wanted) {
  std::string out;
  for (const char c : labels) {
    if (wanted(c)) out.push_back(c);
  }
  return out;
}

// Return the term's tensor with its dims in another order of labels.
Tensor arranged(const Term& term, const std::string& order) {
  if (order == term.labels) return term.tensor;
  Dims dims;
  for (const char c : order) dims.push_back(static_cast<int64_t>(term.labels.find(c)));
  return permute(term.tensor, dims);
}

Tensor shaped(const Tensor& t, IntArrayRef sizes) {
  return t.sizes() == sizes ? t : reshape(t, sizes);
}

// Sum over labels not in `kept`. `dtype` is the result's dtype, since sum() would convert integers
// to int64.
Term summed(Term term, const std::string& kept, std::optional<DType> dtype) {
  Dims gone;
  for (size_t d = 0; d < term.labels.size(); ++d) {
    if (!has(kept, term.labels[d])) gone.push_back(static_cast<int64_t>(d));
  }
  if (gone.empty()) return term;
  return {sum(term.tensor, gone, false, dtype),
          those(term.labels, [&](char c) { return has(kept, c); })};
}

class Join {
 public:
  // `kept`: the labels needed later, preferably in this order.
  Join(const Equation& eq, std::string kept) : eq_(eq), kept_(std::move(kept)) {}

  Term operator()(Term a, Term b) const {
    const DType dtype = a.tensor.dtype();
    a = summed(std::move(a), kept_ + b.labels, dtype);
    b = summed(std::move(b), kept_ + a.labels, dtype);
    const bool sums = !those(a.labels, [&](char c) { return !has(kept_, c); }).empty();
    const bool shares = !those(a.labels, [&](char c) { return has(b.labels, c); }).empty();
    const bool is_outer = !shares && !a.labels.empty() && !b.labels.empty();
    return sums || is_outer ? contracted(a, b) : multiplied(a, b);
  }

 private:
  // If no label is summed, multiply elementwise with broadcasting.
  Term multiplied(const Term& a, const Term& b) const {
    const std::string labels = those(kept_, [&](char c) { return has(a.labels + b.labels, c); });
    const auto spread = [&](const Term& term) {
      Dims sizes;
      for (const char c : labels) sizes.push_back(has(term.labels, c) ? eq_.size(c) : 1);
      return shaped(arranged(term, those(labels, [&](char c) { return has(term.labels, c); })),
                    sizes);
    };
    return {mul(spread(a), spread(b)), labels};
  }

  Term contracted(const Term& a, const Term& b) const {
    const auto both = [&](char c) { return has(a.labels, c) && has(b.labels, c); };
    const std::string batch = those(kept_, both);
    const std::string inner = those(a.labels, [&](char c) { return both(c) && !has(kept_, c); });
    const std::string left = those(kept_, [&](char c) { return has(a.labels, c) && !both(c); });
    const std::string right = those(kept_, [&](char c) { return has(b.labels, c) && !both(c); });
    // The operand whose label comes first in the result should provide the rows.
    if (!left.empty() && !right.empty() && kept_.find(right[0]) < kept_.find(left[0])) {
      return contracted(b, a);
    }
    if (left.empty() && right.empty()) return multiplied_and_summed(a, b, batch + inner, batch);
    const int64_t n = numel(batch), rows = numel(left), k = numel(inner), columns = numel(right);
    const Tensor x = arranged(a, batch + left + inner), y = arranged(b, batch + inner + right);
    const Tensor product = batch.empty() ? mm(shaped(x, {rows, k}), shaped(y, {k, columns}))
                                         : bmm(shaped(x, {n, rows, k}), shaped(y, {n, k, columns}));
    Dims sizes;
    for (const char c : batch + left + right) sizes.push_back(eq_.size(c));
    return {shaped(product, sizes), batch + left + right};
  }

  // Products of vectors only, for which a matrix product is slower.
  static Term multiplied_and_summed(const Term& a, const Term& b, const std::string& all,
                                    const std::string& kept) {
    return summed({mul(arranged(a, all), arranged(b, all)), all}, kept, a.tensor.dtype());
  }

  int64_t numel(const std::string& labels) const {
    int64_t n = 1;
    for (const char c : labels) n *= eq_.size(c);
    return n;
  }

  const Equation& eq_;
  std::string kept_;
};

// Return the result's labels, then those of the remaining terms.
std::string kept_labels(const std::string& result, const std::vector<Term>& rest) {
  std::string kept = result;
  for (const Term& term : rest) {
    for (const char c : term.labels) {
      if (!has(kept, c)) kept.push_back(c);
    }
  }
  return kept;
}

// Remove and return the term at position i.
Term extract(std::vector<Term>& terms, size_t i) {
  Term term = std::move(terms[i]);
  terms.erase(terms.begin() + static_cast<ptrdiff_t>(i));
  return term;
}

void check_path(IntArrayRef path, size_t n) {
  bool good = path.empty() || path.size() == 2 * (n - 1);
  for (size_t i = 0; good && i < path.size(); i += 2) {
    const auto left = static_cast<int64_t>(n - i / 2);
    const auto fits = [left](int64_t p) { return p >= 0 && p < left; };
    good = fits(path[i]) && fits(path[i + 1]) && path[i] != path[i + 1];
  }
  if (!good) {
    throw Error(fmt::format(
        "einsum: expected a path of pairs of different positions among {} tensors, got {}", n,
        str(path)));
  }
}

}  // namespace

Tensor einsum(std::string_view equation, TensorList tensors, IntArrayRef path) try {
  AMBIT_AUTOCAST(einsum, equation, tensors, path)
  const char* op = "einsum";
  if (tensors.empty()) throw Error("einsum: expected tensors, got an empty list");
  check_devices(op, {{"tensors", tensors}});
  for (const Tensor& t : tensors) {
    expect_same_dtype(op, tensors[0], t);
    if (t.dtype() == kBool && tensors.size() > 1) {
      throw DTypeError("einsum: expected numbers to multiply, got bool");
    }
  }
  check_path(path, tensors.size());
  Equation eq = read_equation(equation, tensors);
  const std::string result = those(eq.result, [&](char c) { return eq.size(c) != 1; });

  std::vector<Term>& terms = eq.terms;
  const bool is_single = terms.size() == 1;
  for (size_t i = 0; terms.size() > 1; i += 2) {
    const auto first = static_cast<size_t>(path.empty() ? 0 : path[i]);
    const auto second = static_cast<size_t>(path.empty() ? 1 : path[i + 1]);
    Term b = extract(terms, std::max(first, second)), a = extract(terms, std::min(first, second));
    if (first > second) std::swap(a, b);
    const Join join(eq, kept_labels(result, terms));
    Term joined = join(std::move(a), std::move(b));
    terms.insert(path.empty() ? terms.begin() : terms.end(), std::move(joined));
  }
  Term last = is_single ? summed(std::move(terms[0]), result, {}) : std::move(terms[0]);
  Dims sizes;
  for (const char c : eq.result) sizes.push_back(eq.size(c));
  return shaped(arranged(last, result), sizes);
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("einsum");
}

}  // namespace ambit
