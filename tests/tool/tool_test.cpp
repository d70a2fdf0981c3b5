// Common behaviour of all subcommands of `ambit`: exit codes, failing output, settings, colour.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <string>

#include "tests/child_process.h"
#include "tool.h"

using namespace ambit;

TEST_CASE("exit codes distinguish wrong usage from success, and help is a success") {
  CHECK(tool("--version").output == "ambit " AMBIT_VERSION "\n");
  for (const char* arguments : {"--help", "info --help", "ops --help", "info", "ops"}) {
    INFO(arguments);
    const ChildResult ran = tool(arguments);
    CHECK(ran.exit_code == 0);
    CHECK_FALSE(ran.output.empty());
  }
  for (const char* arguments :
       {"", "nonsense", "ops --format xml", "ops --backend nobody", "ops --backend meta",
        "ops --backend /no/such.so", "info --nope", "conformance --device cpu --max-failures -1",
        "conformance --device cpu --seed -1", "conformance --device cpu --timeout nan",
        "conformance --device cpu --timeout inf", "conformance --device cpu --timeout 0",
        "conformance --device cpu --seed 99999999999999999999"}) {
    INFO(arguments);
    const ChildResult ran = tool(std::string(arguments) + " 2>&1");
    CHECK(ran.exit_code == 2);
    CHECK(ran.output.starts_with("ambit: "));
  }
}

TEST_CASE("an unknown subcommand is named") {
  CHECK(tool("nonsense 2>&1").output.starts_with("ambit: expected a subcommand, got \"nonsense\""));
}

TEST_CASE("output that cannot be written is an error") {
  for (const char* arguments : {"info", "info --json", "ops", "conformance --device cpu --list",
                                "--help", "--version", "info --help"}) {
    INFO(arguments);
    const ChildResult ran = tool(std::string(arguments) + " 2>&1 >/dev/full");
    CHECK(ran.exit_code == 2);
    CHECK(ran.output.ends_with(": No space left on device\n"));
  }
}

TEST_CASE("an error that cannot be printed is still an exit code") {
  for (const char* arguments : {"nonsense", "", "ops --backend nobody"}) {
    INFO(arguments);
    const ChildResult ran = tool(std::string(arguments) + " 2>/dev/full");
    CHECK(ran.signal == 0);
    CHECK(ran.exit_code == 2);
  }
}

TEST_CASE("an invalid AMBIT_FALLBACK is the user's error, not the kernels'") {
  for (const char* arguments : {"ops", "conformance --device cpu --filter nll_loss"}) {
    INFO(arguments);
    const ChildResult ran = tool(std::string(arguments) + " 2>&1", "AMBIT_FALLBACK=sometimes");
    CHECK(ran.exit_code == 2);
    CHECK(ran.output.ends_with("AMBIT_FALLBACK: expected error, warn or cpu, got \"sometimes\"\n"));
  }
}

TEST_CASE("colour is only for terminals, and can be disabled") {
  const std::string escape = "\x1b[";
  CHECK(tool("ops", kPatchy).output.find(escape) == std::string::npos);
  // `script` runs a command in a new terminal.
  const auto in_terminal = [](const std::string& settings) {
    return run_command("env -u NO_COLOR CUDA_VISIBLE_DEVICES= TERM=xterm " + kPatchy + " " +
                       settings + " script -qec '" AMBIT_TOOL " ops' /dev/null")
        .output;
  };
  CHECK(in_terminal("").find(escape + "31mmissing") != std::string::npos);
  CHECK(in_terminal("NO_COLOR=1").find(escape) == std::string::npos);
}
