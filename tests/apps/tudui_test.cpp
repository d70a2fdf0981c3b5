// The lesson's training on generated images, on the cpu and on a simulated GPU: its whole output
// and its files.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "figures.h"
#include "program.h"
#include "tests/temporary_folder.h"

namespace {

const std::vector<std::string> kBriefRun{"--epochs", "1", "--limit", "640", "--log-every", "5"};

std::string all_events(const std::string& folder) {
  std::string bytes;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    bytes += read_bytes(entry.path());
  }
  return bytes;
}

void check_files(const TemporaryFolder& folder) {
  const std::string events = all_events(folder / "logs_train");
  for (const char* tag : {"train_loss", "test_loss", "test_accuracy"}) {
    CAPTURE(tag);
    CHECK(events.find(tag) != std::string::npos);
  }
  CHECK(std::filesystem::exists(folder / "tudui_0.pth"));
}

}  // namespace

TEST_CASE("tudui trains on the cpu, and with .cuda() on a simulated GPU, with equal results") {
  const TemporaryFolder on_cpu, on_cuda;
  const ProgramResult cpu =
      run_program("tudui", with(kBriefRun, {"--device", "cpu"}), {.folder = on_cpu.path()});
  CHECK(cpu.exit_code == 0);
  CHECK(without_figures(cpu.output) == read_bytes(AMBIT_EXPECTED "/tudui_en.txt"));
  CHECK(cpu.errors.starts_with("epoch 1/1: step 10/10, loss "));
  check_files(on_cpu);

  const ProgramResult cuda = run_program(
      "tudui", with(kBriefRun, {"--method", "cuda"}),
      {.folder = on_cuda.path(), .environment = {"AMBIT_SIM=cuda:1", "LANG=zh_CN.UTF-8"}});
  CHECK(cuda.exit_code == 0);
  CHECK(without_figures(cuda.output) == read_bytes(AMBIT_EXPECTED "/tudui_zh.txt"));
  check_files(on_cuda);

  // Losses of the first 100 steps of two implementations agree to 1e-4, relatively: the bound of
  // reference_runs_test. An image whose two largest logits differ by less may get the other class:
  // of 640 images, whose logits have a range of about 0.1, fewer than four are expected to.
  const std::vector<double> a = figures(cpu.output), b = figures(cuda.output);
  REQUIRE(a.size() == 4);  // two training losses, test loss, accuracy
  REQUIRE(b.size() == 4);
  for (size_t i = 0; i < 3; ++i) CHECK(std::abs(a[i] - b[i]) <= 1e-4 * a[i]);
  CHECK(std::abs(a[3] - b[3]) <= 4.0 / 640);
}

TEST_CASE("tudui --language selects the language for any locale") {
  const TemporaryFolder folder;
  const ProgramResult result =
      run_program("tudui", with(kBriefRun, {"--device", "cpu", "--language", "en"}),
                  {.folder = folder.path(), .environment = {"LC_ALL=zh_CN.UTF-8"}});
  CHECK(without_figures(result.output) == read_bytes(AMBIT_EXPECTED "/tudui_en.txt"));
}
