// The output of programs at a terminal: help, errors, and the progress bar.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <regex>

#include "figures.h"
#include "program.h"
#include "terminal/program.h"
#include "tests/child_process.h"
#include "tests/temporary_folder.h"
#include "training/options.h"

using namespace ambit;

namespace {

const std::vector<std::string> kBriefRun{"--device", "cpu", "--epochs",    "1",
                                         "--limit",  "128", "--log-every", "1"};

// Return the final contents of a terminal: "carriage return, erase line" removes bars.
std::string left_on_screen(const std::string& output) {
  static const std::regex wiped("\r\x1b\\[K[^\r\n]*(?=\r\x1b\\[K)"), erase("\r(\x1b\\[K)?");
  return std::regex_replace(std::regex_replace(output, wiped, ""), erase, "");
}

void check_one_line(const ProgramResult& result, const std::string& line, int exit_code = 2) {
  CHECK(result.exit_code == exit_code);
  CHECK(result.errors == line + "\n");
}

}  // namespace

TEST_CASE("--help of every app describes it, with defaults") {
  const TemporaryFolder folder;
  const auto help = [&](const char* app) {
    const ProgramResult result = run_program(app, {"--help"}, {.folder = folder.path()});
    CHECK(result.exit_code == 0);
    CHECK(result.errors.empty());
    // CLI11 prints a default as "UINT=4", from 2.4 on as "UINT [4]".
    return std::regex_replace(result.output, std::regex(" \\[([^\\]\n]*)\\]"), "=$1");
  };
  CHECK(help("device_tour").starts_with("Show how tensors and networks move"));
  const std::string quickstart = help("quickstart");
  CHECK(quickstart.starts_with("Train the tutorial's image classifier"));
  CHECK(quickstart.find("--batch-size UINT=4 ") != std::string::npos);
  CHECK(quickstart.find("--out FILE=cifar_net.safetensors") != std::string::npos);
  const std::string tudui = help("tudui");
  CHECK(tudui.starts_with("Train the lesson's image classifier"));
  CHECK(tudui.find("--epochs INT=10 ") != std::string::npos);
  CHECK(tudui.find("--lr FLOAT=0.01 ") != std::string::npos);
  CHECK(tudui.find("--batch-size UINT=64 ") != std::string::npos);
}

TEST_CASE("--profile of every app writes a trace, and prints the table on stderr") {
  const TemporaryFolder folder;
  const auto run = [&](const std::string& app, const std::vector<std::string>& arguments) {
    return run_program(app, with(arguments, {"--profile", "trace.json"}),
                       {.folder = folder.path()});
  };
  const auto check = [&](const ProgramResult& result, const std::string& op) {
    CHECK(result.exit_code == 0);
    CHECK(result.output.find("Self CPU") == std::string::npos);
    CHECK(result.errors.find("Name ") != std::string::npos);
    CHECK(result.errors.find("Self CPU time total: ") != std::string::npos);
    CHECK(result.errors.ends_with("Trace: trace.json\n"));
    const std::string trace = read_bytes(folder / "trace.json");
    CHECK(trace.find("\"name\": \"" + op + "\"") != std::string::npos);
    CHECK(trace.ends_with("]}\n"));
    std::filesystem::remove(folder / "trace.json");
  };
  check(run("quickstart", kBriefRun), "convolution_weight_grad");
  check(run("device_tour", {}), "add");
  check(run("zoo/linear_regression", {"--steps", "3"}), "Optimizer.step#sgd_step");
  check_one_line(
      run_program("tudui", {"--profile", "missing/trace.json"}, {.folder = folder.path()}),
      "tudui: --profile: cannot open the folder of 'missing/trace.json': No such file or "
      "directory (--help lists the options)");
  // A program that fails also writes its trace.
  const ProgramResult failed =
      run("zoo/linear_regression", {"--steps", "3", "--resume", "missing.pth"});
  CHECK(failed.exit_code == 1);
  CHECK(failed.errors.find("Trace: trace.json\n") != std::string::npos);
  CHECK(failed.errors.find("missing.pth") != std::string::npos);
}

