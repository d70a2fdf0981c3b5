// Convolution plans of the real cuDNN, for every kind of problem that the plugin can request: they
// obey the settings, and each problem has a second plan in case one fails.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "described_gpu.h"

using namespace ambit;
using namespace ambit::cuda;

namespace {

struct Shape {
  const char* name;
  ConvProblem problem;
};

// Shapes of networks, and unusual ones: even and odd numbers of pixels, few and many channels,
// windows with all parameters.
std::vector<Shape> shapes() {
  return {
      {"3x3", conv_problem({8, 64, 28, 28}, {64, 64, 3, 3}, {.padding = {1, 1}})},
      {"3x3, stride 2",
       conv_problem({8, 64, 28, 28}, {128, 64, 3, 3}, {.stride = {2, 2}, .padding = {1, 1}})},
      {"1x1", conv_problem({8, 256, 14, 14}, {64, 256, 1, 1})},
      {"1x1, stride 2", conv_problem({8, 64, 15, 15}, {128, 64, 1, 1}, {.stride = {2, 2}})},
      {"7x7, stride 2, of images",
       conv_problem({8, 3, 224, 224}, {64, 3, 7, 7}, {.stride = {2, 2}, .padding = {3, 3}})},
      {"5x5", conv_problem({4, 3, 32, 32}, {6, 3, 5, 5})},
      {"dilation 2",
       conv_problem({4, 32, 28, 28}, {32, 32, 3, 3}, {.padding = {2, 2}, .dilation = {2, 2}})},
      {"dilation and stride",
       conv_problem({4, 32, 29, 29}, {32, 32, 3, 3},
                    {.stride = {2, 2}, .padding = {2, 2}, .dilation = {2, 2}})},
      {"4 groups", conv_problem({4, 64, 28, 28}, {64, 16, 3, 3}, {.padding = {1, 1}, .groups = 4})},
      {"32 groups, stride 2", conv_problem({4, 128, 28, 28}, {128, 4, 3, 3},
                                           {.stride = {2, 2}, .padding = {1, 1}, .groups = 32})},
      {"depthwise",
       conv_problem({4, 32, 28, 28}, {32, 1, 3, 3}, {.padding = {1, 1}, .groups = 32})},
      {"depthwise, stride 2, dilation",
       conv_problem({4, 8, 28, 28}, {16, 1, 3, 3},
                    {.stride = {2, 2}, .padding = {2, 2}, .dilation = {2, 2}, .groups = 8})},
      {"everything odd",
       conv_problem({3, 6, 14, 15}, {8, 3, 3, 2},
                    {.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}, .groups = 2})},
      {"a single element", conv_problem({1, 1, 1, 1}, {1, 1, 1, 1})},
      {"the window is the image", conv_problem({2, 5, 7, 7}, {9, 5, 7, 7})},
      {"padding wider than the window",
       conv_problem({2, 3, 5, 5}, {4, 3, 2, 2}, {.padding = {4, 4}})},
      {"a line", conv_problem({2, 4, 1, 100}, {6, 4, 1, 9}, {.padding = {0, 4}})},
      {"an image that leaves a rest",
       conv_problem({2, 3, 11, 13}, {4, 3, 3, 3}, {.stride = {4, 3}})},
  };
}

struct PlanFacts {
  int64_t engine;
  std::vector<cudnnBackendNumericalNote_t> notes;

