// A profile's averages as text, in the style of torch.profiler's table().
#include <ambit/error.h>
#include <ambit/profiler.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

namespace ambit::profiler {
namespace {

struct Number {
  std::string_view name;
  double (*of)(const FunctionEventAvg& row);
};
#define AMBIT_NUMBER(name)                                                           \
  Number {                                                                           \
#name, [](const FunctionEventAvg& row) { return static_cast<double>(row.name); } \
  }
constexpr std::array kNumbers{
    AMBIT_NUMBER(self_cpu_time_total),
    AMBIT_NUMBER(cpu_time_total),
    AMBIT_NUMBER(self_device_time_total),
    AMBIT_NUMBER(device_time_total),
    AMBIT_NUMBER(count),
    AMBIT_NUMBER(kernels),
    AMBIT_NUMBER(bytes),
    AMBIT_NUMBER(allocated),
    AMBIT_NUMBER(freed),
    AMBIT_NUMBER(peak),
    Number{"cpu_time", [](const FunctionEventAvg& row) { return row.cpu_time(); }},
    Number{"device_time", [](const FunctionEventAvg& row) { return row.device_time(); }},
};
#undef AMBIT_NUMBER

std::string time_text(double microseconds) {
  if (microseconds >= 1e6) return fmt::format("{:.3f}s", microseconds / 1e6);
  if (microseconds >= 1e3) return fmt::format("{:.3f}ms", microseconds / 1e3);
  return fmt::format("{:.3f}us", microseconds);
}

std::string bytes_text(int64_t bytes) {
  constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.2f} {}", value, kUnits[unit]);
}

struct Totals {
  double cpu = 0, device = 0;
};

struct Column {
  std::string title;
  bool is_text;
  std::function<std::string(const FunctionEventAvg& row)> cell;
};

bool any_of(const EventAverages& rows, int64_t FunctionEventAvg::*member) {
  return std::ranges::any_of(rows, [&](const auto& row) { return row.*member != 0; });
}

// Columns without any value are omitted.
std::vector<Column> columns_of(const EventAverages& rows, const Totals& totals) {
  using Row = FunctionEventAvg;
  const auto share = [](double part, double all) {
    return fmt::format("{:.1f}%", all > 0 ? 100 * part / all : 0.0);
  };
  std::vector<Column> columns{
      {"Name", true, [](const Row& r) { return r.key; }},
      {"Self CPU %", false, [=](const Row& r) { return share(r.self_cpu_time_total, totals.cpu); }},
      {"Self CPU", false, [](const Row& r) { return time_text(r.self_cpu_time_total); }},
      {"CPU total", false, [](const Row& r) { return time_text(r.cpu_time_total); }},
      {"CPU avg", false, [](const Row& r) { return time_text(r.cpu_time()); }},
  };
  const auto add = [&](const char* title, bool is_text, auto cell) {
    columns.push_back({title, is_text, cell});
  };
  if (totals.device > 0) {
    add("Self device %", false,
        [=](const Row& r) { return share(r.self_device_time_total, totals.device); });
    add("Self device", false, [](const Row& r) { return time_text(r.self_device_time_total); });
    add("Device total", false, [](const Row& r) { return time_text(r.device_time_total); });
  }
  add("Calls", false, [](const Row& r) { return fmt::format("{}", r.count); });
  add("Kernels", false, [](const Row& r) { return fmt::format("{}", r.kernels); });
  add("Bytes", false, [](const Row& r) { return bytes_text(r.bytes); });
  if (any_of(rows, &Row::allocated) || any_of(rows, &Row::peak)) {
    add("Allocated", false, [](const Row& r) { return bytes_text(r.allocated); });
    add("Freed", false, [](const Row& r) { return bytes_text(r.freed); });
    add("Peak", false, [](const Row& r) { return bytes_text(r.peak); });
  }
  add("Device", true, [](const Row& r) {
    const bool has_device = r.kind == EventKind::op || r.kind == EventKind::copy;
    return has_device ? r.device.str() : "";
  });
  add("Dtypes", true, [](const Row& r) { return r.dtypes; });
  if (std::ranges::any_of(rows, [](const Row& r) { return !r.input_shapes.empty(); })) {
    add("Shapes", true, [](const Row& r) { return r.input_shapes; });
  }
  return columns;
}

// Text left-aligned, numbers right-aligned; no trailing spaces.
std::string line_of(const std::vector<Column>& columns, const std::vector<size_t>& widths,
                    const std::vector<std::string>& cells) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    line += columns[i].is_text ? fmt::format("{:<{}}", cells[i], widths[i])
                               : fmt::format("{:>{}}", cells[i], widths[i]);
    if (i + 1 < cells.size()) line += "  ";
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::string EventAverages::table(std::string_view sort_by, int row_limit) const {
  const auto number = std::ranges::find(kNumbers, sort_by, &Number::name);
  if (number == kNumbers.end()) {
    throw Error(fmt::format(
        "table: expected sort_by to be a numeric field of FunctionEventAvg, got \"{}\"", sort_by));
  }
  Totals totals;
  for (const FunctionEventAvg& row : *this) {
    totals.cpu += row.self_cpu_time_total;
    totals.device += row.self_device_time_total;
  }
  std::vector<const FunctionEventAvg*> sorted;
  for (const FunctionEventAvg& row : *this) sorted.push_back(&row);
  std::ranges::stable_sort(sorted, std::greater<>(),
                           [&](const auto* row) { return number->of(*row); });
  if (row_limit >= 0 && sorted.size() > static_cast<size_t>(row_limit)) {
    sorted.resize(static_cast<size_t>(row_limit));
  }

  const std::vector<Column> columns = columns_of(*this, totals);
  std::vector<std::vector<std::string>> lines(1);
  for (const Column& column : columns) lines[0].push_back(column.title);
  for (const FunctionEventAvg* row : sorted) {
    std::vector<std::string>& cells = lines.emplace_back();
    for (const Column& column : columns) cells.push_back(column.cell(*row));
  }
  std::vector<size_t> widths(columns.size());
  for (const auto& cells : lines) {
    for (size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  }
  std::string text;
  for (const auto& cells : lines) text += line_of(columns, widths, cells);
  text += fmt::format("Self CPU time total: {}\n", time_text(totals.cpu));
  if (totals.device > 0) {
    text += fmt::format("Self device time total: {}\n", time_text(totals.device));
  }
  return text;
}

}  // namespace ambit::profiler