TEST_CASE(
    "--profile into a folder writes files for TensorBoard, with memory and shapes on request") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "traces");
  const auto run = [&](const std::vector<std::string>& arguments) {
    return run_program("zoo/linear_regression", with({"--steps", "3"}, arguments),
                       {.folder = folder.path()});
  };
  for (const char* const more : {"", "memory,shapes"}) {
    std::vector<std::string> arguments{"--profile", "traces"};
    if (*more) arguments.insert(arguments.end(), {"--profile-with", more});
    const ProgramResult result = run(arguments);
    CHECK(result.exit_code == 0);
    const std::filesystem::directory_iterator found(folder / "traces");
    REQUIRE(found != std::filesystem::directory_iterator());
    const std::filesystem::path file = found->path();
    CHECK(std::regex_match(file.filename().string(),
                           std::regex("[^.].*_[0-9]+\\.[0-9]+\\.pt\\.trace\\.json")));
    CHECK(result.errors.ends_with("Trace: traces/" + file.filename().string() + "\n"));
    const std::string trace = read_bytes(file);
    CHECK((trace.find("\"[memory]\"") != std::string::npos) == (*more != 0));
    CHECK((trace.find("\"Input Dims\"") != std::string::npos) == (*more != 0));
    std::filesystem::remove(file);
    CHECK(std::filesystem::is_empty(folder / "traces"));
  }
  const ProgramResult unknown = run({"--profile", "traces", "--profile-with", "colours"});
  CHECK(unknown.exit_code == 2);
  CHECK(unknown.errors.find("--profile-with: colours not in {") != std::string::npos);
  CHECK(run({"--profile-with", "memory"}).exit_code == 2);
}

TEST_CASE("a mistake in the command line is one line, and no files are created") {
  const TemporaryFolder folder;
  const auto run = [&](const std::vector<std::string>& arguments) {
    return run_program("tudui", arguments, {.folder = folder.path()});
  };
  check_one_line(
      run({"--epoch", "1"}),
      "tudui: The following arguments were not expected: 1 --epoch (--help lists the options)");
  check_one_line(run({"--method", "cuda", "--device", "cpu"}),
                 "tudui: --method cuda uses the first GPU; --device needs --method to "
                 "(--help lists the options)");
  check_one_line(run({"--out", "missing"}),
                 "tudui: --out: cannot open the folder of 'missing/tudui_interrupted.pth': No such "
                 "file or directory (--help lists the options)");
  check_one_line(run({"--data", "missing"}),
                 "tudui: --data: expected a folder that is or contains cifar-10-batches-bin, "
                 "cifar-10-sample or mnist, got 'missing' (--download downloads CIFAR-10)",
                 1);
  folder.write("broken.pth", "no checkpoint");
  const ProgramResult broken = run({"--resume", "broken.pth"});
  CHECK(broken.exit_code == 1);
  CHECK(broken.errors.starts_with("tudui: "));
  CHECK(broken.errors.find("broken.pth") != std::string::npos);
  CHECK(broken.errors.find('\n') == broken.errors.size() - 1);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    const std::string name = entry.path().filename();
    CHECK_MESSAGE((name == "stderr" || name == "broken.pth"), name);
  }
}

TEST_CASE("numbers out of an option's range are refused, and not replaced") {
  const TemporaryFolder folder;
  const auto check = [&](const char* app, const char* option, const char* value,
                         const std::string& expected) {
    check_one_line(run_program(app, {option, value}, {.folder = folder.path()}),
                   std::string(app) + ": " + option + ": expected a " + expected + ", got " +
                       value + " (--help lists the options)");
  };
  const std::string int_most = "9223372036854775807", uint_most = "18446744073709551615";
  for (const char* app : {"quickstart", "tudui"}) {
    for (const char* value : {"99999999999999999999", "9223372036854775808", "-1", "1.5", "nan"}) {
      check(app, "--epochs", value, "whole number from 0 to " + int_most);
    }
    for (const char* value : {"-1", "18446744073709551616", "0x10", "010", "", "1 "}) {
      check(app, "--seed", value, "whole number from 0 to " + uint_most);
    }
    check(app, "--batch-size", "0", "whole number from 1 to " + uint_most);
    check(app, "--limit", "-5", "whole number from 1 to " + uint_most);
    check(app, "--log-every", "99999999999999999999", "whole number from 1 to " + int_most);
    for (const char* value : {"nan", "inf", "-0.1", "1e999", "0.1x"}) {
      check(app, "--lr", value, "finite number of at least 0");
    }
  }
}

