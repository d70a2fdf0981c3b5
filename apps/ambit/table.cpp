#include "table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "terminal.h"

namespace {

std::vector<size_t> widths(const Rows& rows) {
  std::vector<size_t> widest(rows.at(0).size());
  for (const auto& row : rows) {
    for (size_t c = 0; c < row.size(); ++c) widest[c] = std::max(widest[c], row[c].size());
  }
  return widest;
}

bool alarms(const std::string& cell) {
  return cell.find("missing") != std::string::npos || cell.find("failed") != std::string::npos;
}

}  // namespace

std::string plain_table(const Rows& rows) {
  const std::vector<size_t> widest = widths(rows);
  std::string text;
  for (const auto& row : rows) {
    const bool is_head = &row == &rows[0];
    std::string line;
    size_t padding = 0;  // spaces before the next cell; lines have no trailing spaces
    for (size_t c = 0; c < row.size(); ++c) {
      if (!row[c].empty()) {
        line += std::string(padding, ' ') + (!is_head && alarms(row[c]) ? red(row[c]) : row[c]);
        padding = 0;
      }
      padding += widest[c] - row[c].size() + 2;
    }
    text += line + "\n";
  }
  return text;
}

std::string markdown_table(const Rows& rows) {
  const auto line = [](const std::vector<std::string>& cells) {
    return fmt::format("| {} |\n", fmt::join(cells, " | "));
  };
  std::string text = line(rows.at(0));
  text += line(std::vector<std::string>(rows[0].size(), "---"));
  for (size_t r = 1; r < rows.size(); ++r) text += line(rows[r]);
  return text;
}
