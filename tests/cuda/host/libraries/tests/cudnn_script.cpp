#include "cudnn_script.h"

#include <array>
#include <span>

namespace host_libraries {
namespace {

struct Names {
  cudnnBackendDescriptorType_t operation;
  cudnnBackendAttributeName_t convolution, x, w, y, alpha, beta;
};
constexpr std::array<Names, 3> kNames{
    Names{CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
    Names{CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
    Names{CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA}};

}  // namespace

CudnnScript::Descriptor CudnnScript::make(cudnnBackendDescriptorType_t type) {
  Descriptor d = nullptr;
  note("make " + std::to_string(type), api_.make(type, &d));
  if (d) made_.push_back(d);
  return d;
}

void CudnnScript::set(Descriptor d, cudnnBackendAttributeName_t name,
                      cudnnBackendAttributeType_t type, int64_t count, const void* elements) {
  note("set " + std::to_string(name), api_.set(d, name, type, count, elements));
}

bool CudnnScript::finalize(Descriptor d) {
  note("finalize", api_.finalize(d));
  return log_.back().status == CUDNN_STATUS_SUCCESS;
}

CudnnScript::Descriptor CudnnScript::tensor(const TensorSpec& spec, bool finalized) {
  Descriptor d = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  Sizes strides = spec.strides;
  if (strides.empty()) {
    strides.resize(spec.sizes.size());
    int64_t step = 1;
    for (size_t i = strides.size(); i-- > 0; step *= spec.sizes[i]) strides[i] = step;
  }
  const int64_t bytes = spec.type == CUDNN_DATA_DOUBLE ? 8 : 4;
  set(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, spec.id);
  set(d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, spec.type);
  set(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64,
      spec.alignment > 0 ? spec.alignment : bytes);
  set(d, CUDNN_ATTR_TENSOR_DIMENSIONS, spec.sizes);
  set(d, CUDNN_ATTR_TENSOR_STRIDES, strides);
  set(d, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, spec.is_virtual);
  if (finalized) finalize(d);
  return d;
}

CudnnScript::Descriptor CudnnScript::convolution(const ConvSpec& spec, bool finalized) {
  Descriptor d = make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  set(d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, spec.compute);
  set(d, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, spec.mode);
  set(d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64,
      static_cast<int64_t>(spec.stride.size()));
  set(d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, spec.stride);
  set(d, CUDNN_ATTR_CONVOLUTION_DILATIONS, spec.dilation);
  set(d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, spec.before);
  set(d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, spec.after);
  if (finalized) finalize(d);
  return d;
}

CudnnScript::Descriptor CudnnScript::operation(Kind kind, const ConvSpec& spec,
                                               Descriptor convolution, Descriptor x, Descriptor w,
                                               Descriptor y) {
  const Names& names = kNames[static_cast<size_t>(kind)];
  Descriptor d = make(names.operation);
  if (convolution) set(d, names.convolution, convolution);
  if (x) set(d, names.x, x);
  if (w) set(d, names.w, w);
  if (y) set(d, names.y, y);
  if (spec.compute == CUDNN_DATA_DOUBLE) {
    set(d, names.alpha, CUDNN_TYPE_DOUBLE, spec.alpha);
    set(d, names.beta, CUDNN_TYPE_DOUBLE, spec.beta);
  } else {
    set(d, names.alpha, CUDNN_TYPE_FLOAT, static_cast<float>(spec.alpha));
    set(d, names.beta, CUDNN_TYPE_FLOAT, static_cast<float>(spec.beta));
  }
  finalize(d);
  return d;
}

CudnnScript::Descriptor CudnnScript::pointwise(cudnnPointwiseMode_t mode, Descriptor x,
                                               Descriptor b, Descriptor y,
                                               cudnnDataType_t precision, bool keeps_nan) {
  Descriptor what = make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  set(what, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode);
  set(what, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, precision);
  if (keeps_nan) {
    const cudnnNanPropagation_t keep = CUDNN_PROPAGATE_NAN;
    set(what, CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, CUDNN_TYPE_NAN_PROPOGATION, keep);
  }
  finalize(what);
  Descriptor d = make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  set(d, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, what);
  if (x) set(d, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
  if (b) set(d, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b);
  if (y) set(d, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
  finalize(d);
  return d;
}

CudnnScript::Descriptor CudnnScript::graph(const std::vector<Descriptor>& operations,
                                           cudnnHandle_t handle) {
  Descriptor d = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  if (handle) set(d, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle);
  set(d, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
      static_cast<int64_t>(operations.size()), operations.data());
  finalize(d);
  return d;
}

std::vector<CudnnScript::Descriptor> CudnnScript::ranked(Descriptor graph,
                                                         cudnnBackendHeurMode_t mode,
                                                         Descriptor properties) {
  Descriptor d = make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  set(d, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  set(d, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
  if (properties) set(d, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, properties);
  std::vector<Descriptor> list;
  if (!finalize(d)) return list;
  int64_t count = 0;
  note("count", api_.get(d, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count,
                         nullptr));
  for (int64_t i = 0; i < count; ++i) {
    Descriptor configuration =
        nullptr;  // not made by make(), because the libraries return different counts
    api_.make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, &configuration);
    made_.push_back(configuration);
    list.push_back(configuration);
  }
  if (count == 0) return list;
  note("get", api_.get(d, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, count,
                       &count, list.data()));
  list.resize(static_cast<size_t>(count));
  return list;
}

std::vector<cudnnBackendNumericalNote_t> CudnnScript::notes(Descriptor configuration) {
  Descriptor engine = make(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  int64_t count = 0;
  note("engine", api_.get(configuration, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                          1, &count, &engine));
  std::vector<cudnnBackendNumericalNote_t> list(CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  note("notes", api_.get(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                         static_cast<int64_t>(list.size()), &count, list.data()));
  list.resize(static_cast<size_t>(count));
  return list;
}

CudnnScript::Descriptor CudnnScript::plan(Descriptor configuration, cudnnHandle_t handle,
                                          Descriptor properties) {
  Descriptor d = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  if (handle) set(d, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle);
  if (properties) set(d, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, properties);
  set(d, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
  return finalize(d) ? d : nullptr;
}

int64_t CudnnScript::workspace_bytes(Descriptor plan) {
  int64_t bytes = -1, count = 0;
  note("workspace", api_.get(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
                             &count, &bytes));
  return bytes;
}

CudnnScript::Descriptor CudnnScript::pack(const Sizes& ids, const std::vector<void*>& pointers,
                                          void* workspace) {
  Descriptor d = make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  set(d, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
  set(d, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
      static_cast<int64_t>(pointers.size()), pointers.data());
  set(d, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace);
  finalize(d);
  return d;
}

}  // namespace host_libraries
