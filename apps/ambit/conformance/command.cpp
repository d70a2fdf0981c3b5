// `ambit conformance`: checks that a device behaves as ambit specifies.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>

#include "../commands.h"
#include "options.h"
#include "report.h"
#include "runner.h"
#include "terminal/numbers.h"
#include "terminal/program.h"
#include "worker.h"

namespace {

using namespace conformance;

const char* const kFooter =
    R"(Every case runs in a child process, so that a crash or a hang is reported like other failures.
Results are compared with the backend `reference`. A failure has its bound and a command to repeat it.

Exit codes: 0 nothing failed (missing kernels and dtypes are counted, but are not failures),
            1 something failed, 2 wrong usage or no such device.)";

/// On a terminal, show the progress of the run on one line.
void show_progress(const Run& run) {
  if (isatty(STDERR_FILENO) == 0) return;
  terminal::print_notice(fmt::format("\r\033[K{}/{} {}", run.results.size(), run.plan.cases.size(),
                                     run.results.back().name));
}

int run_as_parent(const Options& options) {
  const Run run = run_cases(options, show_progress);
  if (isatty(STDERR_FILENO) != 0) terminal::print_notice("\r\033[K");
  if (options.list) {
    for (const CaseName& c : run.plan.cases) fmt::print("{}\n", c.name);
  } else {
    fmt::print("{}", report(run, options));
  }
  return count(run, Outcome::failed) == 0 ? 0 : 1;
}

}  // namespace

void add_conformance(CLI::App& tool, int& exit_code) {
  const auto options = std::make_shared<Options>();
  CLI::App& c = *tool.add_subcommand("conformance", "Check a device against the reference backend");
  c.footer(kFooter);
  c.add_option("--device", options->device, "The device to check: npu:0")->required();
  c.add_option("--backend", options->backend,
               "File of the plugin, if ambit does not find it by the device's name");
  c.add_option("--filter", options->filter,
               "Run only cases whose name contains this: convolution/float32");
  const auto set_format = [options](const std::string& name) {
    options->format = name == "json" ? Format::json : name == "md" ? Format::md : Format::table;
  };
  c.add_option_function<std::string>("--format", set_format, "table (the default), md or json")
      ->check(CLI::IsMember({"table", "md", "json"}));
  c.add_flag("--list", options->list, "Print the names of the cases without running them");
  c.add_option("--timeout", options->timeout_s, "Seconds after which a case counts as hanging")
      ->check(terminal::finite_number(0.001, 86400))
      ->capture_default_str();
  c.add_option("--max-failures", options->max_failures, "End the run after this number of failures")
      ->check(terminal::whole_number(0, SIZE_MAX));
  c.add_option("--seed", options->seed, "Seed of the operands' random numbers")
      ->check(terminal::whole_number(0, UINT64_MAX))
      ->capture_default_str();
  // Options between the two processes; the group "" hides them from --help.
  c.add_option("--worker", options->results_fd)->group("");
  c.add_option("--first", options->first)->group("");
  c.callback([options, &exit_code] {
    if (options->results_fd >= 0) {
      work(*options);
    } else {
      exit_code = run_as_parent(*options);
    }
  });
}
