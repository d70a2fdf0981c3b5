// Something to compare ambit with that needs no library: it adds, and once it adds wrongly.
#include "peer.h"

namespace {

using namespace bench;

class Addition final : public Work {
 public:
  explicit Addition(const Specification& s) : a_(s.operands[0]), b_(s.operands[1]) {
    wrong_ = s.what == "add_recorded";
  }
  void run() override { sum_ = a_.values[0] + b_.values[0] + (wrong_ ? 1.0F : 0.0F); }
  double result() override { return static_cast<double>(sum_); }
  std::string way() override { return "by hand"; }

 private:
  Operand a_, b_;
  bool wrong_ = false;
  volatile float sum_ = 0;
};

std::unique_ptr<Work> make(const Specification& s) {
  if (s.row != "add/1" && s.what != "add_recorded") return nullptr;
  return std::make_unique<Addition>(s);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const bench::Peer* ambit_bench_peer() {
  static const bench::Peer peer{"fixture", "fixture 1.0", make};
  return &peer;
}
