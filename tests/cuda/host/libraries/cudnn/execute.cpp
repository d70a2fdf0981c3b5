#include "execute.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "convolve.h"
#include "tests/cuda/host/libraries/faults.h"
#include "tests/cuda/host/queue.h"

namespace ambit::cuda::host::cudnn {
namespace {

/// A plan with its memory.
struct Call {
  Made plan;
  std::map<int64_t, void*> memory;  // memory of each tensor, by its id
  void* workspace;

  Operand operand(const Tensor& t) const { return t.at(memory.at(t.id)); }
};

template <class T>
std::vector<T> load_operand(const Call& call, const Tensor& t) {
  std::vector<T> values = load<T>(call.operand(t));
  if constexpr (sizeof(T) == sizeof(float)) {
    if (call.plan.chosen.engine->arithmetic == Arithmetic::tf32) {
      std::transform(values.begin(), values.end(), values.begin(), round_to_tf32);
    }
  }
  return values;
}

// y [N,K,P,Q] += b, whose sizes are those of y or 1.
template <class T>
void add_repeated(const Call& call, const Tensor& b, const Tensor& y, std::vector<T>& values) {
  Operand repeated = call.operand(b);
  for (size_t d = 0; d < y.sizes.size(); ++d) {
    if (repeated.sizes[d] == 1) repeated.strides[d] = 0;
  }
  repeated.sizes = y.sizes;
  const std::vector<T> terms = load<T>(repeated);
  for (size_t i = 0; i < values.size(); ++i) values[i] += terms[i];
}

template <class T>
void apply(const Call& call, const Pointwise& step, std::vector<T>& values) {
  if (step.b) return add_repeated(call, *step.b, step.y, values);
  // NaN is propagated if the mode requests it and the engine's notes say that it does. By default
  // it becomes 0.
  const auto& notes = call.plan.chosen.engine->notes;
  const bool keeps_nan =
      step.keeps_nan &&
      std::find(notes.begin(), notes.end(), CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP) != notes.end();
  for (T& value : values) {
    if (!(value > 0) && !(keeps_nan && std::isnan(value))) value = T{0};
  }
}

template <class T>
void run(const Call& call) {
  const Graph& graph = *call.plan.chosen.graph;
  const Convolution& c = graph.convolution;
  Operands<T> operands;
  const auto load_unless = [&](ConvKind written, const Tensor& t, std::vector<T>& to) {
    if (c.kind == written) {
      to.assign(static_cast<size_t>(t.at(nullptr).numel()), T{0});
    } else {
      to = load_operand<T>(call, t);
    }
  };
  load_unless(ConvKind::data, c.x, operands.x);
  load_unless(ConvKind::filter, c.w, operands.w);
  load_unless(ConvKind::forward, c.y, operands.y);
  scribble(call.workspace, static_cast<size_t>(call.plan.workspace_bytes));
  convolve(c, call.plan.chosen.engine->arithmetic, operands);
  std::vector<T>& result = c.kind == ConvKind::forward ? operands.y
                           : c.kind == ConvKind::data  ? operands.x
                                                       : operands.w;
  for (T& value : result) value *= static_cast<T>(c.alpha);
  if (c.beta != 0) {
    const std::vector<T> before = load<T>(call.operand(c.output()));
    for (size_t i = 0; i < result.size(); ++i) result[i] += static_cast<T>(c.beta) * before[i];
  }
  for (const Pointwise& step : graph.steps) apply(call, step, result);
  store(call.operand(graph.output()), result);
}

bool is_aligned(const void* p, int64_t bytes) {
  return reinterpret_cast<uintptr_t>(p) % static_cast<uintptr_t>(bytes) == 0;
}

cudnnStatus_t check_memory(const Call& call) {
  const Graph& graph = *call.plan.chosen.graph;
  for (const Tensor& t : graph.operands()) {
    const auto found = call.memory.find(t.id);
    if (found == call.memory.end())
      return fail(CUDNN_STATUS_BAD_PARAM, "an operand not in the pack");
    if (!found->second) return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "a null operand");
    if (!is_aligned(found->second, t.alignment)) {
      return fail(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER, "an operand not aligned as promised");
    }
  }
  constexpr int64_t kWorkspaceAlignment = 16;
  if (call.plan.workspace_bytes > 0 && !call.workspace) {
    return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "no workspace");
  }
  if (!is_aligned(call.workspace, kWorkspaceAlignment)) {
    return fail(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER, "a workspace not aligned");
  }
  // Errors that the library does not detect, but which make its results wrong.
  const Operand written = call.operand(graph.output());
  expect_no_overlap("cudnnBackendExecute", written);
  for (const Tensor& t : graph.operands()) {
    if (t.id != graph.output().id) expect_apart("cudnnBackendExecute", written, call.operand(t));
  }
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

cudnnStatus_t execute(const cudnnContext& handle, const Made& plan, const Node& pack) {
  if (plan.device >= 0 && plan.device != handle.device) {
    return fail(CUDNN_STATUS_BAD_PARAM, "a plan of another device");
  }
  Call call{plan, {}, nullptr};
  const std::vector<int64_t> ids = pack.integers(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const std::vector<void*> pointers = pack.pointers(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  for (size_t i = 0; i < ids.size(); ++i) call.memory[ids[i]] = pointers[i];
  for (void* workspace : pack.pointers(CUDNN_ATTR_VARIANT_PACK_WORKSPACE)) {
    call.workspace = workspace;
  }
  const cudnnStatus_t memory = check_memory(call);
  if (memory != CUDNN_STATUS_SUCCESS) return memory;
  if (Faults("AMBIT_CUDA_HOST_CUDNN").fails(plan.rank)) {
    return fail(CUDNN_STATUS_EXECUTION_FAILED, "a plan that was to fail");
  }
  const bool wide = plan.chosen.graph->convolution.compute == CUDNN_DATA_DOUBLE;
  const cudaError_t error = enqueue(handle.stream, "cudnnBackendExecute",
                                    [call, wide] { wide ? run<double>(call) : run<float>(call); });
  if (error == cudaSuccess) return CUDNN_STATUS_SUCCESS;
  return fail(CUDNN_STATUS_EXECUTION_FAILED_CUDART, cudaGetErrorString(error));
}

}  // namespace ambit::cuda::host::cudnn
