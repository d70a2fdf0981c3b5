// DeviceMismatchError of every public function and method with several tensors: each tensor
// argument in turn is on a different device from the rest, for every pair of devices, with and
// without gradients, and with 0-dim operands. The expected error follows from the rule of each
// call, which this test implements independently; the calls are compared with the declarations, so
// that none is missing.
#include <ambit/ambit.h>

#include <algorithm>
#include <map>
#include <set>

#include "declared_tensors.h"
#include "mismatch.h"
#include "mismatch_calls.h"

using namespace ambit;
using namespace mismatch;

namespace {

#define BINARY(name)                              \
  BOTH(name, elementwise, given(f(), f()), t[1]), \
      BOTH(name##_, in_place_elementwise, given(f(), f()), t[1])
#define OPERATOR(sign, name)                                                \
  Call {                                                                    \
    "operator" #sign, Rule::elementwise, given(f(), f()),                   \
        +[](const Tensors& t) { static_cast<void>(t[0] sign t[1]); }, #name \
  }
#define ASSIGNMENT(sign, name)                                              \
  Call {                                                                    \
    "Tensor::operator" #sign, Rule::in_place_elementwise, given(f(), f()),  \
        +[](const Tensors& t) { static_cast<void>(t[0] sign t[1]); }, #name \
  }

std::vector<Call> elementwise_calls() {
  return {
      BINARY(add),
      BOTH(add, elementwise, given(f(), f()), t[1], 2),
      BOTH(add_, in_place_elementwise, given(f(), f()), t[1], 2),
      BINARY(sub),
      BOTH(sub, elementwise, given(f(), f()), t[1], 2),
      BINARY(mul),
      BINARY(div),
      BOTH(div, elementwise, given(f(), f()), t[1], "floor"),
      BINARY(floor_divide),
      BINARY(remainder),
      BINARY(fmod),
      BINARY(pow),
      BINARY(eq),
      BINARY(ne),
      BINARY(lt),
      BINARY(le),
      BINARY(gt),
      BINARY(ge),
      BINARY(bitwise_and),
      BINARY(bitwise_or),
      BINARY(bitwise_xor),
      BINARY(logical_and),
      BINARY(logical_or),
      BINARY(logical_xor),
      BINARY(atan2),
      BOTH(maximum, elementwise, given(f(), f()), t[1]),
      BOTH(minimum, elementwise, given(f(), f()), t[1]),
      CALL(isclose, elementwise, given(f(), f()), t[0], t[1]),
      BOTH(allclose, elementwise, given(f(), f()), t[1]),
      BOTH(equal, strict, given(f(), f()), t[1]),
      CALL(where, elementwise, given(mask(), f(), f()), t[0], t[1], t[2]),
      named(CALL(where, elementwise, given(mask(), f()), t[0], t[1], 1), {"condition", "self"}),
      named(CALL(where, elementwise, given(mask(), f()), t[0], 1, t[1]), {"condition", "other"}),
      Call{"Tensor::where", Rule::elementwise, given(mask(), f(), f()),
           [](const Tensors& t) { static_cast<void>(t[1].where(t[0], t[2])); }},
      named(Call{"Tensor::where", Rule::elementwise, given(mask(), f()),
                 [](const Tensors& t) { static_cast<void>(t[1].where(t[0], 1)); }},
            {"condition", "self"}),
      BOTH(masked_fill, elementwise, given(f(), mask()), t[1], 2),
      BOTH(masked_fill_, in_place_elementwise, given(f(), mask()), t[1], 2),
      OPERATOR(+, add),
      OPERATOR(-, sub),
      OPERATOR(*, mul),
      OPERATOR(/, div),
      OPERATOR(%, remainder),
      OPERATOR(==, eq),
      OPERATOR(!=, ne),
      OPERATOR(<, lt),
      OPERATOR(<=, le),
      OPERATOR(>, gt),
      OPERATOR(>=, ge),
      OPERATOR(&, bitwise_and),
      OPERATOR(|, bitwise_or),
      OPERATOR(^, bitwise_xor),
      ASSIGNMENT(+=, add_),
      ASSIGNMENT(-=, sub_),
      ASSIGNMENT(*=, mul_),
      ASSIGNMENT(/=, div_),
  };
}

std::vector<Call> index_calls() {
  using indexing::Slice;
  return {
      NAMED(list("self", "indices[0]"), index, given(f(), places({2})), {t[1]}),
      NAMED(list("self", "indices[0]"), index, given(f(), mask()), {t[1]}),
      NAMED(list("self", "indices[0]", "indices[2]"), index,
            given(f({2, 2, 2}), places({2}), places({2})), {t[1], Slice(), t[2]}),
      named(Call{"Tensor::operator[]", Rule::indexing, given(f(), places({2})),
                 [](const Tensors& t) { static_cast<void>(t[0][t[1]]); }, "index"},
            {"self", "indices[0]"}),
      NAMED(list("self", "indices[0]", "value"), index_put_, given(f(), places({2}), f()), {t[1]},
            t[2]),
      NAMED(list("self", "value"), index_put_, given(f(), f({2})), {0}, t[1]),
      NAMED(list("self", "indices[0]"), index_put_, given(f(), mask()), {t[1]}, 2),
      BOTH(index_select, strict, given(f(), places({2})), 0, t[1]),
      BOTH(gather, strict, given(f(), places()), 0, t[1]),
      BOTH(scatter, strict, given(f(), places(), f()), 0, t[1], t[2]),
      BOTH(scatter_add, strict, given(f(), places(), f()), 0, t[1], t[2]),
      BOTH(scatter_, in_place, given(f(), places(), f()), 0, t[1], t[2]),
      BOTH(scatter_add_, in_place, given(f(), places(), f()), 0, t[1], t[2]),
      BOTH(masked_select, strict, given(f(), mask()), t[1]),
      CALL(embedding, strict, given(f(), places()), t[0], t[1]),
      CALL(cat, strict, given(f(), f(), f()), {t[0], t[1], t[2]}),
      CALL(stack, strict, given(f(), f(), f()), {t[0], t[1], t[2]}),
  };
}

std::vector<Call> product_calls() {
  return {
      BOTH(matmul, strict, given(f(), f()), t[1]),
      BOTH(mm, strict, given(f(), f()), t[1]),
      BOTH(bmm, strict, given(f({1, 2, 2}), f({1, 2, 2})), t[1]),
      BOTH(mv, strict, given(f(), f({2})), t[1]),
      BOTH(dot, strict, given(f({2}), f({2})), t[1]),
      CALL(addmm, strict, given(f(), f(), f()), t[0], t[1], t[2]),
      CALL(linear, strict, given(f(), f(), f({2})), t[0], t[1], t[2]),
      CALL(linear, strict, given(f(), f(), Tensor()), t[0], t[1], t[2]),
  };
}

Tensor image() { return ones({1, 2, 4, 4}); }
Tensor filter() { return ones({2, 2, 3, 3}); }

std::vector<Call> layer_calls() {
  const auto norm = given(image(), f({2}), f({2}), zeros({2}), f({2}));
  const BatchNormParams eval{.training = false};
  return {
      CALL(conv2d, strict, given(image(), filter(), f({2})), t[0], t[1], t[2]),
      CALL(conv2d, strict, given(image()[0], filter(), Tensor()), t[0], t[1]),
      CALL(conv2d, strict, given(image(), filter(), f({2})), t[0], t[1], t[2], 1, 1),
      CALL(convolution_input_grad, strict, given(f({1, 2, 2, 2}), filter()), t[0], t[1],
           {1, 2, 4, 4}, ConvParams{}),
      CALL(convolution_weight_grad, strict, given(f({1, 2, 2, 2}), image()), t[0], t[1],
           {2, 2, 3, 3}, ConvParams{}),
      CALL(batch_norm, strict, norm, t[0], t[1], t[2], t[3], t[4], BatchNormParams{}),
      Call{"batch_norm", Rule::strict, norm,
           [eval](const Tensors& t) { batch_norm(t[0], t[1], t[2], t[3], t[4], eval); }},
      CALL(nll_loss, strict, given(f(), places({2}), f({2})), t[0], t[1], t[2]),
      CALL(nll_loss, strict, given(f(), places({2}), Tensor()), t[0], t[1]),
      CALL(cross_entropy, strict, given(f(), places({2}), f({2})), t[0], t[1], t[2]),
      CALL(cross_entropy, strict, given(f(), f(), f({2})), t[0], t[1], t[2], Reduction::sum),
      CALL(cross_entropy, strict, given(f(), places({2}), Tensor()), t[0], t[1], t[2],
           Reduction::mean, -100, 0.1),
      CALL(mse_loss, strict, given(f(), f()), t[0], t[1]),
      reported_as(CALL(max, elementwise, given(f(), f()), t[0], t[1]), "maximum"),
      reported_as(CALL(min, elementwise, given(f(), f()), t[0], t[1]), "minimum"),
  };
}

const CallTable<Call> kElementwise(elementwise_calls);
const CallTable<Call> kIndexing(index_calls);
const CallTable<Call> kProducts(product_calls);
const CallTable<Call> kLayers(layer_calls);

// Omitted: functions that accept several devices, functions that only read dtypes or shapes, and
// backward, which mismatch_training_test.cpp tests.
const std::set<std::string> kExempt{"copy_",
                                    "Tensor::copy_",
                                    "fill_",
                                    "Tensor::fill_",
                                    "Tensor::to",
                                    "Tensor::type_as",
                                    "Tensor::set_data",
                                    "result_type",
                                    "Tensor::view_as",
                                    "Tensor::is_same",
                                    "Tensor::is_same_size",
                                    "Tensor::is_alias_of",
                                    "Tensor::resize_as_",
                                    "resize_as_",
                                    "Tensor::is_set_to",
                                    "Tensor::set_",
                                    "Tensor::expand_as",
                                    "Tensor::backward",
                                    "Tensor::reshape_as",
                                    "atleast_1d",
                                    "atleast_2d",
                                    "atleast_3d",
                                    "broadcast_tensors",
                                    "narrow",
                                    "Tensor::narrow",
                                    "tensor_split",
                                    "Tensor::tensor_split"};

std::string plain_name(const Call& call) {
  if (!call.op.empty()) return call.op;
  const size_t colons = call.function.rfind(':');
  return colons == std::string::npos ? call.function : call.function.substr(colons + 1);
}

std::vector<std::string> names_of(const Call& call, const DeclaredTensors& declared) {
  if (!call.names.empty()) return call.names;
  for (const auto& names : declared.at(plain_name(call))) {
    if (names.size() == call.operands.size()) return names;
    if (names == std::vector<std::string>{"tensors"})
      return {"tensors[0]", "tensors[1]", "tensors[2]"};
  }
  FAIL("no such overload: ", call.function);
  return {};
}

bool is_elementwise(Rule rule) {
  return rule == Rule::elementwise || rule == Rule::in_place_elementwise;
}

// Return the operand that sets the expected device (docs/device-mismatch.md).
size_t expected_at(Rule rule, const Tensors& t) {
  if (rule == Rule::in_place || rule == Rule::in_place_elementwise || rule == Rule::indexing) {
    return 0;
  }
  const auto first = [&](auto&& suits) {
    return static_cast<size_t>(std::find_if(t.begin(), t.end(), suits) - t.begin());
  };
  size_t i = first([](const Tensor& x) { return x.defined() && x.dim() > 0; });
  if (i == t.size() && rule == Rule::elementwise) {
    i = first([](const Tensor& x) { return x.defined() && !x.is_cpu(); });
  }
  return i < t.size() ? i : 0;
}

// Return the first operand on a device that is not permitted; the number of operands if there is
// none.
size_t actual_at(const Call& call, const std::vector<std::string>& names, const Tensors& t) {
  const Device expected = t[expected_at(call.rule, t)].device();
  for (size_t i = 0; i < t.size(); ++i) {
    if (!t[i].defined() || t[i].device() == expected) continue;
    const bool mixes = t[i].is_cpu() && t[i].dim() == 0 && is_elementwise(call.rule);
    const bool number = t[i].dim() == 0 && names[i] == "value" && call.rule == Rule::indexing;
    const bool indexes = t[i].is_cpu() && (number || names[i].starts_with("indices") ||
                                           names[i].ends_with("_lengths"));
    if (!mixes && !indexes) return i;
  }
  return t.size();
}

// How the operands of a call are derived from those of the table.
struct Variant {
  const char* text;
  bool needs_grad;
  std::function<bool(size_t i, size_t elsewhere)> is_0_dim;
};

std::vector<Variant> variants() {
  return {{"as they are", false, [](size_t, size_t) { return false; }},
          {"with gradients", true, [](size_t, size_t) { return false; }},
          {"0-dim elsewhere", false, [](size_t i, size_t elsewhere) { return i == elsewhere; }},
          {"0-dim but elsewhere", false, [](size_t i, size_t elsewhere) { return i != elsewhere; }},
          {"all 0-dim", false, [](size_t, size_t) { return true; }}};
}

// Tensors that require grad are not leaves, so that they may be overwritten.
Tensor prepared(const Tensor& operand, Device device, bool is_0_dim, const Variant& variant) {
  if (!operand.defined()) return operand;
  const Tensor base = is_0_dim ? ones({}, operand.options()) : operand;
  const Tensor leaf = base.to(device, false, /*copy=*/true);
  if (!variant.needs_grad || !leaf.is_floating_point()) return leaf;
  return leaf.requires_grad_().clone();
}

void check_call(const Call& call, const std::vector<std::string>& names, const Variant& variant,
                TwoDevices devices, size_t elsewhere) {
  INFO(call.function, ", operand ", elsewhere, " on ", devices.there.str(), ", others on ",
       devices.here.str(), ", ", std::string(variant.text));
  Tensors t;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    t.push_back(prepared(call.operands[i], i == elsewhere ? devices.there : devices.here,
                         variant.is_0_dim(i, elsewhere), variant));
    if (t.back().defined()) t.back().set_name("layer.p" + std::to_string(i));
  }
  const size_t actual = actual_at(call, names, t);
  if (actual == t.size()) return;
  check_refused([&] { call.run(t); },
                {plain_name(call), names, t, expected_at(call.rule, t), actual});
}

DeclaredTensors all_declared() {
  DeclaredTensors all = declared_functions_of_tensors();
  all.merge(declared_methods_of_tensors());
  return all;
}

}  // namespace

