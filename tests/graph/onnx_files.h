// Small ONNX models as text of protobuf's wire format, and the files of onnx_nodes_1.23.tar.xz.
#pragma once

#include <ambit/graph/graph.h>
#include <ambit/serialize.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "tests/files/python.h"
#include "tests/temporary_folder.h"

namespace onnx_model {

inline std::string varint(uint64_t v) {
  std::string out;
  for (; v >= 128; v >>= 7) out += static_cast<char>(v | 128);
  return out + static_cast<char>(v);
}
/// A field that is a number.
inline std::string number(int field, int64_t v) {
  return varint(static_cast<uint64_t>(field) << 3) + varint(static_cast<uint64_t>(v));
}
/// A field that is text, bytes or a message.
inline std::string bytes(int field, const std::string& content) {
  return varint(static_cast<uint64_t>(field) << 3 | 2) + varint(content.size()) + content;
}
/// A field that is a float.
inline std::string real(int field, float v) {
  return varint(static_cast<uint64_t>(field) << 3 | 5) +
         std::string(reinterpret_cast<const char*>(&v), sizeof v);
}

constexpr int kFloat = 1, kInt64 = 7;  // TensorProto.DataType

template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// A TensorProto without its content.
inline std::string tensor_head(const std::string& name, int type,
                               const std::vector<int64_t>& sizes) {
  std::string out;
  for (const int64_t size : sizes) out += number(1, size);
  return out + number(2, type) + bytes(8, name);
}
inline std::string floats(const std::string& name, const std::vector<int64_t>& sizes,
                          const std::vector<float>& values) {
  return tensor_head(name, kFloat, sizes) + bytes(9, raw(values));
}
inline std::string integers(const std::string& name, const std::vector<int64_t>& sizes,
                            const std::vector<int64_t>& values) {
  return tensor_head(name, kInt64, sizes) + bytes(9, raw(values));
}

/// A ValueInfoProto; a size -1 is the symbol "n".
inline std::string value(const std::string& name, int type, const std::vector<int64_t>& sizes) {
  std::string shape;
  for (const int64_t size : sizes) shape += bytes(1, size < 0 ? bytes(2, "n") : number(1, size));
  return bytes(1, name) + bytes(2, bytes(1, number(1, type) + bytes(2, shape)));
}

inline std::string integer_attribute(const std::string& name, int64_t v) {
  return bytes(5, bytes(1, name) + number(3, v) + number(20, 2));
}
inline std::string real_attribute(const std::string& name, float v) {
  return bytes(5, bytes(1, name) + real(2, v) + number(20, 1));
}
inline std::string text_attribute(const std::string& name, const std::string& v) {
  return bytes(5, bytes(1, name) + bytes(4, v) + number(20, 3));
}

/// A NodeProto under the name of its operator in small letters.
inline std::string node(const std::string& op, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs,
                        const std::string& attributes = "") {
  std::string out, name = op;
  for (char& c : name) c = static_cast<char>(std::tolower(c));
  for (const std::string& i : inputs) out += bytes(1, i);
  for (const std::string& o : outputs) out += bytes(2, o);
  return out + bytes(3, name) + bytes(4, op) + attributes;
}

struct Model {
  std::vector<std::string> nodes, initializers, inputs, outputs;
  int64_t opset = 21;
};

inline std::string model(const Model& m) {
  std::string graph;
  for (const std::string& n : m.nodes) graph += bytes(1, n);
  graph += bytes(2, "graph");
  for (const std::string& i : m.initializers) graph += bytes(5, i);
  for (const std::string& i : m.inputs) graph += bytes(11, i);
  for (const std::string& o : m.outputs) graph += bytes(12, o);
  return number(1, 10) + bytes(7, graph) + bytes(8, number(2, m.opset));
}

/// Load a model from bytes.
inline ambit::graph::Graph load(const std::string& content) {
  static const TemporaryFolder folder;
  return ambit::graph::load(folder.write("a.onnx", content));
}

}  // namespace onnx_model
