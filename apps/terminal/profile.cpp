#include "terminal/profile.h"

#include <ambit/distributed/process_group.h>
#include <ambit/error.h>
#include <ambit/profiler.h>
#include <ambit/serialize.h>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>

#include "terminal/program.h"

namespace terminal {
namespace {

constexpr int kRows = 30;

// One for the program, as there is one command line.
std::string profile_file;
std::unique_ptr<ambit::profiler::Profile> profile;

// Return why the file cannot be written; empty where it can.
std::string refuse(const std::string& file) {
  try {
    ambit::check_writable(file);
    return {};
  } catch (const ambit::SerializationError& e) {
    const std::string text = e.what(), op = "save: ";
    return text.starts_with(op) ? text.substr(op.size()) : text;
  }
}

// The same file for each process of a training but rank 0: "trace.rank1.json".
std::string file_of_rank(int rank) {
  std::filesystem::path file = profile_file;
  const std::string end = file.extension();
  return file.replace_extension(fmt::format("rank{}{}", rank, end)).string();
}

// Stop it; write the trace and print the table on stderr, of several processes that of rank 0.
void finish_profile() {
  const auto finished = std::move(profile);
  if (!finished) return;
  finished->stop();
  namespace distributed = ambit::distributed;
  const int rank = distributed::is_initialized() ? distributed::default_group()->rank() : 0;
  if (rank > 0) return finished->export_chrome_trace(file_of_rank(rank));
  finished->export_chrome_trace(profile_file);
  std::string text = finished->key_averages().table("self_cpu_time_total", kRows);
  if (finished->dropped() > 0) {
    text += fmt::format("The trace lacks the last {} calls\n", finished->dropped());
  }
  print_notice(text + fmt::format("Trace: {}\n", profile_file));
}

}  // namespace

void add_profile_option(CLI::App& app) {
  app.add_option("--profile", profile_file,
                 "record what takes time and memory; a trace for ui.perfetto.dev or TensorBoard")
      ->type_name("FILE")
      ->check(refuse);
}

void begin_profile() {
  if (profile_file.empty()) return;
  profile = std::make_unique<ambit::profiler::Profile>(
      ambit::profiler::ProfileOptions{.profile_memory = true});
}

int run_profiled(const std::function<int()>& body) {
  int exit_code = 1;
  try {
    exit_code = body();
  } catch (...) {
    try {
      finish_profile();
    } catch (const std::exception& e) {  // what the program failed of is worse
      print_notice(fmt::format("{}\n", e.what()));
    }
    throw;
  }
  finish_profile();
  return exit_code;
}

}  // namespace terminal
