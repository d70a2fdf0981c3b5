#include "rows.h"

#include <ambit/error.h>

#include <charconv>

namespace bench {

std::vector<Row> all_rows() {
  std::vector<Row> all;
  for (const auto family : {network_rows, zoo_rows, op_rows, layer_rows, sorting_rows,
                            optimizer_rows, data_rows, program_rows}) {
    for (Row& row : family()) all.push_back(std::move(row));
  }
  return all;
}

Row row_named(const std::string& name) {
  for (Row& row : all_rows()) {
    if (row.name() == name) return std::move(row);
  }
  const size_t slash = name.rfind('/') + 1;  // 0 if there is none
  int64_t batch = 0;
  const char* const end = name.data() + name.size();
  if (std::from_chars(name.data() + slash, end, batch).ptr != end || slash == 0 || batch < 1) {
    throw ambit::Error("bench: expected the name of a row, got " + name);
  }
  return lesson_row(name.substr(0, slash - 1), batch);
}

}  // namespace bench
