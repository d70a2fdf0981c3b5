// `ambit bench`: how fast is it, beside others and beside what the machine can do?
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>

#include "../ambit/commands.h"
#include "alone.h"
#include "rows/rows.h"
#include "run.h"

namespace {

using namespace bench;

const char* const kFooter =
    R"(Each row is the median of many runs; the sides of a row run in turn in one process.

  ambit bench --against libtorch --against floor --markdown   # the README's table
  ambit bench --filter tudui/train --json

Exit codes: 0 all was measured, 1 a row failed or its sides disagree, 2 it could not be done.)";

struct Command {
  Options options;
  bool markdown = false, json = false;
};

// Where a terminal looks on: the row that is being measured.
void show_progress(const std::string& row) {
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[K{}", row);
}

int measure_and_print(const Command& command) {
  if (!command.options.alone.empty()) {
    fmt::print("{}\n", run_alone(command.options.alone, row_named(command.options.filter)));
    return 0;
  }
  const Report report = run(command.options, show_progress);
  show_progress("");
  fmt::print("{}", command.json       ? json_of(report)
                   : command.markdown ? markdown_of(report)
                                      : text_of(report));
  const bool failed = std::any_of(report.rows.begin(), report.rows.end(),
                                  [](const Measured& row) { return !row.failure.empty(); });
  return failed ? 1 : 0;
}

}  // namespace

void add_bench(CLI::App& tool, int& exit_code) {
  const auto command = std::make_shared<Command>();
  Options& options = command->options;
  CLI::App& c = *tool.add_subcommand("bench", "Measure how fast ambit is");
  c.footer(kFooter);
  c.add_option("--filter", options.filter, "Measure only rows whose name holds this: net/train");
  c.add_option("--device", options.device, "Where ambit computes")->capture_default_str();
  c.add_option("--against", options.against,
               "Compare with libtorch or floor, oneDNN by hand, if it was built; more than once")
      ->type_name("NAME");
  c.add_option("--seconds", options.seconds, "How long to measure each side of a row")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  c.add_flag("--memory", options.memory, "Measure the peak memory of networks, one process each");
  c.add_option("--alone", options.alone)->group("");  // between parent and child
  CLI::Option* json = c.add_flag("--json", command->json, "Print JSON");
  c.add_flag("--markdown", command->markdown, "Print the table in Markdown")->excludes(json);
  c.callback([command, &exit_code] { exit_code = measure_and_print(*command); });
}
