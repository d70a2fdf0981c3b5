// Small ONNX models, each with other parts of the format.
#pragma once

#include <string>
#include <vector>

#include "tests/graph/onnx_messages.h"

namespace onnx_model {

/// Parameters, numbers that become arguments, and unused tensors.
inline std::string layers_model() {
  Model m;
  m.nodes = {node("Gemm", {"x", "fc.weight", "fc.bias"}, {"h"}, integer_attribute("transB", 1)),
             node("Reshape", {"h", "sizes"}, {"r"}),
             node("ReduceMean", {"r"}, {"y"}, integers_attribute("axes", {1}))};
  m.initializers = {floats("fc.weight", {2, 3}, {1, 2, 3, -4, 5, 6}),
                    floats("fc.bias", {2}, {0.5, -1}), integers("sizes", {2}, {-1, 2}),
                    floats("unused", {1}, {1})};
  m.inputs = {value("x", kFloat, {-1, 3})};
  m.outputs = {value("y", kFloat, {-1, 1})};
  m.opset = 13;
  return model(m);
}

/// Calls with modes, and constants of each kind.
inline std::string modes_model() {
  Model m;
  m.nodes = {
      node("Constant", {}, {"ratio"}, real_attribute("value_float", 0.5)),
      node("Constant", {}, {"m"}, tensor_attribute("value", floats("", {1}, {0.5}))),
      node("Constant", {}, {"v"}, bytes(5, bytes(1, "value_floats") + real(7, 4) + number(20, 6))),
      node("BatchNormalization", {"x", "s", "b", "m", "v"}, {"h", "mean", "var"},
           integer_attribute("training_mode", 1)),
      node("Dropout", {"h", "ratio", "on"}, {"y", "mask"})};
  m.initializers = {floats("s", {1}, {1}), floats("b", {1}, {0}),
                    tensor_head("on", 9, {}) + bytes(9, std::string(1, '\1'))};
  m.inputs = {value("x", kFloat, {2, 1})};
  m.outputs = {value("y", kFloat, {2, 1}), value("mean", kFloat, {1}), untyped("mask")};
  return model(m);
}

/// Nested graphs, a function, and data in another file.
inline std::string graphs_model() {
  Model then_branch, else_branch, m;
  then_branch.initializers = {floats("t", {3}, {1, 2, 3})};
  then_branch.nodes = {node("Add", {"x", "t"}, {"sum"})};
  then_branch.outputs = {untyped("sum")};
  else_branch.nodes = {node("Mul", {"x", "far"}, {"product"})};
  else_branch.outputs = {untyped("product")};
  const auto entry = [](const std::string& key, const std::string& text) {
    return bytes(13, bytes(1, key) + bytes(2, text));
  };
  m.initializers = {tensor_head("far", kFloat, {3}) + entry("location", "data") +
                    entry("offset", "4") + entry("length", "12") + number(14, 1)};
  m.inputs = {value("c", 9, {}), value("x", kFloat, {3})};
  m.nodes = {node("If", {"c"}, {"z"},
                  graph_attribute("then_branch", graph_of(then_branch)) +
                      graph_attribute("else_branch", graph_of(else_branch))),
             node("Shift", {"z"}, {"y"}) + bytes(7, "own")};
  m.outputs = {value("y", kFloat, {3})};
  m.functions =
      function_of("Shift", {"x"}, {"y"},
                  {node("Constant", {}, {"half"}, tensor_attribute("value", floats("", {}, {0.5}))),
                   node("Add", {"x", "half"}, {"y"})});
  return model(m);
}

inline std::vector<std::string> all_models() {
  return {layers_model(), modes_model(), graphs_model()};
}

}  // namespace onnx_model
