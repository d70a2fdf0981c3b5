// The programs of apps/zoo learn: each runs for seconds on data that it generates, and its final
// figures are compared with those of guessing.
#include <ambit/ambit.h>
#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "program.h"
#include "tests/temporary_folder.h"
#include "training/order.h"
#include "zoo/shared/pictures.h"
#include "zoo/shared/text.h"

using namespace ambit;

namespace {

using Arguments = std::vector<std::string>;

// Return the last figure of that name in "step   100 loss: 1.5".
double figure(const std::string& output, const std::string& name) {
  const size_t at = output.rfind(" " + name + ": ");
  REQUIRE_MESSAGE(at != std::string::npos, name << " is not in: " << output);
  return std::stod(output.substr(at + name.size() + 3));
}

ProgramResult run(const std::string& name, const Arguments& arguments,
                  const TemporaryFolder& folder, const std::vector<std::string>& environment = {}) {
  ProgramResult result =
      run_program("zoo/" + name, arguments, {.folder = folder.path(), .environment = environment});
  INFO(result.errors);
  REQUIRE(result.exit_code == 0);
  return result;
}

bool is_there(const TemporaryFolder& folder, const std::string& name) {
  return std::filesystem::exists(folder / name);
}

// Change of a figure that int8 weights may cause: 0.5 %, or 5 of 1000 answers.
void check_int8(const std::string& output, const std::string& name, double value) {
  const size_t at = output.find(" int8 " + name + ": ");
  REQUIRE_MESSAGE(at != std::string::npos, "no int8 " << name << " in: " << output);
  const double with_int8 = std::stod(output.substr(at + name.size() + 8));
  CHECK(std::abs(with_int8 - value) <= 0.005 * std::max(value, 1.));
}

struct Claim {
  std::string program;
  Arguments arguments;
  std::string figure;
  double least, most;  // limits of the figure
  std::string writes;  // output file; empty: none
  bool int8 = false;   // the figure is shown with int8 weights, too
};

void check(const Claim& claim) {
  const TemporaryFolder folder;
  Arguments arguments = with(claim.arguments, {"--device", "cpu"});
  if (claim.int8) arguments.push_back("--quantize");
  const ProgramResult result = run(claim.program, arguments, folder);
  const size_t end = result.output.find("int8 weights");
  const double value = figure(result.output.substr(0, end), claim.figure);
  if (claim.int8) check_int8(result.output, claim.figure, value);
  CHECK(value >= claim.least);
  CHECK(value <= claim.most);
  CHECK(is_there(folder, claim.program + ".pth"));
  CHECK(is_there(folder, "logs_" + claim.program));
  if (!claim.writes.empty()) CHECK(is_there(folder, claim.writes));
}

}  // namespace

// Losses are natural logarithms per character: guessing among 94 characters gives 4.5, guessing by
// their frequencies 3.3. The text consists of the README files, so the figures change with them.
TEST_CASE("gpt learns to spell") {
  check({"gpt",
         {"--steps", "200", "--layers", "2", "--width", "96", "--lr", "4e-3"},
         "held-out loss",
         0,
         2.7,
         "gpt.txt",
         true});
}

TEST_CASE("lstm learns to spell") {
  check({"lstm", {"--steps", "80", "--lr", "8e-3"}, "held-out loss", 0, 2.6, "lstm.txt", true});
}

// With ten classes, guessing has an accuracy of 0.1.
TEST_CASE("classifiers distinguish images of ten classes") {
  check({"resnet18",
         {"--steps", "150", "--width", "8", "--lr", "0.05"},
         "test accuracy",
         0.5,
         1,
         ""});
  check({"mnist", {"--steps", "300", "--lr", "0.05"}, "test accuracy", 0.5, 1, "", true});
  check({"bilstm_mnist", {"--steps", "100", "--lr", "5e-3"}, "test accuracy", 0.5, 1, "", true});
  check({"transformer_classifier", {"--steps", "150"}, "test accuracy", 0.5, 1, "", true});
}

