// Every function with a given output refuses an output on another device, and each operand on
// another device, and changes nothing. The functions are the rows of out.h; the test tries operands
// until the function accepts them.
#include <ambit/ambit.h>
#include <ambit/testing/mismatch.h>
#include <doctest/doctest.h>

#include <exception>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <vector>

using namespace ambit;

namespace {

using Tensors = std::vector<Tensor>;
using Indices = std::initializer_list<indexing::TensorIndex>;
using Optionals = std::vector<std::optional<Tensor>>;

// Forms of arguments: form(number, its tensors, arguments...).
#define FORMS(form, name, outputs)                                                                 \
  form(0, 1, name, outputs, t[0]) form(1, 2, name, outputs, t[0], t[1])                            \
      form(2, 3, name, outputs, t[0], t[1], t[2]) form(3, 1, name, outputs, t[0], 1) form(         \
          4, 2, name, outputs, t[0], 0, t[1]) form(5, 3, name, outputs, t[0], 0, t[1],             \
                                                   t[2]) form(6, 2, name, outputs, T{t[0], t[1]})  \
          form(7, 3, name, outputs, t[0], 0, t[1], t[2], "mean") form(                             \
              8, 2, name, outputs, t[0],                                                           \
              Indices{t[1]}) form(9, 3, name, outputs, t[0], Indices{t[1]}, t[2])                  \
              form(10, 1, name, outputs, 1, t[0]) form(11, 2, name, outputs, t[0], t[1], 1)        \
                  form(12, 1, name, outputs, t[0], 0, 0) form(13, 1, name, outputs, t[0], 1, 0, 1) \
                      form(14, 1, name, outputs, t[0], IntArrayRef{0, 1}) form(                    \
                          15, 2, name, outputs, t[0],                                              \
                          t[1], true) form(16, 2, name, outputs, t[0], t[1], 0, 0)                 \
                          form(17, 1, name, outputs, t[0], IntArrayRef{1, 1}, IntArrayRef{0, 1})   \
                              form(18, 2, name, outputs, t[0], t[1], 0, 0, 1) form(                \
                                  19, 2, name, outputs, t[0], t[1], IntArrayRef{2, 2},             \
                                  IntArrayRef{2, 1}) form(20, 2, name, outputs, t[0], "sum", t[1]) \
                                  form(21, 2, name, outputs, t[0], 0, t[1], 1)                     \
                                      form(22, 2, name, outputs, t[0], Indices{t[1]}, 1)           \
                                          form(23, 3, name, outputs, t[0], Optionals{t[1]}, t[2])
constexpr int kForms = 24;

#define OUTPUTS_1 o[0]
#define OUTPUTS_2 o[0], o[1]
#define OUTPUTS_3 o[0], o[1], o[2]

// A function with out=, called with the operands of a form.
struct OutFunction {
  const char* name;
  size_t outputs;
  bool (*run)(int form, Tensors& outputs,
              const Tensors& operands);  // false: the function does not have the form
};
size_t operands_of(int form) {
#define COUNT(number, tensors, ...) tensors,
  static constexpr size_t kCounts[] = {FORMS(COUNT, , )};
#undef COUNT
  return kCounts[form];
}

#define TRY(number, tensors, name, outputs, ...)                              \
  if (form == number) {                                                       \
    if constexpr (requires { name##_out(OUTPUTS_##outputs, __VA_ARGS__); }) { \
      name##_out(OUTPUTS_##outputs, __VA_ARGS__);                             \
      return true;                                                            \
    }                                                                         \
  }
#define FUNCTION(name, outputs)                   \
  struct Run_##name##_##outputs {                 \
    template <class T>                            \
    static bool run(int form, T& o, const T& t) { \
      FORMS(TRY, name, outputs)                   \
      return false;                               \
    }                                             \
  };
#define FUNCTION_1(name) FUNCTION(name, 1)
#define FUNCTION_2(name) FUNCTION(name, 2)
#define FUNCTION_3(name) FUNCTION(name, 3)
AMBIT_OUT_FUNCTIONS(FUNCTION_1)
AMBIT_OUT_PAIRS(FUNCTION_2)
AMBIT_OUT_TRIPLES(FUNCTION_3)

std::vector<OutFunction> all_functions() {
#define ROW_1(name) {#name "_out", 1, &Run_##name##_1::run<Tensors>},
#define ROW_2(name) {#name "_out", 2, &Run_##name##_2::run<Tensors>},
#define ROW_3(name) {#name "_out", 3, &Run_##name##_3::run<Tensors>},
  return {AMBIT_OUT_FUNCTIONS(ROW_1) AMBIT_OUT_PAIRS(ROW_2) AMBIT_OUT_TRIPLES(ROW_3)};
}

// Operands of every kind; none is 0-dim.
const Tensors& kinds() {
  static const Tensors all{tensor({{2.f, 0.5f}, {0.5f, 2.f}}),
                           zeros({2, 2}, kInt64),
                           zeros({2}, kInt64),
                           ones({2, 2}, kBool),
                           full({2}, 0.5),
                           ones({1, 2, 2}),
                           ones({2}, kInt64),
                           tensor({1, 2}).to(kInt32),
                           ones({2, 3}),
                           ones({3, 2})};
  return all;
}

Tensors empty_outputs(size_t count) {
  Tensors outputs;
  for (size_t i = 0; i < count; ++i) outputs.push_back(empty({0}));
  return outputs;
}

// A call that succeeds with all tensors on the cpu.
struct Found {
  OutFunction function;
  int form;
  Tensors operands, outputs;
};

bool succeeds(Found& call) {
  for (const DType dtype : {kFloat32, kInt64, kBool, kInt32, kComplexFloat}) {
    call.outputs = empty_outputs(call.function.outputs);
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      if (dtype == kComplexFloat) call.outputs[i] = empty({0}, dtype);
      // The last of several results is often an index tensor.
      if (i == 0 && dtype == kInt32) continue;
      if (i + 1 == call.outputs.size() || call.outputs.size() == 1) {
        call.outputs[i] = empty({0}, dtype);
      }
    }
    try {
      if (call.function.run(call.form, call.outputs, call.operands)) return true;
    } catch (const Error&) {
    }
  }
  return false;
}

