// `ambit info` with every plugin of tests/plugin in its path, most of which are defective.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/child_process.h"

using nlohmann::json;

namespace {

ChildResult info(const std::string& arguments) {
  return run_command(
      "env -u AMBIT_FALLBACK NO_COLOR=1 AMBIT_LOAD_TIMEOUT=0.2 "
      "AMBIT_BACKEND_PATH=\"" AMBIT_BAD_PLUGINS ":/no$(printf '\\t')such$(printf '\\033')file\" " +
      emulator() + AMBIT_TOOL " info" + arguments);
}

// True if the text has no effect on a terminal.
bool is_plain(const std::string& text) {
  return std::none_of(text.begin(), text.end(),
                      [](unsigned char c) { return (c < 32 && c != '\n') || c == 127; });
}

const json& find(const json& list, const char* key, const std::string& value) {
  static const json none;
  for (const json& item : list) {
    if (item[key] == value) return item;
  }
  return none;
}

std::string result_of(const json& report, const std::string& plugin) {
  const json& line =
      find(report["plugins"], "file", AMBIT_BAD_PLUGINS "/libambit_" + plugin + ".so");
  return line.is_null() ? "no line" : line["result"].get<std::string>();
}

}  // namespace

TEST_CASE("info survives every plugin and prints the reason for each refused one") {
  const ChildResult ran = info(" --json");
  INFO(ran.output);
  REQUIRE(ran.exit_code == 0);
  CHECK(is_plain(ran.output));
  const json report = json::parse(ran.output);
  CHECK(result_of(report, "negative") ==
        "expected device_count() of negative to be 0 to 1024, got -1");
  CHECK(result_of(report, "too_many") ==
        "expected device_count() of too_many to be 0 to 1024, got 1025");
  CHECK(result_of(report, "null_kernel") == "expected a kernel of copy for hollow, got null");
  CHECK(result_of(report, "throws_int") ==
        "expected load() to succeed, got an exception of an unknown type");
  CHECK(result_of(report, "odd_error") ==
        "expected load() to succeed, got an error: no\\r\\n\\x1b[31mred\\u009b");
  CHECK(find(report["plugins"], "file", "/no\\tsuch\\x1bfile").is_object());

  const json& bad = find(report["backends"], "name", "bad");
  REQUIRE(bad.is_object());
  CHECK(bad["devices"][0]["name"] == "a\\x1b[2Jdevice\\n");
  CHECK(bad["devices"][0]["details"]["dri\\nver"] == "\\x07\\xff 1");
  const json& silent = find(report["backends"], "name", "no_properties");
  REQUIRE(silent.is_object());
  CHECK(silent["devices"][0]["error"] == "an exception of an unknown type");
}

TEST_CASE("the text output has no effect on a terminal, either") {
  const ChildResult ran = info("");
  INFO(ran.output);
  CHECK(ran.exit_code == 0);
  CHECK(is_plain(ran.output));
  for (const char* line : {"  bad:0: a\\x1b[2Jdevice\\n, 17179869184.0 GiB, ",
                           "  no_properties:0: an exception of an unknown type\n",
                           "    refused: expected device_count() of least to be 0 to 1024, got "
                           "-2147483648\n"}) {
    INFO(line);
    CHECK(ran.output.find(line) != std::string::npos);
  }
}
