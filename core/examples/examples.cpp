// The table of examples: kernels' operands by sizes and dtypes, and their parameters.
#include <ambit/backend/examples.h>
#include <ambit/backend/kernels.h>
#include <ambit/ops/creation.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <tuple>
#include <utility>

#include "core/ops/operands/statistics.h"

namespace ambit {
namespace {

/// A tensor of a call.
struct Operand {
  std::array<int64_t, 4> sizes{};
  size_t dim = 0;
  int value = 1;        ///< of every element
  bool of_call = true;  ///< has the call's dtype, else:
  DType dtype = DType::float32;
  bool is_statistic = false;  ///< has the call's dtype, or float32 if that is a reduced
                              ///< floating-point type

  Tensor make(DType dtype_of_call) const {
    DType made = of_call ? dtype_of_call : dtype;
    if (is_statistic) made = statistics_dtype(made);
    return full(IntArrayRef(sizes.data(), dim), value, TensorOptions(made).device(kCPU));
  }
};
using Sizes = std::initializer_list<int64_t>;
Operand t(Sizes sizes) {
  Operand operand{.dim = sizes.size()};
  std::copy(sizes.begin(), sizes.end(), operand.sizes.begin());
  return operand;
}
Operand t(Sizes sizes, DType dtype) {
  Operand operand = t(sizes);
  operand.of_call = false;
  operand.dtype = dtype;
  return operand;
}
Operand statistic(Sizes sizes) {
  Operand operand = t(sizes);
  operand.is_statistic = true;
  return operand;
}
Operand index(Sizes sizes, DType dtype = kInt64) {
  Operand operand = t(sizes, dtype);
  operand.value = 0;
  return operand;
}

/// A list of two tensors of different sizes.
struct OperandList {
  Operand first, second;
};

/// The description of an argument: an Operand for a tensor, an OperandList for a list, else its
/// value.
template <class A>
struct Row {
  using Type = std::remove_cvref_t<A>;
};
template <>
struct Row<Tensor&> {
  using Type = Operand;
};
template <>
struct Row<const Tensor&> {
  using Type = Operand;
};
template <>
struct Row<TensorList> {
  using Type = OperandList;
};

using Operands = std::vector<Operand>;
void append(Operands& to, const Operand& row) { to.push_back(row); }
void append(Operands& to, const OperandList& row) {
  to.push_back(row.first);
  to.push_back(row.second);
}
template <class Parameter>
void append(Operands&, const Parameter&) {}

/// Return the argument for a description: the next operand, or the parameter.
Tensor& take(const Operand&, Tensor*& next) { return *next++; }
TensorList take(const OperandList&, Tensor*& next) { return {std::exchange(next, next + 2), 2}; }
template <class Parameter>
const Parameter& take(const Parameter& row, Tensor*&) {
  return row;
}

class Table {
 public:
  std::vector<Example> examples;

  /// Add the example of an op, with one description for each argument.
  template <class... A>
  void add(const Op<void(A...)>& op, typename Row<A>::Type... rows) {
    add_function(op, "", op.dtypes(), rows...);
  }
  /// Add one function of an op, which supports `dtypes`.
  template <class... A>
  void add_function(const Op<void(A...)>& op, const char* function, DTypeSet dtypes,
                    typename Row<A>::Type... rows) {
    Operands operands;
    (append(operands, rows), ...);
    add_call(op, function, dtypes, std::move(operands), [&op, rows...](Tensor* next) {
      // Braces, so that the operands are evaluated from left to right.
      std::tuple<decltype(take(rows, next))...> arguments{take(rows, next)...};
      std::apply(op, arguments);
    });
  }

