// Tables of calls that must include every public function. Every test file adds the rows of its
// family, so that the rows of a new op are added with its tests:
//   const CallTable<BadCall> kRows([] { return std::vector<BadCall>{SHAPE(add, m23(), m45())}; });
#pragma once

#include <vector>

template <class Call>
class CallTable {
 public:
  using Rows = std::vector<Call> (*)();
  /// Add rows, which are created when a test requests them.
  explicit CallTable(Rows rows) { parts().push_back(rows); }

  /// Return the rows of all files.
  static std::vector<Call> all() {
    std::vector<Call> calls;
    for (const Rows rows : parts()) {
      for (Call& call : rows()) calls.push_back(std::move(call));
    }
    return calls;
  }

 private:
  static std::vector<Rows>& parts() {
    static std::vector<Rows> all;
    return all;
  }
};
