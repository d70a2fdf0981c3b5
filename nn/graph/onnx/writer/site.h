// One call of a program while its ONNX form is written. Private to nn/graph/onnx.
#pragma once

#include <ambit/layout.h>

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emitter.h"
#include "nn/graph/call.h"
#include "nn/graph/program.h"

namespace ambit::graph::onnx {

/// A call, or a case of one, that has no form in ONNX.
struct NoForm : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The arguments of a call by position, and its results. Errors of all members: NoForm for an
/// argument that ONNX needs as a constant and the program computes.
class Site {
 public:
  Site(Emitter& emitter, const Block& block, const Node& node, std::vector<Ref>& refs,
       std::optional<bool> training, const std::vector<bool>& is_used)
      : e(emitter),
        block_(block),
        node_(node),
        refs_(refs),
        training_(training),
        is_used_(is_used) {}

  Emitter& e;

  const Node& node() const { return node_; }
  bool has(size_t i) const { return node_.arguments[i].kind != Argument::Kind::none; }
  const Argument& argument(size_t i) const { return node_.arguments[i]; }
  /// True for a constant, or a number that a call computed.
  bool is_number(size_t i) const;
  bool is_constant(size_t i) const;

  /// An operand. A number becomes a tensor without dims of its own dtype, or of `dtype`.
  Ref tensor(size_t i) const;
  Ref tensor(size_t i, DType dtype) const;
  /// As tensor(), but a ref without a name for None.
  Ref optional(size_t i) const { return has(i) ? tensor(i) : Ref(); }
  std::vector<Ref> tensors(size_t i) const;
  /// Item `k` of list i.
  Ref item(size_t i, size_t k) const { return ref(argument(i).items[k]); }
  /// A list of integers, constants or computed, as a tensor of one dim.
  Ref shape(size_t i) const;
  /// A number, constant or computed, as a tensor of one dim and one element.
  Ref one_number(size_t i, DType dtype) const { return one_number(argument(i), dtype); }
  Ref one_integer(size_t i) const { return one_number(i, kInt64); }

  Scalar scalar(size_t i) const;
  int64_t integer(size_t i) const { return scalar(i).to<int64_t>(); }
  double real(size_t i) const { return scalar(i).to<double>(); }
  bool flag(size_t i) const { return scalar(i).to<bool>(); }
  /// A flag that is true in training.
  bool training(size_t i) const { return training_.value_or(flag(i)); }
  std::optional<bool> mode() const { return training_; }
  /// An integer is accepted for a list of one.
  Dims integers(size_t i) const;
  bool has_constants(size_t i) const;  ///< in a list
  std::vector<double> reals(size_t i) const;
  std::string_view text(size_t i) const;
  std::optional<DType> dtype(size_t i) const;

  /// Return the dtype of an operand; for a number, the dtype that PyTorch gives it.
  DType dtype_of(size_t i) const;
  /// The dtype that operands i and j promote to.
  DType common(size_t i, size_t j) const;
  /// The dtype and sizes of an operand.
  const Value& value(size_t i) const { return value(argument(i)); }
  const Value& value(const Argument& a) const;
  int64_t rank_of(const Argument& a) const { return std::ssize(value(a).sizes); }
  int64_t rank(size_t i) const { return std::ssize(value(i).sizes); }
  /// Return the sizes of an operand; -1 for dynamic ones.
  Dims sizes(size_t i) const { return static_sizes(value(i)); }
  /// As sizes(), for an operand whose sizes must be fixed.
  Dims fixed_sizes(size_t i) const;
  /// Return argument i as a dim of operand `of`; negative dims are wrapped.
  int64_t dim(size_t i, size_t of) const { return dim_of(integer(i), rank(of)); }
  static int64_t dim_of(int64_t dim, int64_t rank) { return dim < 0 ? dim + rank : dim; }
  /// Return the list i as dims of operand `of`; negative dims are wrapped. All for an empty list.
  Dims dims(size_t i, size_t of) const;
  Dims all_dims(size_t of) const;
  /// Return the sizes [from, to) of operand i as a tensor of one dim.
  Ref sizes_of(size_t i, int64_t from, int64_t to) const;
  std::vector<const Value*> types(size_t i) const;

  size_t results() const { return node_.outputs.size(); }
  const Value& result(size_t k = 0) const { return block_.values[node_.outputs.at(k)]; }
  DType result_dtype(size_t k = 0) const { return result(k).dtype.value_or(kInt64); }
  Dims result_sizes(size_t k = 0) const { return static_sizes(result(k)); }
  /// True if a later call or the outputs of the program need result k.
  bool needs(size_t k) const { return is_used_[node_.outputs.at(k)]; }
  /// Set the next result, converted to its dtype in the program.
  void give(const Ref& r);

  [[noreturn]] static void refuse(const std::string& why) { throw NoForm(why); }

 private:
  static const Value& checked(const Value& v);
  static Dims static_sizes(const Value& v);
  Ref ref(const Argument& a) const;
  Ref one_number(const Argument& a, DType dtype) const;

  const Block& block_;
  const Node& node_;
  std::vector<Ref>& refs_;
  std::optional<bool> training_;
  const std::vector<bool>& is_used_;
  size_t given_ = 0;
};

}  // namespace ambit::graph::onnx