TEST_CASE("an --out that cannot be written is an error before the training") {
  const TemporaryFolder folder;
  const std::string guarded = folder.write("guarded.safetensors", "the network of last week");
  std::filesystem::permissions(guarded, std::filesystem::perms::owner_read);
  std::filesystem::create_directory(folder / "results");
  std::filesystem::permissions(folder.write("results/tudui_3.pth", "of last week"),
                               std::filesystem::perms::owner_read);
  const auto check = [&](const char* app, const std::string& out, const std::string& reason) {
    const ProgramResult result =
        run_program(app, with(kBriefRun, {"--out", out}), {.folder = folder.path()});
    check_one_line(result,
                   std::string(app) + ": --out: cannot " + reason + " (--help lists the options)");
    CHECK(result.output.empty());
  };
  check("quickstart", "guarded.safetensors",
        "replace the write-protected 'guarded.safetensors': Permission denied");
  check("quickstart", "none/net.pth",
        "open the folder of 'none/net.pth': No such file or directory");
  check("quickstart", "results", "open 'results': Is a directory");
  const std::string longest(256, 'n');
  check("quickstart", longest, "open '" + longest + "': File name too long");
  check("tudui", "guarded.safetensors",
        "open 'guarded.safetensors/tudui_interrupted.pth': Not a directory");
  const ProgramResult later =
      run_program("tudui", {"--out", "results", "--epochs", "4"}, {.folder = folder.path()});
  check_one_line(later,
                 "tudui: --out: cannot replace the write-protected 'results/tudui_3.pth': "
                 "Permission denied (--help lists the options)");
  CHECK(read_bytes(guarded) == "the network of last week");
  // The default value is checked, too.
  std::filesystem::create_directory(folder / "cifar_net.safetensors");
  check_one_line(run_program("quickstart", kBriefRun, {.folder = folder.path()}),
                 "quickstart: --out: cannot open 'cifar_net.safetensors': Is a directory (--help "
                 "lists the options)");
}

TEST_CASE("a failed write of the output is an exit code other than 0") {
  for (const std::string app : {"quickstart", "tudui", "device_tour"}) {
    for (const std::string arguments : {"--help", ""}) {
      if (arguments.empty() && app != "device_tour") continue;  // they would train
      const ChildResult result =
          run_command(emulator() + AMBIT_APPS "/" + app + " " + arguments + " 2>&1 >/dev/full");
      INFO(app, " ", arguments, ": ", result.output);
      CHECK(result.exit_code == 1);
      CHECK(result.output.starts_with(app + ": "));
      CHECK(result.output.find("No space left on device") != std::string::npos);
    }
    // stderr cannot be written either.
    const ChildResult mute =
        run_command("exec " + emulator() + AMBIT_APPS "/" + app + " --none 2>/dev/full");
    CHECK(mute.exit_code == 2);
  }
}

TEST_CASE("a missing device is an error of one line that lists the devices") {
  const TemporaryFolder folder;
  for (const char* app : {"quickstart", "tudui"}) {
    const ProgramResult result = run_program(app, {"--device", "cpu:7"}, {.folder = folder.path()});
    CAPTURE(result.errors);
    CHECK(result.exit_code == 1);
    CHECK(result.errors.starts_with(std::string(app) + ": "));
    CHECK(result.errors.find('\n') == result.errors.size() - 1);
  }
}

TEST_CASE("child: an app uses tensors on two devices" * doctest::skip()) {
  std::exit(terminal::run_program("app", []() -> int {
    nn::Linear fc(2, 1);
    fc->to("reference");
    fc(ones({1, 2}));
    return 0;
  }));
}