 private:
  void add_call(const OpBase& op, const char* function, DTypeSet dtypes, Operands operands,
                std::function<void(Tensor*)> call);
};

// Not in the templates, which are instantiated for every signature.
void Table::add_call(const OpBase& op, const char* function, DTypeSet dtypes, Operands operands,
                     std::function<void(Tensor*)> call) {
  const auto make = [operands = std::move(operands)](DType dtype) {
    std::vector<Tensor> made;
    for (const Operand& operand : operands) made.push_back(operand.make(dtype));
    return made;
  };
  examples.push_back({&op, function, dtypes::with_reduced_floating(dtypes), make,
                      [call = std::move(call)](std::vector<Tensor>& t) { call(t.data()); }});
}

void add_memory(Table& table) {
  for (const DType from : dtypes::kEvery) {
    table.add_function(kernels::copy, "", dtypes::kAll, t({2}), t({2}, from));
    table.examples.back().function = std::string("from ") + name(from);
  }
  table.add(kernels::fill, t({2}), Scalar(1));
  using Kind = RandomParams::Kind;
  for (const auto& [kind, name, dtypes] :
       {std::tuple(Kind::uniform, "uniform", dtypes::kFloating),
        std::tuple(Kind::normal, "normal", dtypes::kFloating),
        std::tuple(Kind::integer, "integer", dtypes::kAll),
        std::tuple(Kind::bernoulli, "bernoulli", dtypes::kAll)}) {
    table.add_function(kernels::random, name, dtypes, t({2}), RandomParams{.kind = kind});
  }
}

/// Return the output operand of a function.
Operand result(Sizes sizes, const FunctionRow& f) {
  if (f.result == FunctionRow::Result::boolean) return t(sizes, kBool);
  return t(sizes);
}

void add_elementwise(Table& table) {
  for (const UnaryOp f : functions<UnaryOp>()) {
    table.add_function(kernels::unary, name(f), row_of(f).dtypes, result({2}, row_of(f)), t({2}),
                       f);
  }
  for (const BinaryOp f : functions<BinaryOp>()) {
    table.add_function(kernels::binary, name(f), row_of(f).dtypes, t({2}), t({2}), t({2}), f);
    table.add_function(kernels::binary_scalar, name(f), row_of(f).dtypes, t({2}), t({2}),
                       ScalarOperand{1}, f);
  }
  for (const CompareOp f : functions<CompareOp>()) {
    table.add_function(kernels::compare, name(f), row_of(f).dtypes, t({2}, kBool), t({2}), t({2}),
                       f);
    table.add_function(kernels::compare_scalar, name(f), row_of(f).dtypes, t({2}, kBool), t({2}),
                       Scalar(1), f);
  }
  for (const TernaryOp f : functions<TernaryOp>()) {
    table.add_function(kernels::ternary, name(f), row_of(f).dtypes, t({2}), t({2}), t({2}), t({2}),
                       Scalar(1), f);
  }
  table.add(kernels::clamp, t({2}), t({2}), Scalar(0), Scalar(1));
  table.add(kernels::clamp_grad, t({2}), t({2}), t({2}), Scalar(0), Scalar(1), false);
  table.add(kernels::where, t({2}), t({2}, kBool), t({2}), t({2}));
  table.add(kernels::masked_fill, t({2}), t({2}), t({2}, kBool), Scalar(0), true);
}

void add_reductions(Table& table) {
  for (const ReduceOp f : functions<ReduceOp>()) {
    const FunctionRow& row = row_of(f);
    if (row.result == FunctionRow::Result::total) {  // int64 for bool
      const DTypeSet numbers = dtypes::kNumbers;
      table.add_function(kernels::reduce, name(f), numbers, t({1}), t({2}), f);
      table.add_function(kernels::reduce, name(f), {kBool}, t({1}, kInt64), t({2}), f);
    } else {
      table.add_function(kernels::reduce, name(f), row.dtypes, result({1}, row), t({2}), f);
    }
  }
  table.add(kernels::arg_reduce, t({1}), t({1}, kInt64), t({2}), 0, true);
  for (const ScanOp f : functions<ScanOp>()) {
    table.add_function(kernels::scan, name(f), row_of(f).dtypes, t({2}), t({2}), ScanParams{}, f);
  }
  table.add(kernels::cum_extremum, t({2}), t({2}, kInt64), t({2}), 0, true);
}

void add_sorting(Table& table) {
  table.add(kernels::sort, t({2}), t({2}, kInt64), t({2}), 0, false);
  table.add(kernels::topk, t({1}), t({1}, kInt64), t({2}), 0, true);
  table.add(kernels::searchsorted, t({1, 1}, kInt64), t({1, 2}), t({1, 1}), false);
}

void add_indexing(Table& table) {
  table.add(kernels::gather, t({1}), t({2}), index({1}), 0);
  table.add(kernels::scatter, t({2}), index({1}), t({1}), 0);
  table.add(kernels::scatter_add, t({2}), index({1}), t({1}), 0);
  for (const ScatterOp f : functions<ScatterOp>()) {
    table.add_function(kernels::scatter_reduce, name(f), row_of(f).dtypes, t({2}), index({1}),
                       t({1}), 0, f);
  }
  table.add(kernels::nonzero, t({2, 1}, kInt64), t({2}));
  table.add(kernels::index_select, t({1}), t({2}), index({1}), 0);
  table.add(kernels::index_add, t({2}), index({1}), t({1}), 0);
  const Operand rows = t({2, 2}), places = index({2}), factors = t({2}), best = index({1, 2}),
                offsets = index({2});
  table.add(kernels::embedding_bag, t({1, 2}), best, rows, places, offsets, factors, {});
  table.add(kernels::embedding_bag_grad, rows, t({1, 2}), best, places, offsets, factors, {});
}

void add_products(Table& table) {
  table.add(kernels::matmul, t({1, 2, 2}), t({1, 2, 3}), t({1, 3, 2}));
  table.add(kernels::linear, t({2, 2}), t({2, 3}), t({2, 3}), t({2}));
  for (const UnaryOp f : kActivations) {
    table.add_function(kernels::linear_map, name(f), dtypes::kFloating, t({2, 2}), t({2, 3}),
                       t({2, 3}), t({2}), f);
  }
  table.add(kernels::linear_int8, t({2, 2}), t({2, 3}), t({2, 3}, kInt8), t({2}), t({2}));
  table.add(kernels::fft_pairs, t({1, 3, 2, 2}), t({1, 3, 2, 2}), false, 1.0);
  table.add(kernels::fft_real, t({1, 2, 2, 2}), t({1, 3, 2}), false, 1.0);
  const Operand matrix = t({1, 2, 2}), info = t({1}, kInt32), pivots = t({1, 2}, kInt32);
  table.add(kernels::lu_factor, matrix, pivots, info, matrix);
  table.add(kernels::lu_solve, matrix, matrix, pivots, matrix, false);
  table.add(kernels::cholesky, matrix, info, matrix, false);
  table.add(kernels::qr, matrix, matrix, matrix);
  table.add(kernels::eigh, t({1, 2}), matrix, info, matrix, false);
  table.add(kernels::eig, t({1, 2, 2}), t({1, 2, 2, 2}), info, t({1, 2, 2, 1}));
  table.add(kernels::svd, matrix, t({1, 2}), matrix, info, matrix);
  table.add(kernels::triangular_solve, matrix, matrix, matrix, {});
  const Operand image = t({1, 1, 3, 3}), filter = t({1, 1, 2, 2}), out = t({1, 1, 2, 2});
  table.add(kernels::convolution, out, image, filter, t({1}), {});
  for (const UnaryOp f : kActivations) {
    table.add_function(kernels::convolution_map, name(f), dtypes::kFloating, out, image, filter,
                       t({1}), {}, f);
  }
  table.add(kernels::convolution_input_grad, image, out, filter, {});
  table.add(kernels::convolution_weight_grad, filter, out, image, {});
}

void add_pools(Table& table) {
  const PoolParams pairs{.kernel = {2, 2}};
  const Operand image = t({1, 1, 2, 2}), out = t({1, 1, 1, 1});
  table.add(kernels::max_pool, out, t({1, 1, 1, 1}, kInt32), image, pairs);
  table.add(kernels::max_pool_grad, image, out, index({1, 1, 1, 1}, kInt32), pairs);
  table.add(kernels::avg_pool, out, image, pairs);
  table.add(kernels::avg_pool_grad, image, out, pairs);
  const InterpolateParams linear{.mode = InterpolateParams::Mode::linear};
  table.add(kernels::interpolate, t({1, 1, 3, 3}), image, linear);
  table.add(kernels::interpolate_grad, image, t({1, 1, 3, 3}), linear);
}

void add_norms(Table& table) {
  table.add(kernels::softmax, t({2}), t({2}), 0, false);
  table.add(kernels::softmax_grad, t({2}), t({2}), t({2}), 0, false);
  const Operand x = t({2, 1}), c = t({1}), s = statistic({1});
  table.add(kernels::batch_norm, x, s, s, s, s, x, c, c, {});
  table.add(kernels::batch_norm_grad, x, c, c, x, x, c, s, s, {});
  const Operand row = t({2}), w = t({1});
  table.add(kernels::layer_norm, x, row, row, x, w, w, 1e-5, true);
  table.add(kernels::layer_norm_grad, x, w, w, x, x, w, row, row, true);
  const Operand images = t({1, 2, 2}), group = t({1, 1});
  table.add(kernels::group_norm, images, group, group, images, row, row, 1e-5);
  table.add(kernels::group_norm_grad, images, row, row, images, images, row, group, group);
}

void add_sequences(Table& table) {
  const Operand q = t({1, 1, 2, 2}), k = t({1, 1, 3, 2}), mask = t({1, 1, 2, 3}),
                lse = t({2, 1, 1, 2});
  table.add(kernels::attention, q, lse, q, k, k, mask, {});
  table.add(kernels::attention_grad, q, k, k, q, q, k, k, mask, q, lse, {});
  const Operand state = t({2, 1}), gates = t({2, 4}), three = t({2, 3});
  table.add(kernels::lstm_cell, state, state, gates, gates, gates, state);
  table.add(kernels::lstm_cell_grad, gates, state, state, state, gates, state, state);
  table.add(kernels::gru_cell, state, gates, three, three, state);
  table.add(kernels::gru_cell_grad, three, three, state, state, gates, state);
}

void add_training(Table& table) {
  const Operand sum = t({}), logits = t({1, 2}), target = index({1}), weight = t({2});
  table.add(kernels::nll_loss, t({1}), sum, logits, target, weight, -100);
  table.add(kernels::cross_entropy, t({1}), sum, logits, target, weight, -100);
  table.add(kernels::cross_entropy_grad, logits, t({1}), logits, target, weight, -100);
  const Operand x = t({2, 1, 2}), label = index({1, 1}), one = t({1}, kInt64), loss = t({1}),
                alpha = t({1, 2, 3});
  table.add(kernels::ctc_loss, loss, alpha, x, label, one, one, 1);
  table.add(kernels::ctc_loss_grad, x, loss, x, label, one, one, loss, alpha, 1);
  const OperandList list{t({2}), t({1})};
  table.add(kernels::sgd_step, list, list, list, {.lr = 0.1, .momentum = 0.9});
  const OperandList steps{t({}, kFloat32), t({}, kFloat32)};
  table.add(kernels::adam_step, list, list, list, steps, list, {});
  table.add(kernels::unscale, list, t({}, kFloat32), 0.5);
}

}  // namespace

std::vector<Example> examples() {
  Table table;
  add_memory(table);
  add_elementwise(table);
  add_reductions(table);
  add_sorting(table);
  add_indexing(table);
  add_products(table);
  add_pools(table);
  add_norms(table);
  add_sequences(table);
  add_training(table);
  return std::move(table.examples);
}

}  // namespace ambit
