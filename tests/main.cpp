// The suite runs on every available device. Simulated ones are always among them: two with the name
// cuda, if there is no real one, act as a machine with several accelerators.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  setenv("AMBIT_SIM", "cuda:2,sim:1", /*overwrite=*/0);
  return doctest::Context(argc, argv).run();
}
