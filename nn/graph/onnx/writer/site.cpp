#include "site.h"

#include <ambit/ops/creation.h>

#include <algorithm>

namespace ambit::graph::onnx {

using Kind = Argument::Kind;

namespace {

bool is_literal(const Argument& a) {
  return a.kind == Kind::integer || a.kind == Kind::real || a.kind == Kind::flag;
}

Scalar literal_of(const Argument& a) {
  if (a.kind == Kind::real) return a.real;
  return a.kind == Kind::flag ? Scalar(a.integer != 0) : Scalar(a.integer);
}

// 0 bool, 1 integers, 2 floats.
int kind_of(DType d) { return is_floating_point(d) ? 2 : is_integral(d) ? 1 : 0; }

}  // namespace

bool Site::is_constant(size_t i) const { return is_literal(argument(i)); }

bool Site::is_number(size_t i) const {
  const Argument& a = argument(i);
  return is_literal(a) ||
         (a.kind == Kind::value && !block_.values[static_cast<size_t>(a.integer)].dtype);
}

Ref Site::ref(const Argument& a) const {
  if (a.kind == Kind::value) {
    const Ref& r = refs_[static_cast<size_t>(a.integer)];
    if (r.name.empty()) refuse("an operand without a form in ONNX");
    return r;
  }
  if (!is_literal(a)) refuse("an argument that is not a tensor");
  const Scalar s = literal_of(a);
  return e.number(s, s.is_floating_point() ? kFloat32 : s.dtype());
}

Ref Site::tensor(size_t i) const {
  const Ref r = ref(argument(i));
  return is_number(i) && !is_constant(i) ? e.reshape(r, Dims()) : r;
}

Ref Site::tensor(size_t i, DType dtype) const {
  if (is_constant(i)) return e.number(scalar(i), dtype);
  return e.cast(tensor(i), dtype);
}

std::vector<Ref> Site::tensors(size_t i) const {
  std::vector<Ref> out;
  for (const Argument& a : argument(i).items) out.push_back(ref(a));
  return out;
}

std::vector<const Value*> Site::types(size_t i) const {
  std::vector<const Value*> out;
  for (const Argument& a : argument(i).items) {
    if (a.kind != Kind::value) refuse("a list with items other than tensors");
    out.push_back(&checked(block_.values[static_cast<size_t>(a.integer)]));
  }
  return out;
}

// Numbers that calls compute are tensors of one dim and one element.
Ref Site::one_number(const Argument& a, DType dtype) const {
  if (!is_literal(a)) return e.cast(ref(a), dtype);
  return e.constant(full({1}, literal_of(a), TensorOptions(dtype)));
}

bool Site::has_constants(size_t i) const {
  const Argument& a = argument(i);
  if (a.kind != Kind::list) return is_literal(a);
  return std::all_of(a.items.begin(), a.items.end(), is_literal);
}

Ref Site::shape(size_t i) const {
  if (has_constants(i)) return e.integers(integers(i));
  if (argument(i).kind != Kind::list) return one_integer(i);
  std::vector<Ref> parts;
  for (const Argument& a : argument(i).items) parts.push_back(one_number(a, kInt64));
  return parts.empty() ? e.integers(Dims()) : e.concat(parts, 0);
}

Scalar Site::scalar(size_t i) const {
  if (!is_constant(i)) refuse("a number that the program computes");
  return literal_of(argument(i));
}

Dims Site::integers(size_t i) const {
  const Argument& list = argument(i);
  Dims out;
  if (list.kind == Kind::none) return out;
  if (list.kind != Kind::list) {
    out.push_back(integer(i));
    return out;
  }
  for (const Argument& a : list.items) {
    if (!is_literal(a)) refuse("a size that the program computes");
    out.push_back(literal_of(a).to<int64_t>());
  }
  return out;
}

std::vector<double> Site::reals(size_t i) const {
  std::vector<double> out;
  for (const Argument& a : argument(i).items) {
    if (!is_literal(a)) refuse("a number that the program computes");
    out.push_back(literal_of(a).to<double>());
  }
  return out;
}

std::string_view Site::text(size_t i) const {
  if (argument(i).kind != Kind::text) refuse("an argument that is not text");
  return argument(i).text;
}

std::optional<DType> Site::dtype(size_t i) const {
  if (argument(i).kind != Kind::dtype) return {};
  return static_cast<DType>(argument(i).integer);
}

DType Site::dtype_of(size_t i) const {
  if (!is_constant(i)) return ref(argument(i)).dtype;
  const Scalar s = scalar(i);
  return s.is_floating_point() ? kFloat32 : s.dtype();
}

DType Site::common(size_t i, size_t j) const {
  const DType a = dtype_of(i), b = dtype_of(j);
  // Operands with dims have priority over those without, and tensors over numbers.
  const auto weight = [&](size_t k) { return is_number(k) ? 0 : rank(k) == 0 ? 1 : 2; };
  const int first = weight(i), second = weight(j);
  if (first > second && kind_of(a) >= kind_of(b)) return a;
  if (second > first && kind_of(b) >= kind_of(a)) return b;
  return promote_types(a, b);
}

const Value& Site::checked(const Value& v) {
  if (v.is_open) refuse("an operand whose sizes the file does not have");
  return v;
}

const Value& Site::value(const Argument& a) const {
  static const Value kNumber{};
  if (a.kind != Kind::value) return kNumber;
  return checked(block_.values[static_cast<size_t>(a.integer)]);
}

Dims Site::static_sizes(const Value& v) {
  Dims out;
  for (const Size& size : checked(v).sizes)
    out.push_back(size.expression.empty() ? size.number : -1);
  return out;
}

Dims Site::fixed_sizes(size_t i) const {
  const Dims out = sizes(i);
  for (const int64_t size : out) {
    if (size < 0) refuse("an operand with dynamic sizes");
  }
  return out;
}

Dims Site::dims(size_t i, size_t of) const {
  Dims out;
  for (const int64_t d : integers(i)) out.push_back(dim_of(d, rank(of)));
  if (rank(of) == 0) return {};  // it has no dims, although PyTorch accepts 0 and -1
  return out.empty() ? all_dims(of) : out;
}

Dims Site::all_dims(size_t of) const {
  Dims out;
  for (int64_t d = 0; d < rank(of); ++d) out.push_back(d);
  return out;
}

Ref Site::sizes_of(size_t i, int64_t from, int64_t to) const {
  const Dims all = sizes(i);
  Dims out;
  for (int64_t d = from; d < to; ++d) out.push_back(all[static_cast<size_t>(d)]);
  const bool is_fixed = std::count(out.begin(), out.end(), -1) == 0;
  return is_fixed ? e.integers(out) : e.sizes(tensor(i), from, to);
}

void Site::give(const Ref& r) {
  const uint32_t v = node_.outputs.at(given_++);
  refs_[v] = block_.values[v].dtype ? e.cast(r, *block_.values[v].dtype) : r;
}

}  // namespace ambit::graph::onnx
