// The shadow device with a backend that has planted bugs: it names each kernel, and the program
// that it writes fails with the bug and passes without.
#include <doctest/doctest.h>

#include <cctype>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "tests/child_process.h"
#include "tests/conformance/planted/bug.h"
#include "tests/shadow/bugs.h"
#include "tests/temporary_folder.h"

namespace {

ChildResult run_program(const std::string& bug, const std::string& calls,
                        const std::string& settings) {
  return run_command("exec env " + (bug.empty() ? "" : "AMBIT_PLANTED_BUG=" + bug) + " " +
                     settings + " '" AMBIT_SHADOW_PROGRAM "' '" AMBIT_PLANTED "' " + calls +
                     " 2>&1");
}

std::string settings_of(const TemporaryFolder& folder, const std::string& device = "reference") {
  return "AMBIT_SHADOW=" + device + " AMBIT_SHADOW_DIR='" + folder.path().string() + "'";
}

ChildResult follow(const TemporaryFolder& folder, const std::string& bug, const std::string& calls,
                   const std::string& device = "reference") {
  return run_program(bug, calls, "AMBIT_SHADOW_MODE=trajectory " + settings_of(folder, device));
}

// A row of the table of a trajectory; -1 where it has no difference.
struct Row {
  std::string step;
  int calls = 0;
  double parameters = -1, results = -1;
  std::string at;
};

std::vector<Row> table_of(const std::string& output) {
  std::vector<Row> rows;
  std::istringstream lines(output.substr(output.find(", each from its own results\n")));
  std::string line, parameters, results;
  std::getline(lines, line);
  std::getline(lines, line);
  while (std::getline(lines, line) && line.size() > 2 && std::isdigit(line[2])) {
    Row row;
    std::istringstream words(line);
    words >> row.step >> row.calls >> parameters >> results;
    std::getline(words >> std::ws, row.at);
    if (parameters != "-") row.parameters = std::stod(parameters);
    if (results != "-") row.results = std::stod(results);
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

TEST_CASE("the shadow device names the kernel of each planted bug") {
  const TemporaryFolder folder;
  size_t bugs = 0;
  for (const planted::Bug& bug : planted::kKernelBugs) {
    for (const shadow_test::Found& found : shadow_test::kFound) {
      if (found.bug != bug.name) continue;
      ++bugs;
      if (found.kernel.empty()) continue;
      const ChildResult run = run_program(bug.name, bug.name, settings_of(folder));
      INFO(std::string(bug.name), ":\n", run.output);
      CHECK(run.exit_code == 1);
      CHECK(run.output.starts_with("ambit shadow: " + std::string(found.kernel) +
                                   " on planted:0 differs from reference:0\n"));
    }
  }
  CHECK(bugs == std::size(planted::kKernelBugs));
}

TEST_CASE("the shadow device reports no correct kernel") {
  const TemporaryFolder folder;
  const ChildResult run = run_program("", "all", settings_of(folder));
  INFO(run.output);
  CHECK(run.exit_code == 0);
  CHECK(run.output.empty());
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("the shadow device names the kernel of each planted bug in a trajectory") {
  for (const shadow_test::Found& found : shadow_test::kFound) {
    if (found.kernel.empty()) continue;
    const TemporaryFolder folder;
    const std::string bug(found.bug), kernel(found.kernel);
    const ChildResult run = follow(folder, bug, bug);
    INFO(bug, ":\n", run.output);
    CHECK(run.exit_code == 0);
    CHECK(run.output.starts_with("ambit shadow: " + kernel +
                                 " on planted:0 differs from reference:0\n"));
    CHECK(run.output.find(", the first: " + kernel + " on planted:0, call ") != std::string::npos);
  }
}

TEST_CASE("the shadow device follows the training of a network without a wrong kernel") {
  const TemporaryFolder folder;
  // The planted kernels are those of reference.
  const ChildResult same = follow(folder, "", "train");
  INFO(same.output);
  CHECK(same.exit_code == 0);
  CHECK(same.output.starts_with(
      "ambit shadow: cpu, planted:0 compared with reference:0, each from its own results\n"));
  CHECK(same.output.ends_with(
      "  wrong calls    none: from equal inputs, each result is within its bounds\n"));
  const std::vector<Row> rows = table_of(same.output);
  REQUIRE(rows.size() == 10);
  for (size_t i = 0; i < rows.size(); ++i) {
    CHECK(rows[i].step == std::to_string(i));
    CHECK(rows[i].parameters == 0);
    CHECK(rows[i].results == -1);
  }
  // cpu rounds in another order. A step adds to a parameter the rounding errors, 6e-8 each, of sums
  // of at most 640 terms, and ten steps multiply a difference by less than 10: 10 * 640 * 6e-8
  // * 10.
  const ChildResult rounded = follow(folder, "", "train", "cpu");
  INFO(rounded.output);
  CHECK(rounded.exit_code == 0);
  CHECK(rounded.output.find("\n  wrong calls    none: ") != std::string::npos);
  const std::vector<Row> growing = table_of(rounded.output);
  REQUIRE(growing.size() == 10);
  for (const Row& row : growing) {
    CHECK(row.parameters > 0);
    CHECK(row.parameters < 3.9e-3);
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("the shadow device shows how a wrong kernel changes the training of a network") {
  struct Wrong {
    std::string bug, kernel;
  };
  const std::vector<Wrong> all{{"forgotten_parameter", "sgd_step"},
                               {"short_mantissa", "matmul"},
                               {"overwritten_gradient", "max_pool_grad"}};
  for (const Wrong& wrong : all) {
    const TemporaryFolder folder;
    const ChildResult run = follow(folder, wrong.bug, "train");
    INFO(wrong.bug, ":\n", run.output);
    CHECK(run.exit_code == 0);
    CHECK(run.output.starts_with("ambit shadow: " + wrong.kernel +
                                 " on planted:0 differs from reference:0\n"));
    const std::vector<Row> rows = table_of(run.output);
    REQUIRE(rows.size() == 10);
    // TF32 rounds to 2^-11; the other bugs change whole elements.
    CHECK(rows[9].parameters > 1e-5);
    // Later kernels are right, whatever differs in their inputs.
    if (wrong.kernel != "sgd_step") continue;
    CHECK(run.output.find("\n  wrong calls    10, the first: sgd_step on planted:0, call ") !=
          std::string::npos);
    CHECK(rows[1].results > 0);
  }
}

TEST_CASE("a trajectory follows views and operations in place") {
  const TemporaryFolder folder;
  const ChildResult run = follow(folder, "dropped_tail", "views");
  INFO(run.output);
  CHECK(run.exit_code == 0);
  CHECK(run.output.find("\n  wrong calls    1, the first: unary neg on planted:0, call ") !=
        std::string::npos);
  const std::vector<Row> rows = table_of(run.output);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].results > 0);
}

TEST_CASE("a trajectory keeps no values of freed tensors") {
  const TemporaryFolder folder;
  const ChildResult run = follow(folder, "", "temporaries");
  INFO(run.output);
  CHECK(run.exit_code == 0);
}

TEST_CASE("an unknown mode of the shadow device is an error that names the known ones") {
  const TemporaryFolder folder;
  const ChildResult run = run_program("", "all", "AMBIT_SHADOW_MODE=all " + settings_of(folder));
  CHECK(run.exit_code == 1);
  CHECK(run.output == "AMBIT_SHADOW_MODE: expected calls or trajectory, got \"all\"\n");
}

TEST_CASE("without a shadow device a wrong kernel runs without an error") {
  CHECK(run_program("dropped_tail", "dropped_tail", "").exit_code == 0);
  CHECK(run_program("dropped_tail", "dropped_tail", "AMBIT_SHADOW=planted").exit_code == 0);
}

TEST_CASE("an unknown shadow device is an error that names the known ones") {
  const TemporaryFolder folder;
  const ChildResult run = run_program("", "all", settings_of(folder, "nowhere"));
  INFO(run.output);
  CHECK(run.exit_code == 1);
  CHECK(
      run.output.starts_with("AMBIT_SHADOW: expected a device to compare with, got an error: "
                             "Device: expected the name of a backend, got \"nowhere\"; existing: "
                             "cpu, meta, reference"));
}

TEST_CASE("a written program fails with the bug and passes without it") {
  // An input with strides, and a list that is updated.
  for (const std::string bug : {"ignored_strides", "forgotten_parameter"}) {
    const TemporaryFolder folder;
    const ChildResult run = run_program(bug, bug, settings_of(folder));
    const std::string kernel = bug == "ignored_strides" ? "binary" : "sgd_step";
    INFO(run.output);
    REQUIRE(std::filesystem::exists(folder / (kernel + ".cpp")));
    const std::string program = folder / "program";
    const ChildResult build = run_command(AMBIT_COMPILE " -o '" + program + "' '" +
                                          (folder / (kernel + ".cpp")) + "' " AMBIT_LINK " 2>&1");
    INFO(build.output);
    REQUIRE(build.exit_code == 0);
    const ChildResult wrong = run_command("AMBIT_PLANTED_BUG=" + bug + " '" + program + "' 2>&1");
    INFO(wrong.output);
    CHECK(wrong.exit_code == 1);
    CHECK(wrong.output.find("ambit shadow: " + kernel) == 0);
    const ChildResult right = run_command("'" + program + "' 2>&1");
    CHECK(right.exit_code == 0);
    CHECK(right.output == kernel + " agrees\n");
  }
}
