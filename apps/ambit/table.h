// Rows of text in columns.
#pragma once

#include <string>
#include <vector>

using Rows = std::vector<std::vector<std::string>>;

/// Return the rows, padded with spaces; the first is the head. In a terminal, other cells that
/// contain "missing" or "failed" are red.
std::string plain_table(const Rows& rows);
/// Return the rows as a table in Markdown.
std::string markdown_table(const Rows& rows);