// Predicting background everywhere gives a third of the background's fraction of the pixels: less
// than 0.3. Twice the learning rate learns faster, but then rounding decides whether one of the
// shapes is found late.
TEST_CASE("unet finds shapes") {
  check({"unet",
         {"--steps", "200", "--width", "8", "--lr", "5e-3", "--batch-size", "16"},
         "mean IoU",
         0.8,
         1,
         "unet.png"});
}

// The entropy of the pixels is 200 with a separate mean for each pixel, and 540 for guessing.
TEST_CASE("vae learns the common features of digits") {
  check({"vae", {"--steps", "300"}, "test loss", 0, 150, "vae.png", true});
}

// Noise has no correlation with the digits.
TEST_CASE("dcgan draws ink at the positions of digits' ink") {
  check({"dcgan",
         {"--steps", "100", "--batch-size", "32"},
         "correlation of means",
         0.5,
         1,
         "dcgan.png"});
}

// Nine classes: guessing is right for 0.11 of the 270 sounds.
TEST_CASE("keywords distinguishes generated sounds") {
  check({"keywords", {}, "held-out accuracy", 0.95, 1, "keywords.png"});
}

TEST_CASE("linear_regression finds the weights") {
  check({"linear_regression", {}, "largest error of a weight", 0, 0.02, ""});
}

TEST_CASE("logistic_regression finds the line") {
  check({"logistic_regression", {}, "test accuracy", 0.92, 0.95, ""});
}

// With random pushes the pole stands for about 22 steps.
TEST_CASE("cart_pole learns to keep the pole upright") {
  check({"cart_pole", {"--steps", "40"}, "standing at the end", 100, 500, ""});
}

TEST_CASE("style_transfer reduces the distance to the style") {
  const TemporaryFolder folder;
  const ProgramResult result =
      run("style_transfer", {"--device", "cpu", "--steps", "40", "--log-every", "1"}, folder);
  const double first = std::stod(result.output.substr(result.output.find("loss: ") + 6));
  CHECK(figure(result.output, "loss") < 0.2 * first);
  CHECK(zoo::read_png(folder / "style_transfer.png").sizes() == IntArrayRef{3, 96, 96});
}

// Run only two steps: learning would need minutes on a simulated device.
TEST_CASE("every program of the zoo trains on a simulated GPU as on the CPU") {
  const TemporaryFolder pictures;
  zoo::write_png(pictures / "small.png", rand({3, 32, 32}));
  struct Row {
    std::string program;
    Arguments arguments;
    bool is_same = true;  // dropout uses the device's random numbers
  };
  const Row rows[] = {
      {"gpt", {"--batch-size", "2", "--layers", "1", "--width", "32", "--block", "16"}, false},
      {"lstm", {"--batch-size", "1"}, false},
      {"resnet18", {"--batch-size", "2", "--width", "4"}},
      {"mnist", {"--batch-size", "4"}, false},
      {"bilstm_mnist", {"--batch-size", "2"}},
      {"transformer_classifier", {"--batch-size", "4"}, false},
      {"unet", {"--batch-size", "1", "--width", "4"}},
      {"vae", {"--batch-size", "4"}},
      {"dcgan", {"--batch-size", "2"}},
      {"keywords", {"--batch-size", "4", "--tones", "5"}},
      {"linear_regression", {}},
      {"logistic_regression", {}},
      {"cart_pole", {"--batch-size", "2"}},
      {"style_transfer", {"--content", pictures / "small.png", "--style", pictures / "small.png"}},
  };
  const auto second_loss = [](const Row& row, const std::string& device) {
    const TemporaryFolder folder;
    Program program("zoo/" + row.program,
                    with(row.arguments, {"--device", device, "--log-every", "1"}),
                    {.folder = folder.path(), .environment = {"AMBIT_SIM=cuda:1"}});
    program.wait_for("\nstep     3 ");
    program.send(SIGKILL);
    const std::string output = program.finish().output;
    return std::stod(output.substr(output.find(": ", output.find("step     2 ")) + 2));
  };
  for (const Row& row : rows) {
    INFO(row.program);
    const double on_cuda = second_loss(row, "cuda");
    CHECK(std::isfinite(on_cuda));
    // Sums of up to 1e4 products in float32 differ by 100 * 2^-24 if the order differs; a step
    // multiplies that by three. Figures are printed to 1e-4.
    if (row.is_same) {
      CHECK(on_cuda == doctest::Approx(second_loss(row, "cpu")).epsilon(1e-4).scale(1));
    }
  }
}

