// Operators: branches and loops. If a body uses values of the outer graph, they become further
// arguments of the call and further inputs of the body.
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/shape.h>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "operators.h"

namespace ambit::graph::onnx {
namespace {

void branch(Call& c) {
  constexpr size_t kFirst = 3;
  const bool is_true = c.flag(0);
  const Block& body = c.block(is_true ? 1 : 2);
  const std::vector<Slot> all = c.rest(kFirst);
  const size_t n = body.inputs.size();
  if (all.size() < n) throw Error("expected the values of both branches, got fewer");
  const auto begin = is_true ? all.begin() : all.end() - static_cast<std::ptrdiff_t>(n);
  c.give(run(body, std::vector<Slot>(begin, begin + static_cast<std::ptrdiff_t>(n)), c.mode()));
}

std::vector<Slot> inputs_of(const Call& c, size_t first) {
  std::vector<Slot> out;
  const std::vector<Argument>& items = c.argument(0).items;
  for (size_t i = first; i < items.size(); ++i) out.push_back(c.slot(items[i]));
  return out;
}

// The body has the inputs iteration, condition and state, and the outputs condition, state and
// elements of scans.
void loop(Call& c) {
  const std::vector<Argument>& items = c.argument(0).items;
  const auto given = [&](size_t i) {
    return i < items.size() ? c.slot(items[i]).tensor : Tensor();
  };
  const int64_t most =
      given(0).defined() ? given(0).item<int64_t>() : std::numeric_limits<int64_t>::max();
  bool goes_on = !given(1).defined() || given(1).item<bool>();
  std::vector<Slot> state = inputs_of(c, 2);
  const std::vector<Slot> captured = c.rest(2);
  const size_t scans = c.outputs() - std::min(c.outputs(), state.size());
  std::vector<std::vector<Tensor>> collected(scans);
  const TensorOptions at(c.device());
  for (int64_t i = 0; i < most && goes_on; ++i) {
    std::vector<Slot> inputs{{scalar_tensor(i, at.dtype(kInt64)), {}},
                             {scalar_tensor(goes_on, at.dtype(kBool)), {}}};
    inputs.insert(inputs.end(), state.begin(), state.end());
    inputs.insert(inputs.end(), captured.begin(), captured.end());
    std::vector<Slot> results = run(c.block(1), std::move(inputs), c.mode());
    if (results.size() != 1 + state.size() + scans) {
      throw Error(fmt::format("expected {} outputs of the body, got {}", 1 + state.size() + scans,
                              results.size()));
    }
    goes_on = results[0].tensor.item<bool>();
    for (size_t k = 0; k < state.size(); ++k) state[k] = results[1 + k];
    for (size_t k = 0; k < scans; ++k) collected[k].push_back(results[1 + state.size() + k].tensor);
  }
  for (const std::vector<Tensor>& list : collected) {
    if (list.empty()) throw Error("expected an iteration for the outputs of scans, got none");
    state.push_back({stack(list), {}});
  }
  c.give(std::move(state));
}

int64_t item(const Call& c, size_t i, size_t at, int64_t rank) {
  const IntArrayRef list = c.integers(i);
  return list.empty() ? 0 : rank < 0 ? list[at] : axis(list[at], rank);
}

// Parameters: inputs body num_scan_inputs input axes, input directions, output axes, directions.
void scan(Call& c) {
  const auto scanned = static_cast<size_t>(c.integer(2));
  const std::vector<Slot> all = inputs_of(c, 0), captured = c.rest(7);
  if (scanned < 1 || scanned > all.size()) throw Error("expected an input to scan, got none");
  const size_t states = all.size() - scanned;
  std::vector<Slot> state(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(states));
  const size_t outputs = c.block(1).outputs.size() - std::min(c.block(1).outputs.size(), states);
  std::vector<std::vector<Tensor>> collected(outputs);
  const auto axis_of = [&](size_t k) { return item(c, 3, k, all[states + k].tensor.dim()); };
  const int64_t steps = all[states].tensor.size(axis_of(0));
  for (int64_t i = 0; i < steps; ++i) {
    std::vector<Slot> inputs = state;
    for (size_t k = 0; k < scanned; ++k) {
      const int64_t at = item(c, 4, k, -1) == 0 ? i : steps - 1 - i;
      inputs.push_back({all[states + k].tensor.select(axis_of(k), at), {}});
    }
    inputs.insert(inputs.end(), captured.begin(), captured.end());
    const std::vector<Slot> results = run(c.block(1), std::move(inputs), c.mode());
    for (size_t k = 0; k < states; ++k) state[k] = results[k];
    for (size_t k = 0; k < outputs; ++k) collected[k].push_back(results[states + k].tensor);
  }
  for (size_t k = 0; k < outputs; ++k) {
    std::vector<Tensor>& list = collected[k];
    if (list.empty()) throw Error("expected a step for the outputs of the scan, got none");
    if (item(c, 6, k, -1) != 0) std::reverse(list.begin(), list.end());
    state.push_back({stack(list, item(c, 5, k, list[0].dim() + 1)), {}});
  }
  c.give(std::move(state));
}

constexpr Operator kRows[] = {
    // clang-format off
    {{"If", "cond then_branch else_branch ...", many(branch)}, 1},
    {{"Loop", "inputs body ...", many(loop)}, Operator::kList},
    {{"Scan", "inputs body num_scan_inputs scan_input_axes=[] scan_input_directions=[] "
      "scan_output_axes=[] scan_output_directions=[] ...", many(scan)}, Operator::kList},
    // clang-format on
};

}  // namespace

constinit const std::span<const Operator> kControlOperators = kRows;

}  // namespace ambit::graph::onnx
