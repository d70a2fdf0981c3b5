#include "rows.h"

#include <ambit/error.h>

namespace bench {

std::vector<Row> all_rows() {
  std::vector<Row> all;
  for (const auto family :
       {network_rows, op_rows, sorting_rows, optimizer_rows, data_rows, program_rows}) {
    for (Row& row : family()) all.push_back(std::move(row));
  }
  return all;
}

Row row_named(const std::string& name) {
  for (Row& row : all_rows()) {
    if (row.name() == name) return std::move(row);
  }
  throw ambit::Error("bench: expected the name of a row, got " + name);
}

}  // namespace bench
