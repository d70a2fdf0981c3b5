// quantize_dynamic: quantizes all weights before it changes the first module.
#include <ambit/detail/memory_errors.h>
#include <ambit/detail/printable.h>
#include <ambit/nn/quantizable.h>
#include <ambit/nn/quantize.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/quantized.h>
#include <ambit/ops/reduce.h>

#include <fmt/format.h>

#include <unordered_set>

namespace ambit::nn {
namespace {

constexpr const char* kOp = "quantize_dynamic";

struct Change {
  Module& module;
  QuantizableWeight slot;
  Tensor q, scale;
};

Change change_of(Module& module, const QuantizableWeight& slot) {
  const Tensor weight = slot.weight.detach();
  if (!weight.is_floating_point() || weight.dtype() == kFloat64) {
    throw DTypeError(
        fmt::format("{}: expected weights of float32, float16 or bfloat16, got {} of {}", kOp,
                    name(weight.dtype()), printable(slot.weight.name())));
  }
  const auto [q, scale] = quantize_rows(weight);
  if (!scale.is_meta() && !isfinite(scale).all().item<bool>()) {
    throw Error(fmt::format("{}: expected finite weights, got NaN or Inf in {}", kOp,
                            printable(slot.weight.name())));
  }
  return {module, slot, q, scale};
}

}  // namespace

std::vector<std::string> quantize_dynamic(Module& module) {
  return typed_memory_errors(kOp, [&] {
    std::vector<std::string> paths;
    std::vector<Change> changes;
    std::unordered_set<const Module*> seen;  // a module may be registered twice
    module.apply([&](const std::string& path, Module& m) {
      auto* const quantizable = dynamic_cast<Quantizable*>(&m);
      if (!quantizable || !seen.insert(&m).second) return;
      const size_t before = changes.size();
      for (const QuantizableWeight& slot : quantizable->quantizable_weights()) {
        if (slot.weight.defined() && !slot.scale.defined()) changes.push_back(change_of(m, slot));
      }
      if (changes.size() > before) paths.push_back(path);
    });
    for (const Change& c : changes) c.module.set_quantized(c.slot, c.q, c.scale);
    return paths;
  });
}

void Module::set_quantized(const QuantizableWeight& slot, const Tensor& q, const Tensor& scale) {
  parameters_.erase(slot.name);
  slot.weight = register_buffer(slot.name, q);
  slot.scale = register_buffer(slot.name + "_scale", scale);
  for (const auto& [name, parameter] : parameters_) {
    if (parameter.defined()) parameter.requires_grad_(false);
  }
}

}  // namespace ambit::nn
