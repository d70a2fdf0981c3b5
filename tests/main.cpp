// The suite runs on every device present. Simulated ones are always among them: two that pose as
// cuda, where no real one is, show what a machine with several accelerators would.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  setenv("AMBIT_SIM", "cuda:2,sim:1", /*overwrite=*/0);
  return doctest::Context(argc, argv).run();
}