// Return the first operands of a form with which the function succeeds.
bool find_operands(Found& call) {
  Tensors probe(4), none = empty_outputs(3);
  try {
    probe.assign(4, kinds()[0]);
    if (!call.function.run(call.form, none, probe)) return false;
  } catch (const Error&) {  // the function has the form
  }
  const size_t count = operands_of(call.form);
  size_t ways = 1;
  for (size_t i = 0; i < count; ++i) ways *= kinds().size();
  for (size_t way = 0; way < ways; ++way) {
    call.operands.clear();
    for (size_t i = 0, rest = way; i < count; ++i, rest /= kinds().size()) {
      call.operands.push_back(kinds()[rest % kinds().size()]);
    }
    if (succeeds(call)) return true;
  }
  return false;
}

// Return the result of moving one tensor of a call to another device: "" for an error that changed
// nothing.
std::string outcome(const Found& call, size_t elsewhere, Device there) {
  Tensors operands, outputs;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    operands.push_back(call.operands[i].to(i == elsewhere ? there : kCPU, false, true));
  }
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    const bool moved = call.operands.size() + i == elsewhere;
    outputs.push_back(call.outputs[i].to(moved ? there : kCPU, false, true));
  }
  std::vector<test::TensorState> states(operands.begin(), operands.end());
  for (const Tensor& output : outputs) states.emplace_back(output);
  try {
    call.function.run(call.form, outputs, operands);
    return "no error";
  } catch (const DeviceMismatchError&) {
  } catch (const std::exception& e) {
    return e.what();
  }
  for (const test::TensorState& state : states) {
    if (const std::string changed = state.changed(); !changed.empty()) return changed;
  }
  return "";
}

// The only operand is on meta, and the function needs its values: this error is thrown even if no
// other device is involved.
bool asks_meta_for_values(const Found& call, size_t elsewhere, const std::string& got) {
  return call.operands.size() == 1 && elsewhere == 0 &&
         got.find("expected a tensor with data") != got.npos && got.ends_with("got a meta tensor");
}

}  // namespace

TEST_CASE(
    "every function with an output refuses each tensor of it on meta and on a simulated device") {
  std::set<std::string> without_call;
  size_t calls = 0, refused = 0, without_values = 0, functions = 0;
  for (const OutFunction& function : all_functions()) {
    bool found = false;
    for (int form = 0; form < kForms; ++form) {
      Found call{function, form, {}, {}};
      if (!find_operands(call)) continue;
      found = true;
      for (const char* there : {"meta", "sim"}) {
        for (size_t i = 0; i < call.operands.size() + call.outputs.size(); ++i) {
          const std::string got = outcome(call, i, there);
          if (asks_meta_for_values(call, i, got)) {
            ++without_values;
            continue;
          }
          INFO(std::string(function.name), " form ", form, " tensor ", i, " on ",
               std::string(there), ": ", got);
          CHECK(got == "");
          ++calls;
          refused += got.empty();
        }
      }
    }
    functions += found;
    if (!found) without_call.insert(function.name);
  }
  std::string missing;
  for (const std::string& name : without_call) missing += name + " ";
  CHECK(missing == "");
  MESSAGE(refused, " of ", calls, " calls of ", functions,
          " functions with an output are refused; ", without_values,
          " more refuse meta, as they do without an output");
}
