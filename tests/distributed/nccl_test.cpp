// NCCL: its emulation (tests/cuda/host/libraries/nccl), which needs no GPU, in processes started by
// mpirun; and the errors of a machine without NCCL or GPUs. tests/gpu.sh runs "NCCL on the GPUs of
// this machine", which has the same checks with the real library.
#include <ambit/plugins.h>
#include <stdlib.h>

#include <functional>
#include <set>
#include <thread>

#include "collectives.h"
#include "on_ranks.h"
#include "tests/temporary_folder.h"
#include "training.h"

using namespace ambit;
using namespace ambit::distributed;

namespace {

bool has_nccl() {
  load_all_communicators();
  for (const LoadAttempt& attempt : load_report()) {
    if (attempt.loaded && attempt.file.ends_with("libambit_nccl.so")) return true;
  }
  std::puts("skipped: built without NCCL, or it is not there");
  return false;
}

const std::string kFolder = AMBIT_CUDA_HOST_FOLDER;

bool has_emulation() {
  if (!has_nccl() || !has_mpi()) return false;
  if (std::filesystem::exists(kFolder + "/nccl/libnccl.so.2")) return true;
  std::puts("skipped: no CUDA on the host");
  return false;
}

// The environment of ranks with so many emulated GPUs each.
std::string emulated(int gpus) {
  return fmt::format(
      "AMBIT_SIM=sim:1 AMBIT_BACKEND_PATH='{0}' LD_LIBRARY_PATH='{0}/nccl:{0}' "
      "AMBIT_CUDA_HOST={1} AMBIT_CUDA_HOST_MEMORY=256 ",
      kFolder, gpus);
}

Device own_gpu() { return Device(fmt::format("cuda:{}", local_rank())); }

std::shared_ptr<ProcessGroup> join(Milliseconds timeout = kDefaultTimeout) {
  ProcessGroupOptions options;
  options.timeout = timeout;
  options.device = own_gpu();
  return init_process_group("nccl", options);
}

}  // namespace

TEST_CASE("nccl child: collectives" * doctest::skip()) {
  const auto group = join();
  const Device device = own_gpu();
  for (const DType dtype : dtypes::kEvery) {
    INFO(ambit::name(dtype));
    collectives::check(*group, dtype, 7, device, false);
    collectives::check(*group, dtype, 5, device, true);
    collectives::check(*group, dtype, 0, device, false);
  }
  collectives::check(*group, kFloat32, 1001, device, true);
  Tensor large = full({300000}, group->rank() + 1, TensorOptions(kInt64)).to(device);
  group->allreduce(large)->wait();
  const int ranks = group->size();
  CHECK((large == ranks * (ranks + 1) / 2).all().item<bool>());
  if (ranks > 1) {
    if (const auto part = group->new_group({ranks - 1, 0})) {
      collectives::check(*part, kInt32, 10, device, true);
    }
    // A collective that is not awaited keeps its memory, and later ones keep their order.
    for (int i = 0; i < 3; ++i) group->allreduce(ones({100}).to(device));
    collectives::check(*group, kBFloat16, 3, device, false);
  }
  CHECK(error_of([&] { group->allreduce(ones({2})); }) ==
        fmt::format("expected device {} but got device cpu", device.str()));
  destroy_process_group();
}

TEST_CASE("nccl child: training" * doctest::skip()) {
  const auto group = join();
  const training::Lesson lesson{.device = own_gpu(), .steps = 3};
  training::expect_as_alone(lesson, group, training::train(lesson).losses);
}

TEST_CASE("collectives over NCCL agree with plain loops, and training with that of one process") {
  if (!has_emulation()) return;
  expect_success(on_ranks(1, "nccl child: collectives", emulated(1)));
  expect_success(on_ranks(3, "nccl child: collectives", emulated(3)));
  expect_success(on_ranks(2, "nccl child: training", emulated(2)));
}

TEST_CASE("quickstart trains over NCCL as in one process") {
  const std::string program = AMBIT_APPS "/quickstart";
  if (!has_emulation() || !std::filesystem::exists(program)) return;
  const TemporaryFolder folder;
  const auto run = [&](const std::string& launcher, const std::string& option) {
    return run_command(fmt::format(
        "cd '{}' && exec env -u AMBIT_DATA OMPI_ALLOW_RUN_AS_ROOT=1 "
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 {} {} '{}' --limit 8 --epochs 1 --log-every 1 {}",
        folder.path().string(), emulated(2), launcher, program, option));
  };
  const ChildResult alone = run("", ""),
                    together =
                        run("mpirun --oversubscribe --bind-to none -n 2", "--distributed=nccl");
  INFO(together.output);
  CHECK(contains(alone.output, "Training with cuda:0"));
  CHECK(contains(alone.output, "[1,     2] loss: "));
  CHECK(together.output == alone.output);
}

TEST_CASE("nccl child: a rank hangs" * doctest::skip()) {
  const auto group = join(std::chrono::seconds(2));
  const Tensor t = ones({1}).to(own_gpu());
  group->allreduce(t)->wait(std::chrono::seconds(100));  // until all have started
  if (group->rank() == 1) {
    for (;;) std::this_thread::yield();
  }
  allreduce_in_time(*group, t);
}

