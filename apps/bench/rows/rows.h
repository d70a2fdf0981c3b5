// All rows of the table, by family. Making them is cheap: their tensors come later.
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

/// What network_rows() has rows of.
inline constexpr const char* kLessonWorks[] = {"net/train", "net/infer", "tudui/train",
                                               "tudui/infer"};
/// Return one of them with a batch of any size. Errors: ambit::Error for another work.
Row lesson_row(const std::string& what, int64_t batch);

/// All of them, in the order of the table.
std::vector<Row> all_rows();
/// Those of lessons may have any batch. Errors: ambit::Error when there is none of that name.
Row row_named(const std::string& name);

}  // namespace bench
