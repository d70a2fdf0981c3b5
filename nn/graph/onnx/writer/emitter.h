// Nodes, values and constants of a model while it is written. Private to nn/graph/onnx.
#pragma once

#include <ambit/array_ref.h>
#include <ambit/scalar.h>
#include <ambit/tensor.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "nn/graph/onnx/tensors.h"
#include "onnx.pb.h"

namespace ambit::graph::onnx {

/// A value of the model. An empty name is an operand that a node omits.
struct Ref {
  std::string name{};
  DType dtype = kFloat32;
};

using Attributes = std::vector<proto::AttributeProto>;

proto::AttributeProto attribute(const char* name, int64_t value);
inline proto::AttributeProto attribute(const char* name, int value) {
  return attribute(name, int64_t{value});
}
proto::AttributeProto attribute(const char* name, double value);
proto::AttributeProto attribute(const char* name, const char* value);
proto::AttributeProto attribute(const char* name, IntArrayRef list);

class Emitter {
 public:
  explicit Emitter(proto::GraphProto& graph) : graph_(graph) {}

  /// Begin the names of further nodes with "<place>/".
  void enter(const std::string& place) { place_ = place; }
  /// Return `name`, or a similar one if a value has it already.
  std::string unique(const std::string& name);

  /// Add a node of one output and return it. Its dtype is that of the first input, or `result`.
  Ref op(const char* type, const std::vector<Ref>& inputs, const Attributes& attributes = {},
         std::optional<DType> result = {});
  /// As op(), for several outputs.
  std::vector<Ref> ops(const char* type, const std::vector<Ref>& inputs,
                       const Attributes& attributes, const std::vector<DType>& results);

  Ref constant(const Tensor& t);
  /// A constant with one dim.
  Ref integers(IntArrayRef list);
  /// A constant without dims.
  Ref integer(int64_t n);
  Ref number(const Scalar& n, DType dtype);

  Ref cast(const Ref& x, DType dtype);
  Ref add(const Ref& a, const Ref& b) { return op("Add", {a, b}); }
  Ref sub(const Ref& a, const Ref& b) { return op("Sub", {a, b}); }
  Ref mul(const Ref& a, const Ref& b) { return op("Mul", {a, b}); }
  Ref div(const Ref& a, const Ref& b) { return op("Div", {a, b}); }
  Ref add(const Ref& a, double b) { return add(a, number(b, a.dtype)); }
  Ref mul(const Ref& a, double b) { return mul(a, number(b, a.dtype)); }
  Ref where(const Ref& condition, const Ref& a, const Ref& b) {
    return op("Where", {condition, a, b}, {}, a.dtype);
  }
  /// A comparison of operands of one dtype.
  Ref compare(const char* type, const Ref& a, const Ref& b) { return op(type, {a, b}, {}, kBool); }
  Ref compare(const char* type, const Ref& a, double b) {
    return compare(type, a, number(b, a.dtype));
  }
  /// One size may be -1 and is inferred; 0 is a size of 0, not a copied size as in ONNX's default.
  Ref reshape(const Ref& x, const Ref& shape);
  Ref reshape(const Ref& x, IntArrayRef sizes) { return reshape(x, integers(sizes)); }
  Ref transpose(const Ref& x, IntArrayRef order);
  Ref unsqueeze(const Ref& x, IntArrayRef dims);
  Ref squeeze(const Ref& x, IntArrayRef dims);
  Ref slice(const Ref& x, int64_t dim, int64_t start, int64_t end);
  Ref concat(const std::vector<Ref>& list, int64_t dim);
  /// Return sizes [from, to) of x as a tensor of one dim.
  Ref sizes(const Ref& x, int64_t from, int64_t to);
  /// Return the sizes of x, of `rank` dims, with [from, to) replaced by `sizes`.
  Ref replace_sizes(const Ref& x, int64_t rank, int64_t from, int64_t to, const Ref& sizes);
  /// Repeat each index of a dim `times` times; copies are adjacent.
  Ref repeat_each(const Ref& x, int64_t rank, int64_t dim, int64_t times);
  /// Add a reduction over dims: in some operators an attribute lists the dims, in others an input.
  Ref reduce(const char* type, const Ref& x, IntArrayRef dims, bool keepdim);

 private:
  proto::GraphProto& graph_;
  std::string place_;
  std::unordered_set<std::string> names_;
  std::map<std::string, Ref> constants_;  // key: dtype, sizes and bytes
  std::map<std::string, int> counts_;     // of names
};

}  // namespace ambit::graph::onnx
