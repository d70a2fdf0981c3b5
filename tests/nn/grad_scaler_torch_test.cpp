// Compares GradScaler with PyTorch's, number by number, as recorded by grad_scaler_torch.py.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/devices.h"

using namespace ambit;
using optim::GradScalerOptions;
using optim::SGD;

namespace {

/// Parse the words of a row as numbers, also inf and nan, which streams do not parse.
std::vector<double> numbers(std::istringstream& row) {
  std::vector<double> all;
  for (std::string word; row >> word;) all.push_back(std::stod(word));
  return all;
}

/// Two parameters, each with its optimizer.
struct Training {
  explicit Training(Device device)
      : p(zeros({}, device).requires_grad_()),
        q(zeros({}, device).requires_grad_()),
        of_p({p}, 1.0),
        of_q({q}, 1.0) {}

  void step(GradScaler& scaler, double g, double h, bool unscales) {
    of_p.zero_grad();
    of_q.zero_grad();
    scaler.scale((p * g).sum()).backward();
    scaler.scale((q * h).sum()).backward();
    if (unscales) scaler.unscale_(of_p);
    CHECK(scaler.step(of_p) == std::isfinite(p.grad().item<float>()));
    CHECK(scaler.step(of_q) == std::isfinite(q.grad().item<float>()));
  }

  Tensor p, q;
  SGD of_p, of_q;
};

void replay(Device device) {
  std::ifstream rows(AMBIT_GRAD_SCALER_STEPS);
  std::optional<GradScaler> scaler;
  std::optional<Training> training;
  GradScalerOptions options;
  int steps = 0, left_out = 0, grown = 0, loads = 0;
  for (std::string line; std::getline(rows, line);) {
    INFO(line);
    std::istringstream row(line);
    std::string kind;
    row >> kind;
    const std::vector<double> n = kind == "#" ? std::vector<double>{} : numbers(row);
    if (kind == "run") {
      options = GradScalerOptions()
                    .init_scale(n[0])
                    .growth_factor(n[1])
                    .backoff_factor(n[2])
                    .growth_interval(static_cast<int64_t>(n[3]));
      scaler.emplace(options);
      training.emplace(device);
    } else if (kind == "load") {
      const Value state = scaler->checkpoint();
      scaler.emplace();
      scaler->load_checkpoint(state);
      ++loads;
    } else if (kind == "step") {
      const double before = scaler->get_scale();
      training->step(*scaler, n[0], n[1], n[2] != 0);
      n[3] != 0 ? scaler->update(n[3]) : scaler->update();
      const Value state = scaler->checkpoint();
      // Results are equal bit for bit: they need one multiplication and one subtraction in float32.
      CHECK(static_cast<float>(state["scale"].to_double()) == static_cast<float>(n[4]));
      CHECK(state["_growth_tracker"].to_double() == n[5]);
      CHECK(state["growth_factor"].to_double() == options.growth_factor());
      CHECK(state["backoff_factor"].to_double() == options.backoff_factor());
      CHECK(state["growth_interval"].to_int() == options.growth_interval());
      CHECK(training->p.item<float>() == static_cast<float>(n[6]));
      CHECK(training->q.item<float>() == static_cast<float>(n[7]));
      ++steps;
      left_out += n[4] < before;
      grown += n[4] > before;
    }
  }
  CHECK(steps == 160);
  CHECK(loads == 8);
  CHECK(left_out > 20);
  CHECK(grown > 20);
}

}  // namespace

TEST_CASE("GradScaler scales, grows, backs off, steps and saves as PyTorch's") {
  for_each_device(replay);
}
