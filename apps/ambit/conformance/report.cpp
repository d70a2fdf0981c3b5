#include "report.h"

#include <ambit/dtype.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <set>

#include "../table.h"

namespace conformance {
namespace {

using nlohmann::json;

constexpr size_t kFailuresNamed = 20;  // after the first one, which is reported in full

using Tally = std::array<size_t, 4>;  // by Outcome

/// The outcome for an op, or (op "") the runtime.
struct Row {
  std::string op, kernel;
  std::vector<std::string> dtypes;  // dtypes with a case that was not declined
  Tally tally{};
  double error = 0;
};

size_t& at(Tally& t, Outcome o) { return t[static_cast<size_t>(o)]; }

/// Return whether a component of a case's path is `part`, for example a dtype.
bool has_part(const std::string& path, const std::string& part) {
  return ("/" + path + "/").find("/" + part + "/") != std::string::npos;
}

std::vector<std::string> dtypes_of(const std::set<std::string>& names) {
  std::vector<std::string> found;
  for (const ambit::DType d : ambit::dtypes::kEvery) {
    const std::string dtype = ambit::name(d);
    const auto has = [&](const std::string& name) { return has_part(name, dtype); };
    if (std::ranges::any_of(names, has)) found.push_back(dtype);
  }
  return found;
}

Row row_of(const Run& run, const std::string& op, const std::string& kernel) {
  Row row{op, kernel};
  std::set<std::string> ran;
  for (const Result& r : run.results) {
    if (r.op != op) continue;
    ++at(row.tally, r.outcome);
    row.error = std::max(row.error, r.error);
    if (r.outcome == Outcome::passed || r.outcome == Outcome::failed) ran.insert(r.name);
  }
  if (!op.empty()) row.dtypes = dtypes_of(ran);
  return row;
}

/// Return the rows of everything that ran: the runtime, then the ops in the order of kernels.h.
std::vector<Row> rows_of(const Run& run) {
  std::vector<Row> rows = {row_of(run, "", "")};
  for (const Coverage& c : run.plan.coverage) rows.push_back(row_of(run, c.op, c.kernel));
  std::erase_if(rows, [](const Row& r) { return r.tally == Tally{}; });
  return rows;
}

std::string dtypes_text(const Row& row) {
  if (row.op.empty()) return "";
  if (std::ssize(row.dtypes) == std::popcount(ambit::dtypes::kEvery.bits)) return "all";
  return fmt::format("{}", fmt::join(row.dtypes, " "));
}

std::vector<std::string> cells_of(Row row) {
  const auto number = [&](Outcome o) { return fmt::format("{}", at(row.tally, o)); };
  return {row.op.empty() ? "(runtime)" : row.op,
          row.kernel,
          number(Outcome::passed),
          number(Outcome::failed),
          number(Outcome::skipped),
          number(Outcome::missing),
          row.error > 0 ? fmt::format("{:.2g}", row.error) : "",
          dtypes_text(row)};
}

std::string table(const Run& run, bool markdown) {
  Rows rows = {{"op", "kernel", "passed", "failed", "skipped", "missing", "error", "dtypes"}};
  for (const Row& row : rows_of(run)) rows.push_back(cells_of(row));
  return (markdown ? markdown_table(rows) + "\n" : plain_table(rows)) +
         "error: the largest, in units of its bound; missing: no kernel, which is not a failure\n";
}

/// The plan is empty if the plugin ended its process while it was loaded.
std::string subject(const Run& run, const Options& options) {
  if (run.plan.device.empty()) return options.device;
  return fmt::format("{} ({})", run.plan.device, run.plan.hardware);
}

std::string coverage_line(const Run& run) {
  if (run.plan.coverage.empty()) return "";
  const auto number = [&](const char* kernel) {
    return std::ranges::count(run.plan.coverage, kernel, &Coverage::kernel);
  };
  return fmt::format("kernels: {} native, {} composite, {} missing\n", number("native"),
                     number("composite"), number("missing"));
}

std::string summary_line(const Run& run) {
  return fmt::format("cases: {} passed, {} failed, {} skipped, {} missing\n",
                     count(run, Outcome::passed), count(run, Outcome::failed),
                     count(run, Outcome::skipped), count(run, Outcome::missing));
}

bool is_case(const Run& run, const std::string& name) {
  return std::ranges::find(run.plan.cases, name, &CaseName::name) != run.plan.cases.end();
}

std::string rerun_command(const Run& run, const Result& r, const Options& o) {
  std::string command = "ambit conformance --device " + o.device;
  if (!o.backend.empty()) command += " --backend " + o.backend;
  if (o.seed != Options().seed) command += fmt::format(" --seed {}", o.seed);
  // A failure outside of any case requires the whole run.
  const std::string& filter = is_case(run, r.name) ? r.name : o.filter;
  return filter.empty() ? command : command + fmt::format(" --filter '{}'", filter);
}

std::string failures(const Run& run, const Options& options, bool markdown) {
  std::vector<const Result*> failed;
  for (const Result& r : run.results) {
    if (r.outcome == Outcome::failed) failed.push_back(&r);
  }
  if (failed.empty()) return "";
  const Result& first = *failed[0];
  const char* fence = markdown ? "```\n" : "";
  std::string text = fmt::format("\n{0}FAILED {1}\n{2}\nagain: {3}\n{0}", fence, first.name,
                                 first.text, rerun_command(run, first, options));
  if (failed.size() == 1) return text;
  text += fmt::format("\n{} more failed:\n", failed.size() - 1);
  for (size_t i = 1; i < failed.size() && i <= kFailuresNamed; ++i) {
    const std::string line = failed[i]->text.substr(0, failed[i]->text.find('\n'));
    text += fmt::format("{}{}: {}\n", markdown ? "- " : "  ", failed[i]->name, line);
  }
  if (failed.size() > kFailuresNamed + 1) {
    text += fmt::format("{}...; --format json has all\n", markdown ? "- " : "  ");
  }
  return text;
}

std::string as_json(const Run& run, const Options& options) {
  json ops = json::array();
  for (const Row& row : rows_of(run)) {
    json op = {{"op", row.op},
               {"kernel", row.kernel},
               {"dtypes", row.dtypes},
               {"error_in_bounds", row.error}};
    Tally tally = row.tally;
    for (Outcome o : {Outcome::passed, Outcome::failed, Outcome::skipped, Outcome::missing}) {
      op[json(o).get<std::string>()] = at(tally, o);
    }
    ops.push_back(std::move(op));
  }
  const json all = {{"device", run.plan.device},
                    {"hardware", run.plan.hardware},
                    {"seed", options.seed},
                    {"coverage", run.plan.coverage},
                    {"ops", ops},
                    {"cases", run.results},
                    {"failed", count(run, Outcome::failed)}};
  // The output of a worker may contain invalid UTF-8.
  return all.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace

size_t count(const Run& run, Outcome outcome) {
  return static_cast<size_t>(std::ranges::count(run.results, outcome, &Result::outcome));
}

std::string report(const Run& run, const Options& options) {
  if (options.format == Format::json) return as_json(run, options);
  const bool markdown = options.format == Format::md;
  return fmt::format("{}conformance of {}\n\n", markdown ? "## " : "", subject(run, options)) +
         table(run, markdown) + "\n" + coverage_line(run) + summary_line(run) +
         failures(run, options, markdown);
}

}  // namespace conformance
