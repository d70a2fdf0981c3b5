// `ambit bench`, run as a program. The figures are not checked, only that there are some.
#include <doctest/doctest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/child_process.h"
#include "tests/temporary_folder.h"

using nlohmann::json;

namespace {

ChildResult bench(const std::string& arguments) {
  return run_command("env -u AMBIT_BACKEND_PATH AMBIT_SIM=npu:1 " + emulator() +
                     AMBIT_TOOL " bench --seconds 0.001 " + arguments);
}

const std::string kAgainst = "--against " AMBIT_TEST_PEER " ";

}  // namespace

TEST_CASE("bench has all documented rows") {
  const std::string rows = "\n" + bench("--list").output;
  for (const char* row : {"net/train/4",
                          "net/infer/1024",
                          "tudui/train/256",
                          "tudui/infer/64",
                          "tudui/train_amp/64",
                          "resnet18/infer_amp/32",
                          "resnet18/train/32",
                          "gpt/infer/8",
                          "lstm/train/32",
                          "unet/infer/8",
                          "add/1",
                          "add_recorded/1",
                          "add/16Mi",
                          "sum/256x256x256,dim2",
                          "matmul/64",
                          "matmul/2048",
                          "matmul_amp/2048",
                          "conv2d/tudui.0",
                          "conv2d_grad/32x64x56x56,3x3",
                          "attention/8x6x1024x64",
                          "layer_norm_grad/4096x1024",
                          "group_norm/32x64x32x32",
                          "conv1d_grad/32x64x1024,5",
                          "conv3d/4x16x16x32x32,3x3x3",
                          "conv_transpose2d_grad/16x64x32x32,4x4",
                          "lstm_layers/64x32x512,2",
                          "gru_layers_grad/64x32x512,2",
                          "sgd/tudui",
                          "adam/tudui",
                          "data_loader/normalized",
                          "to_device/64MiB",
                          "save_pth/64MiB",
                          "load_safetensors/45MB",
                          "load_pth/45MB",
                          "start_up/first_add",
                          "compile/small_program"}) {
    INFO(row);
    CHECK(rows.find("\n" + std::string(row) + "\n") != std::string::npos);
  }
}

TEST_CASE("bench prints every column, as text, as Markdown and as JSON") {
  const std::string arguments = kAgainst + "--memory --filter net/infer/4";
  const ChildResult text = bench(arguments);
  CHECK(text.exit_code == 0);
  CHECK(text.output.starts_with("ambit on cpu, fixture 1.0\n"));
  for (const char* column : {"row ", "ambit ", "rate ", "fixture ", "floor ", "ratio ", "peak"}) {
    INFO(column);
    CHECK(text.output.find(column) != std::string::npos);
  }
  CHECK(bench(arguments + " --markdown")
            .output.starts_with("| row | ambit | rate | fixture | ratio | floor | ratio | peak |\n"
                                "| --- | --- | --- | --- | --- | --- | --- | --- |\n"
                                "| net/infer/4 | "));

  const json row = json::parse(bench(arguments + " --json").output)["rows"].at(0);
  CHECK(row["row"] == "net/infer/4");
  CHECK(row["rate"]["unit"] == "images");
  CHECK(row["sides"]["ambit"]["seconds"].get<double>() > 0);
  // The input alone, which the network does not keep, is smaller than the allocations of the
  // layers.
  CHECK(row["sides"]["ambit"]["peak_bytes"].get<double>() > 4.0 * 3 * 32 * 32 * sizeof(float));
  CHECK(row["sides"].size() == 1);  // neither a peer nor a bound supports this work
}

TEST_CASE("bench compares with a peer and with a bound") {
  const json report = json::parse(bench(kAgainst + "--filter add/1 --json").output);
  CHECK(report["against"] == json{"fixture 1.0"});
  CHECK(report["rows"].size() == 2);
  const json &one = report["rows"][0]["sides"], &large = report["rows"][1]["sides"];
  CHECK(one["fixture"]["seconds"].get<double>() > 0);
  CHECK(one["fixture"]["ratio"].get<double>() > 0);
  CHECK(one["fixture"]["way"] == "by hand");  // the faster of two variants
  CHECK_FALSE(one.contains("floor"));
  CHECK_FALSE(large.contains("fixture"));
  CHECK(large["floor"]["ratio"].get<double>() > 0);
}

TEST_CASE("bench measures bfloat16 together with the same work in float32") {
  const json row = json::parse(bench("--filter tudui/infer_amp --json").output)["rows"].at(0);
  CHECK_FALSE(row.contains("failure"));
  CHECK(row["sides"]["float32"]["ratio"].get<double>() > 0);

  // Rows without a float32 side are in a separate table.
  const std::string both = bench("--filter tudui/infer --markdown").output;
  CHECK(both.starts_with("| row | ambit | rate | floor | ratio | peak |\n"));
  CHECK(both.find("\n\n| row | ambit | rate | float32 | ratio | floor | ratio | peak |\n"
                  "| --- | --- | --- | --- | --- | --- | --- | --- |\n"
                  "| tudui/infer_amp/64 | ") != std::string::npos);
}

