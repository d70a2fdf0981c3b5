// Compares apps/ambit/function_kernels.h, which `ambit ops --public` prints, with the kernels that
// a profile records while each row of the agreement table is called on the cpu, with contiguous
// operands. After a change of the kernels of a function, or a new function:
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
#include "further_calls.h"

using namespace ambit;
using namespace agreement;
using profiler::EventKind;
using profiler::FunctionEvent;

namespace {

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

/// Return "unary exp" for the profile's "exp", a function of a family, which its tensors determine.
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

/// Return the kernels of a call, each once, in the order of their first runs; without those within
/// other kernels, and without those of the row's own operands.
std::vector<std::string> kernels_of(const Call& call, const Operands& operands) {
  profiler::Profile profile({.record_shapes = true});
  static_cast<void>(call.run(operands));
  profile.stop();
  std::vector<FunctionEvent> events = profile.events();
  std::stable_sort(events.begin(), events.end(), [](const auto& a, const auto& b) {
    return a.start != b.start ? a.start < b.start : a.depth < b.depth;
  });
  std::vector<std::string> kernels;
  int inside = INT_MAX;  // the depth of a call that is omitted with all its inner calls
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
  // A function whose in-place form runs the same kernels has one row.
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
  out << R"(// The kernels that each public function runs with contiguous operands. Do not edit:
// tests/tables/function_kernels_test.cpp, whose first lines say how, writes this file.
#pragma once

struct FunctionKernels {
  const char* function;
  const char* kernels;  // "matmul", "unary exp"; "": runs none (a view, or computed on the host)
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

TEST_CASE("the table of public functions has the kernels that they run") {
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
