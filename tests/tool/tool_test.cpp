// What all subcommands of `ambit` do alike: exit codes, output that fails, settings, colour.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <string>

#include "tests/child_process.h"
#include "tool.h"

using namespace ambit;

TEST_CASE("exit codes tell wrong usage from success, and help is help") {
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

TEST_CASE("a subcommand that there is not is named") {
  CHECK(tool("nonsense 2>&1").output.starts_with("ambit: expected a subcommand, got \"nonsense\""));
}

TEST_CASE("output that nobody can get is no success") {
  for (const char* arguments : {"info", "info --json", "ops", "conformance --device cpu --list",
                                "--help", "--version", "info --help"}) {
    INFO(arguments);
    const ChildResult ran = tool(std::string(arguments) + " 2>&1 >/dev/full");
    CHECK(ran.exit_code == 2);
    CHECK(ran.output.ends_with(": No space left on device\n"));
  }
}

TEST_CASE("a mistake that cannot be told is one all the same") {
  for (const char* arguments : {"nonsense", "", "ops --backend nobody"}) {
    INFO(arguments);
    const ChildResult ran = tool(std::string(arguments) + " 2>/dev/full");
    CHECK(ran.signal == 0);
    CHECK(ran.exit_code == 2);
  }
}

TEST_CASE("a bad AMBIT_FALLBACK is the user's mistake, not that of the kernels") {
  for (const char* arguments : {"ops", "conformance --device cpu --filter nll_loss"}) {
    INFO(arguments);
    const ChildResult ran = tool(std::string(arguments) + " 2>&1", "AMBIT_FALLBACK=sometimes");
    CHECK(ran.exit_code == 2);
    CHECK(ran.output.ends_with("AMBIT_FALLBACK: expected error, warn or cpu, got \"sometimes\"\n"));
  }
}

TEST_CASE("colour is for terminals, unless they want none") {
  const std::string escape = "\x1b[";
  CHECK(tool("ops", kPatchy).output.find(escape) == std::string::npos);
  // `script` runs a command in a terminal of its own.
  const auto in_terminal = [](const std::string& settings) {
    return run_command("env -u NO_COLOR CUDA_VISIBLE_DEVICES= TERM=xterm " + kPatchy + " " +
                       settings + " script -qec '" AMBIT_TOOL " ops' /dev/null")
        .output;
  };
  CHECK(in_terminal("").find(escape + "31mmissing") != std::string::npos);
  CHECK(in_terminal("NO_COLOR=1").find(escape) == std::string::npos);
}
