// cuSOLVER and cuBLAS: every function that the plugin opens is in the real library and in the
// emulation. Nothing else can be compared: without a GPU the real libraries cannot create a handle,
// and they crash without a handle.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "api.h"
#include "backends/cuda/libraries/cublas.h"
#include "backends/cuda/libraries/cusolver.h"

using namespace host_libraries;

namespace {

#define AMBIT_NAME(name) #name,
#define AMBIT_NAME_OF(letter, name) "cusolverDn" #letter #name,
const std::vector<const char*> kCublas{AMBIT_CUBLAS_FUNCTIONS(AMBIT_NAME)};
const std::vector<const char*> kCusolver{AMBIT_CUSOLVER_FUNCTIONS(AMBIT_NAME, AMBIT_NAME_OF)};

/// The real library must be opened first: if the emulation of the library that cuSOLVER needs were
/// loaded, the loader would use it.
struct Both {
  const char* file;
  const std::vector<const char*>& names;
  Opened real = Opened(file);
  Opened ours = Opened(folder_of_emulations() + "/" + file);
};

void check_names(const Both& both) {
  CAPTURE(std::string(both.file));
  REQUIRE(both.ours.is_there());
  if (!both.real.is_there()) MESSAGE("skipped: no real library");
  for (const char* name : both.names) {
    CAPTURE(std::string(name));
    CHECK_NOTHROW(both.ours.find<void()>(name));
    if (both.real.is_there()) CHECK_NOTHROW(both.real.find<void()>(name));
  }
}

}  // namespace

TEST_CASE("the functions that the plugin opens are in the real libraries and in the emulations") {
  const Both solver{"libcusolver.so.12", kCusolver}, blas{"libcublas.so.13", kCublas};
  CHECK(kCusolver.size() == 39);
  check_names(solver);
  check_names(blas);
}
