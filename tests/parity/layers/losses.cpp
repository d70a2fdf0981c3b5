// Losses: each with every reduction, and the options that change the summed terms.
#include "layers.h"

using namespace parity;

namespace {

Tensor shares() { return torch::sigmoid(x({3, 4})); }
Tensor other() { return wave({3, 4}, 0.37, torch::kDouble); }
Tensor logits() { return x({4, 5}) * 2; }
Tensor classes() { return torch::tensor({3, 0, 4, 1}, torch::kLong); }
Tensor weights(int64_t n) { return wave({n}, 0.9, torch::kDouble) + 1.5; }
Tensor signs(torch::IntArrayRef sizes) {
  return torch::sign(wave(sizes, 1.3, torch::kDouble) + 0.01);
}

// Report the loss with these options and all three reductions.
template <class Holder, class Options, class... T>
void reduced(const std::string& name, Options options, const T&... inputs) {
  run_layer(name + " mean", Holder(Options(options).reduction(torch::kMean)), inputs...);
  run_layer(name + " sum", Holder(Options(options).reduction(torch::kSum)), inputs...);
  run_layer(name + " each", Holder(Options(options).reduction(torch::kNone)), inputs...);
}

// As above, with a constant target, because libtorch has no gradient for it.
template <class Holder, class Options>
void reduced_towards(const std::string& name, Options options, const Tensor& target,
                     const Tensor& input) {
  const auto run = [&](const std::string& reduction, Holder m) {
    report_layer(name + reduction, *m, {input},
                 [&](const List& a) { return List{m(a[0], target)}; });
  };
  run(" mean", Holder(Options(options).reduction(torch::kMean)));
  run(" sum", Holder(Options(options).reduction(torch::kSum)));
  run(" each", Holder(Options(options).reduction(torch::kNone)));
}

}  // namespace

PARITY(layers_losses_of_numbers) {
  const Tensor a = x({3, 4}), b = other();
  reduced<nn::L1Loss>("L1Loss", nn::L1LossOptions(), a, b);
  reduced<nn::MSELoss>("MSELoss", nn::MSELossOptions(), a, b);
  reduced<nn::SmoothL1Loss>("SmoothL1Loss", nn::SmoothL1LossOptions().beta(0.4), a, b);
  run_layer("SmoothL1Loss without a bend", nn::SmoothL1Loss(nn::SmoothL1LossOptions().beta(0)), a,
            b);
  reduced<nn::HuberLoss>("HuberLoss", nn::HuberLossOptions().delta(0.4), a, b);
  reduced<nn::PoissonNLLLoss>("PoissonNLLLoss", nn::PoissonNLLLossOptions(), a, b.abs() * 3);
  reduced<nn::PoissonNLLLoss>("PoissonNLLLoss full",
                              nn::PoissonNLLLossOptions().log_input(false).full(true).eps(1e-4),
                              a.abs() + 0.1, b.abs() * 3 + 0.1);
  reduced<nn::BCELoss>("BCELoss", nn::BCELossOptions(), shares(), b.abs());
  reduced<nn::BCELoss>("BCELoss weighted", nn::BCELossOptions().weight(weights(4)), shares(),
                       b.abs());
  reduced<nn::BCEWithLogitsLoss>("BCEWithLogitsLoss", nn::BCEWithLogitsLossOptions(), a * 3,
                                 b.abs());
  reduced<nn::BCEWithLogitsLoss>(
      "BCEWithLogitsLoss weighted",
      nn::BCEWithLogitsLossOptions().weight(weights(4)).pos_weight(weights(4) * 2), a * 3, b.abs());
  reduced_towards<nn::SoftMarginLoss>("SoftMarginLoss", nn::SoftMarginLossOptions(), signs({3, 4}),
                                      a);
  reduced<nn::HingeEmbeddingLoss>("HingeEmbeddingLoss", nn::HingeEmbeddingLossOptions().margin(0.6),
                                  a, signs({3, 4}));
  report_refusal("BCELoss of more than one", [] { nn::BCELoss()(x({3}) + 2, x({3}).abs()); });
}

PARITY(layers_losses_of_distributions) {
  const Tensor log_p = torch::log_softmax(x({3, 4}), 1), q = torch::softmax(other(), 1);
  reduced<nn::KLDivLoss>("KLDivLoss", nn::KLDivLossOptions(), log_p, q);
  reduced<nn::KLDivLoss>("KLDivLoss of logarithms", nn::KLDivLossOptions().log_target(true), log_p,
                         q.log());
  run_layer("KLDivLoss of a batch",
            nn::KLDivLoss(nn::KLDivLossOptions().reduction(torch::kBatchMean)), log_p, q);
}

