// Chooses how a program runs. Exports the function through which libambit uses libambit_plan.so.
#include <ambit/autograd.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "planned.h"
#include "rewrite.h"

namespace ambit::graph {
namespace {

// A slice has at least kLeastImages images, and at most as many as fit into the larger of
// kSliceBytes and kPerParameterByte times the bytes of the parameters. The first keeps tensors in
// the caches of the cores and gives all threads work; the second limits the cost of the parameters,
// which each slice reads and some kernels convert.
// Measured with a batch of 32 images: ResNet-18 (44 MB of parameters) needs 1.4 times as long in
// slices of 8 as in one slice.
constexpr size_t kSliceBytes = size_t{4} << 20, kPerParameterByte = 4;
constexpr int64_t kLeastImages = 8;

// Return the trace of a program, whose block's inputs are the state, the inputs and the constants.
Trace trace_of(const Program& p, const std::vector<Tensor>& state, TensorList inputs,
               const Constants* constants, const Mode& mode) {
  std::vector<Slot> by_value(p.block.values.size());
  std::vector<bool> is_constant(by_value.size(), true);
  for (size_t i = 0; i < state.size(); ++i) by_value[p.state[i].value] = {state[i], {}};
  for (size_t i = 0; i < inputs.size(); ++i) {
    const uint32_t v = p.inputs[i].value;
    const bool is_number = !p.block.values[v].dtype;
    by_value[v] = is_number ? Slot{{}, inputs[i].item()} : Slot{inputs[i].detach(), {}};
    is_constant[v] = false;
  }
  for (size_t i = 0; constants && i < constants->size(); ++i) {
    by_value[constants->value(i)] = (*constants)[i];
  }
  std::vector<Slot> given;
  std::vector<bool> constant;
  for (const uint32_t v : p.block.inputs) {
    given.push_back(by_value[v]);
    constant.push_back(is_constant[v]);
  }
  return trace(p.block, given, constant, mode);
}

// Return how many images to compute at a time.
int64_t choose_slice(const BatchProgram& batch, const PlannedState& state, TensorList inputs,
                     const Mode& mode, int64_t images) {
  if (images <= kLeastImages) return images;
  std::vector<Tensor> few;
  for (size_t i = 0; i < inputs.size(); ++i) {
    few.push_back(batch.is_batch_input[i] ? inputs[i].narrow(0, 0, kLeastImages) : inputs[i]);
  }
  const PlannedCalls sample(std::make_shared<const Program>(batch.program), state, few, mode);
  const size_t bytes = std::max<size_t>(sample.memory_bytes() / kLeastImages, 1);
  size_t parameters = 0;
  for (const Tensor& t : state.tensors) parameters += t.nbytes();
  const size_t most = std::max(kSliceBytes, kPerParameterByte * parameters);
  const auto fit = std::max<int64_t>(static_cast<int64_t>(most / bytes), kLeastImages);
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(fit)));
}

std::shared_ptr<Planned> prepare(std::shared_ptr<const Program> program,
                                 const std::vector<Tensor>& state, TensorList inputs,
                                 const Mode& mode, const PlanOptions& options) {
  if (options.exact) {
    return std::make_shared<PlannedCalls>(std::move(program), PlannedState{state}, inputs, mode);
  }
  const NoGradGuard no_grad;
  std::vector<Tensor> detached;
  for (const Tensor& t : state) detached.push_back(t.detach());
  Rewritten rewritten =
      rewrite(*program, trace_of(*program, detached, inputs, nullptr, mode), mode);
  Program& made = rewritten.program;
  const auto constants = std::make_shared<Constants>(made, std::move(rewritten.prelude),
                                                     std::move(rewritten.constants), mode);
  constants->refresh(detached);
  const Trace traced = trace_of(made, detached, inputs, constants.get(), mode);
  reuse_operands(made, traced);
  refresh_last_uses(made.block);
  const bool packs = mode.device.is_cpu();
  const PlannedState shared{state, constants, packs ? std::make_shared<PackedState>() : nullptr};
  const bool has_batch = mode.device.is_cpu() && !inputs.empty() && inputs[0].dim() > 0;
  const int64_t images = has_batch ? inputs[0].size(0) : 1;
  if (std::optional<BatchProgram> batch =
          images > 1 ? for_any_batch(made, traced, mode, images) : std::nullopt) {
    const int64_t slice =
        options.slice > 0 ? options.slice : choose_slice(*batch, shared, inputs, mode, images);
    if (slice < images) {
      return std::make_shared<PlannedSlices>(std::move(*batch), shared, inputs, mode, images,
                                             slice);
    }
  }
  return std::make_shared<PlannedCalls>(std::make_shared<const Program>(std::move(made)), shared,
                                        inputs, mode);
}

constexpr planning::Library kLibrary{prepare};

}  // namespace
}  // namespace ambit::graph

extern "C" AMBIT_API const void* ambit_plan() { return &ambit::graph::kLibrary; }