TEST_CASE("the mismatch tests call every function and method of several tensors") {
  std::map<std::string, size_t> called;
  for (const Call& call : CallTable<Call>::all()) ++called[call.function];
  const DeclaredTensors declared = all_declared();
  REQUIRE(declared.size() > 130);
  for (const auto& entry : declared) {
    INFO("overloads that are declared and not called: ", entry.first);
    if (!kExempt.count(entry.first)) CHECK(called[entry.first] >= entry.second.size());
  }
  for (const auto& entry : called) {
    INFO("called but not declared: ", entry.first);
    CHECK(declared.count(entry.first) == 1);
  }
}

TEST_CASE("every op refuses a tensor on another device, for each argument") {
  const CountingDevices counting;
  const DeclaredTensors declared = declared_functions_of_tensors();
  for (const Call& call : CallTable<Call>::all()) {
    const auto names = names_of(call, declared);
    REQUIRE(names.size() == call.operands.size());
    for (const Variant& variant : variants()) {
      for (const TwoDevices& devices : device_pairs()) {
        for (size_t i = 0; i < call.operands.size(); ++i) {
          if (call.operands[i].defined()) check_call(call, names, variant, devices, i);
        }
      }
    }
  }
}

// The count in docs/device-mismatch.md, counted as for PyTorch's operators: each operand in turn on
// another device, the others on the cpu, one call each.
TEST_CASE("the number of refused calls with mixed devices") {
  const DeclaredTensors declared = declared_functions_of_tensors();
  std::set<std::string> functions;
  size_t calls = 0, refused = 0, exceptions = 0;
  for (const Call& call : CallTable<Call>::all()) {
    functions.insert(call.function);
    const auto names = names_of(call, declared);
    for (const char* there : {"meta", "sim"}) {
      for (size_t elsewhere = 0; elsewhere < call.operands.size(); ++elsewhere) {
        if (!call.operands[elsewhere].defined()) continue;
        Tensors t;
        for (size_t i = 0; i < call.operands.size(); ++i) {
          const Device device = i == elsewhere ? Device(there) : kCPU;
          t.push_back(prepared(call.operands[i], device, false, variants()[0]));
        }
        if (actual_at(call, names, t) == t.size()) {
          ++exceptions;
          continue;
        }
        ++calls;
        const std::string report = test::device_mismatch(
            call.function, [&] { call.run(t); }, t[expected_at(call.rule, t)].device().str(),
            t[actual_at(call, names, t)].device().str(), t);
        CHECK(report == "");
        refused += report.empty();
      }
    }
  }
  MESSAGE(refused, " of ", calls, " calls of ", functions.size(),
          " functions, methods and operators are refused; exceptions: ", exceptions);
}

TEST_CASE("an undefined tensor that an op needs is an error with the op's name") {
  for (const Call& call : CallTable<Call>::all()) {
    for (size_t i = 0; i < call.operands.size(); ++i) {
      INFO(call.function, ", operand ", i);
      Tensors t = call.operands;
      t[i] = Tensor();
      try {
        call.run(t);  // optional tensors may be undefined
      } catch (const Error& e) {
        const std::string what = e.what();
        INFO(what);
        CHECK(what.starts_with(plain_name(call) + ": expected "));
      }
    }
  }
}
