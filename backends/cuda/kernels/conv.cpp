// Convolution and its gradients by cuDNN plans. The algorithm is chosen by heuristics, or by timing
// under set_benchmark(true). An activation is applied by the conversion back to row-major, by
// cuDNN, or in place, in this order of preference.
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/settings.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "backends/cuda/driver/error.h"
#include "backends/cuda/kernels.h"
#include "backends/cuda/libraries/conv_plan.h"
#include "backends/cuda/libraries/ranked_plans.h"
#include "backends/cuda/loops/repeated.h"
#include "backends/cuda/runtime/workspace.h"
#include "conv_channels_last.h"

namespace ambit::cuda {
namespace {

using cudnn::Descriptor;

[[nodiscard]] cudnnStatus_t run(const ConvPlan& plan, const ConvPointers& pointers) {
  constexpr std::array<int64_t, 4> kIds{kConvX, kConvW, kConvY, kConvB};
  const size_t count = pointers[3] ? 4 : 3;
  const Workspace workspace(static_cast<size_t>(plan.workspace_bytes));
  Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, std::span<const int64_t>(kIds.data(), count))
      .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, std::span<void* const>(pointers.data(), count))
      .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, workspace.data())
      .finalize();
  return cudnn::execute(plan.execution, pack);
}

class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "cudaEventCreate"); }
  ~Event() { static_cast<void>(cudaEventDestroy(event_)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record() { check(cudaEventRecord(event_, Call::stream().handle), "cudaEventRecord"); }
  float ms_since(const Event& start) const {
    float ms = 0;
    check(cudaEventSynchronize(event_), "cudaEventSynchronize");
    check(cudaEventElapsedTime(&ms, start.event_, event_), "cudaEventElapsedTime");
    return ms;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

// Return infinity if the plan fails or there is no memory for its workspace.
float milliseconds(const ConvPlan& plan, const ConvPointers& pointers) {
  constexpr float kNever = std::numeric_limits<float>::infinity();
  constexpr int kRuns = 3;
  try {
    if (run(plan, pointers) != CUDNN_STATUS_SUCCESS) return kNever;  // loads the kernel
    Event start, stop;
    start.record();
    for (int i = 0; i < kRuns; ++i) {
      if (run(plan, pointers) != CUDNN_STATUS_SUCCESS) return kNever;
    }
    stop.record();
    return stop.ms_since(start) / kRuns;
  } catch (const OutOfMemoryError&) {
    return kNever;
  }
}

using ConvPlans = RankedPlans<ConvPlan>;

ConvPlans choose(const ConvProblem& problem, const ConvPointers& pointers) {
  constexpr size_t kTried = 10;
  if (is_benchmark()) Call::expect_no_capture("a choice among cuDNN's plans by their times");
  std::vector<ConvPlan> plans = conv_plans(problem, {cudnn::handle()}, is_benchmark() ? kTried : 1);
  if (plans.size() <= 1) return ConvPlans(std::move(plans));
  std::vector<std::pair<float, size_t>> order;
  for (size_t i = 0; i < plans.size(); ++i) {
    order.emplace_back(milliseconds(plans[i], pointers), i);
  }
  std::sort(order.begin(), order.end());
  std::vector<ConvPlan> sorted;
  for (const auto& [ms, i] : order) sorted.push_back(std::move(plans[i]));
  return ConvPlans(std::move(sorted));
}

// Convolve operands in the problem's layout. Return false if it has a relu and cuDNN has no plan
// for it, none that works, or no memory for those.
bool convolve_by_plan(const ConvProblem& problem, const ConvPointers& pointers) {
  thread_local PlanCache<ConvPlans> cache;
  const PlanKey key = problem.key().add(Call::stream().gpu.index()).add(is_benchmark());
  ConvPlans& plans = cache.get(key, [&] { return choose(problem, pointers); });
  if (plans.empty()) return false;
  const size_t known = plans.size();
  cudnnStatus_t status;
  try {
    status = plans.run([&](const ConvPlan& plan) { return run(plan, pointers); },
                       [&] { return conv_plans(problem, {cudnn::handle()}, SIZE_MAX, known); });
  } catch (const OutOfMemoryError&) {
    if (!problem.relu) throw;
    return false;
  }
  if (status == CUDNN_STATUS_SUCCESS) return true;
  if (problem.relu) return false;
  const std::string call = fmt::format("cudnnBackendExecute of any of {} plans", plans.size());
  cudnn::check(status, call.c_str());
  return false;
}

// Convolve contiguous operands in their layout. Return true if the map has been applied.
bool convolve_as_given(ConvProblem problem, const ConvPointers& pointers,
                       std::optional<UnaryOp> map) {
  problem.relu = map == UnaryOp::relu && problem.bias;
  if (problem.relu && convolve_by_plan(problem, pointers)) return true;
  problem.relu = false;
  convolve_by_plan(problem, pointers);
  return false;
}

// As above, in the better of two layouts; in the other one if that fails or lacks memory.
bool convolve(const ConvProblem& problem, const ConvPointers& pointers,
              std::optional<UnaryOp> map) {
  const auto run = [&](bool channels_last) {
    if (!channels_last) return convolve_as_given(problem, pointers, map);
    return convolve_channels_last(problem, pointers, convolve_by_plan, map);
  };
  if (!may_lie_channels_last(problem)) return run(false);
  const bool channels_last = wants_channels_last(problem);
  try {
    return run(channels_last);
  } catch (const Error&) {
    return run(!channels_last);
  }
}

// x [N,C,...], w [K,C/groups,...], y [N,K,...], b [K] or undefined; the kind selects the result.
ConvPointers pointers_of(const Tensor& x, const Tensor& w, const Tensor& y, const Tensor& b) {
  return {x.data_ptr(), w.data_ptr(), y.data_ptr(), b.defined() ? b.data_ptr() : nullptr};
}
ConvProblem problem_of(ConvKind kind, const Tensor& x, const Tensor& w, const Tensor& y,
                       const Tensor& b, const ConvParams& params) {
  uintptr_t addresses = 16;
  for (const void* p : pointers_of(x, w, y, b)) addresses |= reinterpret_cast<uintptr_t>(p);
  ConvProblem problem{.kind = kind,
                      .dtype = x.dtype(),
                      .x = x.sizes(),
                      .w = w.sizes(),
                      .y = y.sizes(),
                      .params = params,
                      .bias = b.defined(),
                      .alignment = int64_t{1} << std::countr_zero(addresses),
                      .tf32 = is_tf32_allowed(),
                      .deterministic = is_deterministic()};
  if (x.dim() == 3) problem.make_images();
  return problem;
}

// Return true if the map has been applied.
bool convolve(ConvKind kind, const Tensor& x, const Tensor& w, const Tensor& y, const Tensor& b,
              const ConvParams& params, std::optional<UnaryOp> map = {}) {
  return convolve(problem_of(kind, x, w, y, b, params), pointers_of(x, w, y, b), map);
}

}  // namespace

// y [N,K,...], x [N,C,...], w [K,C/groups,...], b [K]
void convolution(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b,
                 const ConvParams& p) {
  if (y.numel() == 0) return;
  if (x.numel() > 0) {
    convolve(ConvKind::forward, x, w, y, b, p);
  } else if (b.defined()) {
    copy(y, repeated(b, y));  // the window covers only padding
  } else {
    fill(y, 0);
  }
}

void convolution_map(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b,
                     const ConvParams& p, const ActivationParams& map) {
  if (y.numel() == 0) return;
  if (x.numel() > 0) {
    if (convolve(ConvKind::forward, x, w, y, b, p, map)) return;
  } else {
    convolution(y, x, w, b, p);
  }
  unary(y, y, map);
}

// dx [N,C,...], dy [N,K,...], w [K,C/groups,...]
void convolution_input_grad(Tensor& dx, const Tensor& dy, const Tensor& w, const ConvParams& p) {
  if (dx.numel() == 0) return;
  if (dy.numel() == 0) return fill(dx, 0);
  convolve(ConvKind::input_grad, dx, w, dy, Tensor(), p);
}

// dw [K,C/groups,...], dy [N,K,...], x [N,C,...]
void convolution_weight_grad(Tensor& dw, const Tensor& dy, const Tensor& x, const ConvParams& p) {
  if (dy.numel() == 0 || x.numel() == 0) return fill(dw, 0);
  const int64_t images = x.size(0);
  const int64_t part = images_of_part(problem_of(ConvKind::weight_grad, x, dw, dy, Tensor(), p));
  Tensor addend;
  for (int64_t first = 0; first < images; first += part) {
    const int64_t n = std::min(part, images - first);
    if (first == part) addend = empty(dw.sizes(), dw.options());
    const Tensor& to = first == 0 ? dw : addend;
    convolve(ConvKind::weight_grad, x.narrow(0, first, n), to, dy.narrow(0, first, n), Tensor(), p);
    if (first > 0) binary(dw, dw, addend, BinaryOp::add);
  }
}

}  // namespace ambit::cuda
