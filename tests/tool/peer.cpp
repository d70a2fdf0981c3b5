// A peer for `ambit bench` that needs no library: it adds in a fast and in a slow variant, and once
// with a wrong result.
#include <string>
#include <utility>
#include <vector>

#include "peer.h"

namespace {

using namespace bench;

class Addition final : public Work {
 public:
  Addition(const Specification& s, std::string way, int times)
      : a_(s.operands[0]), b_(s.operands[1]), way_(std::move(way)), times_(times) {
    wrong_ = s.what == "add_recorded";
  }
  void run() override {
    for (int i = 0; i < times_; ++i) {
      sum_ = a_.values[0] + b_.values[0] + (wrong_ ? 1.0F : 0.0F);
    }
  }
  double result() override { return static_cast<double>(sum_); }
  std::string way() override { return way_; }

 private:
  Operand a_, b_;
  std::string way_;
  int times_;
  bool wrong_ = false;
  volatile float sum_ = 0;
};

class BothWays final : public Work {
 public:
  explicit BothWays(const Specification& s)
      : slow_(s, "a thousand times", 1000), quick_(s, "by hand", 1) {}
  void run() override {
    slow_.run();
    quick_.run();
  }
  double result() override { return quick_.result(); }
  std::vector<Work*> ways() override { return {&slow_, &quick_}; }

 private:
  Addition slow_, quick_;
};

std::unique_ptr<Work> make(const Specification& s) {
  if (s.row != "add/1" && s.what != "add_recorded") return nullptr;
  return std::make_unique<BothWays>(s);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const bench::Peer* ambit_bench_peer() {
  static const bench::Peer peer{"fixture", "fixture 1.0", make};
  return &peer;
}
