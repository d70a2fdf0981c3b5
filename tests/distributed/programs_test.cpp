// The lessons on two processes: their output and files are those of one process.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "on_ranks.h"
#include "tests/temporary_folder.h"

namespace {

namespace fs = std::filesystem;

const std::string kTudui = AMBIT_APPS
    "/tudui --device cpu --limit 330 --epochs 2 --batch-size 32 --shuffle "
    "--log-every 1 --language en ";

std::string mpirun(int ranks) {
  return fmt::format("{} --oversubscribe --bind-to none -n {} ", AMBIT_MPIRUN, ranks);
}

ChildResult run_in(const TemporaryFolder& folder, const std::string& command) {
  return run_command(
      fmt::format("cd '{}' && env -u AMBIT_DATA OMPI_ALLOW_RUN_AS_ROOT=1 "
                  "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1 {}",
                  folder.path().string(), command));
}

// The numbers after "loss: ", "set: " and similar texts, of each line except that of the time.
std::vector<double> numbers(const std::string& text) {
  std::vector<double> all;
  const std::regex number("(loss|set): ([0-9.]+)");
  for (std::sregex_iterator it(text.begin(), text.end(), number), end; it != end; ++it) {
    all.push_back(std::stod((*it)[2]));
  }
  return all;
}

// Sums of float32 in another order: each has a relative error of 6e-8.
void check_close(const std::vector<double>& got, const std::vector<double>& expected) {
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    INFO("number " << i);
    CHECK(got[i] == doctest::Approx(expected[i]).epsilon(2e-6));
  }
}

std::vector<double> last(const std::vector<double>& all, size_t n) {
  REQUIRE(all.size() >= n);
  return {all.end() - static_cast<std::ptrdiff_t>(n), all.end()};
}

size_t count_files(const TemporaryFolder& folder, const std::string& ending) {
  size_t n = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
    n += entry.path().string().find(ending) != std::string::npos;
  }
  return n;
}

}  // namespace

TEST_CASE("tudui on several processes prints and saves the same as on one, once") {
  if (!has_mpi()) return;
  const TemporaryFolder alone, together;
  const ChildResult one = run_in(alone, kTudui + "2>/dev/null");
  REQUIRE(one.exit_code == 0);
  const ChildResult three = run_in(together, mpirun(3) + kTudui + "--distributed");
  INFO(three.output);
  REQUIRE(three.exit_code == 0);
  CHECK(numbers(one.output).size() == 26);  // 11 steps and two figures of the test in each epoch
  check_close(numbers(three.output), numbers(one.output));
  CHECK(count_files(together, ".pth") == 2);
  CHECK(count_files(together, "events.out") == 1);
}

TEST_CASE("quickstart on two processes prints the same as on one, and each writes a profile") {
  if (!has_mpi()) return;
  const std::string quickstart =
      AMBIT_APPS "/quickstart --device cpu --limit 62 --epochs 1 --log-every 4 ";
  const TemporaryFolder alone, together;
  const ChildResult one = run_in(alone, quickstart + "2>/dev/null");
  const ChildResult two =
      run_in(together, mpirun(2) + quickstart + "--distributed --profile trace.json 2>notices");
  REQUIRE(one.exit_code == 0);
  CHECK(two.output == one.output);
  CHECK(fs::exists(together / "trace.json"));
  CHECK(fs::exists(together / "trace.rank1.json"));
  const std::string notices = read_bytes(together / "notices");
  CHECK(contains(notices, "Trace: trace.json\n"));
  CHECK(notices.find("Trace: ") == notices.rfind("Trace: "));
}

TEST_CASE(
    "a training that is killed continues from its last checkpoint, with other numbers of ranks") {
  if (!has_mpi()) return;
  constexpr int kEvery = 3;  // steps between checkpoints
  const TemporaryFolder alone, killed;
  const std::vector<double> whole = numbers(run_in(alone, kTudui + "2>/dev/null").output);
  // Kill a rank after step 9 has been printed.
  const ChildResult first = run_in(
      killed, "bash -c '" + mpirun(2) + kTudui +
                  fmt::format("--distributed --save-every {} >log 2>&1 & mpi=$!; ", kEvery) +
                  "until grep -q \"steps: 9,\" log || ! kill -0 $mpi 2>/dev/null; do :; done; "
                  "pkill -9 -n -P $(pgrep -x -P $mpi mpirun); wait $mpi'");
  CHECK(first.exit_code != 0);
  const std::string log = read_bytes(killed / "log");
  REQUIRE(fs::exists(killed / "tudui_latest.pth"));
  int done = 0;  // steps printed by the killed training
  while (log.find(fmt::format("steps: {},", done + 1)) != std::string::npos) ++done;
  CHECK(done >= 9);
  for (const int ranks : {1, 3}) {
    const TemporaryFolder folder, other;
    fs::copy(killed / "tudui_latest.pth", folder / "latest.pth");
    const std::string tudui = kTudui + "--resume latest.pth ";
    // The last of three ranks has no such file, as if it were on another machine.
    const ChildResult rest = run_in(
        folder, ranks == 1 ? tudui + "2>/dev/null"
                           : mpirun(2) + tudui + "--distributed : -n 1 -wdir '" +
                                 other.path().string() + "' " + tudui + "--distributed 2>errors");
    INFO(rest.output);
    REQUIRE(rest.exit_code == 0);
    const std::vector<double> got = numbers(rest.output);
    check_close(got, last(whole, got.size()));
    std::smatch begun_with;
    REQUIRE(std::regex_search(rest.output, begun_with, std::regex("steps: ([0-9]+),")));
    const int lost = done - (std::stoi(begun_with[1]) - 1);
    CHECK(lost >= 0);
    CHECK(lost <= kEvery);
  }
}
