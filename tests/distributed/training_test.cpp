// Fifty steps of the lessons' networks over MPI on every kind of device, and on four devices of one
// process: the losses are those of one process, and the parameters of all ranks are equal. On
// simulated devices, where plain loops compute tudui's convolutions, fifty steps take a minute of
// two cores, so there are three unless $AMBIT_STEPS says otherwise.
#include <ambit/parallel.h>
#include <stdlib.h>

#include "on_ranks.h"
#include "tests/temporary_folder.h"
#include "training.h"

using namespace ambit;
using namespace ambit::distributed;

namespace {

const char* const kNetworks[] = {"net", "tudui"};
const char* const kDevices[] = {"cpu", "reference", "cuda:0"};  // the last is simulated

training::Lesson lesson_of(const std::string& network, const std::string& device) {
  training::Lesson lesson{.network = network, .device = Device(device)};
  if (network == "tudui" && device != "cpu") {
    const char* const steps = getenv("AMBIT_STEPS");
    lesson.steps = steps ? std::stoi(steps) : 3;
  }
  return lesson;
}

// Simulated devices compute as the reference does.
std::string file_of(const std::string& folder, const training::Lesson& lesson) {
  return fmt::format("{}/{}_{}", folder, lesson.network,
                     lesson.device.is_cpu() ? "cpu" : "reference");
}

// Return the folder of the files with the losses of one process, which child processes read too.
// The first call creates the files, in one thread for each lesson.
std::string losses_of_one() {
  static const TemporaryFolder folder;
  static const bool are_made = [] {
    set_num_threads(1);  // for each lesson
    std::vector<training::Lesson> lessons;
    for (const char* network : kNetworks) {
      for (const char* device : {"cpu", "reference"}) {
        lessons.push_back(lesson_of(network, device));
      }
    }
    run_local(static_cast<int>(lessons.size()), [&](const training::Group& group) {
      const training::Lesson& lesson = lessons[static_cast<size_t>(group->rank())];
      const Tensor losses = tensor(training::train(lesson).losses, kFloat64);
      save({{"losses", losses}}, file_of(folder.path(), lesson));
    });
    return true;
  }();
  return are_made ? folder.path().string() : "";
}

void expect_as_kept(const training::Lesson& lesson, const training::Group& group,
                    const training::Lesson& own) {
  const Tensor alone = load(file_of(getenv("LOSSES_OF_ONE"), lesson))[0].second;
  training::expect_as_alone(own, group,
                            {alone.data_ptr<double>(), alone.data_ptr<double>() + alone.numel()});
}

}  // namespace

TEST_CASE("training child: over MPI" * doctest::skip()) {
  const auto group = init_process_group("mpi");
  for (const char* network : kNetworks) {
    for (const char* device : kDevices) {
      const training::Lesson lesson = lesson_of(network, device);
      expect_as_kept(lesson, group, lesson);
    }
  }
}

TEST_CASE("training over MPI equals training on one process with the same batches") {
  if (!has_mpi()) return;
  const std::string kept = "LOSSES_OF_ONE=" + losses_of_one();
  expect_success(on_ranks(2, "training child: over MPI", kept));
  expect_success(on_ranks(4, "training child: over MPI", kept, kTcp));
}

TEST_CASE("training child: four devices" * doctest::skip()) {
  REQUIRE(device_count("cuda") == 4);
  set_num_threads(1);  // each
  for (const char* network : kNetworks) {
    const training::Lesson lesson = lesson_of(network, "cuda:0");
    run_local(4, [&](const training::Group& group) {
      training::Lesson own = lesson;
      own.device = Device("cuda:" + std::to_string(group->rank()));
      expect_as_kept(lesson, group, own);
    });
  }
}

TEST_CASE("ranks on four devices of one process train as one") {
  if (!has_mpi()) return;  // as the other cases of this file
  expect_success(
      run_child("training child: four devices",
                "CUDA_VISIBLE_DEVICES= AMBIT_SIM=cuda:4 LOSSES_OF_ONE=" + losses_of_one()));
}
