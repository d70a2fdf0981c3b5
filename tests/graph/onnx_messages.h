// Small ONNX models as text of protobuf's wire format. Numbers of fields are those of onnx.proto.
#pragma once

#include <cctype>
#include <cstdint>
#include <string>
#include <vector>

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

/// A ValueInfoProto; a size of -1 is the symbol "n".
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

/// A ValueInfoProto without a type.
inline std::string untyped(const std::string& name) { return bytes(1, name); }
inline std::string tensor_attribute(const std::string& name, const std::string& tensor) {
  return bytes(5, bytes(1, name) + bytes(5, tensor) + number(20, 4));
}
inline std::string graph_attribute(const std::string& name, const std::string& graph) {
  return bytes(5, bytes(1, name) + bytes(6, graph) + number(20, 5));
}
inline std::string integers_attribute(const std::string& name, const std::vector<int64_t>& list) {
  std::string out = bytes(1, name);
  for (const int64_t v : list) out += number(8, v);
  return bytes(5, out + number(20, 7));
}

/// A NodeProto whose name is that of its operator in lower case.
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
  std::string functions{};  ///< as fields of a ModelProto
};

inline std::string graph_of(const Model& m) {
  std::string out;
  for (const std::string& n : m.nodes) out += bytes(1, n);
  out += bytes(2, "graph");
  for (const std::string& i : m.initializers) out += bytes(5, i);
  for (const std::string& i : m.inputs) out += bytes(11, i);
  for (const std::string& o : m.outputs) out += bytes(12, o);
  return out;
}

/// A function of the domain "own" as a field of a ModelProto.
inline std::string function_of(const std::string& name, const std::vector<std::string>& inputs,
                               const std::vector<std::string>& outputs,
                               const std::vector<std::string>& nodes) {
  std::string out = bytes(1, name);
  for (const std::string& i : inputs) out += bytes(4, i);
  for (const std::string& o : outputs) out += bytes(5, o);
  for (const std::string& n : nodes) out += bytes(7, n);
  return bytes(25, out + bytes(9, number(2, 21)) + bytes(10, "own"));
}

inline std::string model(const Model& m) {
  return number(1, 10) + bytes(7, graph_of(m)) + bytes(8, number(2, m.opset)) + m.functions;
}

}  // namespace onnx_model
