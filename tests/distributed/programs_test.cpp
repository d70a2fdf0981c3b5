// The lessons on two processes: what they print and leave behind is what one leaves.
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
  return fmt::format("mpirun --oversubscribe --bind-to none -n {} ", ranks);
}

ChildResult run_in(const TemporaryFolder& folder, const std::string& command) {
  return run_command(
      fmt::format("cd '{}' && env -u AMBIT_DATA OMPI_ALLOW_RUN_AS_ROOT=1 "
                  "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1 {}",
                  folder.path().string(), command));
}

// The numbers after "loss: ", "set: " and the like, of each line but that of the time.
std::vector<double> numbers(const std::string& text) {
  std::vector<double> all;
  const std::regex number("(loss|set): ([0-9.]+)");
  for (std::sregex_iterator it(text.begin(), text.end(), number), end; it != end; ++it) {
    all.push_back(std::stod((*it)[2]));
  }
  return all;
}

// Sums of float32 in another order: 6e-8 of each.
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

TEST_CASE("tudui on several processes prints and saves what one does, once") {
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

TEST_CASE("quickstart on two processes prints what one does") {
  if (!has_mpi()) return;
  const std::string quickstart =
      AMBIT_APPS "/quickstart --device cpu --limit 62 --epochs 1 --log-every 4 ";
  const TemporaryFolder alone, together;
  const ChildResult one = run_in(alone, quickstart + "2>/dev/null");
  const ChildResult two = run_in(together, mpirun(2) + quickstart + "--distributed 2>/dev/null");
  REQUIRE(one.exit_code == 0);
  CHECK(two.output == one.output);
}

TEST_CASE("a training that is killed goes on from its last checkpoint, on other numbers of ranks") {
  if (!has_mpi()) return;
  const TemporaryFolder alone, killed;
  const std::vector<double> whole = numbers(run_in(alone, kTudui + "2>/dev/null").output);
  // Kill a rank once step 9 is printed; checkpoints come every third.
  const ChildResult first = run_in(
      killed, "bash -c '" + mpirun(2) + kTudui +
                  "--distributed --save-every 3 >log 2>&1 & mpi=$!; "
                  "until grep -q \"steps: 9,\" log || ! kill -0 $mpi 2>/dev/null; do :; done; "
                  "pkill -9 -n -P $mpi; wait $mpi'");
  CHECK(first.exit_code != 0);
  const std::string log = read_bytes(killed / "log");
  REQUIRE(fs::exists(killed / "tudui_latest.pth"));
  size_t done = 0;  // steps that the killed training has printed
  while (log.find(fmt::format("steps: {},", done + 1)) != std::string::npos) ++done;
  CHECK(done >= 9);
  for (const int ranks : {1, 3}) {
    const TemporaryFolder folder;
    const ChildResult rest = run_in(
        folder, (ranks == 1 ? "" : mpirun(ranks)) + kTudui + (ranks == 1 ? "" : "--distributed ") +
                    "--resume '" + (killed / "tudui_latest.pth") + "' 2>/dev/null");
    INFO(rest.output);
    REQUIRE(rest.exit_code == 0);
    const std::vector<double> got = numbers(rest.output);
    check_close(got, last(whole, got.size()));
    // At most three steps of those that were printed are done again. Figures of the first epoch's
    // test count as steps here, as in `whole`.
    const size_t begun_at = whole.size() - got.size();
    CHECK(begun_at + 3 + 2 >= done);
  }
}
