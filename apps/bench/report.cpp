#include "report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "../ambit/table.h"

namespace bench {
namespace {

std::string text_of_seconds(double s) {
  if (s < 1e-6) return fmt::format("{:.0f} ns", s * 1e9);
  if (s < 1e-3) return fmt::format("{:.{}f} us", s * 1e6, s < 1e-4 ? 2 : 1);
  if (s < 1) return fmt::format("{:.{}f} ms", s * 1e3, s < 1e-1 ? 2 : 1);
  return fmt::format("{:.2f} s", s);
}

// Return the time and, if given, the fastest variant: "12.30 ms (compiled)".
std::string text_of(const Side& side) {
  const std::string time = text_of_seconds(side.seconds);
  return side.way.empty() ? time : fmt::format("{} ({})", time, side.way);
}

const Side* find(const Measured& row, const std::string& side) {
  const auto found = std::find_if(row.sides.begin(), row.sides.end(),
                                  [&](const Side& s) { return s.name == side; });
  return found == row.sides.end() ? nullptr : &*found;
}

std::string rate(const Measured& row) {
  if (row.amount == 0 || row.sides.empty()) return "";
  return fmt::format("{:.4g} {}/s", row.amount / row.sides[0].seconds, row.unit);
}

// Return "45.0 / 80.0 MiB": the peaks of the sides that have one, ambit first.
std::string peaks(const Measured& row) {
  std::string text;
  for (const Side& side : row.sides) {
    if (!side.peak_bytes) continue;
    text += fmt::format("{}{:.1f}", text.empty() ? "" : " / ", *side.peak_bytes / (1 << 20));
  }
  return text.empty() ? "" : text + " MiB";
}

std::vector<std::string> cells(const Measured& row, const Report& report) {
  std::vector<std::string> cells{row.row};
  cells.push_back(row.sides.empty() ? "" : text_of_seconds(row.sides[0].seconds));
  cells.push_back(rate(row));
  for (size_t c = 1; c < report.columns.size(); ++c) {
    const Side* side = find(row, report.columns[c]);
    cells.push_back(side ? text_of(*side) : "");
    cells.push_back(side ? fmt::format("{:.2f}", row.sides[0].seconds / side->seconds) : "");
  }
  cells.push_back(peaks(row));
  for (std::string& cell : cells) {
    if (cell.empty()) cell = "-";
  }
  return cells;
}

Rows table(const Report& report) {
  Rows rows{{"row", report.columns.at(0), "rate"}};
  for (size_t c = 1; c < report.columns.size(); ++c) {
    rows[0].push_back(report.columns[c]);
    rows[0].push_back("ratio");
  }
  rows[0].push_back("peak");
  for (const Measured& row : report.rows) rows.push_back(cells(row, report));
  return rows;
}

/// Return the table. Rows that are also measured in float32 are in a second table.
std::string tables(Report report, std::string (&text_of_table)(const Rows&)) {
  const std::vector<std::string> all = report.columns;
  std::vector<Measured> reduced;
  const auto in_float32 =
      std::stable_partition(report.rows.begin(), report.rows.end(),
                            [](const Measured& row) { return find(row, kFloat32) == nullptr; });
  std::move(in_float32, report.rows.end(), std::back_inserter(reduced));
  report.rows.erase(in_float32, report.rows.end());
  std::erase(report.columns, kFloat32);
  std::string text;
  if (!report.rows.empty()) text += text_of_table(table(report));
  if (reduced.empty()) return text;
  if (!text.empty()) text += '\n';
  return text + text_of_table(table({report.device, report.against, all, std::move(reduced)}));
}

std::string remarks(const Report& report) {
  std::string text;
  for (const Measured& row : report.rows) {
    if (!row.quiet) text += fmt::format("{}: other processes kept cores busy\n", row.row);
    if (!row.failure.empty()) text += fmt::format("{}: {}\n", row.row, row.failure);
  }
  return text;
}

}  // namespace

std::string text_of(const Report& report) {
  std::string text = fmt::format("ambit on {}", report.device);
  for (const std::string& version : report.against) text += ", " + version;
  return text + "\n\n" + tables(report, plain_table) + remarks(report);
}

std::string markdown_of(const Report& report) {
  return tables(report, markdown_table) + remarks(report);
}

std::string json_of(const Report& report) {
  using json = nlohmann::ordered_json;  // keeps insertion order
  json all{{"device", report.device}, {"against", report.against}, {"rows", json::array()}};
  for (const Measured& row : report.rows) {
    json sides = json::object();
    for (const Side& side : row.sides) {
      json& s = sides[side.name];
      s["seconds"] = side.seconds;
      if (&side != &row.sides[0]) s["ratio"] = row.sides[0].seconds / side.seconds;
      if (side.peak_bytes) s["peak_bytes"] = *side.peak_bytes;
      if (!side.way.empty()) s["way"] = side.way;
    }
    json& r = all["rows"].emplace_back(json{{"row", row.row}, {"sides", std::move(sides)}});
    if (row.amount != 0 && !row.sides.empty()) {
      r["rate"] = {{"per_second", row.amount / row.sides[0].seconds}, {"unit", row.unit}};
    }
    r["quiet"] = row.quiet;
    if (!row.failure.empty()) r["failure"] = row.failure;
  }
  return all.dump(2) + "\n";
}

}  // namespace bench
