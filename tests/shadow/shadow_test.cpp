// The shadow device with a backend that has planted bugs: it names each kernel, and the program
// that it writes fails with the bug and passes without.
#include <doctest/doctest.h>

#include <filesystem>
#include <iterator>
#include <string>

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
