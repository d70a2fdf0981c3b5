// `ambit bench`: measures speed, compared with other libraries and the limits of the machine.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>

#include "../ambit/commands.h"
#include "alone.h"
#include "crossover.h"
#include "distributed/distributed.h"
#include "growth.h"
#include "rows/rows.h"
#include "run.h"

namespace {

using namespace bench;

const char* const kFooter =
    R"(Each row is the median of many runs. Its sides run alternately, in one process, with the same
values; a ratio is ambit's time divided by the other's. The floor is a lower bound of the time: with
--against floor, that of the same computation written on oneDNN or as plain loops; otherwise the
time to move the row's bytes plus that of its multiply-adds. Runs that other processes disturbed do
not count; a note names the rows of which all runs were disturbed.

  ambit bench --filter net/train --against libtorch
  ambit bench --against libtorch,floor --memory --markdown   # the README's table
  ambit bench --loaded --against libtorch                     # on a machine that others use too
  ambit bench --crossover --device cuda
  ambit bench --growth --filter net/

Exit codes: 0 success, 1 a row failed or its sides disagree, 2 wrong usage or unable to measure.)";

struct Command {
  Options options;
  Grid grid;
  std::vector<int64_t> batches;  // empty: the defaults of the table
  bool crossover = false, growth = false, list = false, markdown = false, json = false;
};

// On a terminal, show the row that is being measured.
void show_progress(const std::string& row) {
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[K{}", row);
}

template <class Result>
void print(const Result& result, const Command& command) {
  show_progress("");
  fmt::print("{}", command.json       ? json_of(result)
                   : command.markdown ? markdown_of(result)
                                      : text_of(result));
}

int run_command(const Command& command) {
  const Options& options = command.options;
  if (!options.alone.empty()) {
    fmt::print("{}\n", run_alone(options.alone, row_named(options.filter)));
    return 0;
  }
  if (options.distributed) {
    fmt::print("{}", distributed::run(options, command.markdown, show_progress));
    return 0;
  }
  if (command.list) {
    for (const Row& row : chosen_rows(options.filter)) fmt::print("{}\n", row.name());
    return 0;
  }
  if (command.growth) {
    const std::vector<int64_t> batches{1, 4, 16, 64, 256, 1024, 4096};
    print(
        measure_growth(options, command.batches.empty() ? batches : command.batches, show_progress),
        command);
    return 0;
  }
  if (command.crossover) {
    Grid grid = command.grid;
    if (!command.batches.empty()) grid.batches = command.batches;
    print(measure_crossover(options.device, grid, options.seconds, show_progress), command);
    return 0;
  }
  const Report report = run(options, show_progress);
  print(report, command);
  const bool failed = std::any_of(report.rows.begin(), report.rows.end(),
                                  [](const Measured& row) { return !row.failure.empty(); });
  return failed ? 1 : 0;
}

}  // namespace

void add_bench(CLI::App& tool, int& exit_code) {
  const auto command = std::make_shared<Command>();
  Options& options = command->options;
  CLI::App& c = *tool.add_subcommand("bench", "Measure ambit's speed");
  c.footer(kFooter);
  c.add_option("--filter", options.filter, "Measure only rows whose name contains this: net/train");
  c.add_flag("--list", command->list, "Print the names of the rows without measuring");
  c.add_option("--device", options.device, "The device that ambit computes on")
      ->capture_default_str();
  c.add_option("--against", options.against,
               "Compare with libtorch, pytorch (its fastest variant, run by $AMBIT_PYTHON), floor "
               "(direct calls\nof oneDNN), or a library's file")
      ->type_name("NAME,...")
      ->delimiter(',');
  c.add_flag("--memory", options.memory, "Measure the peak memory of networks, one process each");
  c.add_flag("--loaded", options.loaded,
             "Measure with a busy process on each core, and compare with one thread")
      ->excludes("--memory");
  c.add_option("--seconds", options.seconds, "Seconds to measure each side of a row")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  c.add_option("--alone", options.alone)
      ->group("");  // used by the parent to start the child process

  CLI::Option* crossover =
      c.add_flag("--crossover", command->crossover,
                 "Show the batch and width from which --device is faster than the cpu");
  c.add_option("--widths", command->grid.widths, "Widths of layers to try")
      ->delimiter(',')
      ->check(CLI::PositiveNumber)
      ->needs(crossover)
      ->capture_default_str();
  CLI::Option* growth = c.add_flag("--growth", command->growth,
                                   "Show how the networks' time (--memory: and peak memory) grows "
                                   "with the batch and with threads");
  growth->excludes(crossover);
  c.add_option("--batches", command->batches,
               "Batches to try (default: 1,4,16,64,256,1024; --growth: also 4096)")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);

  CLI::Option* json = c.add_flag("--json", command->json, "Print JSON");
  c.add_flag("--distributed", options.distributed,
             "Measure several ranks: mpirun -n 2 --bind-to core ambit bench --distributed")
      ->excludes(json);
  c.add_option(
       "--model", options.model,
       "Measure one rank, and predict a number of ranks with ranks per machine: 1024x8,25GB/s,5us")
      ->needs("--distributed");
  c.add_flag("--markdown", command->markdown, "Print the table in Markdown")->excludes(json);
  c.callback([command, &exit_code] {
    if (!command->batches.empty() && !command->crossover && !command->growth) {
      throw CLI::ValidationError("--batches needs --crossover or --growth");
    }
    exit_code = run_command(*command);
  });
}
