// Compares the tour's whole output with the lesson's, except for the first line, which describes
// the cuda device.
#include <doctest/doctest.h>

#include "program.h"
#include "tests/temporary_folder.h"

TEST_CASE("device_tour prints the output of the lesson") {
  const TemporaryFolder folder;
  const ProgramResult result = run_program("device_tour", {}, {.folder = folder.path()});
  CHECK(result.exit_code == 0);
  CHECK(result.errors.empty());

  const size_t end = result.output.find('\n') + 1;
  const std::string first = result.output.substr(0, end);
  const bool on_a_gpu = first.starts_with("cuda:0 is ");
  if (!on_a_gpu) CHECK(first == "There is no CUDA GPU here: cuda:0 is simulated on the host.\n");
  CHECK(result.output.substr(end) == read_bytes(AMBIT_EXPECTED "/device_tour.txt"));
}
