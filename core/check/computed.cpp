// The results of kernels: their modules, and the factory functions from which their values come.
#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "blocks.h"

namespace ambit::check {
namespace {

// The module whose parameters the thread's last kernel used.
thread_local std::string current_module;

constexpr size_t kMostFactories = 8;

std::string_view first_bytes(const Tensor& t) {
  constexpr size_t kMost = 64;
  return {static_cast<const char*>(t.storage()->native_data()),
          std::min(t.storage()->size_bytes(), kMost)};
}

// The name of a module's parameter or buffer; empty for any other tensor.
std::string parameter_name(const Tensor& t) {
  const TensorImpl* own = t.impl();
  const TensorImpl* base = own->base.get();
  if (!own->autograd && !(base && base->autograd)) return {};
  std::string name = t.name();
  return name.empty() && base ? Tensor(own->base).name() : name;
}

}  // namespace

// Functions that fill a new tensor on the host without a kernel, from numbers alone. tensor() is
// not one of them: its values are the program's data. Requires the mutex of the blocks.
bool Blocks::is_sequence(const SharedStack& stack) {
  if (!stack) return false;
  static constexpr std::array kNames{
      "arange",       "range",          "linspace",        "logspace",        "randperm",
      "hann_window",  "hamming_window", "bartlett_window", "blackman_window", "kaiser_window",
      "tril_indices", "triu_indices",   "fft_fftfreq",     "fft_rfftfreq"};
  static auto* const known = new std::unordered_map<SharedStack, bool>;  // the search is slow
  const auto found = known->find(stack);
  if (found != known->end()) return found->second;
  const bool is = std::ranges::any_of(api_functions(*stack), [](const std::string& function) {
    return std::ranges::find(kNames, short_name(function)) != kNames.end();
  });
  return known->emplace(stack, is).first->second;
}

// Find out whether a block is a module's parameter or buffer.
void Blocks::name_block(Block& block, const Tensor& t) {
  const std::string name = parameter_name(t);
  if (name.empty()) return;
  const size_t dot = name.rfind('.');
  block.is_named = true;
  block.is_parameter = t.requires_grad();
  block.origin.module = dot == name.npos ? "the root module" : name.substr(0, dot);
  set_label(block, block.origin.module);
}

// The module of the first operand that is a module's parameter or buffer; else empty.
std::string Blocks::module_of(const Operands& operands) {
  std::string module;
  for (const auto* list : {&operands.read, &operands.written}) {
    for (const Tensor* t : *list) {
      Block* block = find(*t);
      if (!block) continue;
      if (!block->is_named) name_block(*block, *t);
      if (block->is_named && module.empty()) module = block->origin.module;
    }
  }
  return module;
}

void Blocks::count_steps(const Operands& operands) {
  for (const Tensor* t : operands.written) {
    Block* block = find(*t);
    if (!block || !block->is_parameter || !std::exchange(block->was_read, false)) continue;
    updates_ = std::max(updates_, ++block->updates);
    current_module.clear();  // the step is over
  }
  for (const Tensor* t : operands.read) {
    Block* block = find(*t);
    if (!block || !block->is_parameter) continue;
    const bool is_written =
        std::ranges::any_of(operands.written, [&](const Tensor* w) { return find(*w) == block; });
    if (is_written) continue;
    block->was_read = true;
    const auto address = reinterpret_cast<uintptr_t>(t->storage()->native_data());
    if (first_parameter_ == 0) first_parameter_ = address;
    if (address == first_parameter_) ++reads_;
  }
}

// Return the factories of a block's current values: the block may also have been written without a
// kernel.
std::vector<SharedStack> Blocks::factories_of(const Block& block) {
  const std::string_view now(block.begin, block.contents.size());
  if (block.device.is_cpu() && now != block.contents) return {};
  if (block.is_new && is_sequence(block.origin.made)) return {block.origin.made};
  return block.origin.factories;
}

std::vector<SharedStack> Blocks::factories_of(const Operands& operands, const Tensor& written) {
  Block* target = find(written);
  const bool is_part = target && written.nbytes() < target->bytes && !target->is_new;
  if (is_part && target->origin.factories.empty()) return {};
  if (operands.read.empty()) {
    return target ? std::vector{target->origin.made} : std::vector<SharedStack>();
  }
  std::vector<SharedStack> all = is_part ? target->origin.factories : std::vector<SharedStack>();
  for (const Tensor* t : operands.read) {
    const Block* block = find(*t);
    if (!block) return {};
    std::vector<SharedStack> factories = factories_of(*block);
    if (factories.empty()) return {};
    for (SharedStack& f : factories) {
      if (std::ranges::find(all, f) == all.end()) all.push_back(std::move(f));
    }
  }
  return all.size() <= kMostFactories ? all : std::vector<SharedStack>();
}

void Blocks::computed(const Operands& operands) {
  const std::lock_guard lock(mutex_);
  const std::string module = module_of(operands);
  if (!module.empty()) current_module = module;
  count_steps(operands);
  for (const Tensor* t : operands.written) {
    Block* block = find(*t);
    if (!block) continue;
    if (block->device.is_cpu()) {
      block->origin.factories = factories_of(operands, *t);
      block->contents = first_bytes(*t);
    }
    if (!block->is_named) block->origin.module = module;
    block->is_new = false;
    const bool is_state =
        block->origin.made && api_function(block->origin.made).starts_with("ambit::optim::");
    set_label(*block, is_state ? "optimizer" : current_module);
  }
}

}  // namespace ambit::check
