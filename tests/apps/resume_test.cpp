// Ctrl-C in a training, and --resume: the resumed training has the same result as an uninterrupted
// one, bit by bit. The test uses one thread, so that no sum depends on the number of cores.
#include <ambit/ambit.h>
#include <doctest/doctest.h>
#include <signal.h>

#include <filesystem>

#include "figures.h"
#include "program.h"
#include "terminal/program.h"
#include "tests/temporary_folder.h"

using namespace ambit;

namespace {

constexpr int kInterruptedExit = 130;

const std::vector<std::string> kTudui{"--device", "cpu",       "--limit",     "320", "--epochs",
                                      "2",        "--shuffle", "--log-every", "1"};
const std::vector<std::string> kQuickstart{"--device", "cpu", "--limit", "200", "--log-every", "7"};

ProgramSettings in(const TemporaryFolder& folder) {
  return {.folder = folder.path(), .environment = {"OMP_NUM_THREADS=1"}};
}

// Return every tensor of a checkpoint, by its path.
StateDict all_tensors(const Value& value, const std::string& path) {
  if (value.kind() == Value::Kind::tensor) return {{path, value.to_tensor()}};
  StateDict all;
  if (!value.is_dict()) return all;
  for (const auto& [key, entry] : value.entries()) {
    if (key.kind() != Value::Kind::string) continue;
    for (auto& tensor : all_tensors(entry, path + "." + key.to_string())) all.push_back(tensor);
  }
  return all;
}

void check_same_checkpoint(const std::string& a, const std::string& b) {
  const StateDict x = all_tensors(load_checkpoint(a), ""), y = all_tensors(load_checkpoint(b), "");
  REQUIRE(x.size() == y.size());
  REQUIRE(x.size() >= 10);  // five layers' weights and biases
  for (size_t i = 0; i < x.size(); ++i) {
    CHECK(x[i].first == y[i].first);
    CHECK_MESSAGE(equal(x[i].second, y[i].second), x[i].first);
  }
}

}  // namespace

TEST_CASE(
    "tudui: Ctrl-C finishes the step and saves; --resume has the result of an uninterrupted "
    "training") {
  const TemporaryFolder whole, parts;
  REQUIRE(run_program("tudui", kTudui, in(whole)).exit_code == 0);

  Program first("tudui", kTudui, in(parts));
  first.wait_for("Training steps: 2,");
  first.send(SIGINT);
  const ProgramResult interrupted = first.finish();
  CHECK(interrupted.exit_code == kInterruptedExit);
  CHECK(interrupted.errors.find("Interrupted in epoch 1, after step ") != std::string::npos);
  CHECK(
      interrupted.errors.find("/tudui --device cpu --limit 320 --epochs 2 --shuffle --log-every 1 "
                              "--resume ./tudui_interrupted.pth\n") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(parts / "tudui_0.pth"));

  const ProgramResult second =
      run_program("tudui", with(kTudui, {"--resume", "tudui_interrupted.pth"}), in(parts));
  REQUIRE(second.exit_code == 0);
  check_same_checkpoint(whole / "tudui_0.pth", parts / "tudui_0.pth");
  check_same_checkpoint(whole / "tudui_1.pth", parts / "tudui_1.pth");
}

TEST_CASE("tudui continues from the checkpoint of an epoch") {
  const TemporaryFolder folder;
  const ProgramResult whole = run_program("tudui", kTudui, in(folder));
  REQUIRE(whole.exit_code == 0);
  std::filesystem::rename(folder / "tudui_1.pth", folder / "whole.pth");

  const ProgramResult rest =
      run_program("tudui", with(kTudui, {"--resume", "tudui_0.pth"}), in(folder));
  CHECK(rest.exit_code == 0);
  check_same_checkpoint(folder / "whole.pth", folder / "tudui_1.pth");
  const std::string heading = "------------------ Epoch 2 begins";
  CHECK(figures(rest.output.substr(rest.output.find(heading))) ==
        figures(whole.output.substr(whole.output.find(heading))));
}

TEST_CASE("quickstart continues after Ctrl-C with its momentum, order and running loss") {
  const TemporaryFolder whole_folder, parts;
  const ProgramResult whole = run_program("quickstart", kQuickstart, in(whole_folder));
  REQUIRE(whole.exit_code == 0);

  Program first("quickstart", kQuickstart, in(parts));
  first.wait_for("[1,    14] loss");
  first.send(SIGINT);
  const ProgramResult interrupted = first.finish();
  CHECK(interrupted.exit_code == kInterruptedExit);
  CHECK_FALSE(std::filesystem::exists(parts / "cifar_net.safetensors"));

  const ProgramResult second = run_program(
      "quickstart", with(kQuickstart, {"--resume", "cifar_net_interrupted.pth"}), in(parts));
  REQUIRE(second.exit_code == 0);
  const size_t first_line = second.output.find('\n') + 1;  // it names the source of the images
  CHECK(interrupted.output + second.output.substr(first_line) == whole.output);
  CHECK(read_bytes(parts / "cifar_net.safetensors") ==
        read_bytes(whole_folder / "cifar_net.safetensors"));
}

TEST_CASE("a second Ctrl-C ends the program at once, without incomplete files") {
  const TemporaryFolder folder;
  // One step of 640 images takes tens of seconds on the simulated device.
  Program program("tudui",
                  {"--device", "cuda", "--limit", "640", "--batch-size", "640", "--epochs", "1"},
                  {.folder = folder.path(), .environment = {"AMBIT_SIM=cuda:1"}});
  program.wait_for("Epoch 1 begins");
  program.send(SIGINT);
  program.wait_until_not_caught(SIGINT);
  program.send(SIGINT);
  const ProgramResult result = program.finish();
  CHECK(result.signal == SIGINT);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    const std::string name = entry.path().filename();
    CHECK_MESSAGE((name == "logs_train" || name == "stderr"), name);
  }
}

TEST_CASE("--resume refuses other batches in the middle of an epoch") {
  const TemporaryFolder folder;
  Program first("quickstart", kQuickstart, in(folder));
  first.wait_for("[1,     7] loss");
  first.send(SIGINT);
  REQUIRE(first.finish().exit_code == kInterruptedExit);
  const ProgramResult result =
      run_program("quickstart",
                  with(kQuickstart, {"--resume", "cifar_net_interrupted.pth", "--batch-size", "8"}),
                  in(folder));
  CHECK(result.exit_code == 1);
  CHECK(result.errors ==
        "quickstart: --resume: expected --batch-size 4 with 200 images, as in the epoch that "
        "'cifar_net_interrupted.pth' ends in, got 8 with 200\n");
}

TEST_CASE("the command to resume is quoted for a shell and names one checkpoint") {
  CHECK(terminal::command_to_resume({"tudui", "--data", "my images", "--resume", "old.pth"},
                                    "a.pth") == "tudui --data 'my images' --resume a.pth");
  CHECK(terminal::command_to_resume({"tudui", "--resume=old.pth", "it's"}, "b c.pth") ==
        "tudui 'it'\\''s' --resume 'b c.pth'");
}
