// Changes of a model whose nodes are written. Private to nn/graph/onnx.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "onnx.pb.h"

namespace ambit::graph::onnx {

/// Give values new names in all nodes.
void rename_values(proto::GraphProto& graph,
                   const std::unordered_map<std::string, std::string>& names);
/// Remove the nodes that no output needs, and return the names of all values that remain.
std::unordered_set<std::string> remove_unused(proto::GraphProto& graph);

}  // namespace ambit::graph::onnx
