// `ambit check` finds each planted mistake at its line, and nothing in programs without mistakes.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>

#include "tests/child_process.h"
#include "tests/temporary_folder.h"

namespace {

using nlohmann::json;

ChildResult check(const std::string& options, const std::string& program,
                  const std::string& settings = "") {
  return run_command("exec env CUDA_VISIBLE_DEVICES= " + settings + " " + emulator() +
                     "'" AMBIT_TOOL "' check " + options + " -- " + program + " 2>/dev/null");
}

const std::string kPlanted = AMBIT_PLANTED, kPlantedTorch = AMBIT_PLANTED_TORCH;

ChildResult check_planted(const std::string& options, const std::string& name,
                          const std::string& program = kPlanted) {
  const TemporaryFolder folder;
  return check(options, "'" + program + "' " + name + " {device}",
               "CHECK_FOLDER='" + folder.path().string() + "'");
}

json report_of(const std::string& name, const std::string& options = "",
               const std::string& program = kPlanted) {
  const ChildResult run = check_planted("--format json " + options, name, program);
  INFO(name, ":\n", run.output);
  const json report = json::parse(run.output, nullptr, false);
  REQUIRE(report.is_object());
  CHECK(run.exit_code == (report["faults"].empty() ? 0 : 1));
  return report;
}

int marked_line(const std::string& name, const std::string& file = "planted.cpp") {
  std::ifstream source(AMBIT_PLANTED_SOURCES "/" + file);
  int number = 0;
  for (std::string line; std::getline(source, line);) {
    ++number;
    if (line.ends_with("// mark: " + name)) return number;
  }
  return -1;
}

void expect_only(const std::string& kind, const std::string& name,
                 const std::string& program = kPlanted) {
  const json report = report_of(name, "", program);
  const std::string file = program == kPlanted ? "planted.cpp" : "planted_torch.cpp";
  INFO(name, ": ", report.dump(2));
  REQUIRE(report["faults"].size() == 1);
  const json& fault = report["faults"][0];
  CHECK(fault["kind"] == kind);
  CHECK(fault["line"] == marked_line(name, file));
  CHECK(fault["file"].get<std::string>().ends_with("tests/check/" + file));
}

}  // namespace

TEST_CASE("check finds mismatches that are thrown and those that are caught") {
  for (const char* name : {"input_not_moved", "target_not_moved", "swallowed", "two_devices",
                           "cat_of_two", "in_place", "where_mask", "default_device"}) {
    expect_only("device-mismatch", name);
  }
  for (const char* name : {"unregistered", "unregistered_literal", "unregistered_module"}) {
    expect_only("unregistered-tensor", name);
  }
  CHECK(report_of("swallowed")["faults"][0]["message"].get<std::string>().ends_with(
      "the program continued"));
  CHECK(report_of("input_not_moved")["faults"][0]["module"] == "fc");
  CHECK(report_of("input_not_moved")["faults"][0]["function"] == "Plain::forward");
}

TEST_CASE("check finds tensors that forward makes on the cpu or copies in each call") {
  for (const char* name : {"noise_on_cpu", "state_on_cpu"}) expect_only("made-on-cpu", name);
  for (const char* name : {"moved_member", "literal"}) expect_only("copied-each-call", name);
  CHECK(report_of("literal")["faults"][0]["count"] == 3);
}

TEST_CASE("check finds devices that do not exist and names that are hard-coded") {
  for (const char* name :
       {"missing_index", "missing_name", "default_missing", "checkpoint", "in_child"}) {
    expect_only("missing-device", name);
  }
  for (const char* name :
       {"hard_coded", "hard_coded_type", "hard_coded_caught", "hard_coded_forward"}) {
    expect_only("hard-coded-device", name);
  }
  const json report = report_of("other_exit_code");
  REQUIRE(report["faults"].size() == 1);
  CHECK(report["faults"][0]["kind"] == "other-exit-code");
  CHECK(check_planted("", "other_exit_code").output.find("program: other-exit-code\n") == 0);
  CHECK(check_planted("--format github", "other_exit_code").output.starts_with("::error title="));
}

