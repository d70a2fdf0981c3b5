// Runs programs, call by call. A value is freed after its last use.
#include <ambit/autocast.h>
#include <ambit/autograd.h>
#include <ambit/detail/printable.h>
#include <ambit/error.h>

#include <fmt/format.h>

#include <utility>

#include "call.h"

namespace ambit::graph {
namespace {

// Throw the current exception again, with the name, module and function of the call. Exceptions of
// types with further content are rethrown unchanged.
[[noreturn]] void rethrow_at(const Node& node) {
  const auto with_place = [&](const Error& e) {
    const std::string module = node.module.empty() ? "" : fmt::format(" of {}", node.module);
    return one_line(
        fmt::format("{} (call '{}'{}, {})", e.what(), node.name, module, node.function->name));
  };
  try {
    throw;
  } catch (const DeviceMismatchError&) {
    throw;
  } catch (const OutOfMemoryError&) {
    throw;
  } catch (const ShapeError& e) {
    throw ShapeError(with_place(e));
  } catch (const DTypeError& e) {
    throw DTypeError(with_place(e));
  } catch (const IndexError& e) {
    throw IndexError(with_place(e));
  } catch (const NotImplementedError& e) {
    throw NotImplementedError(with_place(e));
  } catch (const BackendError& e) {
    throw BackendError(with_place(e));
  } catch (const AutogradError& e) {
    throw AutogradError(with_place(e));
  } catch (const LinAlgError& e) {
    throw LinAlgError(with_place(e));
  } catch (const Error& e) {
    throw Error(with_place(e));
  }
}

void run_node(const Node& node, std::vector<Slot>& slots, const Mode& mode) {
  Slots results = call_results(node, slots, mode);
  for (size_t i = 0; i < node.outputs.size(); ++i) slots[node.outputs[i]] = std::move(results[i]);
  for (const uint32_t v : node.last_used) slots[v] = {};
}

void mark_used(const Argument& a, std::vector<uint32_t>& last, uint32_t node) {
  if (a.kind == Argument::Kind::value) last[static_cast<size_t>(a.integer)] = node;
  for (const Argument& item : a.items) mark_used(item, last, node);
}

}  // namespace

Slots call_results(const Node& node, std::span<const Slot> slots, const Mode& mode) {
  try {
    Call call(node, slots, mode);
    if (node.counts_steps && mode.training == false) {
      call.give(call.tensor(0));
    } else {
      node.function->run(call);
    }
    Slots& results = call.results();
    if (results.size() < node.outputs.size()) {
      throw Error(fmt::format("expected {} results, got {}", node.outputs.size(), results.size()));
    }
    return std::move(results);
  } catch (const Error&) {
    rethrow_at(node);
  }
}

void find_last_uses(Block& block) {
  constexpr uint32_t kNever = UINT32_MAX, kKept = UINT32_MAX - 1;
  std::vector<uint32_t> last(block.values.size(), kNever);
  for (uint32_t i = 0; i < block.nodes.size(); ++i) {
    for (const uint32_t v : block.nodes[i].outputs) last[v] = i;
    for (const Argument& a : block.nodes[i].arguments) mark_used(a, last, i);
  }
  for (const Argument& a : block.outputs) mark_used(a, last, kKept);
  for (uint32_t v = 0; v < last.size(); ++v) {
    if (last[v] < block.nodes.size()) block.nodes[last[v]].last_used.push_back(v);
  }
}

std::vector<Slot> run(const Block& block, std::vector<Slot> inputs, const Mode& mode) {
  if (inputs.size() != block.inputs.size()) {
    throw Error(fmt::format("expected {} inputs of a block of calls, got {}", block.inputs.size(),
                            inputs.size()));
  }
  std::vector<Slot> slots(block.values.size());
  for (size_t i = 0; i < inputs.size(); ++i) slots[block.inputs[i]] = std::move(inputs[i]);
  for (const Node& node : block.nodes) run_node(node, slots, mode);
  const Node outputs;
  const Call call(outputs, slots, mode);
  std::vector<Slot> out;
  for (const Argument& a : block.outputs) out.push_back(call.slot(a));
  return out;
}

}  // namespace ambit::graph
