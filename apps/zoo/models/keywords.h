// A keyword spotter: a log-mel spectrogram and a small convolutional network.
#pragma once

#include <ambit/ambit.h>

#include <cmath>
#include <cstdint>

namespace zoo {

namespace nn = ambit::nn;
using ambit::Tensor;

/// Return triangular filters whose centres have equal distances on the mel scale, m = 2595
/// log10(1 + f / 700): float32 [n_fft / 2 + 1, mels]; rows are the frequencies of stft.
/// Source: Young et al., The HTK Book, section 5.4.
inline Tensor mel_filters(int64_t rate, int64_t n_fft, int64_t mels) {
  const auto hertz = static_cast<double>(rate);
  const double top = 2595 * std::log10(1 + hertz / 2 / 700);
  const Tensor mel = ambit::linspace(0, top, mels + 2, ambit::kFloat64);
  const Tensor edge = 700 * (ambit::pow(10, mel / 2595) - 1);
  const Tensor low = edge.slice(0, 0, -2), centre = edge.slice(0, 1, -1), high = edge.slice(0, 2);
  const Tensor f = ambit::fft_rfftfreq(n_fft, 1 / hertz, ambit::kFloat64).unsqueeze(1);
  const Tensor rise = (f - low) / (centre - low), fall = (high - f) / (high - centre);
  return minimum(rise, fall).clamp_min(0).to(ambit::kFloat32);
}

/// The logarithm of the power in each mel filter, in windows of 32 ms every 16 ms.
struct LogMelImpl : nn::Module {
  explicit LogMelImpl(int64_t rate, int64_t mels = 40)
      : n_fft(rate * 32 / 1000),
        window(register_buffer("window", ambit::hann_window(n_fft))),
        filters(register_buffer("filters", mel_filters(rate, n_fft, mels))) {}

  /// Samples [N,L] in [-1, 1] -> [N,1,mels,frames].
  Tensor forward(const Tensor& samples) {
    const Tensor spectrum = stft(samples, n_fft, n_fft / 2, {}, window, /*center=*/true, "reflect",
                                 /*normalized=*/false, /*onesided=*/true, /*return_complex=*/true);
    const Tensor power = spectrum.abs().square().transpose(1, 2);  // [N,frames,n_fft / 2 + 1]
    return (power.matmul(filters) + 1e-3).log().transpose(1, 2).unsqueeze(1);
  }

  int64_t n_fft;
  Tensor window, filters;
};
AMBIT_MODULE(LogMel);

/// Samples [N,L] in [-1, 1] -> logits of the classes [N,classes].
struct KeywordNetImpl : nn::Module {
  KeywordNetImpl(int64_t rate, int64_t classes)
      : log_mel(register_module("log_mel", LogMel(rate))),
        features(register_module(
            "features",
            nn::Sequential(nn::BatchNorm2d(1), conv(1, 16), nn::BatchNorm2d(16), nn::ReLU(),
                           nn::MaxPool2d(2), conv(16, 32), nn::BatchNorm2d(32), nn::ReLU(),
                           nn::MaxPool2d(2), conv(32, 64), nn::BatchNorm2d(64), nn::ReLU()))),
        fc(register_module("fc", nn::Linear(64, classes))) {}

  static nn::Conv2d conv(int64_t in, int64_t out) {
    return nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1).bias(false));
  }
  Tensor forward(const Tensor& samples) {
    return fc(features->forward(log_mel(samples)).mean({2, 3}));
  }

  LogMel log_mel;
  nn::Sequential features;
  nn::Linear fc;
};
AMBIT_MODULE(KeywordNet);

}  // namespace zoo