TEST_CASE("the error for a rank that is missing in NCCL names it within the timeout") {
  if (!has_emulation()) return;
  expect_rank_1_missed(on_ranks(3, "nccl child: a rank hangs", emulated(3)));
}

TEST_CASE("nccl child: calls fail" * doctest::skip()) {
  const auto group = join();
  const Tensor t = ones({4}).to(own_gpu());
  const std::vector<Tensor> one{t.clone()};
  const auto allreduce = [&](ProcessGroup& g) { g.allreduce(t)->wait(); };
  const std::string cuda = ": expected it to succeed, got: unhandled cuda error",
                    other = ": expected it to succeed, got: another error";
  struct Case {
    const char* fails;
    std::string error;
    std::function<void(ProcessGroup&)> call;
  };
  const Case cases[] = {
      {"ncclAllReduce", "ncclAllReduce" + cuda, allreduce},
      {"ncclBroadcast", "ncclBroadcast" + cuda, [&](auto& g) { g.broadcast(t)->wait(); }},
      {"ncclReduce", "ncclReduce" + cuda, [&](auto& g) { g.reduce(t)->wait(); }},
      {"ncclAllGather", "ncclAllGather" + cuda, [&](auto& g) { g.allgather(one, t)->wait(); }},
      {"ncclReduceScatter", "ncclReduceScatter" + cuda,
       [&](auto& g) { g.reduce_scatter(t, one)->wait(); }},
      {"ncclCommGetAsyncError", "ncclCommGetAsyncError" + other, allreduce},
      {"remote",
       "NCCL: expected it to succeed, got: remote process exited or there was a network error",
       allreduce}};
  for (const Case& c : cases) {
    INFO(c.fails);
    const auto part = group->new_group({0});
    setenv("AMBIT_CUDA_HOST_NCCL", c.fails, 1);
    CHECK(error_of([&] { c.call(*part); }) == c.error);
    unsetenv("AMBIT_CUDA_HOST_NCCL");
    // The group is unusable, and its errors say why.
    CHECK_THROWS_AS(c.call(*part), DistributedError);
    CHECK(error_of([&] { allreduce(*part); }) == c.error);
  }
  for (const std::string call : {"ncclGetUniqueId", "ncclCommInitRank"}) {
    setenv("AMBIT_CUDA_HOST_NCCL", call.c_str(), 1);
    CHECK(error_of([&] { group->new_group({0}); }).starts_with(call + ": expected it to succeed"));
    unsetenv("AMBIT_CUDA_HOST_NCCL");
  }
  allreduce(*group);  // the group remains usable
}

TEST_CASE("results of NCCL become typed errors that name the call") {
  if (!has_emulation()) return;
  // mpirun chooses the exit code of a process that does not finalize MPI, as after a failed group.
  const ChildResult result = on_ranks(1, "nccl child: calls fail", emulated(1));
  INFO(result.output);
  CHECK(contains(result.output, "1 passed"));
}

TEST_CASE("nccl child: print what is available" * doctest::skip()) {
  load_all_communicators();
  for (const LoadAttempt& attempt : load_report()) {
    if (attempt.file.ends_with("libambit_nccl.so")) std::puts(attempt.result.c_str());
  }
  std::puts(error_of([] { init_process_group("nccl"); }).c_str());
}

TEST_CASE("the plugin loads without GPUs and is refused without NCCL, with a reason") {
  if (!has_emulation()) return;
  const ChildResult no_gpu = run_child("nccl child: print what is available", emulated(0));
  INFO(no_gpu.output);
  CHECK(no_gpu.exit_code == 0);
  CHECK(contains(no_gpu.output, "nccl: a communicator, NCCL 2."));
  CHECK(contains(no_gpu.output, "; no GPU: no CUDA-capable device is detected"));
  CHECK(contains(
      no_gpu.output,
      "init_process_group: expected a cuda device in ProcessGroupOptions for nccl, got cpu"));
  // A file of that name that is not a library acts as a missing library, even if NCCL is installed.
  const TemporaryFolder broken;
  broken.write("libnccl.so.2", "");
  const ChildResult none =
      run_child("nccl child: print what is available",
                "AMBIT_SIM=sim:1 LD_LIBRARY_PATH='" + broken.path().string() + "'");
  INFO(none.output);
  CHECK(none.exit_code == 0);
  CHECK(contains(none.output, "expected a loadable library, got: "));
  CHECK(contains(none.output, "libnccl.so.2: file too short"));
  CHECK(contains(none.output,
                 "init_process_group: expected the name of a communicator, got \"nccl\"; "
                 "existing: local, mpi; refused plugins:"));
}

TEST_CASE("NCCL on the GPUs of this machine" * doctest::skip()) {
  REQUIRE(has_nccl());
  REQUIRE(has_mpi());
  const int gpus = device_count("cuda");
  REQUIRE(gpus > 0);
  for (const int ranks : std::set{1, gpus}) {
    expect_success(on_ranks(ranks, "nccl child: collectives"));
    expect_success(on_ranks(ranks, "nccl child: training"));
  }
}
