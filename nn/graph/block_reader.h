// Reads the calls of a program from the JSON of a .pt2 file. Private to nn/graph.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "json.h"
#include "program.h"

namespace ambit::graph {

/// Throw SerializationError.
[[noreturn]] void fail_formatted(fmt::string_view text, fmt::format_args args);
template <class... T>
[[noreturn]] void fail(fmt::format_string<T...> text, T&&... args) {
  fail_formatted(text, fmt::make_format_args(args...));
}

/// Everything that a file needs and ambit lacks; an error lists it all at once.
class Lacking {
 public:
  void add(std::string what);
  void add_dtype(int64_t code, std::string_view of);
  /// Errors: NotImplementedError if anything was added.
  void check(const std::string& path) const;

 private:
  std::set<std::string> items_;
};

/// Return the dtype with a code of the file, or nothing if ambit lacks it.
std::optional<DType> dtype_of_code(int64_t code);

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
  /// Read an object that has the kind of an argument as the name of its only member.
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
