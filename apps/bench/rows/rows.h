// All rows of the table, by family. Creating them is cheap: their tensors are created later.
#pragma once

#include <string>
#include <vector>

#include "../row.h"

namespace bench {

std::vector<Row> network_rows();
std::vector<Row> zoo_rows();
std::vector<Row> op_rows();
std::vector<Row> layer_rows();
std::vector<Row> sorting_rows();
std::vector<Row> optimizer_rows();
std::vector<Row> data_rows();
std::vector<Row> program_rows();

/// The workloads for which network_rows() returns rows.
inline constexpr const char* kLessonWorks[] = {"net/train", "net/infer", "tudui/train",
                                               "tudui/infer"};
/// Return the row of one of these workloads for any batch size. Errors: ambit::Error for any other.
Row lesson_row(const std::string& what, int64_t batch);

/// Return all rows, in the order of the table.
std::vector<Row> all_rows();
/// Return a row by name; lessons' rows may have any batch. Errors: ambit::Error if there is none.
Row row_named(const std::string& name);

}  // namespace bench
