// Checks the whole output of quickstart on generated images, on the cpu and on a simulated GPU.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "figures.h"
#include "program.h"
#include "tests/temporary_folder.h"

namespace {

const std::vector<std::string> kBriefRun{"--epochs", "1", "--limit", "640", "--log-every", "80"};

std::string without_device_and_figures(const std::string& output, const std::string& device) {
  static const std::regex percent(" +\\d+ %");
  const std::string text = std::regex_replace(without_figures(output), percent, " <percent>");
  return std::regex_replace(text, std::regex("^Training with " + device + " "),
                            "Training with <device> ");
}

}  // namespace

TEST_CASE("quickstart trains on the cpu and on a simulated GPU with equal results") {
  const std::string expected = read_bytes(AMBIT_EXPECTED "/quickstart.txt");
  const TemporaryFolder on_cpu, on_cuda;
  const ProgramResult cpu =
      run_program("quickstart", with(kBriefRun, {"--device", "cpu"}), {.folder = on_cpu.path()});
  CHECK(cpu.exit_code == 0);
  CHECK(without_device_and_figures(cpu.output, "cpu") == expected);
  CHECK(std::filesystem::exists(on_cpu / "cifar_net.safetensors"));

  const ProgramResult cuda = run_program(
      "quickstart", kBriefRun, {.folder = on_cuda.path(), .environment = {"AMBIT_SIM=cuda:1"}});
  CHECK(cuda.exit_code == 0);
  CHECK(without_device_and_figures(cuda.output, "cuda:0") == expected);

  // Losses of the first 100 steps of two implementations agree to 1e-4, relatively: the bound of
  // reference_runs_test; the mean of the second 80 may differ by twice that. They are printed to
  // 0.001, so each may differ by half of it.
  const std::vector<double> a = figures(cpu.output), b = figures(cuda.output);
  REQUIRE(a.size() == 2);
  REQUIRE(b.size() == 2);
  for (size_t i = 0; i < 2; ++i) CHECK(std::abs(a[i] - b[i]) <= 2e-4 * a[i] + 0.001);
}
