// cuDNN's checks when a descriptor is finalized. The statuses are those of cuDNN 9.19.
#include <algorithm>

#include "attributes.h"
#include "engines.h"
#include "tests/cuda/host/libraries/faults.h"

namespace ambit::cuda::host::cudnn {
namespace {

cudnnStatus_t bad(const std::string& why) { return fail(CUDNN_STATUS_BAD_PARAM, why); }
cudnnStatus_t not_finalized(const std::string& what) {
  return fail(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, what + " that is not finalized");
}

bool all_at_least(const std::vector<int64_t>& list, int64_t least) {
  return std::all_of(list.begin(), list.end(), [&](int64_t i) { return i >= least; });
}

cudnnStatus_t finalize_tensor(const Node& node) {
  const Tensor t = read_tensor(node);
  if (t.sizes.empty() || t.sizes.size() != t.strides.size()) return bad("sizes without strides");
  if (t.sizes.size() > CUDNN_DIM_MAX) return bad("too many dims");
  if (!all_at_least(t.sizes, 0) || !all_at_least(t.strides, 0)) return bad("a negative size");
  if (t.alignment <= 0 || static_cast<size_t>(t.alignment) % t.element_bytes() != 0) {
    return bad("an alignment that is not one of its elements");
  }
  const bool by_value = node.integer(CUDNN_ATTR_TENSOR_IS_BY_VALUE, 0) != 0;
  return by_value && t.at(nullptr).numel() > 1 ? bad("a list by value") : CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalize_convolution(const Node& node) {
  const int64_t dims = node.integer(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 0);
  if (dims <= 0) return bad("no spatial dims");
  const auto fits = [&](cudnnBackendAttributeName_t name, int64_t least) {
    const std::vector<int64_t> list = node.integers(name);
    return static_cast<int64_t>(list.size()) == dims && all_at_least(list, least);
  };
  const auto fits_or_unset = [&](cudnnBackendAttributeName_t name) {
    return !node.has(name) || fits(name, 0);
  };
  const bool right = fits(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, 1) &&
                     fits(CUDNN_ATTR_CONVOLUTION_DILATIONS, 1) &&
                     fits_or_unset(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS) &&
                     fits_or_unset(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
  return right ? CUDNN_STATUS_SUCCESS : bad("a list that does not fit the spatial dims");
}

bool is_final(const NodePtr& node) { return node && node->finalized; }

cudnnStatus_t check_sizes(const Convolution& c) {
  const std::vector<int64_t>&x = c.x.sizes, &w = c.w.sizes, &y = c.y.sizes;
  const auto dims = static_cast<size_t>(c.spatial_dims);
  if (x.size() != dims + 2 || w.size() != x.size() || y.size() != x.size()) {
    return bad("operands of different ranks");
  }
  if (!all_at_least(x, 1) || !all_at_least(w, 1) || !all_at_least(y, 1)) return bad("no elements");
  if (x[1] % w[1] != 0 || w[0] % c.groups() != 0) return bad("channels that make no groups");
  if (x[0] != y[0] || y[1] != w[0]) return bad("an output of another size");
  for (size_t d = 0; d < dims; ++d) {
    const int64_t window = c.dilation[d] * (w[d + 2] - 1) + 1;
    const int64_t room = x[d + 2] + c.before[d] + c.after[d] - window;
    if (room < 0 || room / c.stride[d] + 1 != y[d + 2]) return bad("an output of another size");
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalize_operation(const Node& node) {
  // A convolution and three tensors.
  const auto final = std::count_if(node.values.begin(), node.values.end(), [](const auto& entry) {
    return entry.second.type == CUDNN_TYPE_BACKEND_DESCRIPTOR && is_final(entry.second.nodes[0]);
  });
  if (final != 4) return bad("operands that are not set or not finalized");
  return check_sizes(read_convolution(node));
}

cudnnStatus_t finalize_pointwise(const Node& node) {
  const NodePtr x = node.node(CUDNN_ATTR_OPERATION_POINTWISE_XDESC),
                b = node.node(CUDNN_ATTR_OPERATION_POINTWISE_BDESC),
                y = node.node(CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
  const NodePtr what = node.node(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
  if (!what || !is_final(x) || !is_final(y)) return bad("operands that are not set");
  const size_t rank = read_tensor(*x).sizes.size();
  if (read_tensor(*y).sizes.size() != rank) return bad("operands of different ranks");
  if (what->integer(CUDNN_ATTR_POINTWISE_MODE, 0) >= CUDNN_POINTWISE_RELU_FWD) {
    return CUDNN_STATUS_SUCCESS;  // there is only one operand
  }
  const bool fits = is_final(b) && read_tensor(*b).sizes.size() == rank;
  return fits ? CUDNN_STATUS_SUCCESS : bad("operands of different ranks");
}

cudnnStatus_t finalize_graph(Node& node, Made& made) {
  const auto found = node.values.find(CUDNN_ATTR_OPERATIONGRAPH_OPS);
  if (found == node.values.end()) return bad("a graph without operations");
  const std::vector<NodePtr>& operations = found->second.nodes;
  std::vector<int64_t> written;
  for (const NodePtr& operation : operations) {
    const bool pointwise = operation->type == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR;
    written.push_back(pointwise ? read_pointwise(*operation).y.id
                                : read_convolution(*operation).output().id);
  }
  std::sort(written.begin(), written.end());
  if (std::adjacent_find(written.begin(), written.end()) != written.end()) {
    return bad("two operations with the same output");
  }
  std::optional<Graph> graph = read_graph(operations);
  if (!graph) return CUDNN_STATUS_SUCCESS;  // no heuristic will find an engine for it
  for (void* handle : node.pointers(CUDNN_ATTR_OPERATIONGRAPH_HANDLE)) {
    graph->device = handles().get(handle).device;
  }
  made.graph = std::make_shared<const Graph>(*std::move(graph));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalize_heuristic(const Node& node, Made& made) {
  const NodePtr graph = node.node(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  if (!graph) return bad("a heuristic without a graph");
  if (!graph->finalized) return not_finalized("a graph");
  made.ranked = rank_engines(graph->made->graph, node.integer(CUDNN_ATTR_ENGINEHEUR_MODE, -1));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalize_plan(const Node& node, Made& made) {
  const NodePtr configuration = node.node(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
  if (!is_final(configuration)) return not_finalized("a configuration");
  made.chosen = configuration->made->chosen;
  const Graph& graph = *made.chosen.graph;
  const Engine& engine = *made.chosen.engine;
  if (!engine.works(graph)) return fail(CUDNN_STATUS_NOT_SUPPORTED, "operands without vectors");
  made.device = graph.device;
  for (void* handle : node.pointers(CUDNN_ATTR_EXECUTION_PLAN_HANDLE)) {
    made.device = handles().get(handle).device;
  }
  made.rank = (*graph.plans)++;
  const Faults faults("AMBIT_CUDA_HOST_CUDNN");
  made.workspace_bytes = faults.workspace(made.rank).value_or(engine.workspace_bytes(graph));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalize_pack(const Node& node) {
  const size_t ids = node.integers(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS).size();
  const size_t pointers = node.pointers(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS).size();
  return ids == pointers ? CUDNN_STATUS_SUCCESS : bad("different numbers of ids and pointers");
}

// Check that the description is complete.
cudnnStatus_t finalize_properties(const Node& node) {
  const std::vector<int64_t> text = node.integers(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION);
  const bool object = text.size() >= 2 && text.front() == '{' && text.back() == '}';
  return text.empty() || object ? CUDNN_STATUS_SUCCESS
                                : bad("a description that is not a JSON object");
}

cudnnStatus_t check(Node& node, Made& made) {
  switch (node.type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
      return finalize_tensor(node);
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
      return finalize_convolution(node);
    case CUDNN_BACKEND_POINTWISE_DESCRIPTOR:
      return CUDNN_STATUS_SUCCESS;
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
      return finalize_pointwise(node);
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
      return finalize_graph(node, made);
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
      return finalize_heuristic(node, made);
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
      return finalize_plan(node, made);
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
      return finalize_pack(node);
    case CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR:
      return finalize_properties(node);
    default:
      return is_operation(node.type) ? finalize_operation(node)
                                     : bad("a descriptor that is only filled by others");
  }
}

}  // namespace

cudnnStatus_t finalize(Node& node) {
  if (node.finalized) return bad("a descriptor that is finalized");
  const auto made = std::make_shared<Made>();
  const cudnnStatus_t status = check(node, *made);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  node.made = made;
  node.finalized = true;
  return status;
}

}  // namespace ambit::cuda::host::cudnn