// The programs use dropout, the order of a DataLoader, and two optimizers. One thread, so that no
// sum depends on the number of cores.
TEST_CASE("--resume has the result of an uninterrupted training, bit by bit") {
  for (const std::string program : {"mnist", "dcgan"}) {
    CAPTURE(program);
    const TemporaryFolder whole, parts;
    const std::vector<std::string> one_thread{"OMP_NUM_THREADS=1"};
    const Arguments brief{"--device", "cpu", "--batch-size", "8"};
    run(program, with(brief, {"--steps", "12"}), whole, one_thread);
    run(program, with(brief, {"--steps", "5"}), parts, one_thread);
    run(program, with(brief, {"--steps", "12", "--resume", program + ".pth"}), parts, one_thread);
    const Value a = load_checkpoint(whole / (program + ".pth")),
                b = load_checkpoint(parts / (program + ".pth"));
    CHECK(b["step"].to_int() == 12);
    const StateDict x = a["model"].to_state_dict(), y = b["model"].to_state_dict();
    REQUIRE(x.size() == y.size());
    for (size_t i = 0; i < x.size(); ++i)
      CHECK_MESSAGE(equal(x[i].second, y[i].second), x[i].first);
  }
}

TEST_CASE("Ctrl-C in a program of the zoo saves a checkpoint and prints how to resume") {
  const TemporaryFolder folder;
  Program program("zoo/linear_regression", {"--device", "cpu", "--steps", "100000000"},
                  {.folder = folder.path()});
  program.wait_for("step   100 loss: ");
  program.send(SIGINT);
  const ProgramResult result = program.finish();
  CHECK(result.exit_code == 130);
  CHECK(result.errors.find("Interrupted after step ") != std::string::npos);
  CHECK(result.errors.find("/zoo/linear_regression --device cpu --steps 100000000 --resume "
                           "./linear_regression.pth\n") != std::string::npos);
  CHECK(load_checkpoint(folder / "linear_regression.pth")["step"].to_int() >= 100);
}

TEST_CASE("mistakes in the command line of the zoo are one line each") {
  const TemporaryFolder folder;
  const auto check_error = [&](const std::string& program, const Arguments& arguments,
                               const std::string& line, int exit_code) {
    const ProgramResult result =
        run_program("zoo/" + program, arguments, {.folder = folder.path()});
    CHECK(result.exit_code == exit_code);
    CHECK(result.errors == line + "\n");
  };
  check_error(
      "gpt", {"--batch-size", "0"},
      "gpt: --batch-size: expected a whole number from 1 to 2147483647, got 0 (--help lists "
      "the options)",
      2);
  check_error("gpt", {"--out", "missing"},
              "gpt: --out: cannot open the folder of 'missing/gpt.pth': No such file or directory "
              "(--help lists the options)",
              2);
  check_error("gpt", {"--data", "missing"}, "gpt: --data: cannot read 'missing'", 1);
  check_error("gpt", {"--heads", "3"},
              "gpt: GPT: expected as many heads as divide a width of 128, got 3", 1);
  check_error("gpt", {"--data", folder.write("short.txt", "too short")},
              "gpt: --data: expected a text of at least 5000 characters in '" +
                  (folder / "short.txt") + "', got 9",
              1);
  check_error("vae", {"--data", "missing"},
              "vae: --data: expected a folder that is or contains mnist, got 'missing'", 1);
  run("linear_regression", {"--device", "cpu", "--steps", "2"}, folder);
  check_error(
      "logistic_regression",
      {"--device", "cpu", "--resume", "linear_regression.pth", "--steps", "1"},
      "logistic_regression: --resume: expected at most --steps 1 in 'linear_regression.pth', "
      "got 2",
      1);
  check_error("vae", {"--device", "cpu", "--resume", "linear_regression.pth"},
              "vae: --resume: expected a checkpoint of VAE in 'linear_regression.pth', got one of "
              "Linear",
              1);
}

