// --amp bfloat16 of the programs that train: products have bfloat16 operands, parameters remain
// float32, and losses are those of training with float32.
#include <ambit/ambit.h>
#include <ambit/backend/kernels.h>
#include <doctest/doctest.h>

#include <cmath>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "figures.h"
#include "program.h"
#include "tests/bfloat16_products.h"
#include "tests/temporary_folder.h"

using namespace ambit;

namespace {

struct Run {
  std::string output, trace;
};
/// Run a program on the cpu, and check that it succeeds.
Run run(const std::string& program, const std::vector<std::string>& arguments,
        const TemporaryFolder& folder) {
  const ProgramResult result =
      run_program(program, with(arguments, {"--device", "cpu", "--profile", "trace.json"}),
                  {.folder = folder.path()});
  INFO(result.errors);
  REQUIRE(result.exit_code == 0);
  return {result.output, read_bytes(folder / "trace.json")};
}

/// Return true if a call of the op, one line of the trace each, had an operand of the dtype.
bool ran_in(const std::string& trace, const std::string& op, const std::string& dtype) {
  std::istringstream lines(trace);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("\"name\": \"" + op + "\"") == std::string::npos) continue;
    const size_t dtypes = line.find("\"dtypes\": ");
    if (dtypes != std::string::npos && line.find(dtype, dtypes) != std::string::npos) return true;
  }
  return false;
}

/// Train with autocast and without; return the figures of both.
std::pair<std::vector<double>, std::vector<double>> both(const std::string& program,
                                                         const std::vector<std::string>& arguments,
                                                         const std::string& file) {
  const TemporaryFolder plain_folder, amp_folder;
  const Run plain = run(program, arguments, plain_folder);
  const Run amp = run(program, with(arguments, {"--amp", "bfloat16"}), amp_folder);
  for (const OpBase* op : std::initializer_list<const OpBase*>{
           &kernels::convolution, &kernels::convolution_weight_grad, &kernels::linear}) {
    CAPTURE(op->name());
    CHECK(ran_in(plain.trace, op->name(), "float32"));
    CHECK(!ran_in(plain.trace, op->name(), "bfloat16"));
    CHECK(ran_in(amp.trace, op->name(), cpu_multiplies_bfloat16() ? "bfloat16" : "float32"));
  }
  CHECK(ran_in(amp.trace, "copy", "bfloat16"));  // of autocast
  CHECK(!ran_in(plain.trace, "copy", "bfloat16"));
  CHECK(ran_in(amp.trace, "cross_entropy", "float32"));
  CHECK(read_bytes(amp_folder / file) != read_bytes(plain_folder / file));
  return {figures(plain.output), figures(amp.output)};
}

// Five layers round images and weights by 2^-9 of them: logits, below 1 in the first steps, may
// have an error of 10 * 2^-9, and the loss twice that.
constexpr double kLossBound = 20 * 0x1p-9;

}  // namespace

TEST_CASE("quickstart learns with --amp bfloat16 as with float32") {
  const auto [plain, amp] =
      both("quickstart", {"--epochs", "1", "--limit", "640", "--log-every", "80"},
           "cifar_net.safetensors");
  REQUIRE(plain.size() == 2);
  REQUIRE(amp.size() == 2);
  for (size_t i = 0; i < 2; ++i) CHECK(std::abs(plain[i] - amp[i]) <= kLossBound);
}

TEST_CASE("tudui learns with --amp bfloat16 as with float32") {
  const auto [plain, amp] =
      both("tudui", {"--epochs", "1", "--limit", "640", "--log-every", "5"}, "tudui_0.pth");
  REQUIRE(plain.size() == 4);  // two training losses, test loss, accuracy
  REQUIRE(amp.size() == 4);
  CHECK(std::abs(plain[0] - amp[0]) <= kLossBound);
  CHECK(std::abs(plain[1] - amp[1]) <= kLossBound);
  CHECK(std::abs(plain[2] - amp[2]) <= 10 * kLossBound);  // the sum over ten batches
}

// The limits are those of zoo_test. The programs have recurrent steps, attention, and the
// transposed and plain convolutions of a generator and a discriminator.
TEST_CASE("the zoo learns with --amp bfloat16") {
  struct Claim {
    std::string program;
    std::vector<std::string> arguments;
    std::string figure;
    double least, most;
  };
  for (const Claim& claim :
       {Claim{"lstm", {"--steps", "80", "--lr", "8e-3"}, "held-out loss", 0, 2.6},
        Claim{"transformer_classifier", {"--steps", "150"}, "test accuracy", 0.5, 1},
        Claim{"dcgan", {"--steps", "100", "--batch-size", "32"}, "correlation of means", 0.5, 1}}) {
    CAPTURE(claim.program);
    const TemporaryFolder folder;
    const ProgramResult amp = run_program(
        "zoo/" + claim.program, with(claim.arguments, {"--device", "cpu", "--amp", "bfloat16"}),
        {.folder = folder.path()});
    INFO(amp.errors);
    REQUIRE(amp.exit_code == 0);
    const std::string& output = amp.output;
    const size_t at = output.rfind(" " + claim.figure + ": ");
    REQUIRE_MESSAGE(at != std::string::npos, output);
    const double figure = std::stod(output.substr(at + claim.figure.size() + 3));
    CHECK(figure >= claim.least);
    CHECK(figure <= claim.most);
    for (const auto& [name, t] :
         load_checkpoint(folder / (claim.program + ".pth"))["model"].to_state_dict()) {
      CAPTURE(name);
      CHECK(t.dtype() != kBFloat16);
    }
  }
}