  explicit PlanFacts(const ConvPlan& plan) {
    const auto configuration = plan.execution.get(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                                                  CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    const auto engines =
        configuration.front().get(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    engine = engines.front().get_int(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
    notes = engines.front().get_notes(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE);
  }
  bool has(cudnnBackendNumericalNote_t note) const {
    return std::find(notes.begin(), notes.end(), note) != notes.end();
  }
};

// Every combination of a shape with a kind, a dtype and the settings.
std::vector<Shape> problems() {
  std::vector<Shape> list;
  const auto add = [&](Shape s, bool tf32, bool deterministic, bool bias, bool last = false) {
    s.problem.tf32 = tf32;
    s.problem.deterministic = deterministic;
    s.problem.bias = bias;
    s.problem.channels_last = last;
    for (const int64_t alignment :
         {static_cast<int64_t>(element_size(s.problem.dtype)), int64_t{16}}) {
      if (last && alignment != 16) continue;  // such a layout is always aligned
      s.problem.alignment = alignment;
      list.push_back(s);
    }
  };
  for (Shape& s : shapes()) {
    for (const ConvKind kind : {ConvKind::forward, ConvKind::input_grad, ConvKind::weight_grad}) {
      s.problem.kind = kind;
      for (const bool deterministic : {false, true}) {
        for (const bool bias : {false, true}) {
          if (bias && kind != ConvKind::forward) continue;
          s.problem.dtype = kFloat32;
          add(s, false, deterministic, bias);
          add(s, true, deterministic, bias);
          add(s, true, deterministic, bias, true);
          for (const DType dtype : dtypes::kReducedFloating) {
            s.problem.dtype = dtype;
            add(s, false, deterministic, bias);
            add(s, false, deterministic, bias, true);
          }
          s.problem.dtype = kFloat64;
          add(s, false, deterministic, bias);
        }
      }
    }
  }
  return list;
}

// float16 and bfloat16 operands that are only aligned to their elements exclude all engines except
// one or two. If those fail, the operands are converted to channels last, for which there are other
// engines.
bool is_hardly_aligned(const ConvProblem& p) {
  return is_reduced_floating(p.dtype) && !p.channels_last && p.alignment < 16;
}
ConvProblem laid_out(ConvProblem p) {
  p.channels_last = true;
  p.alignment = 16;
  return p;
}

// For float64 cuDNN has a single engine that adds in deterministic order. cuDNN lists it twice, and
// it needs no workspace. It is also the only engine for channels last.
bool has_a_single_engine(const ConvProblem& p) {
  const bool dilated = p.params.dilation[0] > 1 || p.params.dilation[1] > 1;
  return p.dtype == kFloat64 && p.kind == ConvKind::input_grad && p.deterministic && dilated;
}

}  // namespace

TEST_CASE("cuDNN has plans for every problem that obey the settings, and a second one") {
  const std::vector<Shape> list = problems();
  CHECK(list.size() >= 1700);
  for (const auto& [name, p] : list) {
    CAPTURE(std::string(name));
    CAPTURE(static_cast<int>(p.kind));
    CAPTURE(std::string(ambit::name(p.dtype)));
    CAPTURE(p.tf32);
    CAPTURE(p.channels_last);
    CAPTURE(p.deterministic);
    CAPTURE(p.bias);
    CAPTURE(p.alignment);
    std::vector<ConvPlan> plans = conv_plans(p, described_gpu(), 1000);
    CHECK(!plans.empty());
    if (is_hardly_aligned(p)) {
      for (ConvPlan& plan : conv_plans(laid_out(p), described_gpu(), 1000)) {
        plans.push_back(std::move(plan));
      }
    }
    const bool strict = p.dtype == kFloat32 && !p.tf32;
    std::set<int64_t> engines;
    bool needs_no_room = false;
    for (const ConvPlan& plan : plans) {
      const PlanFacts facts(plan);
      engines.insert(facts.engine);
      needs_no_room = needs_no_room || plan.workspace_bytes == 0;
      if (strict) {
        CHECK_FALSE(facts.has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE));
        CHECK_FALSE(facts.has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS));
      }
      CHECK_FALSE(facts.has(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION));
      if (is_reduced_floating(p.dtype)) CHECK_FALSE(facts.has(CUDNN_NUMERICAL_NOTE_WINOGRAD));
      if (p.deterministic) CHECK_FALSE(facts.has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC));
    }
    CHECK(plans.size() >= 2);
    CHECK(engines.size() >= (has_a_single_engine(p) ? 1 : 2));
    CHECK(needs_no_room);
  }
}

TEST_CASE("a relu is fused by cuDNN only if its fastest engine propagates NaN") {
  std::vector<Shape> all = problems();
  int fused = 0;
  for (auto& [name, p] : all) {
    if (!p.bias) continue;
    CAPTURE(std::string(name));
    CAPTURE(std::string(ambit::name(p.dtype)));
    CAPTURE(p.tf32);
    CAPTURE(p.channels_last);
    CAPTURE(p.alignment);
    const PlanFacts fastest(conv_plans(p, described_gpu(), 1).front());
    const bool keeps_nan = fastest.has(CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP);
    p.relu = true;
    const std::vector<ConvPlan> plans = conv_plans(p, described_gpu(), 1000);
    CHECK(plans.empty() != keeps_nan);
    for (const ConvPlan& plan : plans) {
      const PlanFacts facts(plan);
      CHECK(facts.has(CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP));
      CHECK_FALSE(facts.has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE));
    }
    // Fusing relu pays off only for layers that are limited by memory bandwidth.
    if (std::string_view(name) == "depthwise") CHECK_FALSE(plans.empty());
    fused += !plans.empty();
  }
  CHECK(fused > 0);
}

TEST_CASE("with channels last, tensor cores need no copies of the operands") {
  ConvProblem p = conv_problem({256, 64, 56, 56}, {64, 64, 3, 3}, {.padding = {1, 1}});
  const int64_t elements = 2 * count("convolution", p.x);  // y has the same size
  for (const DType dtype : {kFloat32, kFloat16, kBFloat16}) {
    for (const ConvKind kind : {ConvKind::forward, ConvKind::input_grad, ConvKind::weight_grad}) {
      CAPTURE(std::string(name(dtype)));
      CAPTURE(static_cast<int>(kind));
      p.dtype = dtype;
      p.kind = kind;
      p.tf32 = true;
      const auto best = [&](bool channels_last) {
        p.channels_last = channels_last;
        return std::move(conv_plans(p, described_gpu(), 1).front());
      };
      const ConvPlan last = best(true), rows = best(false);
      CHECK(PlanFacts(last).has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE));
      CHECK(last.workspace_bytes <= int64_t{1} << 20);  // partial sums of weights
      CHECK(rows.workspace_bytes >= elements * static_cast<int64_t>(element_size(dtype)));
    }
  }
}