PARITY(layers_losses_of_classes) {
  const Tensor log_p = torch::log_softmax(logits(), 1);
  const Tensor pixels = x({2, 3, 2, 2}) * 2,
               at = torch::tensor({0, 2, 1, 1, 2, 0, 0, 1}, torch::kLong).view({2, 2, 2});
  reduced<nn::NLLLoss>("NLLLoss", nn::NLLLossOptions(), log_p, classes());
  reduced<nn::NLLLoss>("NLLLoss weighted", nn::NLLLossOptions().weight(weights(5)).ignore_index(4),
                       log_p, classes());
  reduced<nn::NLLLoss>("NLLLoss of pixels", nn::NLLLossOptions(), pixels, at);
  using Options = nn::CrossEntropyLossOptions;
  reduced<nn::CrossEntropyLoss>("CrossEntropyLoss", Options(), logits(), classes());
  reduced<nn::CrossEntropyLoss>("CrossEntropyLoss weighted",
                                Options().weight(weights(5)).ignore_index(0), logits(), classes());
  reduced<nn::CrossEntropyLoss>("CrossEntropyLoss smoothed", Options().label_smoothing(0.2),
                                logits(), classes());
  reduced<nn::CrossEntropyLoss>("CrossEntropyLoss smoothed, weighted",
                                Options().label_smoothing(0.3).weight(weights(5)).ignore_index(1),
                                logits(), classes());
  reduced<nn::CrossEntropyLoss>("CrossEntropyLoss of shares",
                                Options().weight(weights(5)).label_smoothing(0.1), logits(),
                                torch::softmax(x({4, 5}) + 1, 1));
  reduced<nn::CrossEntropyLoss>("CrossEntropyLoss of pixels", Options(), pixels, at);
  reduced<nn::MultiMarginLoss>("MultiMarginLoss", nn::MultiMarginLossOptions(), logits(),
                               classes());
  reduced<nn::MultiMarginLoss>("MultiMarginLoss squared",
                               nn::MultiMarginLossOptions().p(2).margin(0.7).weight(weights(5)),
                               logits(), classes());
  const Tensor labels =
      torch::tensor({3, 0, -1, 1, 2, 1, -1, 4, -1, 0, 1, 2, 0, 1, 2, 3, 4, -1, 0, 0}, torch::kLong)
          .view({4, 5});
  reduced<nn::MultiLabelMarginLoss>("MultiLabelMarginLoss", nn::MultiLabelMarginLossOptions(),
                                    logits(), labels);
  const Tensor present = (signs({4, 5}) + 1) / 2;
  reduced<nn::MultiLabelSoftMarginLoss>("MultiLabelSoftMarginLoss",
                                        nn::MultiLabelSoftMarginLossOptions(), logits(), present);
  reduced<nn::MultiLabelSoftMarginLoss>("MultiLabelSoftMarginLoss weighted",
                                        nn::MultiLabelSoftMarginLossOptions().weight(weights(5)),
                                        logits(), present);
  report_refusal("a class that is not there",
                 [] { nn::CrossEntropyLoss()(logits(), classes() + 2); });
}

PARITY(layers_losses_of_pairs) {
  const Tensor a = x({4, 3}), b = wave({4, 3}, 0.37, torch::kDouble),
               c = wave({4, 3}, 1.1, torch::kDouble);
  reduced<nn::CosineEmbeddingLoss>("CosineEmbeddingLoss",
                                   nn::CosineEmbeddingLossOptions().margin(0.2), a, b, signs({4}));
  reduced<nn::MarginRankingLoss>("MarginRankingLoss", nn::MarginRankingLossOptions().margin(0.3), a,
                                 b, signs({4, 3}));
  reduced<nn::TripletMarginLoss>("TripletMarginLoss", nn::TripletMarginLossOptions(), a, b, c);
  reduced<nn::TripletMarginLoss>(
      "TripletMarginLoss swapped",
      nn::TripletMarginLossOptions().margin(1.7).p(3).swap(true).eps(1e-4), a, b, c);
  using Options = nn::TripletMarginWithDistanceLossOptions;
  reduced<nn::TripletMarginWithDistanceLoss>("TripletMarginWithDistanceLoss", Options(), a, b, c);
  reduced<nn::TripletMarginWithDistanceLoss>(
      "TripletMarginWithDistanceLoss of its own distance",
      Options()
          .distance_function(
              [](const Tensor& s, const Tensor& t) { return (s - t).abs().sum(-1) * 0.5; })
          .margin(2)
          .swap(true),
      a, b, c);
}
