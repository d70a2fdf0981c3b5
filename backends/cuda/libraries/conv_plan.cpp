#include "conv_plan.h"

#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "backends/cuda/runtime/call.h"

namespace ambit::cuda {
namespace {

using cudnn::Descriptor;

// A larger workspace would displace the tensors.
constexpr int64_t kMostWorkspaceBytes = int64_t{1} << 30;

cudnnDataType_t data_type(DType dtype) {
  switch (dtype) {
    case kFloat16:
      return CUDNN_DATA_HALF;
    case kBFloat16:
      return CUDNN_DATA_BFLOAT16;
    case kFloat64:
      return CUDNN_DATA_DOUBLE;
    default:
      return CUDNN_DATA_FLOAT;
  }
}

cudnnDataType_t sum_type(const ConvProblem& p) {
  return p.dtype == kFloat64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
}

Dims strides(const ConvProblem& p, IntArrayRef sizes) {
  Dims list(contiguous_strides(sizes));
  if (!p.channels_last) return list;
  for (size_t d = 2; d < list.size(); ++d) list[d] *= sizes[1];
  list[1] = 1;
  return list;
}

Descriptor tensor(const ConvProblem& p, int64_t id, IntArrayRef sizes) {
  constexpr int64_t kAnyAlignment = 16;
  const bool is_virtual = id == kConvProduct || id == kConvSum;  // not stored in memory
  Descriptor t(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  t.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id)
      .set(CUDNN_ATTR_TENSOR_DATA_TYPE, is_virtual ? sum_type(p) : data_type(p.dtype))
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, is_virtual ? kAnyAlignment : p.alignment)
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, sizes)
      .set(CUDNN_ATTR_TENSOR_STRIDES, IntArrayRef(strides(p, sizes)))
      .set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, is_virtual);
  return std::move(t.finalize());
}

Descriptor convolution(const ConvProblem& p) {
  const size_t dims = p.x.size() - 2;
  Descriptor c(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  c.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, sum_type(p))
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION)
      .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, static_cast<int64_t>(dims))
      .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, p.params.stride.of(dims))
      .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, p.params.dilation.of(dims))
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, p.params.padding.of(dims))
      .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, p.params.padding.of(dims));
  return std::move(c.finalize());
}

// The three kinds have descriptors whose attributes differ only in name.
struct ConvNames {
  cudnnBackendDescriptorType_t operation;
  cudnnBackendAttributeName_t convolution, alpha, beta, x, w, y;
};
constexpr ConvNames kForwardNames{CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y};
constexpr ConvNames kInputGradNames{CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
                                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY};
constexpr ConvNames kWeightGradNames{CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                                     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                                     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                                     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
                                     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                                     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                                     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY};
constexpr std::array kNames{kForwardNames, kInputGradNames, kWeightGradNames};

Descriptor product(const ConvProblem& p, const Descriptor& x, const Descriptor& w,
                   const Descriptor& y) {
  const ConvNames& names = kNames[static_cast<size_t>(p.kind)];
  Descriptor operation(names.operation);
  operation.set(names.convolution, convolution(p)).set(names.x, x).set(names.w, w).set(names.y, y);
  if (p.dtype == kFloat64) {
    operation.set(names.alpha, 1.0).set(names.beta, 0.0);
  } else {
    operation.set(names.alpha, 1.0f).set(names.beta, 0.0f);
  }
  return std::move(operation.finalize());
}

Descriptor pointwise(const ConvProblem& p, cudnnPointwiseMode_t mode) {
  Descriptor function(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  function.set(CUDNN_ATTR_POINTWISE_MODE, mode).set(CUDNN_ATTR_POINTWISE_MATH_PREC, sum_type(p));
  if (mode == CUDNN_POINTWISE_RELU_FWD) {
    function.set(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, CUDNN_PROPAGATE_NAN);
  }
  return std::move(function.finalize());
}

Descriptor relu(const ConvProblem& p, const Descriptor& sum, const Descriptor& y) {
  Descriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation
      .set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise(p, CUDNN_POINTWISE_RELU_FWD))
      .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, sum)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
  return std::move(operation.finalize());
}

Descriptor sum(const ConvProblem& p, const Descriptor& product, const Descriptor& bias,
               const Descriptor& y) {
  Descriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise(p, CUDNN_POINTWISE_ADD))
      .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, product)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, bias)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
  return std::move(operation.finalize());
}

