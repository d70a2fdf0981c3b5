// apps/ambit/function_kernels.h, which `ambit ops --public` prints, says what runs: the kernels
// that a profile sees while each row of the agreement table is called on the cpu, with contiguous
// operands. After a change of what a function runs, or a new function:
//   AMBIT_WRITE_FUNCTION_KERNELS=1 build/release/bin/ambit_tests
//   --source-file='*/function_kernels_test.cpp'
#include "apps/ambit/function_kernels.h"

#include <ambit/backend/kernels.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "agreement_calls.h"
#include "declared_functions.h"

using namespace ambit;
using namespace agreement;
using profiler::EventKind;
using profiler::FunctionEvent;

namespace {

#define IMAGE o.a.unsqueeze(0).unsqueeze(0)
#define FILTER MADE(IMAGE.narrow(2, 0, 2).narrow(3, 0, 2).contiguous())

// What the agreement table leaves to tests of their own, since it draws, describes or is of images.
std::vector<Call> further_calls() {
  static const ConvParams conv{};
  static const PoolParams pool{.kernel = {2, 2}};
  return {
      RESULT(empty, empty(3)),
      RESULT(empty_strided, empty_strided({2}, {1})),
      RESULT(zeros, zeros(3)),
      RESULT(ones, ones(3)),
      RESULT(full, full({3}, 2)),
      RESULT(empty_like, empty_like(o.a)),
      RESULT(arange, arange(3)),
      RESULT(linspace, linspace(0, 1, 3)),
      RESULT(eye, eye(3)),
      RESULT(tensor, tensor({1, 2})),
      RESULT(scalar_tensor, scalar_tensor(1)),
      RESULT(from_blob, from_blob(o.a.data_ptr(), {1})),
      RESULT(rand, rand(3)),
      RESULT(randn, randn(3)),
      RESULT(randint, randint(5, 3)),
      RESULT(randperm, randperm(3)),
      RESULT(rand_like, rand_like(o.a)),
      RESULT(randn_like, randn_like(o.a)),
      RESULT(randint_like, randint_like(o.a, 5)),
      RESULT(bernoulli, bernoulli(o.unit)),
      IN_PLACE(uniform_, o.a),
      IN_PLACE(normal_, o.a),
      IN_PLACE(random_, o.a),
      IN_PLACE(bernoulli_, o.a),
      IN_PLACE(exponential_, o.a),
      IN_PLACE(geometric_, o.a, 0.5),
      IN_PLACE(cauchy_, o.a),
      IN_PLACE(log_normal_, o.a),
      RESULT(normal, normal(o.a, o.unit)),
      RESULT(poisson, poisson(o.unit)),
      RESULT(binomial, binomial(MADE(o.m.to(kFloat32)), o.unit)),
      RESULT(dropout, dropout(o.a, 0.5, true)),
      RESULT(dropout2d, nn::functional::dropout2d(IMAGE)),
      RESULT(dropout3d, nn::functional::dropout3d(IMAGE.unsqueeze(0))),
      RESULT(alpha_dropout, alpha_dropout(o.a, 0.5, true)),
      RESULT(feature_dropout, feature_dropout(o.a, 0.5, true)),
      RESULT(feature_dropout_, feature_dropout_(MADE(o.a.clone()), 0.5, true)),
      RESULT(feature_alpha_dropout, feature_alpha_dropout(o.a, 0.5, true)),
      RESULT(gumbel_softmax, nn::functional::gumbel_softmax(o.a)),
      RESULT(dropout_, dropout_(MADE(o.a.clone()), 0.5, true)),
      Call{"result_type",
           [](const Operands& o) {
             static_cast<void>(result_type(o.a, o.n));
             return std::vector<Tensor>();
           }},
      Call{"can_cast",
           [](const Operands&) {
             static_cast<void>(can_cast(kInt64, kFloat32));
             return std::vector<Tensor>();
           }},
      RESULT(conv1d,
             conv1d(o.a.unsqueeze(0), MADE(o.unit.narrow(1, 0, 2).contiguous()).unsqueeze(0))),
      RESULT(conv2d, conv2d(IMAGE, FILTER)),
      RESULT(conv3d, conv3d(IMAGE.unsqueeze(0), FILTER.unsqueeze(0))),
      RESULT(convolution, convolution(IMAGE, FILTER, {}, 1, 0, 1, false, 0, 1)),
      RESULT(conv_transpose1d, conv_transpose1d(o.a.unsqueeze(0), o.unit.unsqueeze(2))),
      RESULT(conv_transpose2d, conv_transpose2d(IMAGE, FILTER)),
      RESULT(conv_transpose3d, conv_transpose3d(IMAGE.unsqueeze(0), FILTER.unsqueeze(0))),
      RESULT(convolution_input_grad, convolution_input_grad(IMAGE, FILTER, {1, 1, 8, 6}, conv)),
      RESULT(convolution_weight_grad, convolution_weight_grad(IMAGE, IMAGE, {1, 1, 1, 1}, conv)),
      RESULT(max_pool2d, max_pool2d(IMAGE, pool)),
      RESULT(max_pool2d_with_indices, std::get<0>(max_pool2d_with_indices(IMAGE, pool))),
      RESULT(avg_pool2d, avg_pool2d(IMAGE, pool)),
      RESULT(adaptive_avg_pool2d, adaptive_avg_pool2d(IMAGE, {3, 2})),
      RESULT(batch_norm, batch_norm(o.a, {}, {}, MADE(zeros(5)), MADE(ones(5)), BatchNormParams{})),
      RESULT(subtract, subtract(o.a, o.b)),
      RESULT(clip, clip(o.a, 0, 1)),
      RESULT(arctan2, arctan2(o.a, o.b)),
#define ALIAS(alias, function) RESULT(alias, alias(o.a)),
      AMBIT_UNARY_ALIASES(ALIAS)
#undef ALIAS
#define ALIAS(alias, function) RESULT(alias, alias(o.a, o.b)),
          AMBIT_BINARY_ALIASES(ALIAS)
#undef ALIAS
  };
}

Operands contiguous_operands() {
  manual_seed(7);
  const std::array<int64_t, 2> sizes{7, 5};
  return {.a = randn(sizes),
          .b = randn(sizes),
          .unit = rand(sizes) * 0.9 + 0.05,
          .n = randint(-9, 9, sizes),
          .m = randint(1, 9, sizes),
          .yes = randn(sizes) > 0,
          .no = randn(sizes) > 0.5,
          .is_empty = false,
          .is_scalar = false};
}

/// "unary exp" where a profile says "exp", the function of a family: which, its tensors tell.
std::string kernel_of(const FunctionEvent& event) {
  for (const OpBase* op : all_ops()) {
    if (event.name == op->name()) return event.name;
  }
  const std::string& shapes = event.input_shapes;
  const auto inputs = std::count(shapes.begin(), shapes.end(), '[');
  const auto is_in = [&](std::initializer_list<const char*> names) {
    return std::find(names.begin(), names.end(), event.name) != names.end();
  };
#define NAME(name, ...) #name,
  if (is_in({AMBIT_UNARY_FUNCTIONS(NAME)})) return "unary " + event.name;
  if (is_in({AMBIT_BINARY_FUNCTIONS(NAME)})) {
    return (inputs == 2 ? "binary " : "binary_scalar ") + event.name;
  }
  if (is_in({AMBIT_TERNARY_FUNCTIONS(NAME)})) return "ternary " + event.name;
  if (is_in({AMBIT_COMPARE_FUNCTIONS(NAME)})) {
    return (inputs == 2 ? "compare " : "compare_scalar ") + event.name;
  }
  if (inputs == 2) return "scatter_reduce " + event.name;
  const bool keeps_shape = shapes == event.output_shapes;
  if (keeps_shape && is_in({AMBIT_SCAN_FUNCTIONS(NAME)})) return "scan " + event.name;
  REQUIRE_MESSAGE(is_in({AMBIT_REDUCE_FUNCTIONS(NAME)}), event.name);
#undef NAME
  return "reduce " + event.name;
}

/// The kernels that a call runs, each once, in the order in which they first run; not those that
/// run inside of others, nor what the row does beside its function.
std::vector<std::string> kernels_of(const Call& call, const Operands& operands) {
  profiler::Profile profile({.record_shapes = true});
  static_cast<void>(call.run(operands));
  profile.stop();
  std::vector<FunctionEvent> events = profile.events();
  std::stable_sort(events.begin(), events.end(), [](const auto& a, const auto& b) {
    return a.start != b.start ? a.start < b.start : a.depth < b.depth;
  });
  std::vector<std::string> kernels;
  int inside = INT_MAX;  // the depth of what is left out with all that is inside of it
  for (const FunctionEvent& event : events) {
    if (event.depth > inside) continue;
    const bool counts = event.kind == EventKind::op;
    inside = counts || event.name == kOperand ? event.depth : INT_MAX;
    if (!counts) continue;
    const std::string kernel = kernel_of(event);
    if (std::find(kernels.begin(), kernels.end(), kernel) == kernels.end()) {
      kernels.push_back(kernel);
    }
  }
  return kernels;
}

std::map<std::string, std::string> recorded() {
  const Operands operands = contiguous_operands();
  std::map<std::string, std::vector<std::string>> all;
  for (const auto& calls : {CallTable<Call>::all(), further_calls()}) {
    for (const Call& call : calls) {
      std::vector<std::string>& kernels = all[call.function];
      for (const std::string& kernel : kernels_of(call, operands)) {
        if (std::find(kernels.begin(), kernels.end(), kernel) == kernels.end()) {
          kernels.push_back(kernel);
        }
      }
    }
  }
  // What runs in place what it runs out of place has one row.
  std::erase_if(all, [&](const auto& row) {
    if (!row.first.ends_with('_')) return false;
    const auto plain = all.find(row.first.substr(0, row.first.size() - 1));
    return plain != all.end() && std::all_of(row.second.begin(), row.second.end(), [&](auto& k) {
             return std::find(plain->second.begin(), plain->second.end(), k) != plain->second.end();
           });
  });
  std::map<std::string, std::string> joined;
  for (const auto& [function, kernels] : all) {
    std::string& text = joined[function];
    for (const std::string& kernel : kernels) text += (text.empty() ? "" : ", ") + kernel;
  }
  return joined;
}

void write(const std::map<std::string, std::string>& rows) {
  std::ofstream out(AMBIT_FUNCTION_KERNELS);
  out << R"(// Which kernels each public function runs, with contiguous operands. Written by
// tests/tables/function_kernels_test.cpp, which says when and how; not by hand.
#pragma once

struct FunctionKernels {
  const char* function;
  const char* kernels;  // of a family with its function; "": a view, or computed on the host
};

// clang-format off
inline constexpr FunctionKernels kFunctionKernels[] = {
)";
  for (const auto& [function, kernels] : rows) {
    out << "  {\"" << function << "\", \"" << kernels << "\"},\n";
  }
  out << "};\n// clang-format on\n";
}

}  // namespace

TEST_CASE("the table of public functions and their kernels is what runs") {
  const std::map<std::string, std::string> rows = recorded();
  if (std::getenv("AMBIT_WRITE_FUNCTION_KERNELS")) return write(rows);
  std::map<std::string, std::string> table;
  for (const FunctionKernels& row : kFunctionKernels) table[row.function] = row.kernels;
  INFO(
      "renew apps/ambit/function_kernels.h: AMBIT_WRITE_FUNCTION_KERNELS=1, see the first lines "
      "here");
  for (const auto& row : rows) {
    INFO(row.first);
    REQUIRE(table.contains(row.first));
    CHECK(table[row.first] == row.second);
  }
  CHECK(table.size() == rows.size());
  std::set<std::string> declared = declared_functions();
  declared.merge(declared_functions_of_nn());
  for (const std::string& name : declared) {
    INFO("declared but not in the table: ", name);
    CHECK((table.contains(name) ||
           (name.ends_with('_') && table.contains(name.substr(0, name.size() - 1)))));
  }
}
