// All rows of the table, by family. Making them is cheap: their tensors come later.
#pragma once

#include <string>
#include <vector>

#include "../row.h"

namespace bench {

std::vector<Row> network_rows();
std::vector<Row> op_rows();
std::vector<Row> sorting_rows();
std::vector<Row> optimizer_rows();
std::vector<Row> data_rows();
std::vector<Row> program_rows();

/// All of them, in the order of the table.
std::vector<Row> all_rows();
/// Errors: ambit::Error when there is none of that name.
Row row_named(const std::string& name);

}  // namespace bench
