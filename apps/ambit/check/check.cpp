// `ambit check`: runs a program on simulated devices and reports its device mistakes.
#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "../commands.h"
#include "findings.h"
#include "output.h"
#include "places.h"
#include "run.h"

namespace {

using namespace check;

struct Options {
  std::vector<std::string> command, devices{"cuda:2", "npu:2", "cpu"};
  std::string format = "text", allowed;
};

std::string check_device(const std::string& text) {
  const size_t colon = text.find(':');
  const bool is_count = colon != text.npos && text.size() > colon + 1 && text[colon + 1] != '0' &&
                        text.find_first_not_of("0123456789", colon + 1) == text.npos;
  return text == "cpu" || (colon > 0 && is_count) ? "" : "expected cpu or <name>:<count>";
}

int run(const Options& o) {
  const std::vector<Accepted> accepted =
      o.allowed.empty() ? std::vector<Accepted>() : read_accepted(o.allowed);
  std::vector<Run> runs;
  Places places;
  for (const std::string& device : o.devices) {
    runs.push_back(run_program(o.command, device));
    if (runs.back().exit_code == 127) {
      throw ambit::Error(fmt::format("check: expected {} to run, got exit code 127", o.command[0]));
    }
    places.look_up(runs.back().events);
  }
  Report report = find_faults(runs, places);
  if (!report.has_run) {
    throw ambit::Error(
        fmt::format("check: expected a program that runs an op of ambit, got {} with exit code {}",
                    o.command[0], runs[0].exit_code));
  }
  const bool is_explained = runs[0].exit_code == 0 || !report.faults.empty();
  allow(report, accepted);
  fmt::print("{}", print(report, o.format));
  if (!report.faults.empty()) return 1;
  if (is_explained) return 0;
  throw ambit::Error(fmt::format("check: expected {} to succeed, got exit code {} and no mistake",
                                 o.command[0], runs[0].exit_code));
}

}  // namespace

void add_check(CLI::App& tool, int& exit_code) {
  const auto options = std::make_shared<Options>();
  CLI::App* sub = tool.add_subcommand(
      "check", "Run a program on simulated devices and report its device mistakes.");
  sub->footer(
      "The program runs once for each device. \"cuda\", \"cuda:N\" and \"{device}\" among its\n"
      "arguments become the name of the device. Compile it with -g. Exit codes: 0 no mistake, 1 "
      "mistakes,\n2 the program could not run. docs/check.md lists the mistakes.");
  sub->add_option("--devices", options->devices, "simulated devices <name>:<count>, or cpu")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Validator(check_device, "DEVICE"))
      ->capture_default_str();
  sub->add_option("--format", options->format, "the form of the report")
      ->check(CLI::IsMember({"text", "json", "junit", "github"}))
      ->capture_default_str();
  sub->add_option("--allow", options->allowed, "a file of accepted mistakes: \"kind file:line\"");
  sub->add_option("program", options->command, "the program and its arguments, after --")
      ->required();
  sub->callback([options, &exit_code] { exit_code = run(*options); });
}
