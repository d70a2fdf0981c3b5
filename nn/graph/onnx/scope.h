// Names, constants and blocks while a model is read. Private to nn/graph/onnx.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "nn/graph/program.h"
#include "onnx.pb.h"

namespace ambit::graph::onnx {

/// An initializer, or the result of a Constant. It becomes state of the program if a call uses it
/// as a tensor.
struct Constant {
  Tensor tensor{};
  std::string name{};
  bool is_initializer = false;
  bool is_statistic = false;  ///< a running statistic of a batch norm
  int64_t value = -1;         ///< position in the outermost block; -1: none
  /// The constant's tensor in the model; null for lists of numbers, and in the bodies of functions.
  proto::TensorProto* source = nullptr;
};

/// A block under construction. Its calls may use values of the blocks around it: those become
/// inputs of the block, after its own.
struct Body {
  Body* outer = nullptr;
  Block block{};
  std::vector<uint32_t> captured{};  ///< values of `outer`, in the order of the added inputs
  std::map<std::pair<const Body*, uint32_t>, uint32_t> known{};

  uint32_t add(Value value);
  /// Return this block's input for a value of an outer block; add the input if it is new.
  uint32_t import(Body& from, uint32_t value);
};

/// The meaning of a name: a constant, a value of a body, or an input that a call omits.
struct Meaning {
  Constant* constant = nullptr;
  Body* body = nullptr;
  uint32_t value = 0;
};

/// The names of one graph, or of one call of a function of the model.
struct Scope {
  Body& body;
  Scope* outer = nullptr;
  int depth = 0;
  int64_t opset = 0;
  std::unordered_map<std::string, Meaning> names{};
  std::unordered_map<std::string, const proto::ValueInfoProto*> types{};
  std::unordered_map<std::string, Argument> attributes{};  ///< of the call of a function

  const Meaning* find(const std::string& name) const;
  /// Errors: SerializationError if the name has a meaning already.
  void declare(const std::string& name, Meaning meaning);
};

/// Converts names of a model to those of parameters and buffers: "a.b" is b of module a. Results
/// are distinct, and none is also the name of a module.
class StateNames {
 public:
  std::string unique(const std::string& name);

 private:
  std::set<std::string> names_, modules_;
};

}  // namespace ambit::graph::onnx
