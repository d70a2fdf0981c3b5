// Rows of text in columns.
#pragma once

#include <string>
#include <vector>

using Rows = std::vector<std::vector<std::string>>;

/// Return the rows, the first one the head, padded with spaces. Cells below the head that say
/// "missing" or "failed" are red in a terminal.
std::string plain_table(const Rows& rows);
/// The same in Markdown.
std::string markdown_table(const Rows& rows);
