// Source of the operators: onnx.ai/onnx/operators, opset 18.
#include "emitter.h"

#include <ambit/layout.h>
#include <ambit/ops/creation.h>
#include <fmt/format.h>

#include <limits>

namespace ambit::graph::onnx {
namespace {

enum AttributeType : int32_t {
  kFloatType = 1,
  kIntType = 2,
  kTextType = 3,
  kTensorType = 4,
  kIntsType = 7
};

constexpr int64_t kMostShared = 64;  // elements of a constant that is reused where it is equal

proto::AttributeProto named(const char* name, AttributeType type) {
  proto::AttributeProto out;
  out.set_name(name);
  out.set_type(type);
  return out;
}

}  // namespace

proto::AttributeProto attribute(const char* name, int64_t value) {
  proto::AttributeProto out = named(name, kIntType);
  out.set_i(value);
  return out;
}

proto::AttributeProto attribute(const char* name, double value) {
  proto::AttributeProto out = named(name, kFloatType);
  out.set_f(static_cast<float>(value));
  return out;
}

proto::AttributeProto attribute(const char* name, const char* value) {
  proto::AttributeProto out = named(name, kTextType);
  out.set_s(value);
  return out;
}

proto::AttributeProto attribute(const char* name, IntArrayRef list) {
  proto::AttributeProto out = named(name, kIntsType);
  for (const int64_t n : list) out.add_ints(n);
  return out;
}

std::string Emitter::unique(const std::string& name) {
  std::string out = name;
  while (!names_.insert(out).second) out = fmt::format("{}_{}", name, ++counts_[name]);
  return out;
}

std::vector<Ref> Emitter::ops(const char* type, const std::vector<Ref>& inputs,
                              const Attributes& attributes, const std::vector<DType>& results) {
  proto::NodeProto& node = *graph_.add_node();
  node.set_op_type(type);
  node.set_name(unique(fmt::format("{}/{}", place_, type)));
  size_t count = inputs.size();
  while (count > 0 && inputs[count - 1].name.empty()) --count;
  for (size_t i = 0; i < count; ++i) node.add_input(inputs[i].name);
  for (const proto::AttributeProto& a : attributes) *node.add_attribute() = a;
  std::vector<Ref> out;
  for (const DType dtype : results) {
    out.push_back({unique(node.name() + "_output"), dtype});
    node.add_output(out.back().name);
  }
  return out;
}

Ref Emitter::op(const char* type, const std::vector<Ref>& inputs, const Attributes& attributes,
                std::optional<DType> result) {
  return ops(type, inputs, attributes, {result ? *result : inputs.at(0).dtype})[0];
}

Ref Emitter::constant(const Tensor& t) {
  const Tensor x = t.detach().to(kCPU).contiguous();
  const std::string bytes(static_cast<const char*>(x.data_ptr()), x.nbytes());
  const std::string key = fmt::format("{} {} {}", name(x.dtype()), str(x.sizes()),
                                      x.numel() > kMostShared ? "" : bytes);
  const bool is_shared = x.numel() <= kMostShared;
  if (is_shared && constants_.contains(key)) return constants_.at(key);
  proto::AttributeProto value = named("value", kTensorType);
  proto::TensorProto& tensor = *value.mutable_t();
  for (const int64_t size : x.sizes()) tensor.add_dims(size);
  tensor.set_data_type(code_of(x.dtype()));
  tensor.set_raw_data(bytes);
  const Ref out = op("Constant", {}, {value}, x.dtype());
  if (is_shared) constants_.emplace(key, out);
  return out;
}

Ref Emitter::integers(IntArrayRef list) {
  return constant(tensor(std::vector<int64_t>(list.begin(), list.end()), kInt64));
}

Ref Emitter::integer(int64_t n) { return number(n, kInt64); }

Ref Emitter::number(const Scalar& n, DType dtype) {
  return constant(scalar_tensor(n, TensorOptions(dtype).device(kCPU)));
}

Ref Emitter::cast(const Ref& x, DType dtype) {
  if (x.dtype == dtype || x.name.empty()) return x;
  return op("Cast", {x}, {attribute("to", int64_t{code_of(dtype)})}, dtype);
}

Ref Emitter::reshape(const Ref& x, const Ref& shape) {
  return op("Reshape", {x, shape}, {attribute("allowzero", int64_t{1})});
}

Ref Emitter::transpose(const Ref& x, IntArrayRef order) {
  bool is_same = true;
  for (size_t i = 0; i < order.size(); ++i) is_same &= order[i] == static_cast<int64_t>(i);
  return is_same ? x : op("Transpose", {x}, {attribute("perm", order)});
}

Ref Emitter::unsqueeze(const Ref& x, IntArrayRef dims) {
  return dims.empty() ? x : op("Unsqueeze", {x, integers(dims)});
}

Ref Emitter::squeeze(const Ref& x, IntArrayRef dims) {
  return dims.empty() ? x : op("Squeeze", {x, integers(dims)});
}

Ref Emitter::slice(const Ref& x, int64_t dim, int64_t start, int64_t end) {
  return op("Slice", {x, integers(start), integers(end), integers(dim)});
}

Ref Emitter::concat(const std::vector<Ref>& list, int64_t dim) {
  return list.size() == 1 ? list[0] : op("Concat", list, {attribute("axis", dim)});
}

Ref Emitter::sizes(const Ref& x, int64_t from, int64_t to) {
  return op("Shape", {x}, {attribute("start", from), attribute("end", to)}, kInt64);
}

Ref Emitter::replace_sizes(const Ref& x, int64_t rank, int64_t from, int64_t to, const Ref& sizes) {
  std::vector<Ref> all;
  if (from > 0) all.push_back(this->sizes(x, 0, from));
  all.push_back(sizes);
  if (to < rank) all.push_back(this->sizes(x, to, rank));
  return concat(all, 0);
}

Ref Emitter::repeat_each(const Ref& x, int64_t rank, int64_t dim, int64_t times) {
  Dims repeats(static_cast<size_t>(rank + 1), 1);
  repeats[static_cast<size_t>(dim + 1)] = times;
  const Ref tiled = op("Tile", {unsqueeze(x, dim + 1), integers(repeats)});
  return reshape(tiled, replace_sizes(x, rank, dim, dim + 1, integers(-1)));
}

Ref Emitter::reduce(const char* type, const Ref& x, IntArrayRef dims, bool keepdim) {
  const Attributes keep{attribute("keepdims", int64_t{keepdim})};
  if (std::string_view(type) != "ReduceSum" && dims.empty()) return op(type, {x}, keep);
  return dims.empty() ? op(type, {x}, keep) : op(type, {x, integers(dims)}, keep);
}

}  // namespace ambit::graph::onnx
