#include "rows.h"

namespace bench {

std::vector<Row> all_rows() {
  std::vector<Row> all;
  for (const auto family : {network_rows}) {
    for (Row& row : family()) all.push_back(std::move(row));
  }
  return all;
}

}  // namespace bench
