// `ambit bench --distributed`: the model's arithmetic compared with numbers computed by hand;
// measurements are only checked to exist.
#include <ambit/error.h>
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "apps/bench/distributed/model.h"
#include "tests/child_process.h"

using namespace bench::distributed;
using doctest::Approx;

namespace {

// Open MPI keeps memory, so leaks are not checked: see mpirun.sh.
ChildResult bench_distributed(const std::string& arguments, const std::string& launcher = "") {
  return run_command(
      "env -u AMBIT_BACKEND_PATH OMPI_ALLOW_RUN_AS_ROOT=1 "
      "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ASAN_OPTIONS=detect_leaks=0 " +
      launcher + " " AMBIT_TOOL " bench --seconds 0.001 --distributed " + arguments + " 2>&1");
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a network is parsed with its units, and invalid ones are refused") {
  const auto reads = [](const char* text, int ranks, int per_machine, double bandwidth,
                        double latency) {
    INFO(text);
    const Network n = parse_network(text);
    CHECK(n.ranks == ranks);
    CHECK(n.per_machine == per_machine);
    CHECK(n.bytes_per_second == Approx(bandwidth));
    CHECK(n.latency_seconds == Approx(latency).epsilon(1e-9).scale(0));
  };
  reads("1024x8,25GB/s,5us", 1024, 8, 25e9, 5e-6);
  reads("4,1Gbit/s,1ms", 4, 1, 1.25e8, 1e-3);
  reads("2x1,2.5MB/s,100ns", 2, 1, 2.5e6, 1e-7);
  for (const char* text :
       {"", "8", "8,1GB/s", "x8,1GB/s,1us", "8x,1GB/s,1us", "8x0,1GB/s,1us", "0,1GB/s,1us",
        "-8,1GB/s,1us", "8y2,1GB/s,1us", "8x2x2,1GB/s,1us", "8,1GB,1us", "8,GB/s,1us",
        "8,0GB/s,1us", "8,nanGB/s,1us", "8,infGB/s,1us", "8,1GB/s,1", "8,1GB/s,-1us",
        "8,1GB/s,1us,1", "99999999999,1GB/s,1us"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_network(text), ambit::Error);
  }
}

TEST_CASE("an allreduce by ring and by tree, by hand") {
  const Network network{4, 1, 1e9, 1e-3};
  CHECK(ring_seconds(network, 4, 8e6) == Approx(2 * 3 * (1e-3 + 2e-3)));
  CHECK(tree_seconds(network, 4, 8e6) == Approx(2 * (2 * 1e-3 + 4e-3 + 2e-3)));
  CHECK(tree_seconds(network, 5, 0) == Approx(2 * 3 * 1e-3));  // three levels
  CHECK(ring_seconds(network, 1, 8e6) == 0);
  CHECK(tree_seconds(network, 1, 8e6) == 0);
}

TEST_CASE("a step on more ranks, by hand") {
  // With the tree algorithm the first bucket occupies the link for 12 ms, from 10 to 22 ms, and the
  // second one for 6 ms, until 28 ms. With latencies of 4 ms it arrives at 32 ms, 7 ms after the
  // end of backward.
  const Step step{{{8e6, 10e-3}, {4e6, 20e-3}}, 25e-3, 30e-3};
  const Network network{8, 2, 1e9, 1e-3};
  const Prediction p = predict(step, network, 8);
  CHECK(p.machines == 4);
  CHECK(p.ring == Approx(12e-3 + 6e-3 + 6e-3));
  CHECK(p.tree == Approx(12e-3 + 6e-3 + 4e-3));
  CHECK(p.end == Approx(37e-3));
  CHECK(p.efficiency == Approx(30.0 / 37));
  CHECK(p.hidden == Approx(15.0 / 22));
  const Prediction one_machine = predict(step, network, 2);
  CHECK(one_machine.machines == 1);
  CHECK(one_machine.end == Approx(30e-3));
  CHECK(one_machine.efficiency == 1);
  CHECK(predict(step, network, 3).machines == 2);
  // A network that is fast enough hides everything except the part after the last gradient.
  const Step early{{{1e6, 1e-3}}, 25e-3, 30e-3};
  CHECK(predict(early, network, 8).hidden == 1);
  CHECK(predict(early, network, 8).end == Approx(30e-3));
  // Computing time lost to an exchange is added only if machines exchange gradients.
  Step disturbed = step;
  disturbed.lost = 2e-3;
  CHECK(predict(disturbed, network, 8).end == Approx(39e-3));
  CHECK(predict(disturbed, network, 2).end == Approx(30e-3));
}

TEST_CASE("bench predicts from one measured rank, up to the requested number of ranks") {
  const ChildResult ran = bench_distributed("--markdown --model 20x4,25GB/s,5us");
  INFO(ran.output);
  CHECK(ran.exit_code == 0);
  CHECK(ran.output.starts_with("measured on 1 rank: a step of "));
  // The buckets, by size: the last layer, its 65,536 weights, the third convolution, the other
  // layers.
  CHECK(contains(ran.output, "buckets of "));
  CHECK(contains(ran.output, "| ranks | machines | ring | tree | step | efficiency | hidden |\n"));
  for (const char* row : {"\n| 8 | 2 | ", "\n| 16 | 4 | ", "\n| 20 | 5 | "}) {
    CHECK(contains(ran.output, row));
  }
}

TEST_CASE("bench measures the ranks started by mpirun, and rank 0 prints") {
  if (run_command("mpirun --version 2>&1").exit_code != 0 ||
      contains(bench_distributed("", AMBIT_MPIRUN " -n 1").output, "libambit_mpi.so")) {
    std::puts("skipped: no MPI");
    return;
  }
  const ChildResult ran =
      bench_distributed("--markdown --model 2,1GB/s,1us", AMBIT_MPIRUN " -n 2 --oversubscribe");
  INFO(ran.output);
  CHECK(ran.exit_code == 0);
  CHECK(contains(ran.output, "2 ranks of one thread each, "));
  CHECK(contains(ran.output, "\n| allreduce/1 KiB | "));
  CHECK(contains(ran.output, "\n| allreduce/64 MiB | "));
  CHECK(
      contains(ran.output, "\n| tudui, batch 64 per rank | step | images/s | times 1 rank's |\n"));
  CHECK(contains(ran.output, "\n| 2 ranks, buckets of 0.25 MiB | "));
  CHECK(contains(ran.output, "\n| computing time lost to it | "));
  CHECK(contains(ran.output, "\n| the model, on these ranks | predicted | measured | ratio |\n"));
  CHECK(ran.output.find("| allreduce/1 KiB |") == ran.output.rfind("| allreduce/1 KiB |"));
}

// The ranks' losses are compared with those of ambit, so that different work is an error.
TEST_CASE("bench compares ranks with those of PyTorch over gloo") {
  const char* const asked = std::getenv("AMBIT_PYTHON");
  const std::string python = asked && *asked ? asked : "python3";
  if (run_command(python + " -c 'import torch.distributed' 2>&1").exit_code != 0 ||
      run_command("mpirun --version 2>&1").exit_code != 0 ||
      contains(bench_distributed("", AMBIT_MPIRUN " -n 1").output, "libambit_mpi.so")) {
    MESSAGE("skipped: no MPI, or no PyTorch (AMBIT_PYTHON names a Python that has it)");
    return;
  }
  const ChildResult ran = bench_distributed("--markdown --filter tudui --against pytorch",
                                            AMBIT_MPIRUN " -n 2 --oversubscribe");
  INFO(ran.output);
  CHECK(ran.exit_code == 0);
  CHECK(contains(ran.output, "\n| tudui, batch 64 per rank, 2 ranks | ambit | PyTorch "));
}

TEST_CASE("bench --distributed refuses invalid options, and says why") {
  const auto refuses = [](const char* arguments, const char* word) {
    const ChildResult ran = bench_distributed(arguments);
    INFO(arguments << ": " << ran.output);
    CHECK(ran.exit_code == 2);
    CHECK(contains(ran.output, "ambit: "));
    CHECK(contains(ran.output, word));
  };
  refuses("--model 8", "--model: expected three parts");
  refuses("--model 8,1,1us", "--model: expected a bandwidth");
  refuses("--model 8,1GB/s,now", "--model: expected a latency");
  refuses("--json", "--json");
  refuses("", "");  // one process, or no MPI
  const ChildResult alone = run_command(AMBIT_TOOL " bench --model 8,1GB/s,1us 2>&1");
  CHECK(alone.exit_code == 2);
  CHECK(contains(alone.output, "--distributed"));
}
