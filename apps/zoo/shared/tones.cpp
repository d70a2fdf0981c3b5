#include <ambit/ambit.h>

#include <numbers>

#include "zoo/shared/sounds.h"

namespace zoo {
namespace {

using namespace ambit;

constexpr int64_t kRate = 8000;

// Has its own generator, so that training draws the same random numbers with and without files.
struct Tones {
  int64_t count;
  Generator generator;

  Tensor uniform(double low, double high) const {
    return rand({count, 1}, generator, kFloat64) * (high - low) + low;
  }
  Tensor noise() const { return randn({count, kRate}, generator, kFloat64); }
  Tensor vibration(const Tensor& u) const {
    return (u * uniform(4, 7) * (2 * std::numbers::pi)).sin();
  }

  /// Return the pitch relative to its middle, in [-0.5, 0.5]; u runs from 0 to 1.
  Tensor pitch(const std::string& name, const Tensor& u) const {
    if (name == "rising") return u - 0.5;
    if (name == "falling") return 0.5 - u;
    if (name == "peak") return 0.5 - (2 * u - 1).abs();
    if (name == "valley") return (2 * u - 1).abs() - 0.5;
    if (name == "warble") return vibration(u) * 0.2;
    return zeros_like(u);
  }
  Tensor wave(const std::string& name, const Tensor& u) const {
    if (name == "noise") return noise() * 0.5;
    const Tensor octaves = uniform(0.7, 1.4) * pitch(name, u);
    const Tensor hertz = uniform(500, 1200) * octaves.exp2();
    const Tensor phase = hertz.cumsum(1) * (2 * std::numbers::pi / kRate);
    if (name == "pulses") return phase.sin() * (vibration(u) > 0).to(kFloat64);
    if (name != "chord") return phase.sin();
    return (phase.sin() + (phase * 1.25).sin() + (phase * 1.5).sin()) / 3;
  }

  /// Draw sounds of a class: int16 [count,kRate].
  Tensor draw(const std::string& name) const {
    const Tensor seconds = arange(kRate).to(kFloat64) / kRate;
    const Tensor length = uniform(0.35, 0.7), start = uniform(0, 1) * (1 - length);
    const Tensor u = ((seconds - start) / length).clamp(0, 1);  // 0 to 1 during the sound
    const Tensor loudness = uniform(0.05, 0.4) * (u * std::numbers::pi).sin();
    const Tensor sound = loudness * wave(name, u) + uniform(0.01, 0.05) * noise();
    return (sound.clamp(-1, 1) * 32767).round().to(kInt16);
  }
};

}  // namespace

Sounds make_tones(int64_t per_class, uint64_t seed) {
  const Tones tones{per_class, Generator(kCPU, seed)};
  Sounds result{.classes = {"chord", "falling", "noise", "peak", "pulses", "rising", "steady",
                            "valley", "warble"},
                .rate = kRate};
  std::vector<Tensor> samples;
  for (const std::string& name : result.classes) samples.push_back(tones.draw(name));
  result.samples = cat(samples);
  const auto classes = static_cast<int64_t>(samples.size());
  result.labels = arange(classes).unsqueeze(1).expand({classes, per_class}).flatten();
  return result;
}

}  // namespace zoo
