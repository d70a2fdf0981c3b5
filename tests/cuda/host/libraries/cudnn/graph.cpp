#include "graph.h"

#include <algorithm>
#include <array>

namespace ambit::cuda::host::cudnn {
namespace {

// Three descriptors describe the same operation, and differ only in the names of their attributes.
struct Names {
  ConvKind kind;
  cudnnBackendAttributeName_t convolution, alpha, beta, x, w, y;
};
constexpr Names kForward{ConvKind::forward,
                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y};
constexpr Names kData{ConvKind::data,
                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY};
constexpr Names kFilter{ConvKind::filter,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY};

const Names* names_of(cudnnBackendDescriptorType_t type) {
  switch (type) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
      return &kForward;
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
      return &kData;
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
      return &kFilter;
    default:
      return nullptr;
  }
}

bool is_repeated(const Tensor& b, const Tensor& y) {
  if (b.sizes.size() != y.sizes.size()) return false;
  for (size_t d = 0; d < y.sizes.size(); ++d) {
    if (b.sizes[d] != 1 && b.sizes[d] != y.sizes[d]) return false;
  }
  return true;
}

// Operands in memory have one type; tensors between operations have the type of the sums.
bool has_type(const Tensor& t, const Convolution& c) {
  const cudnnDataType_t in_memory = c.kind == ConvKind::data ? c.y.type : c.x.type;
  return t.type == (t.is_virtual ? c.compute : in_memory);
}

bool is_supported(const Convolution& c) {
  const bool wide = c.compute == CUDNN_DATA_DOUBLE && c.x.type == CUDNN_DATA_DOUBLE;
  const bool narrow = c.x.type == CUDNN_DATA_FLOAT || c.x.type == CUDNN_DATA_HALF ||
                      c.x.type == CUDNN_DATA_BFLOAT16;
  const bool known = wide || (c.compute == CUDNN_DATA_FLOAT && narrow);
  return known && (c.spatial_dims == 2 || c.spatial_dims == 3) && has_type(c.x, c) &&
         has_type(c.w, c) && has_type(c.y, c);
}

bool is_supported(const Pointwise& p, const Convolution& c) {
  if (p.precision != c.compute || !has_type(p.x, c) || !has_type(p.y, c)) return false;
  if (!p.x.is_virtual || p.x.sizes != p.y.sizes) return false;
  if (p.mode == CUDNN_POINTWISE_RELU_FWD) return true;
  return p.mode == CUDNN_POINTWISE_ADD && p.b && has_type(*p.b, c) && is_repeated(*p.b, p.y) &&
         !p.b->is_virtual;
}

}  // namespace

std::vector<Tensor> Graph::operands() const {
  const Convolution& c = convolution;
  std::vector<Tensor> list;
  for (const Tensor* t : {&c.x, &c.w, &c.y}) {
    if (!t->is_virtual) list.push_back(*t);
  }
  for (const Pointwise& p : steps) {
    if (p.b) list.push_back(*p.b);
    if (!p.y.is_virtual) list.push_back(p.y);
  }
  return list;
}

Tensor read_tensor(const Node& node) {
  return {.id = node.integer(CUDNN_ATTR_TENSOR_UNIQUE_ID, 0),
          .alignment = node.integer(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 0),
          .type = static_cast<cudnnDataType_t>(node.integer(CUDNN_ATTR_TENSOR_DATA_TYPE, 0)),
          .sizes = node.integers(CUDNN_ATTR_TENSOR_DIMENSIONS),
          .strides = node.integers(CUDNN_ATTR_TENSOR_STRIDES),
          .is_virtual = node.integer(CUDNN_ATTR_TENSOR_IS_VIRTUAL, 0) != 0};
}

Convolution read_convolution(const Node& operation) {
  const Names& names = *names_of(operation.type);
  const Node& c = *operation.node(names.convolution);
  // Defaults: the first mode of its kind, and no padding.
  const int64_t mode = c.integer(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CONVOLUTION);
  const int64_t dims = c.integer(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 0);
  const auto padding = [&](cudnnBackendAttributeName_t name) {
    return c.has(name) ? c.integers(name) : std::vector<int64_t>(static_cast<size_t>(dims), 0);
  };
  return {.kind = names.kind,
          .compute = static_cast<cudnnDataType_t>(
              c.integer(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT)),
          .flipped = mode == CUDNN_CONVOLUTION,
          .spatial_dims = dims,
          .stride = c.integers(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES),
          .dilation = c.integers(CUDNN_ATTR_CONVOLUTION_DILATIONS),
          .before = padding(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS),
          .after = padding(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS),
          .alpha = operation.real(names.alpha, 1),
          .beta = operation.real(names.beta, 0),
          .x = read_tensor(*operation.node(names.x)),
          .w = read_tensor(*operation.node(names.w)),
          .y = read_tensor(*operation.node(names.y))};
}

Pointwise read_pointwise(const Node& operation) {
  const Node& p = *operation.node(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
  const NodePtr b = operation.node(CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
  Pointwise step{.mode = static_cast<cudnnPointwiseMode_t>(
                     p.integer(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_ADD)),
                 .precision = static_cast<cudnnDataType_t>(
                     p.integer(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT)),
                 .keeps_nan = p.integer(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION,
                                        CUDNN_NOT_PROPAGATE_NAN) == CUDNN_PROPAGATE_NAN,
                 .x = read_tensor(*operation.node(CUDNN_ATTR_OPERATION_POINTWISE_XDESC)),
                 .y = read_tensor(*operation.node(CUDNN_ATTR_OPERATION_POINTWISE_YDESC)),
                 .b = {}};
  if (b && step.mode == CUDNN_POINTWISE_ADD) step.b = read_tensor(*b);
  return step;
}

std::optional<Graph> read_graph(const std::vector<NodePtr>& operations) {
  std::vector<Pointwise> left;
  std::optional<Graph> graph;
  for (const NodePtr& operation : operations) {
    if (!names_of(operation->type)) {
      left.push_back(read_pointwise(*operation));
    } else if (graph) {
      return std::nullopt;
    } else {
      graph.emplace(Graph{read_convolution(*operation), {}});
    }
  }
  if (!graph || !is_supported(graph->convolution)) return std::nullopt;
  while (!left.empty()) {
    const auto next = std::find_if(
        left.begin(), left.end(), [&](const Pointwise& p) { return p.x.id == graph->output().id; });
    if (next == left.end() || !is_supported(*next, graph->convolution)) return std::nullopt;
    graph->steps.push_back(*next);
    left.erase(next);
  }
  const std::vector<Pointwise>& steps = graph->steps;
  if (!steps.empty() && graph->convolution.kind != ConvKind::forward) return std::nullopt;
  // A relu must follow an addition: cuDNN 9.19 has no engine for one directly after the
  // convolution.
  const bool known = steps.empty() || (steps[0].b && (steps.size() == 1 || !steps[1].b));
  if (!known || steps.size() > 2) return std::nullopt;
  return graph->output().is_virtual ? std::nullopt : graph;
}

}  // namespace ambit::cuda::host::cudnn
