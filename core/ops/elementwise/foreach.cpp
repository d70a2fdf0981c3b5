// The functions of lists of tensors. Each consists of a step for one tensor; two loops run the
// steps of all functions.
#include <ambit/ops/foreach.h>

#include <ambit/autograd.h>
#include <ambit/backend/op.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/linalg.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include "core/ops/operands/expect.h"

namespace ambit {
namespace {

using Tensors = std::vector<Tensor>;
const TensorList kNoList(nullptr, 0);
const Tensor kNoTensor;
const Scalar kOne(1);

/// The arguments of a function of lists; `one` is an operand of all calls instead of the list a.
struct Lists {
  TensorList self, a = kNoList, b = kNoList;
  const Scalar& scalar = kOne;
  ScalarList scalars = {};
  const Tensor& one = kNoTensor;
  std::optional<DType> dtype = {};
  std::optional<MemoryFormat> format = {};
  bool non_blocking = false;
};

/// The arguments of one call.
struct Item {
  const Tensor &self, &a, &b;
  const Scalar& s;
  const Lists& lists;
};

using Step = Tensor (*)(const Item&);
using Write = void (*)(const Item&);

Item item(const Lists& l, size_t i) {
  return {l.self[i], l.a.empty() ? l.one : l.a[i], l.b.empty() ? kNoTensor : l.b[i],
          l.scalars.empty() ? l.scalar : l.scalars[i], l};
}

void check_length(const char* op, const Lists& l, size_t length) {
  if (length == l.self.size()) return;
  throw Error(
      fmt::format("{}: expected lists of one length, got {} and {}", op, l.self.size(), length));
}

void check_list(const char* op, const char* name, const Lists& l, TensorList list) {
  check_length(op, l, list.size());
  for (const Tensor& t : list) expect_defined(op, name, t);
}

void check(const char* op, const Lists& l) {
  if (l.self.empty()) {
    throw Error(fmt::format("{}: expected at least one tensor, got none", op));
  }
  check_list(op, "self", l, l.self);
  if (l.a.data()) check_list(op, "other", l, l.a);
  if (l.b.data()) check_list(op, "tensor2", l, l.b);
  if (l.scalars.data()) check_length(op, l, l.scalars.size());
}

Tensors run(const char* op, const Lists& l, Step step) try {
  check(op, l);
  Tensors out;
  out.reserve(l.self.size());
  for (size_t i = 0; i < l.self.size(); ++i) out.push_back(step(item(l, i)));
  return out;
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory(op);
}

bool is_like(const Tensor& t, const Tensor& first, const Tensor& self) {
  return !t.defined() ||
         (t.dtype() == first.dtype() && t.device() == first.device() && t.sizes() == self.sizes());
}

// True if all calls would be refused for the same reasons, so that checking the first one suffices.
bool are_alike(const Lists& l) {
  const Tensor& first = l.self[0];
  if (l.one.defined() || (l.scalars.data() && !first.is_floating_point())) return false;
  for (size_t i = 0; i < l.self.size(); ++i) {
    const Item now = item(l, i);
    if (!is_like(now.self, first, now.self) || !is_like(now.a, first, now.self) ||
        !is_like(now.b, first, now.self)) {
      return false;
    }
  }
  return true;
}

Tensor shape_of(const Tensor& t) {
  if (!t.defined()) return t;
  return empty_strided(t.sizes(), t.strides(), t.options().device(kMeta));
}

// Run the step on meta tensors, which throw the same errors, before anything is written.
void rehearse(const char* op, const Item& now, Write step) {
  check_devices(op, {{"self", now.self}, {"other", now.a}, {"tensor2", now.b}},
                DeviceRule::in_place_elementwise);
  const NoGradGuard no_grad;
  const Tensor self = shape_of(now.self), a = shape_of(now.a), b = shape_of(now.b);
  step({self, a, b, now.s, now.lists});
}

void write(const char* op, const Lists& l, Write step) {
  check(op, l);
  for (const Tensor& t : l.self) check_in_place(op, t);
  if (!are_alike(l)) {
    for (size_t i = 0; i < l.self.size(); ++i) rehearse(op, item(l, i), step);
  }
  for (size_t i = 0; i < l.self.size(); ++i) step(item(l, i));
}

// Return the elements of a tensor as numbers, one for each tensor of the list.
std::vector<Scalar> numbers(const char* op, TensorList self, const Tensor& t) try {
  expect_dim(op, "scalars", t, 1, "a vector");
  if (!t.is_cpu() || t.numel() != static_cast<int64_t>(self.size())) {
    throw Error(fmt::format("{}: expected {} scalars on cpu, got {} on {}", op, self.size(),
                            t.numel(), t.device().str()));
  }
  std::vector<Scalar> out;
  for (int64_t i = 0; i < t.numel(); ++i) out.push_back(t[i].item());
  return out;
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory(op);
}

const Tensor& one_number(const char* op, const Tensor& t) {
  expect_dim(op, "other", t, 0, "a 0-dim tensor");
  return t;
}

Tensor maximum(const Tensor& self, const Scalar& other) { return clamp_min(self, other); }
Tensor minimum(const Tensor& self, const Scalar& other) { return clamp_max(self, other); }
template <class Other>
const Tensor& maximum_(const Tensor& self, const Other& other) {
  return clamp_min_(self, other);
}
template <class Other>
const Tensor& minimum_(const Tensor& self, const Other& other) {
  return clamp_max_(self, other);
}

}  // namespace

#define AMBIT_FOREACH(name)                                                               \
  Tensors _foreach_##name(TensorList self) {                                              \
    return run("_foreach_" #name, {self}, [](const Item& i) { return name(i.self); });    \
  }                                                                                       \
  void _foreach_##name##_(TensorList self) {                                              \
    write("_foreach_" #name "_", {self}, [](const Item& i) -> void { name##_(i.self); }); \
  }
AMBIT_FOREACH_UNARY(AMBIT_FOREACH)
#undef AMBIT_FOREACH

// A function of two operands, of which the second is a number, a list of tensors or a list of
// numbers. For a list of tensors: `by_list` has the arguments of each call, `alpha` the scalar of
// the Item i in them, and the last arguments of the macro are further parameters of the public
// function.
#define AMBIT_FOREACH_LISTS(name, by_list, alpha, ...)                                            \
  namespace {                                                                                     \
  Tensor name##_by_number(const Item& i) { return name(i.self, i.s); }                            \
  void name##_by_number_(const Item& i) { name##_(i.self, i.s); }                                 \
  Tensor name##_by_tensor(const Item& i) { return name by_list; }                                 \
  void name##_by_tensor_(const Item& i) { name##_ by_list; }                                      \
  }                                                                                               \
  Tensors _foreach_##name(TensorList self, const Scalar& scalar) {                                \
    return run("_foreach_" #name, {.self = self, .scalar = scalar}, name##_by_number);            \
  }                                                                                               \
  Tensors _foreach_##name(TensorList self, TensorList other __VA_ARGS__) {                        \
    return run("_foreach_" #name, {.self = self, .a = other, .scalar = alpha}, name##_by_tensor); \
  }                                                                                               \
  Tensors _foreach_##name(TensorList self, ScalarList scalars) {                                  \
    return run("_foreach_" #name, {.self = self, .scalars = scalars}, name##_by_number);          \
  }                                                                                               \
  void _foreach_##name##_(TensorList self, const Scalar& scalar) {                                \
    write("_foreach_" #name "_", {.self = self, .scalar = scalar}, name##_by_number_);            \
  }                                                                                               \
  void _foreach_##name##_(TensorList self, TensorList other __VA_ARGS__) {                        \
    write("_foreach_" #name "_", {.self = self, .a = other, .scalar = alpha}, name##_by_tensor_); \
  }                                                                                               \
  void _foreach_##name##_(TensorList self, ScalarList scalars) {                                  \
    write("_foreach_" #name "_", {.self = self, .scalars = scalars}, name##_by_number_);          \
  }
#define AMBIT_FOREACH(name) AMBIT_FOREACH_LISTS(name, (i.self, i.a), kOne)
AMBIT_FOREACH_BINARY(AMBIT_FOREACH)
#undef AMBIT_FOREACH
#define AMBIT_FOREACH(name) \
  AMBIT_FOREACH_LISTS(name, (i.self, i.a, i.s), alpha, , const Scalar& alpha)
AMBIT_FOREACH(add)
AMBIT_FOREACH(sub)
#undef AMBIT_FOREACH
#undef AMBIT_FOREACH_LISTS

Tensors _foreach_add(TensorList self, const Tensor& other, const Scalar& alpha) {
  constexpr const char* kOp = "_foreach_add";
  return run(kOp, {.self = self, .scalar = alpha, .one = one_number(kOp, other)}, add_by_tensor);
}
void _foreach_add_(TensorList self, const Tensor& other, const Scalar& alpha) {
  constexpr const char* kOp = "_foreach_add_";
  write(kOp, {.self = self, .scalar = alpha, .one = one_number(kOp, other)}, add_by_tensor_);
}
#define AMBIT_FOREACH(name)                                                                       \
  Tensors _foreach_##name(TensorList self, const Tensor& other) {                                 \
    return run("_foreach_" #name, {.self = self, .one = one_number("_foreach_" #name, other)},    \
               name##_by_tensor);                                                                 \
  }                                                                                               \
  void _foreach_##name##_(TensorList self, const Tensor& other) {                                 \
    write("_foreach_" #name "_", {.self = self, .one = one_number("_foreach_" #name "_", other)}, \
          name##_by_tensor_);                                                                     \
  }
AMBIT_FOREACH(mul)
AMBIT_FOREACH(div)
#undef AMBIT_FOREACH

Tensors _foreach_pow(const Scalar& self, TensorList exponent) {
  return run("_foreach_pow", {.self = exponent, .scalar = self},
             [](const Item& i) { return pow(i.s, i.self); });
}

#define AMBIT_FOREACH(name)                                                                       \
  namespace {                                                                                     \
  Tensor name##_of_item(const Item& i) { return name(i.self, i.a, i.b, i.s); }                    \
  void name##_of_item_(const Item& i) { name##_(i.self, i.a, i.b, i.s); }                         \
  }                                                                                               \
  Tensors _foreach_##name(TensorList self, TensorList tensor1, TensorList tensor2,                \
                          const Scalar& value) {                                                  \
    return run("_foreach_" #name, {.self = self, .a = tensor1, .b = tensor2, .scalar = value},    \
               name##_of_item);                                                                   \
  }                                                                                               \
  Tensors _foreach_##name(TensorList self, TensorList tensor1, TensorList tensor2,                \
                          ScalarList scalars) {                                                   \
    return run("_foreach_" #name, {.self = self, .a = tensor1, .b = tensor2, .scalars = scalars}, \
               name##_of_item);                                                                   \
  }                                                                                               \
  Tensors _foreach_##name(TensorList self, TensorList tensor1, TensorList tensor2,                \
                          const Tensor& scalars) {                                                \
    return _foreach_##name(self, tensor1, tensor2,                                                \
                           ScalarList(numbers("_foreach_" #name, self, scalars)));                \
  }                                                                                               \
  void _foreach_##name##_(TensorList self, TensorList tensor1, TensorList tensor2,                \
                          const Scalar& value) {                                                  \
    write("_foreach_" #name "_", {.self = self, .a = tensor1, .b = tensor2, .scalar = value},     \
          name##_of_item_);                                                                       \
  }                                                                                               \
  void _foreach_##name##_(TensorList self, TensorList tensor1, TensorList tensor2,                \
                          ScalarList scalars) {                                                   \
    write("_foreach_" #name "_", {.self = self, .a = tensor1, .b = tensor2, .scalars = scalars},  \
          name##_of_item_);                                                                       \
  }                                                                                               \
  void _foreach_##name##_(TensorList self, TensorList tensor1, TensorList tensor2,                \
                          const Tensor& scalars) {                                                \
    _foreach_##name##_(self, tensor1, tensor2,                                                    \
                       ScalarList(numbers("_foreach_" #name "_", self, scalars)));                \
  }
AMBIT_FOREACH(addcdiv)
AMBIT_FOREACH(addcmul)
#undef AMBIT_FOREACH

namespace {

Tensor lerp_of_item(const Item& i) {
  return i.b.defined() ? lerp(i.self, i.a, i.b) : lerp(i.self, i.a, i.s);
}
void lerp_of_item_(const Item& i) {
  i.b.defined() ? lerp_(i.self, i.a, i.b) : lerp_(i.self, i.a, i.s);
}

}  // namespace

#define AMBIT_FOREACH(Weight, field)                                                           \
  Tensors _foreach_lerp(TensorList self, TensorList tensors1, Weight weight) {                 \
    return run("_foreach_lerp", {.self = self, .a = tensors1, .field = weight}, lerp_of_item); \
  }                                                                                            \
  void _foreach_lerp_(TensorList self, TensorList tensors1, Weight weight) {                   \
    write("_foreach_lerp_", {.self = self, .a = tensors1, .field = weight}, lerp_of_item_);    \
  }
AMBIT_FOREACH(TensorList, b)
AMBIT_FOREACH(ScalarList, scalars)
AMBIT_FOREACH(const Scalar&, scalar)
#undef AMBIT_FOREACH

Tensors _foreach_norm(TensorList self, const Scalar& ord, std::optional<DType> dtype) {
  return run("_foreach_norm", {.self = self, .scalar = ord, .dtype = dtype}, [](const Item& i) {
    return linalg_vector_norm(i.self, i.s, {}, false, i.lists.dtype);
  });
}

Tensors _foreach_powsum(TensorList self, const Scalar& ord, std::optional<DType> dtype) {
  return run("_foreach_powsum", {.self = self, .scalar = ord, .dtype = dtype}, [](const Item& i) {
    expect_floating("_foreach_powsum", i.self);
    return ambit::sum(pow(abs(i.self.to(i.lists.dtype.value_or(i.self.dtype()))), i.s));
  });
}

Tensors _foreach_max(TensorList self) {
  return run("_foreach_max", {self}, [](const Item& i) { return max(i.self); });
}

Tensors _foreach_mm(TensorList self, TensorList mat2) {
  return run("_foreach_mm", {.self = self, .a = mat2},
             [](const Item& i) { return mm(i.self, i.a); });
}

Tensors _foreach_clone(TensorList self, std::optional<MemoryFormat> format) {
  return run("_foreach_clone", {.self = self, .format = format},
             [](const Item& i) { return i.self.clone(i.lists.format); });
}

Tensors _foreach_copy(TensorList self, TensorList src, bool non_blocking) {
  return run("_foreach_copy", {.self = self, .a = src, .non_blocking = non_blocking},
             [](const Item& i) {
               return i.a.to(i.self.device(), i.self.dtype(), i.lists.non_blocking, true)
                   .expand(i.self.sizes())
                   .clone();
             });
}

void _foreach_copy_(TensorList self, TensorList src, bool non_blocking) {
  constexpr const char* kOp = "_foreach_copy_";
  const Lists lists{.self = self, .a = src, .non_blocking = non_blocking};
  check(kOp, lists);
  for (size_t i = 0; i < self.size(); ++i) {
    check_in_place(kOp, self[i]);
    if (broadcast(kOp, self[i].sizes(), src[i].sizes()) != self[i].sizes()) {
      throw ShapeError(fmt::format("{}: expected src that broadcasts to {}, got {}", kOp,
                                   str(self[i].sizes()), str(src[i].sizes())));
    }
  }
  for (size_t i = 0; i < self.size(); ++i) self[i].copy_(src[i], non_blocking);
}

Tensors _foreach_zero(TensorList self) {
  return run("_foreach_zero", {self}, [](const Item& i) { return zeros_like(i.self); });
}

void _foreach_zero_(TensorList self) {
  write("_foreach_zero_", {self}, [](const Item& i) -> void { fill_(i.self, 0); });
}

}  // namespace ambit
