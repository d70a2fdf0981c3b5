#include "run.h"

#include <ambit/error.h>
#include <ambit/parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>

#include "alone.h"
#include "bound.h"
#include "busy_cores.h"
#include "measure.h"
#include "peers.h"
#include "rows/rows.h"

namespace bench {
namespace {

const char* const kAmbit = "ambit";
// The last column. A peer of this name implements the hand-written rows.
const char* const kFloor = "floor";

// ambit on a single thread.
const char* const kOneThread = "1 thread";

class OneThreadWork final : public Work {
 public:
  explicit OneThreadWork(std::unique_ptr<Work> work) : work_(std::move(work)) {}
  void run() override {
    const ambit::SingleThreadGuard one;
    work_->run();
  }
  double result() override { return work_->result(); }

 private:
  std::unique_ptr<Work> work_;
};

struct Opponent {
  std::string asked;  // as given on the command line: a name or a file
  const Peer* peer;
};

void measure_row(const Row& row, const Options& options, const std::vector<Opponent>& opponents,
                 Measured& into) {
  const Inputs inputs = row.inputs();
  const Specification specification = specification_of(row, inputs);
  std::vector<std::unique_ptr<Work>> works;
  const auto add = [&](const std::string& name, std::unique_ptr<Work> work) {
    if (!work) return;
    into.sides.push_back({name});
    works.push_back(std::move(work));
  };
  const ambit::Device device(options.device);
  add(kAmbit, row.make(inputs, device));
  if (options.loaded) add(kOneThread, std::make_unique<OneThreadWork>(row.make(inputs, device)));
  if (row.make_float32) add(kFloat32, row.make_float32(inputs, device));
  for (const auto& [asked, peer] : opponents) {
    add(peer->name, row.make_peer ? row.make_peer(asked) : peer->make(specification));
  }
  const bool by_hand = std::any_of(into.sides.begin(), into.sides.end(),
                                   [](const Side& side) { return side.name == kFloor; });
  if (!by_hand && !options.loaded) {
    add(kFloor,
        row.make_floor ? row.make_floor(inputs) : make_bound(row.cost, ambit::get_num_threads()));
  }

  std::vector<Work*> raw;
  for (const auto& work : works) raw.push_back(work.get());
  std::optional<BusyCores> others;
  if (options.loaded) others.emplace();
  const Timings timings =
      options.loaded ? measure_loaded(raw, options.seconds) : measure(raw, options.seconds);
  const double result = timings.works[0].result;
  into.quiet = timings.quiet;
  for (size_t i = 0; i < works.size(); ++i) {
    into.sides[i].seconds = timings.works[i].seconds;
    into.sides[i].way = timings.works[i].way;
    if (!agree(timings.works[i].result, result, row.tolerance)) {
      into.failure = fmt::format("expected the same result, got {} from ambit and {} from {}",
                                 result, timings.works[i].result, into.sides[i].name);
    }
  }
}

void measure_memory(const Row& row, const std::vector<Opponent>& opponents, Measured& into) {
  for (Side& side : into.sides) {
    if (side.name == kAmbit) side.peak_bytes = peak_bytes(kAmbit, row.name());
    for (const auto& [asked, peer] : opponents) {
      if (side.name == peer->name) side.peak_bytes = peak_bytes(asked, row.name());
    }
  }
}

}  // namespace

bool agree(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return true;  // a workload without a result
  return std::abs(a - b) <= tolerance * std::max({1.0, std::abs(a), std::abs(b)});
}

std::vector<Row> chosen_rows(const std::string& filter) {
  std::vector<Row> rows = all_rows();
  std::erase_if(rows, [&](const Row& r) { return r.name().find(filter) == std::string::npos; });
  if (rows.empty()) {
    throw ambit::Error(fmt::format("--filter: expected part of a row's name, got {}", filter));
  }
  return rows;
}

Report run(const Options& options, const std::function<void(const std::string&)>& progress) {
  Report report{ambit::Device(options.device).str(), {}, {kAmbit}, {}};
  const std::vector<Row> rows = chosen_rows(options.filter);
  if (std::any_of(rows.begin(), rows.end(), [](const Row& r) { return bool(r.make_float32); })) {
    report.columns.emplace_back(kFloat32);
  }
  std::vector<Opponent> opponents;
  for (const std::string& asked : options.against) {
    const Peer& peer = open_peer(asked);
    opponents.push_back({asked, &peer});
    if (peer.name != std::string(kFloor) || options.loaded) report.columns.emplace_back(peer.name);
    report.against.emplace_back(peer.version);
  }
  if (options.loaded) {
    report.columns.insert(report.columns.begin() + 1, kOneThread);
  } else {
    report.columns.push_back(kFloor);
  }
  for (const Row& row : rows) {
    progress(row.name());
    Measured measured{.row = row.name(), .amount = row.amount, .unit = row.unit};
    try {
      measure_row(row, options, opponents, measured);
      if (options.memory && row.memory) measure_memory(row, opponents, measured);
    } catch (const std::exception& e) {  // an op that a device lacks must not hide other rows
      measured.sides.clear();
      measured.failure = e.what();
    }
    report.rows.push_back(std::move(measured));
  }
  return report;
}

}  // namespace bench
