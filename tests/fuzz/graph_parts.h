// A small .pt2 file in parts: a linear layer with a counter and an integer as an input.
#pragma once

#include <string>
#include <string_view>

#include "tests/files/pickled_file.h"

inline constexpr std::string_view kGraphModel = R"--({"graph_module": {"graph": {
"inputs": [{"as_tensor": {"name": "w"}}, {"as_tensor": {"name": "b"}}, {"as_tensor": {"name": "x"}},
 {"as_sym_int": {"as_name": "n"}}, {"as_int": 3}],
"outputs": [{"as_tensor": {"name": "r"}}, {"as_sym_int": {"as_name": "m"}}, {"as_none": true}],
"nodes": [
{"target": "torch.ops.aten.linear.default", "inputs": [
 {"name": "input", "arg": {"as_tensor": {"name": "x"}}, "kind": 1},
 {"name": "weight", "arg": {"as_tensor": {"name": "w"}}, "kind": 1}],
 "outputs": [{"as_tensor": {"name": "y"}}], "metadata": {"nn_module_stack": "L__self__,,N;L__f,fc,L"}},
{"target": "torch.ops.aten.dropout.default", "inputs": [
 {"name": "input", "arg": {"as_tensor": {"name": "y"}}, "kind": 1},
 {"name": "p", "arg": {"as_float": 0.5}, "kind": 1},
 {"name": "train", "arg": {"as_bool": false}, "kind": 1}],
 "outputs": [{"as_tensor": {"name": "d"}}], "metadata": {}},
{"target": "_operator.mul", "inputs": [
 {"name": "", "arg": {"as_sym_int": {"as_name": "n"}}, "kind": 1},
 {"name": "", "arg": {"as_sym_int": {"as_int": 2}}, "kind": 1}],
 "outputs": [{"as_sym_int": {"as_name": "m"}}], "metadata": {}},
{"target": "torch.ops.aten.view.default", "inputs": [
 {"name": "self", "arg": {"as_tensor": {"name": "d"}}, "kind": 1},
 {"name": "size", "arg": {"as_ints": [-1, 2]}, "kind": 1}],
 "outputs": [{"as_tensor": {"name": "r"}}], "metadata": {}}],
"tensor_values": {
"w": {"dtype": 7, "sizes": [{"as_int": 2}, {"as_int": 3}], "strides": [{"as_int": 3}, {"as_int": 1}]},
"b": {"dtype": 5, "sizes": [], "strides": []},
"x": {"dtype": 7, "strides": [{"as_int": 3}, {"as_int": 1}], "sizes": [{"as_expr": {
 "expr_str": "Mul(Integer(2), Symbol('s0', positive=True, integer=True))"}}, {"as_int": 3}]},
"r": {"dtype": 7, "sizes": [{"as_int": 1}, {"as_int": 2}], "strides": []}},
"sym_int_values": {"n": {"as_expr": {"expr_str": "Symbol('s0', integer=True)"}}}},
"signature": {"input_specs": [
 {"parameter": {"arg": {"name": "w"}, "parameter_name": "fc.weight"}},
 {"buffer": {"arg": {"name": "b"}, "buffer_name": "count", "persistent": false}},
 {"user_input": {"arg": {"as_tensor": {"name": "x"}}}},
 {"user_input": {"arg": {"as_sym_int": {"as_name": "n"}}}},
 {"constant_input": {"name": "k", "value": {"as_int": 3}}}],
"output_specs": [{"user_output": {"arg": {"as_tensor": {"name": "r"}}}},
 {"user_output": {"arg": {"as_sym_int": {"as_name": "m"}}}},
 {"user_output": {"arg": {"as_none": true}}}]}},
"range_constraints": {"s0": {"min_val": 0, "max_val": 64}},
"schema_version": {"major": 8, "minor": 20}})--";

inline constexpr std::string_view kGraphWeights =
    R"--({"config": {"fc.weight": {"path_name": "weight_0",
"use_pickle": false, "tensor_meta": {"dtype": 7, "sizes": [{"as_int": 2}, {"as_int": 3}],
"requires_grad": true, "strides": [{"as_int": 3}, {"as_int": 1}], "storage_offset": {"as_int": 0}}}}})--";

inline constexpr std::string_view kGraphConstants =
    R"--({"config": {"count": {"path_name": "tensor_0",
"use_pickle": false, "tensor_meta": {"dtype": 5, "sizes": [], "requires_grad": false, "strides": [],
"storage_offset": {"as_int": 0}}}}})--";

/// Return a .pt2 file with the parts.
inline std::string graph_bytes(std::string_view model, std::string_view weights) {
  return zip_bytes({{"x/models/model.json", std::string(model)},
                    {"x/data/weights/model_weights_config.json", std::string(weights)},
                    {"x/data/weights/weight_0", std::string(24, '\x3d')},
                    {"x/data/constants/model_constants_config.json", std::string(kGraphConstants)},
                    {"x/data/constants/tensor_0", std::string(8, '\0')}});
}