Descriptor graph(const ConvProblem& p, const ConvTarget& target) {
  const Descriptor x = tensor(p, kConvX, p.x), w = tensor(p, kConvW, p.w);
  const Descriptor y = tensor(p, kConvY, p.y);
  std::vector<Descriptor> operations;
  if (p.bias) {
    const Descriptor unbiased = tensor(p, kConvProduct, p.y);
    Dims repeated(p.y.size(), 1);
    repeated[1] = p.w[0];
    const Descriptor b = tensor(p, kConvB, repeated);
    operations.push_back(product(p, x, w, unbiased));
    if (p.relu) {
      const Descriptor biased = tensor(p, kConvSum, p.y);
      operations.push_back(sum(p, unbiased, b, biased));
      operations.push_back(relu(p, biased, y));
    } else {
      operations.push_back(sum(p, unbiased, b, y));
    }
  } else {
    operations.push_back(product(p, x, w, y));
  }
  Descriptor g(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  if (target.handle) g.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, target.handle);
  g.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, std::span<const Descriptor>(operations));
  return std::move(g.finalize());
}

// Return engine configurations in the order of a heuristic.
std::vector<Descriptor> ranked(const Descriptor& graph, const ConvTarget& target,
                               cudnnBackendHeurMode_t mode) {
  Descriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph).set(CUDNN_ATTR_ENGINEHEUR_MODE, mode);
  if (target.properties) heuristic.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *target.properties);
  if (!heuristic.try_finalize()) return {};
  return heuristic.get(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
}

using Notes = std::vector<cudnnBackendNumericalNote_t>;

Notes notes_of(const Descriptor& configuration) {
  const std::vector<Descriptor> engine =
      configuration.get(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  return engine.front().get_notes(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE);
}

// Return true if a relu keeps NaN. Engines without this note are also offered, although NaN
// propagation was requested.
bool keeps_nan(const Notes& notes) {
  return std::count(notes.begin(), notes.end(), CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP) > 0;
}

// Return false for engines that round more than allowed: tensor cores round float32 to
// TensorFloat-32; Winograd transforms of reduced floating-point operands are rounded to their type.
bool is_allowed(const ConvProblem& p, const Notes& notes) {
  return std::none_of(notes.begin(), notes.end(), [&](cudnnBackendNumericalNote_t note) {
    switch (note) {
      case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
        return true;
      case CUDNN_NUMERICAL_NOTE_WINOGRAD:
        return is_reduced_floating(p.dtype);
      case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
      case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
        return p.dtype == kFloat32 && !p.tf32;
      case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
        return p.deterministic;
      default:
        return false;
    }
  });
}

}  // namespace

PlanKey ConvProblem::key() const {
  PlanKey key;
  key.add(static_cast<int64_t>(kind)).add(static_cast<int64_t>(dtype)).add(x).add(w).add(y);
  for (const PerAxis& numbers : {params.stride, params.padding, params.dilation}) {
    key.add(numbers.of(x.size() - 2));
  }
  key.add(params.groups).add(alignment);
  return key.add(bias | tf32 << 1 | deterministic << 2 | channels_last << 3 | relu << 4);
}

void ConvProblem::make_images() {
  for (Dims* sizes : {&x, &w, &y}) sizes->insert(2, 1);
  params = {.stride = {1, params.stride[0]},
            .padding = {0, params.padding[0]},
            .dilation = {1, params.dilation[0]},
            .groups = params.groups};
}

std::vector<ConvPlan> conv_plans(const ConvProblem& p, const ConvTarget& target, size_t most,
                                 size_t known) {
  const Descriptor operations = graph(p, target);
  std::vector<ConvPlan> plans;
  size_t found = 0;
  // The fallback mode returns only engines that nearly always work.
  for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    for (const Descriptor& configuration : ranked(operations, target, mode)) {
      if (plans.size() == most) return plans;
      const Notes notes = notes_of(configuration);
      if (!is_allowed(p, notes)) continue;
      if (p.relu && !keeps_nan(notes)) {
        if (found == 0) return {};  // use a faster engine, followed by our own relu
        continue;
      }
      Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
      if (target.handle) plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, target.handle);
      if (target.properties) plan.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *target.properties);
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
      if (!plan.try_finalize()) continue;
      const int64_t workspace = plan.get_int(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
      if (workspace > kMostWorkspaceBytes) continue;
      if (++found > known) plans.push_back({std::move(plan), workspace});
    }
  }
  if (found == 0 && !p.relu) {
    throw NotImplementedError(fmt::format(
        "{}: expected {} algorithm of cuDNN for {} input {}, weight {}, got none", Call::op(),
        p.deterministic ? "a deterministic" : "an", name(p.dtype), str(p.x), str(p.w)));
  }
  return plans;
}

}  // namespace ambit::cuda
