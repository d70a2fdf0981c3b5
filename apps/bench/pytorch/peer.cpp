// PyTorch with its fastest settings: the best of eager and compiled, images contiguous or
// channels-last. Each variant is a separate Python process, which is idle while others compute.
#include "../peer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "python.h"

namespace bench::pytorch {
namespace {

constexpr int kRounds = 4;              // of timing each variant
constexpr double kTrialSeconds = 0.05;  // per variant and round
constexpr double kClose = 1.1;  // variants within this factor of the fastest are measured further

class Way final : public Work {
 public:
  Way(std::string name, int threads) : name_(std::move(name)), python_(threads) {}
  void make(const Specification& s) { python_.make(s, name_); }
  void run() override { seconds(1); }
  double seconds(long runs) override { return python_.ask("run " + std::to_string(runs)); }
  double result() override { return python_.ask("result"); }
  std::string way() override { return name_; }
  double peak_bytes() override { return python_.ask("peak"); }
  double process_seconds() override { return python_.ask("spent"); }

 private:
  std::string name_;
  Python python_;
};

class BestOf final : public Work {
 public:
  BestOf(const Specification& s, const std::vector<std::string>& names) {
    // Started concurrently, because Python takes seconds to start.
    for (const std::string& name : names) ways_.push_back(std::make_unique<Way>(name, s.threads));
    for (const auto& way : ways_) way->make(s);
  }

  void run() override {
    for (const auto& way : ways_) way->run();
  }

  // Return the result that differs most from the first variant's, so that any wrong one is noticed.
  double result() override {
    const double first = ways_[0]->result();
    double farthest = first;
    for (const auto& way : ways_) {
      const double other = way->result();
      if (std::abs(other - first) > std::abs(farthest - first)) farthest = other;
    }
    return farthest;
  }

  // On a shared machine a single trial could select the wrong variant.
  std::vector<Work*> ways() override {
    std::vector<double> least(ways_.size(), INFINITY);  // seconds of one run
    for (int round = 0; round < kRounds; ++round) {
      for (size_t i = 0; i < ways_.size(); ++i) {
        const long runs = std::max(1L, std::lround(kTrialSeconds / least[i]));  // one run at first
        least[i] = std::min(least[i], ways_[i]->seconds(runs) / static_cast<double>(runs));
      }
    }
    const double fastest = *std::min_element(least.begin(), least.end());
    std::vector<Work*> close;
    for (size_t i = 0; i < ways_.size(); ++i) {
      if (least[i] <= kClose * fastest) close.push_back(ways_[i].get());
    }
    return close;
  }

  // Return the minimum over all variants: compiling needs memory that the work does not.
  double peak_bytes() override {
    double least = INFINITY;
    for (const auto& way : ways_) least = std::min(least, way->peak_bytes());
    return least;
  }

 private:
  std::vector<std::unique_ptr<Way>> ways_;
};

// Return for example "PyTorch 2.9.0+cpu, tcmalloc".
std::string ask_version() {
  const std::string command = "LD_PRELOAD=libtcmalloc_minimal.so.4 '" + interpreter() +
                              "' -c 'import torch; print(\"PyTorch\", torch.__version__ + "
                              "(\", tcmalloc\" if \"tcmalloc\" in open(\"/proc/self/maps\").read() "
                              "else \"\"))' 2>/dev/null";
  FILE* pipe = ::popen(command.c_str(), "r");
  if (!pipe) throw std::runtime_error("popen failed: " + command);
  std::array<char, 256> line{};
  const char* const got = std::fgets(line.data(), line.size(), pipe);
  if (::pclose(pipe) != 0 || !got) {
    throw std::runtime_error("--against pytorch: expected a Python with torch, got " +
                             interpreter() + ", which has none; AMBIT_PYTHON names another");
  }
  std::string text = line.data();
  text.erase(text.find_last_not_of('\n') + 1);
  return text;
}

const std::string& version() {
  static const std::string text = ask_version();
  return text;
}

bool is_one_of(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Return the subject of a row: "tudui" for "tudui/train", "conv1d" for "conv1d_grad".
std::string subject_of(const std::string& what) {
  const std::string network = what.substr(0, what.find('/'));
  return network.ends_with("_grad") ? network.substr(0, network.size() - 5) : network;
}

bool is_known(const std::string& what) {
  const size_t slash = what.find('/');
  return slash != std::string::npos
             ? is_one_of({"train", "train_amp", "train distributed", "infer", "infer_amp"},
                         what.substr(slash + 1)) &&
                   is_one_of({"net", "tudui", "resnet18", "unet", "gpt", "lstm"}, subject_of(what))
             : is_one_of({"attention", "layer_norm", "group_norm", "conv1d", "conv3d",
                          "conv_transpose2d", "matmul_amp"},
                         subject_of(what));
}

std::unique_ptr<Work> make(const Specification& s) {
  // safetensors' own reader only maps a file.
  if (s.what == "load_pth") {
    return std::make_unique<BestOf>(s, std::vector<std::string>{"eager"});
  }
  if (!is_known(s.what)) return nullptr;
  const std::string subject = subject_of(s.what);
  const bool has_images =
      is_one_of({"net", "tudui", "resnet18", "unet", "group_norm", "conv_transpose2d"}, subject);
  const bool is_distributed = s.what.ends_with("/train distributed");
  // PyTorch 2 introduced compilation and attention.
  const bool is_new = !version().starts_with("PyTorch 1.");
  if (is_one_of({"gpt", "attention"}, subject) && !is_new) return nullptr;
  std::vector<std::string> ways{"eager"};
  if (has_images) ways.emplace_back("eager, channels-last");
  if (is_new && !is_distributed) {
    for (size_t i = ways.size(); i-- > 0;) ways.push_back("compiled" + ways[i].substr(5));
  }
  if (!is_distributed) return std::make_unique<BestOf>(s, ways);
  // All ranks must run the same variant, so the caller chooses it; none is compiled. `parameters`:
  // rank, number of ranks, a number unique to this run, variant.
  const auto way = static_cast<size_t>(s.parameters.at(3));
  if (way >= ways.size()) return nullptr;
  auto one = std::make_unique<Way>(ways[way], s.threads);
  one->make(s);
  return one;
}

}  // namespace
}  // namespace bench::pytorch

extern "C" __attribute__((visibility("default"))) const bench::Peer* ambit_bench_peer() {
  static const bench::Peer peer{"pytorch", bench::pytorch::version().c_str(), bench::pytorch::make};
  return &peer;
}
