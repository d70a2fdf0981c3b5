// cuDNN's convolution plans for described GPUs: the contents of their keys, and the effect of the
// settings on the heuristics. conv_plans_test.cpp tests many problems on one GPU.
#include "backends/cuda/libraries/conv_plan.h"

#include <ambit/error.h>
#include <doctest/doctest.h>

#include <algorithm>

#include "described_gpu.h"

using namespace ambit;
using namespace ambit::cuda;

namespace {

const ConvKind kKinds[] = {ConvKind::forward, ConvKind::input_grad, ConvKind::weight_grad};

}  // namespace

TEST_CASE("cuDNN has a plan for every kind of convolution") {
  const ConvParams odd{.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}, .groups = 2};
  ConvProblem problems[] = {
      conv_problem({4, 3, 32, 32}, {6, 3, 5, 5}),
      conv_problem({3, 6, 14, 15}, {8, 3, 3, 2}, odd),
      conv_problem({2, 4, 9, 9}, {4, 1, 3, 3}, {.groups = 4}),
      conv_problem({1, 1, 1, 1}, {1, 1, 1, 1}),
      conv_problem({2, 4, 6, 7, 5}, {6, 2, 3, 3, 2},
                   {.stride = {2, 1, 1}, .padding = {1, 2, 0}, .groups = 2}),
  };
  for (ConvProblem& p : problems) {
    for (const ConvKind kind : kKinds) {
      for (const DType dtype : dtypes::kAnyFloating) {
        CAPTURE(str(p.x));
        CAPTURE(static_cast<int>(kind));
        CAPTURE(std::string(name(dtype)));
        p.kind = kind;
        p.dtype = dtype;
        p.deterministic = kind == ConvKind::weight_grad;
        p.bias = kind == ConvKind::forward;
        p.alignment = static_cast<int64_t>(element_size(dtype));
        for (size_t gpu = 0; gpu < kDescribedGpus.size(); ++gpu) {
          CAPTURE(kDescribedGpus[gpu].name);
          p.channels_last = false;
          if (dtype == kBFloat16 && kDescribedGpus[gpu].version < 800) {
            CHECK_THROWS_AS(conv_plans(p, described_gpu(gpu), 1), NotImplementedError);
            continue;
          }
          CHECK(conv_plans(p, described_gpu(gpu), 1).size() == 1);
          if (!is_reduced_floating(dtype)) continue;
          p.channels_last = true;
          CHECK(conv_plans(p, described_gpu(gpu), 1).size() == 1);
        }
      }
    }
  }
}

TEST_CASE("a 1-D convolution is planned as an image of one row") {
  ConvProblem line = conv_problem({2, 4, 9}, {6, 2, 3},
                                  {.stride = {2}, .padding = {3}, .dilation = {2}, .groups = 2});
  line.make_images();
  const ConvProblem image =
      conv_problem({2, 4, 1, 9}, {6, 2, 1, 3},
                   {.stride = {1, 2}, .padding = {0, 3}, .dilation = {1, 2}, .groups = 2});
  CHECK(line.key() == image.key());
  CHECK(conv_plans(line, described_gpu(), 1).size() == 1);
}

TEST_CASE("float32 does not use tensor cores unless TF32 is allowed") {
  ConvProblem p = conv_problem({64, 64, 28, 28}, {64, 64, 3, 3}, {.padding = {1, 1}});
  const auto notes = [&](size_t gpu) {
    const ConvPlan plan = std::move(conv_plans(p, described_gpu(gpu), 1).front());
    const auto configuration = plan.execution.get(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                                                  CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    const auto engine =
        configuration.front().get(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    return engine.front().get_notes(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE);
  };
  const auto uses_tensor_cores = [&](size_t gpu) {
    const auto found = notes(gpu);
    return std::count(found.begin(), found.end(), CUDNN_NUMERICAL_NOTE_TENSOR_CORE) > 0;
  };
  for (const ConvKind kind : kKinds) {
    CAPTURE(static_cast<int>(kind));
    p.kind = kind;
    for (size_t gpu = 0; gpu < kDescribedGpus.size(); ++gpu) {
      CAPTURE(kDescribedGpus[gpu].name);
      p.tf32 = false;
      CHECK_FALSE(uses_tensor_cores(gpu));
      p.tf32 = true;
      CHECK(uses_tensor_cores(gpu) ==
            (kDescribedGpus[gpu].version >= 800));  // GPUs from version 800 on have TF32
    }
  }
}

TEST_CASE("benchmarking has several plans, which all obey the settings") {
  ConvProblem p = conv_problem({64, 64, 28, 28}, {64, 64, 3, 3}, {.padding = {1, 1}});
  for (const ConvKind kind : kKinds) {
    CAPTURE(static_cast<int>(kind));
    p.kind = kind;
    const size_t any = conv_plans(p, described_gpu(), 100).size();
    CHECK(any > 1);
    CHECK(conv_plans(p, described_gpu(), 2).size() == 2);
    p.deterministic = true;
    const size_t repeatable = conv_plans(p, described_gpu(), 100).size();
    CHECK(repeatable >= 1);
    CHECK(repeatable <= any);
    p.deterministic = false;
  }
}

TEST_CASE("a plan's key contains everything that the plan depends on") {
  const ConvProblem p = conv_problem({4, 3, 32, 32}, {6, 3, 5, 5});
  const auto differs = [&](auto change) {
    ConvProblem other = p;
    change(other);
    return !(p.key() == other.key());
  };
  CHECK(p.key() == ConvProblem(p).key());
  CHECK(differs([](ConvProblem& o) { o.kind = ConvKind::input_grad; }));
  CHECK(differs([](ConvProblem& o) { o.dtype = kFloat64; }));
  CHECK(differs([](ConvProblem& o) { o.x[0] = 5; }));
  CHECK(differs([](ConvProblem& o) { o.w[3] = 3; }));
  CHECK(differs([](ConvProblem& o) { o.y[2] = 1; }));
  CHECK(differs([](ConvProblem& o) { o.params.stride[0] = 2; }));
  CHECK(differs([](ConvProblem& o) { o.params.padding[1] = 2; }));
  CHECK(differs([](ConvProblem& o) { o.params.dilation[1] = 2; }));
  CHECK(differs([](ConvProblem& o) { o.params.groups = 3; }));
  ConvProblem deep = conv_problem({4, 3, 8, 8, 8}, {6, 3, 3, 3, 3}), other = deep;
  other.params.stride[2] = 2;
  CHECK(!(deep.key() == other.key()));
  CHECK(differs([](ConvProblem& o) { o.bias = true; }));
  CHECK(differs([](ConvProblem& o) { o.relu = true; }));
  CHECK(differs([](ConvProblem& o) { o.alignment = 4; }));
  CHECK(differs([](ConvProblem& o) { o.tf32 = true; }));
  CHECK(differs([](ConvProblem& o) { o.deterministic = true; }));
  CHECK(differs([](ConvProblem& o) { o.channels_last = true; }));
}
