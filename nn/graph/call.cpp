#include "call.h"

#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>

#include <fmt/format.h>

namespace ambit::graph {

using Kind = Argument::Kind;

void Call::fail(size_t i, const char* expected) const {
  std::string_view names = node_.function->parameters;
  for (size_t skipped = 0; skipped < i; ++skipped) names.remove_prefix(names.find(' ') + 1);
  throw Error(fmt::format("expected {} for '{}', got something else", expected,
                          names.substr(0, names.find_first_of(" ="))));
}

Slot Call::slot(const Argument& a) const {
  switch (a.kind) {
    case Kind::value:
      return slots_[static_cast<size_t>(a.integer)];
    case Kind::integer:
      return {{}, Scalar(a.integer)};
    case Kind::real:
      return {{}, Scalar(a.real)};
    case Kind::flag:
      return {{}, Scalar(a.integer != 0)};
    default:
      return {};
  }
}

Scalar Call::number(const Argument& a, size_t i) const {
  if (a.kind == Kind::integer) return Scalar(a.integer);
  const Slot content = slot(a);
  if (content.number) return *content.number;
  if (!content.tensor.defined()) fail(i, "a number");
  return content.tensor.item();
}

bool Call::is_number(size_t i) const {
  const Argument& a = node_.arguments[i];
  if (a.kind == Kind::value) return slots_[static_cast<size_t>(a.integer)].number.has_value();
  return slot(a).number.has_value();
}

const Tensor& Call::tensor(size_t i) const {
  const Argument& a = node_.arguments[i];
  if (a.kind == Kind::value) {
    const Tensor& t = slots_[static_cast<size_t>(a.integer)].tensor;
    if (t.defined()) return t;
  }
  const Slot content = slot(a);
  if (content.number) {
    return made_.emplace_front(scalar_tensor(*content.number, content.number->dtype()));
  }
  fail(i, "a tensor");
}

std::vector<Tensor> Call::tensors(size_t i) const {
  const Argument& list = node_.arguments[i];
  if (list.kind != Kind::list) fail(i, "a list of tensors");
  std::vector<Tensor> out;
  for (const Argument& a : list.items) {
    Tensor t = slot(a).tensor;
    if (!t.defined()) fail(i, "a list of tensors");
    out.push_back(std::move(t));
  }
  return out;
}

std::vector<std::optional<Tensor>> Call::indices(size_t i) const {
  const Argument& list = node_.arguments[i];
  if (list.kind != Kind::list) fail(i, "a list of tensors");
  std::vector<std::optional<Tensor>> out;
  for (const Argument& a : list.items) {
    Tensor t = slot(a).tensor;
    out.push_back(t.defined() ? std::optional(std::move(t)) : std::nullopt);
  }
  return out;
}

Scalar Call::scalar(size_t i) const { return number(node_.arguments[i], i); }
std::optional<Scalar> Call::optional_scalar(size_t i) const {
  return has(i) ? std::optional(scalar(i)) : std::nullopt;
}
int64_t Call::integer(size_t i) const { return scalar(i).to<int64_t>(); }
std::optional<int64_t> Call::optional_integer(size_t i) const {
  return has(i) ? std::optional(integer(i)) : std::nullopt;
}
std::optional<double> Call::optional_real(size_t i) const {
  return has(i) ? std::optional(real(i)) : std::nullopt;
}
bool Call::flag(size_t i) const { return scalar(i).to<bool>(); }

IntArrayRef Call::integers(size_t i) const {
  const Argument& list = node_.arguments[i];
  if (list.kind == Kind::none) return {};
  Dims& out = lists_.emplace_front();
  if (list.kind != Kind::list) out.push_back(integer(i));
  for (const Argument& a : list.items) out.push_back(number(a, i).to<int64_t>());
  return out;
}

std::vector<double> Call::reals(size_t i) const {
  std::vector<double> out;
  for (const Argument& a : node_.arguments[i].items) out.push_back(number(a, i).to<double>());
  return out;
}

std::string_view Call::text(size_t i) const {
  if (node_.arguments[i].kind != Kind::text) fail(i, "text");
  return node_.arguments[i].text;
}

std::optional<DType> Call::dtype(size_t i) const {
  if (!has(i)) return {};
  if (node_.arguments[i].kind != Kind::dtype) fail(i, "a dtype");
  return static_cast<DType>(node_.arguments[i].integer);
}

std::optional<MemoryFormat> Call::format(size_t i) const {
  if (!has(i)) return {};
  if (node_.arguments[i].kind != Kind::format) fail(i, "a memory format");
  return static_cast<MemoryFormat>(node_.arguments[i].integer);
}

TensorOptions Call::options(size_t i) const {
  const TensorOptions options(mode_.device);
  const std::optional<DType> d = dtype(i);
  return d ? options.dtype(*d) : options;
}

const Block& Call::block(size_t i) const {
  if (!node_.arguments[i].block) fail(i, "a block of calls");
  return *node_.arguments[i].block;
}

std::vector<Slot> Call::rest(size_t first) const {
  std::vector<Slot> out;
  for (size_t i = first; i < node_.arguments.size(); ++i) out.push_back(slot(node_.arguments[i]));
  return out;
}

void Run::operator()(Call& call) const {
  switch (kind_) {
    case Kind::unary:
      return call.give(unary_(call.tensor(0)));
    case Kind::unary_in_place:
      return call.give(unary_in_place_(call.tensor(0)));
    case Kind::binary:
      if (with_scalar_ && call.is_number(1)) {
        return call.give(with_scalar_(call.tensor(0), call.scalar(1)));
      }
      return call.give(binary_(call.tensor(0), call.tensor(1)));
    case Kind::binary_in_place:
      if (with_scalar_in_place_ && call.is_number(1)) {
        return call.give(with_scalar_in_place_(call.tensor(0), call.scalar(1)));
      }
      return call.give(binary_in_place_(call.tensor(0), call.tensor(1)));
    case Kind::one:
      return call.give(one_(call));
    case Kind::any:
      return any_(call);
  }
}

}  // namespace ambit::graph
