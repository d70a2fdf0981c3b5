// All rows of the table, by family. Making them is cheap: their tensors come later.
#pragma once

#include <vector>

#include "../row.h"

namespace bench {

std::vector<Row> network_rows();

/// All of them, in the order of the table.
std::vector<Row> all_rows();

}  // namespace bench