TEST_CASE("check finds no mistake in programs without one") {
  for (const char* name :
       {"training", "queries", "model_parallel", "moves_its_input", "expected_mismatch",
        "reuses_memory", "derives_from_input", "waits_for_copies"}) {
    const json report = report_of(name);
    INFO(name, ": ", report.dump(2));
    CHECK(report["faults"].empty());
  }
}

TEST_CASE("check finds the same in optimised programs for libtorch") {
  for (const char* name : {"hidden_state", "class_weights", "running_total", "raw_data",
                           "in_thread", "mask_in_forward"}) {
    expect_only("device-mismatch", name, kPlantedTorch);
  }
  for (const char* name : {"list_of_tensors", "sequential"}) {
    expect_only("unregistered-tensor", name, kPlantedTorch);
  }
  expect_only("device-mismatch", "replaced_head", kPlantedTorch);  // made outside of the class
  expect_only("device-mismatch", "criterion", kPlantedTorch);
  const auto details = [](const char* name) {
    return report_of(name, "", kPlantedTorch)["faults"][0]["details"].get<std::string>();
  };
  CHECK(details("criterion").find("try: module.to(\"cuda:0\"), where input is") !=
        std::string::npos);
  CHECK(details("sequential").find(".to(") == std::string::npos);
  for (const char* name : {"eye_in_forward", "static_constant"}) {
    expect_only("made-on-cpu", name, kPlantedTorch);
  }
  for (const char* name : {"cuda_method", "factory_on_cuda"}) {
    expect_only("hard-coded-device", name, kPlantedTorch);
  }
  expect_only("missing-device", "second_gpu", kPlantedTorch);
  CHECK(report_of("clean", "", kPlantedTorch)["faults"].empty());
}

// "<line> <kind>" of each line that a program of mistakes.cpp marks.
std::set<std::string> expected_mistakes() {
  std::ifstream source(AMBIT_PLANTED_SOURCES "/mistakes.cpp");
  std::set<std::string> expected;
  const std::string mark = "// expect: ";
  int number = 0;
  for (std::string line; std::getline(source, line);) {
    ++number;
    const size_t at = line.find(mark);
    if (at != line.npos) {
      expected.insert(std::to_string(number) + ' ' + line.substr(at + mark.size()));
    }
  }
  return expected;
}

TEST_CASE("check finds each mistake of users' programs at its line, and no other") {
  const std::set<std::string> expected = expected_mistakes();
  CHECK(expected.size() == 36);
  // Also with a backend that has no devices, such as that of CUDA without a GPU.
  for (const std::string settings : {"", "AMBIT_BACKEND_PATH='" AMBIT_CUDA_WITHOUT_DEVICES "'"}) {
    const ChildResult run =
        check("--format json", "'" AMBIT_PROGRAMS "' mistakes {device}", settings);
    const json report = json::parse(run.output, nullptr, false);
    REQUIRE(report.is_object());
    CHECK(run.exit_code == 1);
    std::set<std::string> found;
    for (const json& fault : report["faults"]) {
      CHECK(fault["file"].get<std::string>().ends_with("tests/check/mistakes.cpp"));
      found.insert(std::to_string(fault["line"].get<int>()) + ' ' +
                   fault["kind"].get<std::string>());
    }
    std::string missing, other;
    for (const std::string& e : expected) missing += found.contains(e) ? "" : e + "; ";
    for (const std::string& f : found) other += expected.contains(f) ? "" : f + "; ";
    INFO(settings);
    CHECK(missing == "");
    CHECK(other == "");
  }
}

TEST_CASE("check finds no mistake in programs like the examples for libtorch") {
  const ChildResult run = check("--format json", "'" AMBIT_PROGRAMS "' examples {device}");
  INFO(run.output);
  CHECK(run.exit_code == 0);
  const json report = json::parse(run.output, nullptr, false);
  REQUIRE(report.is_object());
  CHECK(report["faults"].empty());
  CHECK(report["notes"].empty());  // no note that nothing ran on a device
}

