#include "pruning.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ambit::graph::onnx {

void rename_values(proto::GraphProto& graph,
                   const std::unordered_map<std::string, std::string>& names) {
  for (proto::NodeProto& node : *graph.mutable_node()) {
    for (auto* list : {node.mutable_input(), node.mutable_output()}) {
      for (std::string& name : *list) {
        const auto found = names.find(name);
        if (found != names.end()) name = found->second;
      }
    }
  }
}

std::unordered_set<std::string> remove_unused(proto::GraphProto& graph) {
  std::unordered_set<std::string> used;
  for (const proto::ValueInfoProto& info : graph.output()) used.insert(info.name());
  std::vector<proto::NodeProto> kept;
  for (int i = graph.node_size(); i-- > 0;) {
    proto::NodeProto& node = *graph.mutable_node(i);
    const bool is_used = std::any_of(node.output().begin(), node.output().end(),
                                     [&](const std::string& name) { return used.contains(name); });
    if (!is_used) continue;
    used.insert(node.input().begin(), node.input().end());
    kept.push_back(std::move(node));
  }
  graph.clear_node();
  for (size_t i = kept.size(); i-- > 0;) *graph.add_node() = std::move(kept[i]);
  return used;
}

}  // namespace ambit::graph::onnx
