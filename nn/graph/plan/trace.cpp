#include "trace.h"

#include <ambit/autograd.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/shape.h>
#include <ambit/random.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace ambit::graph {
namespace {

Slot on_meta(const Slot& slot) {
  if (!slot.tensor.defined()) return slot;
  const Tensor& t = slot.tensor;
  return {empty_strided(t.sizes(), t.strides(), t.options().device(kMeta)), {}};
}

// Makes tensors on meta that share memory where the given ones do.
class OnMeta {
 public:
  explicit OnMeta(const std::vector<Slot>& given) {
    for (const Slot& slot : given) {
      if (slot.tensor.defined()) ++uses_[slot.tensor.storage().get()];
    }
  }

  Slot operator()(const Slot& slot) {
    if (!slot.tensor.defined()) return slot;
    const Tensor& t = slot.tensor;
    const StorageImpl* const memory = t.storage().get();
    if (t.numel() == 0 || uses_[memory] == 1) return on_meta(slot);
    Tensor& bytes = shared_[memory];
    if (!bytes.defined()) {
      const auto count = static_cast<int64_t>(memory->size_bytes());
      bytes = empty({(count + 15) / 16 * 16}, TensorOptions(kUInt8).device(kMeta));
    }
    return {as_strided(bytes.view(t.dtype()), t.sizes(), t.strides(), t.storage_offset()), {}};
  }

 private:
  std::map<const StorageImpl*, size_t> uses_;
  std::map<const StorageImpl*, Tensor> shared_;  // all bytes of the memory
};

bool has_block(const Node& node) {
  return std::any_of(node.arguments.begin(), node.arguments.end(),
                     [](const Argument& a) { return a.block != nullptr; });
}

// Return true for names such as "relu_.default".
bool writes_in_place(const Node& node) {
  const std::string_view name = node.function->name;
  const size_t dot = name.find('.');
  return dot != name.npos && dot > 1 && name[dot - 1] == '_' && name[dot - 2] != '_';
}

class Tracer {
 public:
  Tracer(const Block& block, const Mode& mode) : block_(block), mode_(mode), meta_mode_(mode) {
    meta_mode_.device = kMeta;
    const size_t n = block.values.size();
    trace_.values.resize(n);
    trace_.constants.resize(n);
    trace_.is_constant.resize(n);
    needs_values_.resize(block.nodes.size());
  }

  Trace run(const std::vector<Slot>& given, const std::vector<bool>& constant) {
    const NoGradGuard no_grad;
    OnMeta shared(given);
    for (size_t i = 0; i < block_.inputs.size(); ++i) {
      const uint32_t v = block_.inputs[i];
      trace_.values[v] = shared(given[i]);
      trace_.is_constant[v] = constant[i];
      if (trace_.is_constant[v]) trace_.constants[v] = given[i];
    }
    for (size_t i = 0; i < block_.nodes.size(); ++i) add(i);
    remove_written();
    return std::move(trace_);
  }

 private:
  void add(size_t i) {
    const Node& node = block_.nodes[i];
    bool is_constant = !has_block(node) && !writes_in_place(node);
    std::vector<std::pair<const StorageImpl*, uint32_t>> versions;
    for_values(node, [&](uint32_t v) {
      is_constant = is_constant && trace_.is_constant[v];
      const Tensor& t = trace_.values[v].tensor;
      if (t.defined()) versions.emplace_back(t.storage().get(), t.storage()->version());
    });
    Slots real;
    if (is_constant) is_constant = compute(node, real);
    try {
      store(node, call_results(node, trace_.values, meta_mode_), trace_.values);
    } catch (const NotImplementedError& e) {
      if (node.outputs.empty()) return;  // an assertion
      if (!is_constant) refuse(e.what());
      Slots sizes;
      for (const Slot& slot : real) sizes.push_back(on_meta(slot));
      store(node, std::move(sizes), trace_.values);
      needs_values_[i] = true;
    }
    for (const auto& [storage, version] : versions) {
      if (storage->version() != version) trace_.written.insert(storage);
    }
    for (const uint32_t v : node.outputs) trace_.is_constant[v] = is_constant;
    if (is_constant) store(node, std::move(real), trace_.constants);
  }

  // Return false if the call draws random numbers.
  bool compute(const Node& node, Slots& results) {
    const Generator& generator = default_generator(mode_.device);
    const uint64_t offset = generator.offset();
    results = call_results(node, trace_.constants, mode_);
    return generator.offset() == offset;
  }

  // A value is not constant if a call writes to its memory, or to that of a value it depends on.
  void remove_written() {
    const auto is_written = [&](uint32_t v) { return trace_.is_written(v); };
    for (const uint32_t v : block_.inputs) {
      trace_.is_constant[v] = trace_.is_constant[v] && !is_written(v);
    }
    for (size_t i = 0; i < block_.nodes.size(); ++i) {
      const Node& node = block_.nodes[i];
      bool is_constant = true;
      for_values(node, [&](uint32_t v) { is_constant = is_constant && trace_.is_constant[v]; });
      for (const uint32_t v : node.outputs) {
        trace_.is_constant[v] = trace_.is_constant[v] && is_constant && !is_written(v);
        if (!trace_.is_constant[v]) trace_.constants[v] = {};
      }
      if (needs_values_[i] && !is_constant) {
        refuse(fmt::format("another call writes to the operands of '{}', {}", node.name,
                           node.function->name));
      }
    }
  }

  template <class Visit>
  void for_values(const Node& node, const Visit& visit) const {
    for (const Argument& a : node.arguments) each_value(a, visit);
  }

  static void store(const Node& node, Slots results, std::vector<Slot>& slots) {
    for (size_t i = 0; i < node.outputs.size(); ++i) slots[node.outputs[i]] = std::move(results[i]);
  }

  [[noreturn]] static void refuse(std::string_view reason) {
    throw NotImplementedError(
        fmt::format("plan: expected sizes that do not depend on values, got others: {}", reason));
  }

  const Block& block_;
  const Mode& mode_;
  Mode meta_mode_;
  Trace trace_;
  std::vector<bool> needs_values_;  // true for each node that cannot run on meta
};

}  // namespace

Trace trace(const Block& block, const std::vector<Slot>& given, const std::vector<bool>& constant,
            const Mode& mode) {
  return Tracer(block, mode).run(given, constant);
}

}  // namespace ambit::graph