TEST_CASE("check finds no mistake in programs of the zoo") {
  const TemporaryFolder folder;
  for (const std::string program :
       {"gpt --layers 1 --width 32 --block 16 --batch-size 2", "linear_regression", "cart_pole"}) {
    const ChildResult run =
        check("--format json --devices cuda:1,npu:1", "'" AMBIT_ZOO "'/" + program +
                                                          " --device cuda --steps 2 --out '" +
                                                          folder.path().string() + "'");
    INFO(program, ":\n", run.output);
    CHECK(run.exit_code == 0);
    const json report = json::parse(run.output, nullptr, false);
    REQUIRE(report.is_object());
    CHECK(report["faults"].empty());
    CHECK(report["notes"].empty());  // no note that nothing ran on a device
  }
}

TEST_CASE("check lists copies by place") {
  const json report = report_of("training");
  const json* item = nullptr;
  for (const json& copy : report["copies"]) {
    if (copy["kind"] == "copy-to-host") item = &copy;
  }
  REQUIRE(item);
  CHECK((*item)["line"] == marked_line("training"));
  CHECK((*item)["count"] == 3);
  CHECK((*item)["bytes"] == 12);  // three float32
  CHECK((*item)["steps"] == 3);
  CHECK(report["steps"] == 3);
  CHECK(report["step"] == "optimizer step");
  const std::string text = check_planted("", "training").output;
  CHECK(text.find("by place; 3 optimizer steps:\n") != std::string::npos);
  CHECK(text.find(std::to_string(marked_line("training")) + "  in 3 of 3 steps\n") !=
        std::string::npos);
  const json calls = report_of("model_parallel");
  CHECK(calls["steps"] == 0);  // steps are counted by reads of parameters, and the program has none
  const json inference = report_of("inference");
  CHECK(inference["steps"] == 4);
  CHECK(inference["step"] == "module call");
  bool synchronizes = false;
  for (const json& copy : inference["copies"]) {
    if (copy["kind"] != "synchronize") continue;
    synchronizes = true;
    CHECK(copy["line"] == marked_line("inference"));
    CHECK(copy["steps"] == 4);
  }
  CHECK(synchronizes);
}

TEST_CASE("check shows the memory of each module at the peak") {
  const json report = report_of("inference");
  const json* peak = nullptr;
  for (const json& p : report["peaks"]) {
    if (p["device"] == "cuda:0") peak = &p;
  }
  REQUIRE(peak);
  // The weights of two layers, their biases, the input [4, 8], and two outputs [4, 8], in float32.
  const size_t layer = 4 * (8 * 8 + 8), rows = 4 * 4 * 8;
  CHECK((*peak)["bytes"] == 2 * layer + 3 * rows);
  CHECK((*peak)["modules"]["first"] == layer + rows);
  CHECK((*peak)["modules"]["second"] == layer + rows);
  CHECK((*peak)["modules"][""] == rows);
  const json training = report_of("adam");
  for (const json& p : training["peaks"]) {
    if (p["device"] != "cuda:0") continue;
    CHECK(p["modules"]["optimizer"] == 2 * layer);  // two moments of a layer
  }
}

TEST_CASE("check accepts listed places and reports those that are gone") {
  const TemporaryFolder folder;
  const std::string file = folder / "allow";
  const std::string place =
      "device-mismatch check/planted.cpp:" + std::to_string(marked_line("in_place"));
  std::ofstream(file) << "# accepted\n\n" << place << "  # reason\n";
  CHECK(report_of("in_place", "--allow '" + file + "'")["faults"].empty());
  const json gone = report_of("training", "--allow '" + file + "'");
  REQUIRE(gone["faults"].size() == 1);
  CHECK(gone["faults"][0]["kind"] == "unused-allowance");
  CHECK(gone["faults"][0]["line"] == 3);
  std::ofstream(file) << "device-mismatch\n";
  CHECK(check_planted("--allow '" + file + "'", "training").exit_code == 2);
  const std::string ran = folder / "ran";
  CHECK(check("--allow /nonexistent", "touch '" + ran + "'").exit_code == 2);
  CHECK_FALSE(std::ifstream(ran).good());  // the list is read first
  std::ofstream(file) << "other-exit-code program\n";
  CHECK(report_of("other_exit_code", "--allow '" + file + "'")["faults"].empty());
}

