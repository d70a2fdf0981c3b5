// Runs the kit on a backend with planted bugs, as its author would: `ambit conformance` with the
// plugin's file. Each bug must be found, by a case with a suitable name.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/child_process.h"
#include "tests/conformance/planted/bug.h"

namespace {

// The names of the failed cases.
std::vector<std::string> failed_cases(const std::string& output) {
  const std::string before = "\nFAILED ";
  std::vector<std::string> names;
  for (size_t at = output.find(before); at != std::string::npos; at = output.find(before, at)) {
    at += before.size();
    names.push_back(output.substr(at, output.find('\n', at) - at));
  }
  return names;
}

// `bug` may be empty, as may `filter`.
ChildResult run_kit(const std::string& bug, const std::string& filter,
                    const std::string& options = "", const std::string& device = "planted:0") {
  const std::string environment = bug.empty() ? "" : "AMBIT_PLANTED_BUG=" + bug;
  // No core file: crashes are expected.
  return run_command("ulimit -c 0; exec env " + environment + " " + emulator() +
                     "'" AMBIT_TOOL "' conformance --backend '" AMBIT_PLANTED "' --device " +
                     device + " --filter '" + filter + "' " + options + " 2>&1");
}

void check_found(const planted::Bug& bug, const std::string& options = "") {
  const ChildResult run = run_kit(bug.name, bug.filter, options);
  INFO(std::string(bug.name), ":\n", run.output);
  CHECK(run.exit_code == 1);
  const std::vector<std::string> failed = failed_cases(run.output);
  REQUIRE(!failed.empty());
  CHECK(failed[0].starts_with(bug.found_by));
}

}  // namespace

TEST_CASE("the planted backend's second device conforms") {
  // Kernels do not depend on the index; memory, copies and queues do.
  for (const char* filter : {"copies/", "memory/", "order/", "gradients/"}) {
    const ChildResult run = run_kit("", filter, "", "planted:1");
    INFO(run.output);
    CHECK(run.exit_code == 0);
  }
}

TEST_CASE("the kit finds bugs of the runtime") {
  for (const planted::Bug& bug : planted::kRuntimeBugs) check_found(bug);
}

TEST_CASE("the kit finds kernels that crash or hang") {
  for (const planted::Bug& bug : planted::kEndings) {
    // A case that hangs uses its whole timeout; the cases before it need milliseconds.
    check_found(bug, "--timeout 2");
  }
}

TEST_CASE("a failure outside of any case is reproduced by the whole run") {
  const ChildResult run = run_kit("exit_on_load", "scan/sum/float32");
  INFO(run.output);
  CHECK(run.output.starts_with("conformance of planted:0\n"));
  CHECK(run.output.find(" --filter 'scan/sum/float32'\n") != std::string::npos);
}

TEST_CASE("the kit finds kernels with wrong results") {
  for (const planted::Bug& bug : planted::kKernelBugs) check_found(bug);
}

TEST_CASE("with all cases the kit finds a bug and nothing else") {
  // Run all cases for one bug only, because they need minutes; the other bugs are searched for in
  // the cases of their kernel.
  const ChildResult run = run_kit("forgotten_parameter", "", "--timeout 3600");
  INFO(run.output);
  CHECK(run.exit_code == 1);
  const std::vector<std::string> failed = failed_cases(run.output);
  CHECK(!failed.empty());
  for (const std::string& name : failed) CHECK(name.starts_with("sgd_step/"));
}

TEST_CASE("a misspelt bug or filter is an error") {
  CHECK(run_kit("lek", "memory/").exit_code == 2);
  CHECK(run_kit("", "no such case").exit_code == 2);
}
