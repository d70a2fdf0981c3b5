#include "output.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace check {
namespace {

using nlohmann::json;

std::string where(const Finding& f) {
  std::string text = f.place.text();
  if (!f.function.empty()) text += " in " + f.function;
  if (!f.module.empty()) text += ", module " + f.module;
  return text;
}

std::string indented(const std::string& text) {
  std::string result = "    ";
  for (const char c : text) result += c == '\n' ? std::string("\n    ") : std::string(1, c);
  return result + '\n';
}

std::string copies_text(const Report& report) {
  if (report.copies.empty()) return {};
  std::string text = "Copies and synchronisations (not mistakes), by place";
  if (report.steps > 0) {
    text += fmt::format("; {} {}{}", report.steps,
                        report.has_optimizer ? "optimizer step" : "module call",
                        report.steps == 1 ? "" : "s");
  }
  text += ":\n";
  constexpr size_t kMost = 20;
  for (size_t i = 0; i < std::min(kMost, report.copies.size()); ++i) {
    const Finding& f = report.copies[i];
    text +=
        fmt::format("  {:>8} x {:>12} bytes  {:<20}  {}", f.count, f.bytes, f.kind, f.place.text());
    const size_t steps = std::min(f.steps, report.steps);
    if (report.steps > 1) text += fmt::format("  in {} of {} steps", steps, report.steps);
    text += '\n';
  }
  if (report.copies.size() > kMost) {
    text += fmt::format("  and {} more places\n", report.copies.size() - kMost);
  }
  return text;
}

std::string peaks_text(const Report& report) {
  if (report.peaks.empty()) return {};
  std::string text = "Memory in use at the peak, by device and module:\n";
  for (const Peak& peak : report.peaks) {
    text += fmt::format("  {:>12} bytes  {}\n", peak.bytes, peak.device);
    std::vector<std::pair<size_t, std::string>> modules;
    for (const auto& [name, bytes] : peak.modules) {
      if (bytes > 0) modules.emplace_back(bytes, name.empty() ? "no module" : name);
    }
    std::ranges::sort(modules, std::greater());
    constexpr size_t kMost = 20;
    modules.resize(std::min(kMost, modules.size()));
    for (const auto& [bytes, name] : modules) {
      text += fmt::format("  {:>12}          {}\n", bytes, name);
    }
  }
  return text;
}

std::string as_text(const Report& report) {
  std::string text;
  for (const Finding& f : report.faults) {
    text += fmt::format("{}: {}\n    {}\n", where(f), f.kind, f.message);
    if (!f.details.empty()) text += indented(f.details);
    if (f.count > 1) text += fmt::format("    {} times\n", f.count);
    text += '\n';
  }
  text += copies_text(report) + peaks_text(report);
  for (const std::string& note : report.notes) text += "note: " + note + '\n';
  const size_t count = report.faults.size();
  return text + (count == 0 ? "no device mistakes found\n"
                            : fmt::format("{} device mistake{}\n", count, count == 1 ? "" : "s"));
}

json as_json(const Finding& f) {
  return {{"kind", f.kind},         {"message", f.message}, {"details", f.details},
          {"file", f.place.file},   {"line", f.place.line}, {"module", f.module},
          {"function", f.function}, {"device", f.device},   {"count", f.count},
          {"bytes", f.bytes},       {"steps", f.steps}};
}

std::string as_json(const Report& report) {
  json all{
      {"faults", json::array()}, {"copies", json::array()},
      {"steps", report.steps},   {"step", report.has_optimizer ? "optimizer step" : "module call"},
      {"peaks", json::array()},  {"notes", report.notes}};
  for (const Finding& f : report.faults) all["faults"].push_back(as_json(f));
  for (const Finding& f : report.copies) all["copies"].push_back(as_json(f));
  for (const Peak& p : report.peaks) {
    all["peaks"].push_back({{"device", p.device}, {"bytes", p.bytes}, {"modules", p.modules}});
  }
  return all.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
}

// XML 1.0 has no control characters other than these.
std::string xml(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\n':
        result += "&#10;";
        break;
      case '\t':
        result += "&#9;";
        break;
      default:
        result += static_cast<unsigned char>(c) < 32 ? '?' : c;
    }
  }
  return result;
}

std::string as_junit(const Report& report) {
  const size_t failures = report.faults.size();
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"ambit check\" tests=\"{}\" failures=\"{}\">\n",
      std::max<size_t>(failures, 1), failures);
  if (failures == 0) text += "  <testcase classname=\"ambit check\" name=\"devices\"/>\n";
  for (const Finding& f : report.faults) {
    text += fmt::format(
        "  <testcase classname=\"{}\" name=\"{}\" file=\"{}\" line=\"{}\">\n"
        "    <failure message=\"{}\">{}</failure>\n  </testcase>\n",
        xml(f.kind), xml(where(f)), xml(f.place.file), f.place.line, xml(f.message),
        xml(f.details));
  }
  return text + "</testsuite>\n";
}

// Escape the characters that workflow commands require; in a property also its separators.
std::string escaped(const std::string& text, bool is_property) {
  std::string result;
  for (const char c : text) {
    const bool escapes =
        c == '%' || c == '\n' || c == '\r' || (is_property && (c == ':' || c == ','));
    result += escapes ? fmt::format("%{:02X}", static_cast<unsigned>(c)) : std::string(1, c);
  }
  return result;
}

std::string as_github(const Report& report) {
  std::string text;
  for (const Finding& f : report.faults) {
    const std::string place =
        f.place.line > 0
            ? fmt::format("file={},line={},", escaped(f.place.file, true), f.place.line)
            : "";
    text += fmt::format("::error {}title={}::{}\n", place, escaped(f.kind, true),
                        escaped(f.message, false));
  }
  return text;
}

}  // namespace

std::string print(const Report& report, const std::string& format) {
  if (format == "json") return as_json(report);
  if (format == "junit") return as_junit(report);
  if (format == "github") return as_github(report);
  return as_text(report);
}

}  // namespace check