TEST_CASE("an app that mixes devices ends with the error and its explanation") {
  const ChildResult result = run_child("child: an app uses tensors on two devices");
  CHECK(result.exit_code == 1);
  CHECK(result.output ==
        "app: expected device cpu but got device reference:0\n"
        "linear: expected device cpu but got device reference:0\n"
        "  #0 input   float32[1, 2]  cpu          sets expected\n"
        "  #1 weight  float32[1, 2]  reference:0  differs; parameter weight\n"
        "  #2 bias    float32[1]     reference:0  differs; parameter bias\n"
        "  try: input.to(\"reference:0\"), where the module's parameters are\n");
}

TEST_CASE("an epoch has a step for each batch, for any batch size") {
  const auto steps = [](size_t size, size_t batch_size) {
    return training::count_steps(size, {.images = {}, .batch_size = batch_size});
  };
  CHECK(steps(64, 64) == 1);
  CHECK(steps(65, 64) == 2);
  CHECK(steps(64, SIZE_MAX) == 1);  // with 0 steps the bar would divide by zero
}

TEST_CASE("without a stderr an app does the same, and its messages get into none of its files") {
  const TemporaryFolder folder, second_folder;
  const ProgramResult plain = run_program("tudui", kBriefRun, {.folder = folder.path()});
  const ProgramResult closed =
      run_program("tudui", kBriefRun, {.folder = second_folder.path(), .stderr_closed = true});
  CHECK(closed.exit_code == 0);
  CHECK(without_figures(closed.output) == without_figures(plain.output));
  REQUIRE(plain.errors.starts_with("epoch 1/1"));
  for (const auto& entry : std::filesystem::directory_iterator(second_folder / "logs_train")) {
    CHECK(read_bytes(entry.path()).find("epoch 1/1") == std::string::npos);
  }
  const ProgramResult mistaken =
      run_program("tudui", {"--data", "missing"}, {.folder = folder.path(), .stderr_closed = true});
  CHECK(mistaken.exit_code == 1);
}

TEST_CASE("a terminal shows a bar, which is erased at the end") {
  const TemporaryFolder folder, second_folder;
  const ProgramResult plain = run_program("tudui", kBriefRun, {.folder = folder.path()});
  const ProgramResult shown =
      run_program("tudui", kBriefRun, {.folder = second_folder.path(), .columns = 100});
  CHECK(shown.exit_code == 0);
  const std::regex bar(
      "\r\x1b\\[Kepoch 1/1 \\|#+ +\\| 1/2, loss \\d+\\.\\d+, \\d+ images/s, \\d+ s left");
  CHECK(std::regex_search(shown.output, bar));
  CHECK(without_figures(left_on_screen(shown.output)) == without_figures(plain.output));
}

TEST_CASE("the bar becomes shorter on a narrow terminal") {
  const TemporaryFolder folder;
  constexpr size_t kColumns = 40;
  const ProgramResult shown =
      run_program("tudui", kBriefRun, {.folder = folder.path(), .columns = kColumns});
  const std::regex bar("\x1b\\[K(epoch[^\r\n]*)");
  size_t bars = 0;
  for (std::sregex_iterator it(shown.output.begin(), shown.output.end(), bar), end; it != end;
       ++it) {
    CHECK((*it)[1].length() < static_cast<std::ptrdiff_t>(kColumns));
    ++bars;
  }
  CHECK(bars > 0);
}

TEST_CASE("an error in the training begins a new line after the bar") {
  const TemporaryFolder folder;
  // The checkpoint at the end of the epoch exceeds the limit, the curves do not.
  const ProgramResult result = run_program(
      "tudui", kBriefRun, {.folder = folder.path(), .columns = 100, .file_bytes = 1 << 16});
  CHECK(result.exit_code == 1);
  const std::string screen = left_on_screen(result.output);
  const size_t error = screen.find("\ntudui: ");
  REQUIRE(error != std::string::npos);
  CHECK(screen.find("tudui_0.pth", error) != std::string::npos);
  CHECK(screen.find('\n', error + 1) == screen.size() - 1);
  CHECK(screen.find('|') == std::string::npos);
}
