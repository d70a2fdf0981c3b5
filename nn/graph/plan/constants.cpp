#include "constants.h"

#include <set>

#include "trace.h"

namespace ambit::graph {

Constants::Constants(const Program& program, std::vector<Node> prelude,
                     std::vector<uint32_t> results, const Mode& mode)
    : prelude_(std::move(prelude)),
      results_(std::move(results)),
      mode_(mode),
      values_(program.block.values.size()) {
  std::set<uint32_t> used;
  for (const Node& node : prelude_) {
    for (const Argument& a : node.arguments) each_value(a, [&](uint32_t v) { used.insert(v); });
  }
  for (size_t i = 0; i < program.state.size(); ++i) {
    if (used.contains(program.state[i].value)) sources_.push_back({i, program.state[i].value});
  }
  contents_.resize(results_.size());
}

void Constants::refresh(const std::vector<Tensor>& state) {
  bool is_new = !results_.empty() && !contents_[0].tensor.defined() && !contents_[0].number;
  for (const Source& s : sources_) is_new = is_new || !s.computed_from.is_current(state[s.state]);
  if (!is_new) return;
  std::vector<Slot> slots(values_);
  for (const Source& s : sources_) slots[s.value] = {state[s.state], {}};
  for (const Node& node : prelude_) {
    Slots made = call_results(node, slots, mode_);
    for (size_t j = 0; j < node.outputs.size(); ++j) slots[node.outputs[j]] = std::move(made[j]);
  }
  for (size_t i = 0; i < results_.size(); ++i) contents_[i] = slots[results_[i]];
  for (Source& s : sources_) s.computed_from = StateVersion(state[s.state]);
}

}  // namespace ambit::graph