TEST_CASE("PNG files are read as they were written, and invalid ones are refused") {
  const TemporaryFolder folder;
  const Tensor bytes = randint(256, {3, 5, 7}, kInt64).to(kFloat32) / 255;
  zoo::write_png(folder / "a.png", bytes);
  CHECK(zoo::read_png(folder / "a.png").equal(bytes));
  zoo::write_png(folder / "grey.png", bytes.narrow(0, 1, 1));
  CHECK(zoo::read_png(folder / "grey.png").equal(bytes.narrow(0, 1, 1).expand({3, 5, 7})));
  zoo::write_png(folder / "cut.png", full({1, 2, 2}, 7.));
  CHECK(zoo::read_png(folder / "cut.png").equal(ones({3, 2, 2})));

  CHECK(zoo::grid(ones({3, 1, 2, 2}), 2).sizes() == IntArrayRef{1, 7, 7});
  CHECK(zoo::grid(ones({3, 1, 2, 2}), 2).sum().item<float>() == 12);
  CHECK_THROWS_AS(zoo::write_png(folder / "two.png", ones({2, 4, 4})), ShapeError);
  CHECK_THROWS_AS(zoo::write_png(folder / "none/a.png", bytes), Error);
  folder.write("broken.png", "no picture");
  CHECK_THROWS_AS(zoo::read_png(folder / "broken.png"), Error);
  CHECK_THROWS_AS(zoo::read_png(folder / "missing.png"), Error);
}

// The expected order is that of x86-64's signed char, on every architecture.
TEST_CASE("a text's characters have the same numbers on every architecture") {
  const TemporaryFolder folder;
  std::string text;
  while (text.size() < 5000) text += "a\xc3\xa9\n";
  std::ofstream(folder / "text", std::ios::binary) << text;
  const zoo::Text read(folder / "text");
  CHECK(read.vocabulary() == 4);
  CHECK(read.decode(arange(4)) == "\xa9\xc3\na");
  CHECK(read.encode("\xc3\xa9").equal(tensor({int64_t{1}, int64_t{0}})));
}

TEST_CASE("an endless order shuffles every epoch again, in whole batches") {
  training::EndlessOrder order(10, 3);
  order.reset();
  std::vector<size_t> all;
  for (int i = 0; i < 4; ++i) {  // two epochs of two batches; 10 % 4 samples are dropped
    const auto batch = *order.next(4);
    CHECK(batch.size() == 4);
    all.insert(all.end(), batch.begin(), batch.end());
  }
  for (const size_t epoch : {0, 1}) {
    const std::set<size_t> seen(all.begin() + epoch * 8, all.begin() + (epoch + 1) * 8);
    CHECK(seen.size() == 8);
  }
  CHECK(std::vector(all.begin(), all.begin() + 8) != std::vector(all.begin() + 8, all.end()));

  training::EndlessOrder later(10, 3, /*done=*/3, /*batch_size=*/4);
  later.reset();
  CHECK(*later.next(4) == std::vector(all.begin() + 12, all.end()));
  CHECK_THROWS_AS(order.next(11), Error);
}
