// Every public function against bad shapes, dtypes, devices, indices and values: each call must
// throw the typed error, in the form "<op>: expected <what>, got <what>", and change nothing. The
// functions of the table are compared with those that ops/*.h declare, so that none is forgotten.
// Long because it is one table: split, nobody could see what is missing.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <string>
#include <typeinfo>
#include <vector>

#include "declared_functions.h"

using namespace ambit;

namespace {

struct BadCall {
  std::string function, text;
  std::function<void()> run;
  std::function<bool(const Error&)> is_right;
  bool is_mismatch;
};

template <class E>
BadCall bad(const char* function, const char* text, std::function<void()> run) {
  return {function, text, std::move(run),
          [](const Error& e) { return std::is_same_v<E, Error> || typeid(e) == typeid(E); },
          std::is_same_v<E, DeviceMismatchError>};
}

// SHAPE(add, a, b): add(a, b) must throw ShapeError.
#define BAD(Type, f, ...) \
  bad<Type>(#f, #f "(" #__VA_ARGS__ ")", [] { static_cast<void>(f(__VA_ARGS__)); })
#define SHAPE(f, ...) BAD(ShapeError, f, __VA_ARGS__)
#define DTYPE(f, ...) BAD(DTypeError, f, __VA_ARGS__)
#define INDEX(f, ...) BAD(IndexError, f, __VA_ARGS__)
#define VALUE(f, ...) BAD(Error, f, __VA_ARGS__)
#define DEVICE(f, ...) BAD(DeviceMismatchError, f, __VA_ARGS__)

// Operands. Functions rather than constants: an in-place call that failed must not have changed
// them.
Tensor m23() { return ones({2, 3}); }
Tensor m45() { return ones({4, 5}); }
Tensor i23() { return ones({2, 3}, kInt64); }
Tensor b23() { return ones({2, 3}, kBool); }
Tensor there() { return ones({2, 3}, "reference"); }
Tensor none() { return Tensor(); }
Tensor idx(int64_t i) { return full({2, 3}, i, kInt64); }
Tensor list(int64_t i) { return full({2}, i, kInt64); }
Tensor image() { return ones({1, 2, 6, 6}); }
Tensor filter() { return ones({4, 2, 3, 3}); }
const indexing::Slice kAll;

std::vector<BadCall> creation_calls() {
  return {
      SHAPE(empty, {-1}),
      SHAPE(empty, {1L << 40, 1L << 40}),
      BAD(OutOfMemoryError, empty, {1L << 50}),
      BAD(BackendError, empty, {1}, Device("reference:9")),
      SHAPE(empty_strided, {2, 2}, {1}),
      SHAPE(empty_strided, {2}, {-1}),
      SHAPE(zeros, {-1}),
      SHAPE(ones, {2, -3}),
      SHAPE(full, {-2}, 1),
      VALUE(empty_like, none()),
      VALUE(zeros_like, none()),
      VALUE(ones_like, none()),
      VALUE(full_like, none(), 1),
      VALUE(arange, 0, 3, 0),
      VALUE(arange, 0, 3, -1),
      VALUE(arange, -1),
      VALUE(arange, 0.0, NAN),
      VALUE(linspace, 0, 1, -1),
      VALUE(eye, -1),
      VALUE(eye, 2, -1),
      SHAPE(tensor, {{1, 2}, {3}}),
      SHAPE(tensor, {{{1}}, {2}}),
      BAD(BackendError, scalar_tensor, 1, Device("reference:9")),
      VALUE(from_blob, nullptr, {2}),
      SHAPE(from_blob, nullptr, {-2}),
  };
}

std::vector<BadCall> random_calls() {
  return {
      SHAPE(rand, {-1}),
      DTYPE(rand, {2}, kInt64),
      SHAPE(randn, {-1}),
      DTYPE(randn, {2}, kBool),
      VALUE(randint, 3, 3, {2}),
      VALUE(randint, 0, {2}),
      SHAPE(randint, 1, {-1}),
      VALUE(randperm, -1),
      VALUE(rand_like, none()),
      DTYPE(rand_like, i23()),
      VALUE(randn_like, none()),
      DTYPE(randn_like, i23()),
      VALUE(randint_like, m23(), 2, 1),
      VALUE(bernoulli, m23() * 2),
      DTYPE(bernoulli, i23()),
      VALUE(uniform_, m23(), 2, 1),
      DTYPE(uniform_, i23()),
      VALUE(normal_, m23(), 0, -1),
      DTYPE(normal_, i23()),
      VALUE(random_, m23(), 3, 3),
      VALUE(bernoulli_, m23(), 1.5),
      VALUE(dropout, m23(), -0.1),
      VALUE(dropout, m23(), 1.1),
      VALUE(dropout, none(), 0.5),
  };
}

// What all binary ops refuse; in place also a result that does not fit.
#define BINARY(f)                                                                              \
  SHAPE(f, m23(), m45()), DEVICE(f, m23(), there()), DEVICE(f, there(), m23()),                \
      VALUE(f, m23(), none()), VALUE(f, none(), m23()), SHAPE(f##_, m23(), m45()),             \
      SHAPE(f##_, ones({3}), m23()), DEVICE(f##_, m23(), there()), VALUE(f##_, none(), m23()), \
      VALUE(f##_, ones({1, 3}).expand({2, 3}), m23())

std::vector<BadCall> binary_calls() {
  return {
      BINARY(add),
      VALUE(add, none(), 1),
      DTYPE(add, i23(), i23(), 0.5),
      DTYPE(add_, i23(), m23()),
      BINARY(sub),
      DTYPE(sub, b23(), b23()),
      DTYPE(sub_, i23(), 1.5),
      VALUE(rsub, none(), 1),
      DTYPE(rsub, b23(), true),
      BINARY(mul),
      DTYPE(mul_, i23(), m23()),
      BINARY(div),
      DTYPE(div_, i23(), i23()),
      VALUE(div, m23(), m23(), "up"),
      BINARY(floor_divide),
      VALUE(floor_divide, i23(), i23() - 1),
      BINARY(remainder),
      VALUE(remainder, i23(), 0),
      BINARY(fmod),
      VALUE(fmod, i23(), 0),
      BINARY(pow),
      VALUE(pow, i23(), -1),
      VALUE(pow, 2, none()),
      BINARY(eq),
      BINARY(ne),
      BINARY(lt),
      BINARY(le),
      BINARY(gt),
      BINARY(ge),
      DTYPE(bitwise_and, m23(), m23()),
      DTYPE(bitwise_and_, m23(), i23()),
      DEVICE(bitwise_and, i23(), there()),
      DTYPE(bitwise_or, m23(), m23()),
      DTYPE(bitwise_or_, m23(), i23()),
      DTYPE(bitwise_xor, m23(), m23()),
      DTYPE(bitwise_xor_, m23(), i23()),
      BINARY(logical_and),
      BINARY(logical_or),
      BINARY(logical_xor),
      BINARY(atan2),
      SHAPE(maximum, m23(), m45()),
      DEVICE(maximum, m23(), there()),
      SHAPE(minimum, m23(), m45()),
      DEVICE(minimum, m23(), there()),
      SHAPE(where, b23(), m23(), m45()),
      DTYPE(where, m23(), m23(), m23()),
      DEVICE(where, b23(), m23(), there()),
      DEVICE(where, b23().to("reference"), m23(), 1),
      VALUE(where, none(), m23(), m23()),
      SHAPE(masked_fill, m23(), ones({4}, kBool), 1),
      DTYPE(masked_fill, m23(), i23(), 1),
      DEVICE(masked_fill, there(), b23(), 1),
      SHAPE(masked_fill_, ones({3}), b23(), 1),
      DEVICE(masked_fill_, there(), b23(), 1),
      VALUE(fill_, none(), 1),
      VALUE(fill_, ones({1, 3}).expand({2, 3}), 1),
      SHAPE(copy_, m23(), m45()),
      VALUE(copy_, none(), m23()),
      VALUE(copy_, ones({1, 3}).expand({2, 3}), m23()),
      DEVICE(equal, m23(), there()),
      VALUE(equal, none(), m23()),
      SHAPE(allclose, m23(), m45()),
      DEVICE(allclose, m23(), there()),
      SHAPE(isclose, m23(), m45()),
      DEVICE(isclose, m23(), there()),
      VALUE(isclose, m23(), m23(), -1.0),
      VALUE(result_type, none(), m23()),
      VALUE(clamp, m23(), std::nullopt),
      VALUE(clamp, none(), 0),
      VALUE(clamp_, m23(), std::nullopt),
      DTYPE(clamp_, i23(), 0.5),
  };
}

std::vector<BadCall> unary_calls() {
  std::vector<BadCall> calls{
      DTYPE(neg, b23()),    DTYPE(bitwise_not, m23()), DTYPE(bitwise_not_, m23()),
      VALUE(gelu, none()),  DTYPE(gelu, i23()),        VALUE(isnan, none()),
      VALUE(isinf, none()), VALUE(isfinite, none()),
  };
  // Those that make floats of integers cannot do so in place.
#define MAP(f, ...)                                          \
  calls.push_back(VALUE(f, none()));                         \
  calls.push_back(VALUE(f##_, none()));                      \
  calls.push_back(VALUE(f##_, ones({1, 3}).expand({2, 3}))); \
  if (f(i23()).is_floating_point()) {                        \
    calls.push_back(DTYPE(f##_, i23()));                     \
  }
  AMBIT_UNARY_MAPS(MAP)
#undef MAP
  return calls;
}

std::vector<BadCall> reduce_calls() {
  return {
      VALUE(sum, none()),
      INDEX(sum, m23(), {2}),
      SHAPE(sum, m23(), {0, 0}),
      DTYPE(mean, i23()),
      INDEX(mean, m23(), {-3}),
      INDEX(prod, m23(), 2),
      VALUE(prod, none()),
      DTYPE(var, i23()),
      INDEX(var, m23(), IntArrayRef{5}),
      // In a function call the bare name would also be the namespace's.
      bad<DTypeError>("std", "std(i23())", [] { ambit::std(i23()); }),
      bad<IndexError>("std", "std(m23(), {5})", [] { ambit::std(m23(), IntArrayRef{5}); }),
      SHAPE(max, ones({0})),
      INDEX(max, m23(), 2),
      SHAPE(max, ones({2, 0}), 1),
      DEVICE(max, m23(), there()),
      SHAPE(max, m23(), m45()),
      SHAPE(min, ones({0})),
      INDEX(min, m23(), -3),
      DEVICE(min, m23(), there()),
      SHAPE(argmax, ones({0})),
      INDEX(argmax, m23(), 2),
      SHAPE(argmin, ones({0})),
      INDEX(argmin, m23(), 2),
      INDEX(any, m23(), 2),
      VALUE(any, none()),
      INDEX(all, m23(), 2),
      VALUE(all, none()),
      DTYPE(norm, i23()),
      INDEX(norm, m23(), 2, {4}),
      INDEX(logsumexp, m23(), {2}),
      DTYPE(logsumexp, i23(), {0}),
      INDEX(cumsum, m23(), 2),
      VALUE(cumsum, none(), 0),
  };
}

std::vector<BadCall> shape_calls() {
  return {
      SHAPE(view, m23(), {4}),
      SHAPE(view, m23(), {-1, -1}),
      SHAPE(view, m23(), {-1, 4}),
      SHAPE(view, m23().t(), {6}),
      SHAPE(view, ones({0}), {-1, 0}),
      SHAPE(reshape, m23(), {4}),
      SHAPE(reshape, m23(), {-2, 3}),
      INDEX(transpose, m23(), 0, 2),
      INDEX(permute, m23(), {0, 2}),
      SHAPE(permute, m23(), {0}),
      SHAPE(permute, m23(), {0, 0}),
      SHAPE(t, ones({1, 1, 1})),
      INDEX(squeeze, m23(), 2),
      VALUE(squeeze, none()),
      INDEX(unsqueeze, m23(), 3),
      INDEX(unsqueeze, m23(), -4),
      SHAPE(expand, m23(), {2, 4}),
      SHAPE(expand, m23(), {3}),
      SHAPE(expand, m23(), {-1, 2, 3}),
      INDEX(select, m23(), 0, 2),
      INDEX(select, m23(), 2, 0),
      INDEX(select, m23(), 0, -3),
      INDEX(slice, m23(), 2),
      VALUE(slice, m23(), 0, 0, 1, 0),
      VALUE(slice, m23(), 0, 0, 1, -1),
      INDEX(narrow, m23(), 1, 2, 2),
      INDEX(narrow, m23(), 1, 0, -1),
      INDEX(flatten, m23(), 2),
      SHAPE(flatten, m23(), 1, 0),
      SHAPE(as_strided, m23(), {2}, {1, 1}),
      SHAPE(as_strided, m23(), {7}, {1}),
      SHAPE(as_strided, m23(), {2}, {-1}),
      SHAPE(as_strided, m23(), {1}, {1}, -1),
      INDEX(unbind, m23(), 2),
      SHAPE(unbind, ones({})),
      INDEX(split, m23(), 1, 2),
      SHAPE(split, m23(), -1, 0),
      SHAPE(split, m23(), 0, 0),
      SHAPE(split, m23(), {1, 1}, 1),
      SHAPE(split, m23(), {-1, 4}, 1),
      INDEX(chunk, m23(), 1, 2),
      VALUE(chunk, m23(), 0, 0),
      VALUE(clone, none()),
      VALUE(contiguous, none()),
      VALUE(to, none(), kCPU, kFloat32),
      BAD(BackendError, to, m23(), Device("reference:9"), kFloat32),
      SHAPE(repeat, m23(), {2}),
      SHAPE(repeat, m23(), {2, -1}),
      INDEX(flip, m23(), {2}),
      SHAPE(flip, m23(), {0, 0}),
      SHAPE(cat, {m23(), m45()}, 0),
      INDEX(cat, {m23(), m23()}, 2),
      DEVICE(cat, {m23(), there()}, 0),
      VALUE(cat, std::vector<Tensor>{}),
      SHAPE(cat, {ones({}), ones({})}),
      SHAPE(stack, {m23(), m45()}),
      INDEX(stack, {m23()}, 3),
      DEVICE(stack, {there(), m23()}),
      VALUE(stack, std::vector<Tensor>{}),
  };
}

std::vector<BadCall> index_calls() {
  return {
      INDEX(index, m23(), {2}),
      INDEX(index, m23(), {0, 0, 0}),
      INDEX(index, m23(), {list(2)}),
      INDEX(index, m23(), {list(-3)}),
      INDEX(index, m23(), {ones({3}, kBool)}),
      DTYPE(index, m23(), {ones({2})}),
      SHAPE(index, m23(), {list(0), idx(0).slice(1, 0, 3)[0]}),
      INDEX(index, m23(), {"...", "..."}),
      VALUE(index, m23(), {".."}),
      VALUE(index, none(), {0}),
      DEVICE(index, m23(), {list(0).to("reference")}),
      SHAPE(index_put_, m23(), {0}, ones({4})),
      INDEX(index_put_, m23(), {5}, ones({3})),
      INDEX(index_put_, m23(), {list(7)}, 1),
      DEVICE(index_put_, m23(), {list(0)}, ones({3}, "reference")),
      DTYPE(index_put_, m23(), {list(0)}, i23()[0]),
      INDEX(index_select, m23(), 2, list(0)),
      INDEX(index_select, m23(), 0, list(2)),
      INDEX(index_select, m23(), 0, list(-1)),
      DTYPE(index_select, m23(), 0, ones({2})),
      SHAPE(index_select, m23(), 0, idx(0)),
      DEVICE(index_select, m23(), 0, list(0).to("reference")),
      INDEX(gather, m23(), 0, idx(2)),
      INDEX(gather, m23(), 0, idx(-1)),
      INDEX(gather, m23(), 2, idx(0)),
      DTYPE(gather, m23(), 0, m23()),
      SHAPE(gather, m23(), 0, list(0)),
      SHAPE(gather, m23(), 0, full({2, 4}, 0, kInt64)),
      DEVICE(gather, there(), 0, idx(0)),
      INDEX(scatter, m23(), 1, idx(3), m23()),
      SHAPE(scatter, m23(), 1, idx(0), ones({1, 3})),
      DTYPE(scatter, m23(), 1, m23(), m23()),
      DTYPE(scatter, m23(), 1, idx(0), i23()),
      DEVICE(scatter, m23(), 1, idx(0), there()),
      INDEX(scatter_add, m23(), 1, idx(3), m23()),
      SHAPE(scatter_add, m23(), 1, list(0), m23()),
      DEVICE(scatter_add, m23(), 1, idx(0), there()),
      INDEX(scatter_, m23(), 1, idx(3), m23()),
      DEVICE(scatter_, m23(), 1, idx(0), there()),
      VALUE(scatter_, none(), 1, idx(0), m23()),
      INDEX(scatter_add_, m23(), 1, idx(3), m23()),
      DEVICE(scatter_add_, m23(), 1, idx(0), there()),
      SHAPE(masked_select, m23(), ones({4}, kBool)),
      DTYPE(masked_select, m23(), i23()),
      DEVICE(masked_select, there(), b23()),
      BAD(NotImplementedError, masked_select, m23().to("meta"), b23().to("meta")),
      VALUE(nonzero, none()),
      BAD(NotImplementedError, nonzero, m23().to("meta")),
      INDEX(embedding, m23(), list(2)),
      INDEX(embedding, m23(), list(-1)),
      DTYPE(embedding, m23(), ones({2})),
      SHAPE(embedding, ones({2}), list(0)),
      INDEX(embedding, m23(), list(0), 2),
      DEVICE(embedding, there(), list(0)),
      DTYPE(one_hot, m23()),
      INDEX(one_hot, idx(3), 3),
      INDEX(one_hot, idx(-1)),
      VALUE(one_hot, idx(0), 0),
  };
}

std::vector<BadCall> matmul_calls() {
  return {
      SHAPE(matmul, m23(), m23()),
      SHAPE(matmul, ones({}), m23()),
      DTYPE(matmul, m23(), i23()),
      DTYPE(matmul, b23(), b23().t()),
      DEVICE(matmul, m23(), there().t()),
      SHAPE(matmul, ones({2, 2, 3}), ones({3, 3, 2})),
      SHAPE(mm, m23(), ones({3})),
      SHAPE(mm, m23(), m23()),
      DEVICE(mm, m23(), there()),
      SHAPE(bmm, m23(), m23()),
      SHAPE(bmm, ones({2, 2, 3}), ones({3, 3, 2})),
      DEVICE(bmm, ones({1, 2, 3}), there()),
      SHAPE(mv, m23(), ones({2})),
      SHAPE(mv, m23(), m23()),
      DEVICE(mv, there(), ones({3})),
      SHAPE(dot, ones({2}), ones({3})),
      SHAPE(dot, m23(), m23()),
      DTYPE(dot, ones({2}), ones({2}, kFloat64)),
      DEVICE(dot, ones({3}), there()[0]),
      SHAPE(addmm, ones({3}), m23(), m23()),
      SHAPE(addmm, ones({4}), m23(), m23().t()),
      DTYPE(addmm, i23(), m23(), m23().t()),
      DEVICE(addmm, there(), m23(), m23().t()),
      SHAPE(linear, m23(), ones({4, 2})),
      SHAPE(linear, m23(), ones({4, 3}), ones({3})),
      SHAPE(linear, ones({}), ones({4, 3})),
      DTYPE(linear, m23(), ones({4, 3}, kFloat64)),
      DEVICE(linear, m23(), there()),
      VALUE(linear, m23(), none()),
  };
}

std::vector<BadCall> nn_calls() {
  return {
      SHAPE(conv2d, ones({6, 6}), filter()),
      SHAPE(conv2d, ones({1, 3, 6, 6}), filter()),
      SHAPE(conv2d, ones({1, 2, 2, 2}), filter()),
      SHAPE(conv2d, image(), filter(), ones({3})),
      SHAPE(conv2d, image(), ones({4, 2, 3})),
      DTYPE(conv2d, image().to(kInt64), filter()),
      DTYPE(conv2d, image(), filter().to(kFloat64)),
      DEVICE(conv2d, image(), filter().to("reference")),
      DEVICE(conv2d, image(), filter(), ones({4}, "reference")),
      SHAPE(conv2d, image(), filter(), none(), {.stride = {0, 1}}),
      SHAPE(conv2d, image(), filter(), none(), {.padding = {-1, 0}}),
      SHAPE(conv2d, image(), filter(), none(), {.dilation = {0, 1}}),
      SHAPE(conv2d, image(), filter(), none(), {.groups = 3}),
      SHAPE(conv2d, image(), filter(), none(), {.groups = 0}),
      SHAPE(conv2d_input_grad, ones({1, 4, 9, 9}), filter(), {1, 2, 6, 6}, Conv2dParams{}),
      DEVICE(conv2d_input_grad, ones({1, 4, 4, 4}), filter().to("reference"), {1, 2, 6, 6},
             Conv2dParams{}),
      SHAPE(conv2d_weight_grad, ones({1, 4, 9, 9}), image(), {4, 2, 3, 3}, Conv2dParams{}),
      DEVICE(conv2d_weight_grad, ones({1, 4, 4, 4}), image().to("reference"), {4, 2, 3, 3},
             Conv2dParams{}),
      SHAPE(max_pool2d, m23(), Pool2dParams{}),
      DTYPE(max_pool2d, image().to(kInt64), Pool2dParams{}),
      SHAPE(max_pool2d, image(), Pool2dParams{.kernel = {7, 7}}),
      SHAPE(max_pool2d, image(), Pool2dParams{.kernel = {2, 2}, .padding = {2, 2}}),
      SHAPE(max_pool2d, image(), Pool2dParams{.kernel = {0, 2}}),
      SHAPE(max_pool2d_with_indices, image(), Pool2dParams{.stride = {0, 1}}),
      SHAPE(avg_pool2d, m23(), Pool2dParams{}),
      DTYPE(avg_pool2d, image().to(kInt64), Pool2dParams{}),
      SHAPE(avg_pool2d, image(), Pool2dParams{.kernel = {7, 7}}),
      SHAPE(adaptive_avg_pool2d, m23(), {1, 1}),
      SHAPE(adaptive_avg_pool2d, image(), {0, -2}),
      DTYPE(adaptive_avg_pool2d, image().to(kInt64), {1, 1}),
      INDEX(softmax, m23(), 2),
      DTYPE(softmax, i23(), 0),
      INDEX(log_softmax, m23(), -3),
      DTYPE(log_softmax, i23(), 0),
      SHAPE(batch_norm, ones({3}), none(), none(), none(), none(), BatchNormParams{}),
      SHAPE(batch_norm, image(), ones({3}), none(), none(), none(), BatchNormParams{}),
      SHAPE(batch_norm, ones({1, 3}), none(), none(), none(), none(), BatchNormParams{}),
      DTYPE(batch_norm, i23(), none(), none(), none(), none(), BatchNormParams{}),
      DEVICE(batch_norm, image(), ones({2}, "reference"), none(), none(), none(),
             BatchNormParams{}),
      VALUE(batch_norm, image(), none(), none(), none(), none(),
            BatchNormParams{.training = false}),
      INDEX(nll_loss, m23(), list(3)),
      INDEX(nll_loss, m23(), list(-1)),
      DTYPE(nll_loss, m23(), ones({2})),
      SHAPE(nll_loss, m23(), ones({3}, kInt64)),
      SHAPE(nll_loss, m23(), list(0), ones({2})),
      DTYPE(nll_loss, i23(), list(0)),
      DEVICE(nll_loss, there(), list(0)),
      DEVICE(nll_loss, m23(), list(0), ones({3}, "reference")),
      INDEX(cross_entropy, m23(), list(3)),
      SHAPE(cross_entropy, m23(), ones({3}, kInt64)),
      SHAPE(cross_entropy, m23(), m45()),
      DTYPE(cross_entropy, i23(), list(0)),
      DEVICE(cross_entropy, there(), list(0)),
      DEVICE(cross_entropy, m23(), there()),
      VALUE(cross_entropy, m23(), list(0), none(), Reduction::mean, -100, 1.5),
      SHAPE(mse_loss, m23(), m45()),
      DTYPE(mse_loss, i23(), i23()),
      DEVICE(mse_loss, m23(), there()),
  };
}

// What takes one tensor and refuses it undefined, beyond the cases above.
std::vector<BadCall> undefined_calls() {
  return {
      VALUE(randint_like, none(), 0, 2),
      VALUE(bernoulli, none()),
      VALUE(uniform_, none()),
      VALUE(normal_, none()),
      VALUE(random_, none(), 0, 2),
      VALUE(bernoulli_, none(), 0.5),
      VALUE(gelu, none()),
      VALUE(isnan, none()),
      VALUE(isinf, none()),
      VALUE(isfinite, none()),
      VALUE(clamp_, none(), 0),
      VALUE(add_, none(), 1),
      VALUE(mul, none(), 1),
      VALUE(eq, none(), 1),
      VALUE(eq_, none(), 1),
      VALUE(where, none(), 1, m23()),
      VALUE(where, b23(), 1, none()),
      VALUE(masked_fill, none(), b23(), 1),
      VALUE(masked_fill_, none(), b23(), 1),
      VALUE(copy_, m23(), none()),
      VALUE(result_type, none(), 1),
      VALUE(sum, none(), {0}),
      VALUE(mean, none()),
      VALUE(prod, none(), 0),
      VALUE(var, none()),
      bad<Error>("std", "std(none())", [] { ambit::std(none()); }),
      VALUE(max, none()),
      VALUE(max, none(), 0),
      VALUE(min, none()),
      VALUE(argmax, none()),
      VALUE(argmin, none(), 0),
      VALUE(any, none(), 0),
      VALUE(all, none(), 0),
      VALUE(norm, none()),
      VALUE(logsumexp, none(), {0}),
      VALUE(softmax, none(), 0),
      VALUE(log_softmax, none(), 0),
      VALUE(view, none(), {1}),
      VALUE(reshape, none(), {1}),
      VALUE(transpose, none(), 0, 1),
      VALUE(permute, none(), {0}),
      VALUE(t, none()),
      VALUE(squeeze, none(), 0),
      VALUE(unsqueeze, none(), 0),
      VALUE(expand, none(), {1}),
      VALUE(select, none(), 0, 0),
      VALUE(slice, none(), 0),
      VALUE(narrow, none(), 0, 0, 1),
      VALUE(flatten, none()),
      VALUE(as_strided, none(), {1}, {1}),
      VALUE(unbind, none()),
      VALUE(split, none(), 1),
      VALUE(split, none(), {1}, 0),
      VALUE(chunk, none(), 1),
      VALUE(repeat, none(), {1}),
      VALUE(flip, none(), {0}),
      VALUE(max_pool2d, none(), Pool2dParams{}),
      VALUE(avg_pool2d, none(), Pool2dParams{}),
      VALUE(adaptive_avg_pool2d, none(), {1, 1}),
      VALUE(one_hot, none()),
  };
}

std::vector<BadCall> all_calls() {
  std::vector<BadCall> all;
  for (const auto& part :
       {creation_calls(), random_calls(), binary_calls(), unary_calls(), reduce_calls(),
        shape_calls(), index_calls(), matmul_calls(), nn_calls(), undefined_calls()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace

TEST_CASE("the call table names every function that ops/*.h declare") {
  std::set<std::string> tested;
  for (const BadCall& call : all_calls()) tested.insert(call.function);
  const std::set<std::string> declared = declared_functions();
  REQUIRE(declared.size() > 150);
  for (const std::string& name : declared) {
    INFO("declared but not in the table: ", name);
    CHECK(tested.count(name) == 1);
  }
  for (const std::string& name : tested) {
    INFO("in the table but not declared: ", name);
    CHECK(declared.count(name) == 1);
  }
}

TEST_CASE("bad input gives the typed error, in words that say what was expected") {
  for (const BadCall& call : all_calls()) {
    INFO(call.text);
    try {
      call.run();
      FAIL_CHECK("no error");
    } catch (const Error& e) {
      const std::string what = e.what();
      INFO("says: ", what);
      CHECK(call.is_right(e));
      CHECK(what.find("expected ") != std::string::npos);
      CHECK(what.find("got ") != std::string::npos);
      if (what.find("undefined") != std::string::npos) {
        CHECK(what.substr(0, what.find(':')) == call.function);
      }
      if (call.is_mismatch) {
        CHECK(what.find("expected device ") == 0);
        CHECK(e.explain().find("try: ") != std::string::npos);
      }
    }
  }
}

TEST_CASE("an in-place call that failed has changed nothing") {
  const Tensor x = arange(6, kFloat32).reshape({2, 3}), before = x.clone();
  const auto version = x.version();
  CHECK_THROWS_AS(x.add_(ones({4, 5})), ShapeError);
  CHECK_THROWS_AS(x.mul_(there()), DeviceMismatchError);
  CHECK_THROWS_AS(x.scatter_(1, idx(3), m23()), IndexError);
  CHECK_THROWS_AS(x.index_put_({list(9)}, 1), IndexError);
  CHECK_THROWS_AS(x.copy_(m45()), ShapeError);
  CHECK(x.equal(before));
  CHECK(x.version() == version);
}

TEST_CASE("methods of an undefined tensor are errors") {
  const Tensor none;
  CHECK_THROWS_AS(none.requires_grad_(false), Error);
  CHECK_THROWS_AS(none.set_data(ones({2})), Error);
  CHECK_THROWS_AS(none.bernoulli_(0.5), Error);
}
