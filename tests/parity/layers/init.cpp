// nn::init: values of functions without randomness; bounds and moments of the random ones, which
// differ on purpose.
#include "layers.h"

using namespace parity;

namespace Init = torch::nn::init;

namespace {

/// Check the mean and standard deviation of `t`: the mean of n numbers has an error of deviation /
/// sqrt(n), the deviation a smaller one; six times that is accepted.
void report_moments(const std::string& name, const Tensor& t, double mean, double deviation) {
  const double within = 6 * deviation / std::sqrt(static_cast<double>(t.numel()));
  const bool fits = std::abs(t.mean().item<double>() - mean) < within &&
                    std::abs(t.std().item<double>() - deviation) < within;
  report_text(name, fits ? "mean and deviation fit" : "mean or deviation do not fit");
  report(name + " sizes", torch::zeros(t.sizes()), 0);
}

/// Uniform between the bounds, with numbers near both: no number of n is in an outer hundredth with
/// probability 0.99^n, 1e-17 for 4,096.
void report_uniform(const std::string& name, const Tensor& t, double low, double high) {
  report_moments(name, t, (low + high) / 2, (high - low) / std::sqrt(12.));
  const double min = t.min().item<double>(), max = t.max().item<double>(),
               edge = (high - low) / 100;
  const bool fits = min >= low && min < low + edge && max <= high && max > high - edge;
  report_text(name, fits ? "bounds fit" : "bounds do not fit");
}

// [64,16,4]: fan in 64, fan out 256.
Tensor weight() { return torch::empty({64, 16, 4}, torch::kDouble); }

}  // namespace

PARITY(init_by_number) {
  report("constant_", Init::constant_(torch::empty({2, 3}), 0.3), 0);
  report("ones_", Init::ones_(torch::empty({2, 3}, torch::kDouble)), 0);
  report("zeros_", Init::zeros_(torch::empty({2, 3})), 0);
  report("eye_", Init::eye_(torch::empty({2, 3})), 0);
  report("dirac_", Init::dirac_(torch::empty({3, 2, 3})), 0);
  report("dirac_ of an image", Init::dirac_(torch::empty({2, 3, 3, 2})), 0);
  report("dirac_ of a volume", Init::dirac_(torch::empty({2, 2, 3, 1, 2})), 0);
  report_refusal("eye_ of three dims", [] { Init::eye_(torch::empty({2, 3, 4})); });
  report_refusal("dirac_ of two dims", [] { Init::dirac_(torch::empty({2, 3})); });
  report_refusal("xavier_uniform_ of one dim", [] { Init::xavier_uniform_(torch::empty({2})); });
  report_refusal("kaiming_normal_ of one dim", [] { Init::kaiming_normal_(torch::empty({2})); });
  report_refusal("orthogonal_ of one dim", [] { Init::orthogonal_(torch::empty({2})); });
  report_refusal("sparse_ of three dims", [] { Init::sparse_(torch::empty({2, 3, 4}), 0.5); });
  for (const auto& [name, gain] : {std::pair("kLinear", Init::calculate_gain(torch::kLinear)),
                                   {"kConv2D", Init::calculate_gain(torch::kConv2D)},
                                   {"kSigmoid", Init::calculate_gain(torch::kSigmoid)},
                                   {"kTanh", Init::calculate_gain(torch::kTanh)},
                                   {"kReLU", Init::calculate_gain(torch::kReLU)},
                                   {"kLeakyReLU", Init::calculate_gain(torch::kLeakyReLU, 0.3)}}) {
    report(std::string("calculate_gain of ") + name, gain, 4);
  }
}

PARITY(init_random) {
  torch::manual_seed(0);
  const double in = 64, out = 256;
  report_uniform("uniform_", Init::uniform_(weight(), -0.5, 2), -0.5, 2);
  report_moments("normal_", Init::normal_(weight(), 0.3, 0.2), 0.3, 0.2);
  const double xavier = std::sqrt(2 / (in + out));
  report_uniform("xavier_uniform_", Init::xavier_uniform_(weight(), 1.5),
                 -1.5 * xavier * std::sqrt(3.), 1.5 * xavier * std::sqrt(3.));
  report_moments("xavier_normal_", Init::xavier_normal_(weight(), 1.5), 0, 1.5 * xavier);
  const double leaky = std::sqrt(2 / (1 + 0.25)), wide = std::sqrt(2.);
  report_uniform("kaiming_uniform_", Init::kaiming_uniform_(weight(), 0.5),
                 -leaky * std::sqrt(3 / in), leaky * std::sqrt(3 / in));
  report_moments("kaiming_normal_",
                 Init::kaiming_normal_(weight(), 0, torch::kFanOut, torch::kReLU), 0,
                 wide / std::sqrt(out));
  report_moments("kaiming_normal_ of tanh",
                 Init::kaiming_normal_(weight(), 0, torch::kFanIn, torch::kTanh), 0,
                 5. / 3 / std::sqrt(in));

  const Tensor tall = Init::orthogonal_(torch::empty({6, 2, 2}), 1.5);
  report("orthogonal_ columns", tall.flatten(1).t().matmul(tall.flatten(1)), 64);
  const Tensor flat = Init::orthogonal_(torch::empty({2, 5}));
  report("orthogonal_ rows", flat.matmul(flat.t()), 64);
  const Tensor sparse = Init::sparse_(torch::empty({40, 100}, torch::kDouble), 0.33, 0.5);
  report("sparse_ zeros of each column", sparse.eq(0).sum(0), 0);
  report_moments("sparse_", sparse.masked_select(sparse.ne(0)), 0, 0.5);
}
