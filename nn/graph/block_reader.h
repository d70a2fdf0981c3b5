// Reads the calls of a program from the JSON of a .pt2 file. Private to nn/graph.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "json.h"
#include "lacking.h"
#include "program.h"

namespace ambit::graph {

/// Return the dtype that a code in the file means, or nothing if ambit lacks it.
std::optional<DType> dtype_of_code(int64_t code);
/// Return the name of a code's dtype that ambit lacks.
const char* name_of_code(int64_t code);

/// Errors of all members: SerializationError.
class BlockReader {
 public:
  /// `depth`: how many blocks contain this one.
  BlockReader(Json::Ref graph, Lacking& lacking, int depth);

  /// Return the block, with its outputs.
  Block take();
  const Block& block() const { return block_; }
  /// Return the position of a value that an input or an earlier call declared.
  uint32_t value(std::string_view name) const;
  /// Read an argument: an object whose only member has the kind of the argument as its name.
  Argument argument(Json::Ref holder);

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  Argument of_value(std::string_view name) const { return Argument::of(Kind::value, value(name)); }
  Argument list(std::string_view kind, Json::Ref content);
  uint32_t declare(Json::Ref content);
  uint32_t declare(std::string_view name);
  void read_node(Json::Ref json);
  void read_outputs(Node& node, Json::Ref outputs);
  void read_arguments(Node& node, Json::Ref inputs);

  using Kind = Argument::Kind;

  Lacking& lacking_;
  Json::Ref graph_;
  int depth_;
  Block block_;
  std::unordered_map<std::string_view, Json::Ref> metas_;
  std::unordered_map<std::string_view, uint32_t> names_;
};

}  // namespace ambit::graph