// Both sides' networks with the same inputs have the same results, otherwise the rows fail.
TEST_CASE("bench compares with PyTorch, with its fastest variant") {
  const char* const asked = std::getenv("AMBIT_PYTHON");
  const std::string python = asked && *asked ? asked : "python3";
  if (run_command(python + " -c 'import torch.nn' 2>&1").exit_code != 0) {
    MESSAGE("skipped: no PyTorch (AMBIT_PYTHON names a Python that has it)");
    return;
  }
  for (const std::string row : {"net/infer/4 --memory", "unet/train/8"}) {
    INFO(row);
    // Use one thread: on a busy machine two OpenMP threads would wait long for each other.
    const ChildResult ran =
        run_command("OMP_NUM_THREADS=1 " + emulator() +
                    AMBIT_TOOL " bench --seconds 0.001 --against pytorch --json --filter " + row);
    INFO(ran.output);
    REQUIRE(ran.exit_code == 0);
    const json report = json::parse(ran.output);
    CHECK(report["against"][0].get<std::string>().starts_with("PyTorch "));
    const json side = report["rows"][0]["sides"]["pytorch"];
    CHECK(side["seconds"].get<double>() > 0);
    CHECK((side.value("peak_bytes", 0.0) > 0) == row.ends_with("--memory"));
    const std::string way = side["way"];
    CHECK((way.starts_with("eager") || way.starts_with("compiled")));
  }
  const ChildResult without =
      run_command("AMBIT_PYTHON=/bin/false " + emulator() +
                  AMBIT_TOOL " bench --against pytorch --filter net/train/4 2>&1");
  CHECK(without.exit_code == 2);
  CHECK(without.output.find("AMBIT_PYTHON names another") != std::string::npos);
}

TEST_CASE("bench starts its own busy processes, and ends them") {
  const auto children = [] {
    return run_command("pgrep -fc 'bench --seconds 0.001 --loade[d]'").output;
  };
  const ChildResult ran = bench("--loaded --filter add/1 --json");
  CHECK(ran.exit_code == 0);
  const json row = json::parse(ran.output)["rows"][0];
  CHECK(row["sides"]["ambit"]["seconds"].get<double>() > 0);
  CHECK(row["sides"]["1 thread"]["seconds"].get<double>() > 0);
  CHECK_FALSE(row["sides"].contains("floor"));
  CHECK(children().starts_with("0"));
  CHECK(bench("--loaded --memory").exit_code == 2);
}

TEST_CASE("a side with a different result fails the row") {
  const ChildResult ran = bench(kAgainst + "--filter add_recorded --json");
  CHECK(ran.exit_code == 1);
  const json row = json::parse(ran.output)["rows"].at(0);
  CHECK(row["failure"].get<std::string>().starts_with("expected the same result, got "));
}

TEST_CASE("bench prints the size from which a device is faster than the cpu") {
  const std::string arguments = "--crossover --device npu --batches 1,2 --widths 3,4 ";
  const json cells = json::parse(bench(arguments + "--json").output)["cells"];
  CHECK(cells.size() == 4);
  CHECK(cells[3]["batch"] == 2);
  CHECK(cells[3]["width"] == 4);
  for (const char* time : {"cpu_seconds", "device_seconds"}) {
    CHECK(cells[3][time].get<double>() > 0);
  }
  CHECK(bench(arguments + "--markdown").output.starts_with("| batch \\ width | 3 | 4 |\n"));
}

TEST_CASE("bench prints the growth of networks with the batch and with threads") {
  const std::string arguments = "--growth --memory --filter net/infer --batches 1,3 ";
  const json cells =
      json::parse(run_command("OMP_NUM_THREADS=3 " + emulator() +
                              AMBIT_TOOL " bench --seconds 0.001 " + arguments + "--json")
                      .output)["cells"];
  REQUIRE(cells.size() == 6);  // 1, 2 and 3 threads
  CHECK(cells[5]["work"] == "net/infer");
  CHECK(cells[5]["batch"] == 3);
  CHECK(cells[5]["threads"] == 3);
  for (const json& cell : cells) {
    CHECK(cell["seconds"].get<double>() > 0);
    CHECK(cell["images_per_second_and_thread"].get<double>() ==
          doctest::Approx(cell["batch"].get<double>() / cell["seconds"].get<double>() /
                          cell["threads"].get<double>()));
    CHECK(cell["peak_bytes"].get<double>() > 0);
  }
  CHECK(bench(arguments + "--markdown").output.starts_with("| work | batch | threads | time |"));
}

TEST_CASE("bench prints a profile if requested") {
  const TemporaryFolder folder;
  const std::string trace = folder / "trace.json";
  const ChildResult ran = bench("--filter net/infer/4 --profile " + trace + " 2>&1");
  CHECK(ran.exit_code == 0);
  CHECK(ran.output.find("Self CPU time total: ") != std::string::npos);
  CHECK(ran.output.find("Trace: " + trace + "\n") != std::string::npos);
  CHECK(json::parse(read_bytes(trace)).dump().find("\"max_pool") != std::string::npos);
  const ChildResult refused = bench("--filter net/infer/4 --profile missing/trace.json 2>&1");
  CHECK(refused.exit_code == 2);
  CHECK(refused.output.find("--profile: ") != std::string::npos);
}

TEST_CASE("bench refuses invalid options, and says why") {
  const auto refuses = [](const char* arguments, const char* word) {
    INFO(arguments);
    const ChildResult ran = bench(std::string(arguments) + " 2>&1");
    CHECK(ran.exit_code == 2);
    CHECK(ran.output.starts_with("ambit: "));
    CHECK(ran.output.find(word) != std::string::npos);
  };
  refuses("--filter no_such_row", "no_such_row");
  refuses("--device nobody", "nobody");
  refuses("--filter add/1 --against nobody", "libambit_bench_nobody.so");
  refuses("--filter add/1 --against " AMBIT_TOOL, "--against");
  refuses("--seconds -1", "--seconds");
  refuses("--json --markdown", "--json");
  refuses("--batches 4", "--crossover");
  refuses("--crossover --device npu --widths 0", "--widths");
  refuses("--crossover", "other than the cpu");
  refuses("--growth --filter add/1", "add/1");
  refuses("--growth --batches 0", "--batches");
  refuses("--growth --crossover", "--crossover");
}
