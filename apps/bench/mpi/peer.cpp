// Bare MPI, for `ambit bench --distributed`: MPI_Allreduce on its own memory. MPI is initialised
// for calls from several threads, because ambit calls it from its own.
#include "peer.h"

#include <dlfcn.h>
#include <mpi.h>

#include <limits>
#include <stdexcept>

namespace {

class Allreduce final : public bench::Work {
 public:
  explicit Allreduce(int64_t count) : values_(static_cast<size_t>(count)) {}
  void run() override {
    const int code = MPI_Allreduce(MPI_IN_PLACE, values_.data(), static_cast<int>(values_.size()),
                                   MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    if (code != MPI_SUCCESS) throw std::runtime_error("MPI_Allreduce failed");
  }
  double result() override { return std::numeric_limits<double>::quiet_NaN(); }

 private:
  std::vector<float> values_;  // zeros, unchanged by the sums
};

std::unique_ptr<bench::Work> make(const bench::Specification& s) {
  if (s.what != "allreduce") return nullptr;
  return std::make_unique<Allreduce>(s.parameters.at(0));
}

// Open MPI's plugins need its symbols to be global in the process.
void start() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&MPI_Init_thread), &info) && info.dli_fname) {
    dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
  }
  int is_there = 0, level = 0;
  MPI_Initialized(&is_there);
  if (!is_there) MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const bench::Peer* ambit_bench_peer() {
  static const std::string version = [] {
    start();
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    return std::string(text).substr(0, std::string(text).find_first_of(",\n"));
  }();
  static const bench::Peer peer{"mpi", version.c_str(), make};
  return &peer;
}