TEST_CASE("check prints text, JUnit XML and GitHub annotations") {
  const std::string at = "planted.cpp:" + std::to_string(marked_line("in_place"));
  const ChildResult text = check_planted("", "in_place");
  CHECK(text.exit_code == 1);
  CHECK(text.output.find(at + ": device-mismatch\n") != std::string::npos);
  CHECK(text.output.ends_with("\n1 device mistake\n"));

  const ChildResult junit = check_planted("--format junit", "in_place");
  CHECK(junit.exit_code == 1);
  CHECK(junit.output.find("tests=\"1\" failures=\"1\"") != std::string::npos);
  CHECK(junit.output.find("<failure message=\"add_: expected device cuda:0 but got device cpu") !=
        std::string::npos);
  const ChildResult passed = check_planted("--format junit", "training");
  CHECK(passed.output.find("tests=\"1\" failures=\"0\"") != std::string::npos);

  const ChildResult github = check_planted("--format github", "in_place");
  CHECK(github.output.starts_with("::error file="));
  CHECK(github.output.find(",line=" + std::to_string(marked_line("in_place"))) !=
        std::string::npos);
}

TEST_CASE("check exits with 2 if there is nothing to check") {
  CHECK(check("", "/nonexistent/program").exit_code == 2);
  CHECK(check("", "true").exit_code == 2);  // does not use ambit
  CHECK(check("", "").exit_code == 2);
  CHECK(check("--devices cuda", "'" AMBIT_PLANTED "' training").exit_code == 2);
  CHECK(check("--format yaml", "'" AMBIT_PLANTED "' training").exit_code == 2);
  CHECK(check("", "'" AMBIT_PLANTED "' unknown").exit_code == 2);
}

TEST_CASE("check follows the processes that a program starts") {
  const ChildResult run =
      check("--format json", "sh -c \"'" AMBIT_PLANTED "' in_place cuda; true\"");
  const json report = json::parse(run.output, nullptr, false);
  REQUIRE(report.is_object());
  bool found = false;
  for (const json& fault : report["faults"]) found |= fault["line"] == marked_line("in_place");
  CHECK(found);
}

namespace {

// The first block of the page that begins with ```text.
std::string block_of(const char* page) {
  std::ifstream file(page);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string begin = "```text\n";
  const size_t at = text.find(begin) + begin.size();
  return text.substr(at, text.find("```", at) - at);
}

std::string without_folder(const std::string& text) {
  return std::regex_replace(text, std::regex("\\S*/masked.cpp"), "masked.cpp");
}

}  // namespace

TEST_CASE("the report in docs/check.md is that of its program") {
  const ChildResult run = check("", "'" AMBIT_MASKED "' cuda");
  CHECK(without_folder(run.output) == block_of(AMBIT_CHECK_PAGE));
  CHECK(run.exit_code == 1);
}

TEST_CASE("with AMBIT_ORIGINS=1 explain() says where the operands were made and moved") {
  const std::string command = "env CUDA_VISIBLE_DEVICES= AMBIT_SIM=cuda:1 '" AMBIT_MASKED "' cuda";
  const ChildResult run = run_command("exec env AMBIT_ORIGINS=1 " + command);
  CHECK(without_folder(run.output) == block_of(AMBIT_MISMATCH_PAGE));
  const ChildResult off = run_command("exec " + command);
  CHECK(off.output.find("made") == std::string::npos);
  CHECK(off.output.ends_with("  try: other.to(\"cuda:0\")\n"));
}

TEST_CASE("the origins of an error outlive the error's copies") {
  const ChildResult run =
      run_command("exec env AMBIT_ORIGINS=1 CUDA_VISIBLE_DEVICES= AMBIT_SIM=cuda:1 '" AMBIT_PLANTED
                  "' copied_error cuda");
  INFO(run.output);
  const std::string made = "by ones at ", moved = "by to at ";
  CHECK(run.output.find(made) != std::string::npos);
  CHECK(run.output.find(moved) != std::string::npos);
  const std::string line = "planted.cpp:" + std::to_string(marked_line("copied_error"));
  CHECK(run.output.find("  try: ") != std::string::npos);
  CHECK(run.output.find(line) != std::string::npos);
}
