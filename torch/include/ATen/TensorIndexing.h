// Printing of index entries as in libtorch: Slice(1, 3) as "1:3:1".
#pragma once

#include <ambit/ops/index.h>
#include <torch/namespaces.h>

#include <limits>
#include <ostream>

namespace ambit::indexing {

inline constexpr int64_t INDEX_MIN = std::numeric_limits<int64_t>::min();
inline constexpr int64_t INDEX_MAX = std::numeric_limits<int64_t>::max();

inline std::ostream& operator<<(std::ostream& os, const Slice& s) {
  return os << s.start() << ':' << s.stop() << ':' << s.step();
}

inline std::ostream& operator<<(std::ostream& os, const TensorIndex& index) {
  switch (index.kind()) {
    case TensorIndex::Kind::none:
      return os << "None";
    case TensorIndex::Kind::ellipsis:
      return os << "...";
    case TensorIndex::Kind::integer:
      return os << index.integer();
    case TensorIndex::Kind::boolean:
      return os << (index.boolean() ? "true" : "false");
    case TensorIndex::Kind::slice:
      return os << index.slice();
    case TensorIndex::Kind::tensor:
      break;
  }
  return os << index.tensor();
}

}  // namespace ambit::indexing
