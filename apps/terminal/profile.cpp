#include "terminal/profile.h"

#include <ambit/distributed/process_group.h>
#include <ambit/error.h>
#include <ambit/profiler.h>
#include <ambit/serialize.h>

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "terminal/program.h"

namespace terminal {
namespace {

constexpr int kRows = 30;

// A process has one profile, as it has one command line.
std::string profile_file;
bool is_in_folder = false;  // the file is named after the process
std::vector<std::string> also_recorded;
std::unique_ptr<ambit::profiler::Profile> profile;

// In a folder, use the kind of name that TensorBoard and torch.profiler use: machine, process and
// time.
std::string file_in(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return path;
  std::array<char, 256> machine{};
  ::gethostname(machine.data(), machine.size() - 1);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::string name =
      fmt::format("{}_{}.{}.pt.trace.json", machine.data(), ::getpid(),
                  std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
  return (std::filesystem::path(path) / name).string();
}

// Return why the file cannot be written; empty if it can.
std::string refuse(const std::string& path) {
  try {
    ambit::check_writable(file_in(path));
    return {};
  } catch (const ambit::SerializationError& e) {
    const std::string text = e.what(), op = "save: ";
    return text.starts_with(op) ? text.substr(op.size()) : text;
  }
}

// Return the file of a rank other than 0: "trace.rank1.json" for "trace.json".
std::string file_of_rank(int rank) {
  if (is_in_folder) return profile_file;
  std::filesystem::path file = profile_file;
  const std::string end = file.extension();
  return file.replace_extension(fmt::format("rank{}{}", rank, end)).string();
}

// Stop the profile; write the trace and print the table on stderr, on rank 0 only.
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
    text += fmt::format("The trace does not have the last {} calls\n", finished->dropped());
  }
  print_notice(text + fmt::format("Trace: {}\n", profile_file));
}

}  // namespace

void add_profile_option(CLI::App& app) {
  CLI::Option* profile_option = app.add_option("--profile", profile_file,
                                               "record the time of all calls: a trace for "
                                               "ui.perfetto.dev; in a folder, for TensorBoard")
                                    ->type_name("FILE|FOLDER")
                                    ->check(refuse);
  app.add_option("--profile-with", also_recorded,
                 "record memory, shapes or both as well, at more cost")
      ->type_name("memory,shapes")
      ->delimiter(',')
      ->check(CLI::IsMember({"memory", "shapes"}))
      ->needs(profile_option);
}

void begin_profile() {
  if (profile_file.empty()) return;
  is_in_folder = std::filesystem::is_directory(profile_file);
  profile_file = file_in(profile_file);
  const auto with = [](const char* what) {
    return std::ranges::find(also_recorded, what) != also_recorded.end();
  };
  profile = std::make_unique<ambit::profiler::Profile>(ambit::profiler::ProfileOptions{
      .record_shapes = with("shapes"), .profile_memory = with("memory")});
}

int run_profiled(const std::function<int()>& body) {
  int exit_code = 1;
  try {
    exit_code = body();
  } catch (...) {
    try {
      finish_profile();
    } catch (const std::exception& e) {  // report the program's own error instead
      print_notice(fmt::format("{}\n", e.what()));
    }
    throw;
  }
  finish_profile();
  return exit_code;
}

}  // namespace terminal
