#include "distributed.h"

#include <ambit/backend/communicator.h>
#include <ambit/error.h>
#include <ambit/parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "../../ambit/table.h"
#include "../peers.h"
#include "exchange.h"
#include "model.h"
#include "training.h"

namespace bench::distributed {
namespace {

using ambit::distributed::ProcessGroup;
using Table = std::string (*)(const Rows&);

std::string text_of_time(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.1f} us", seconds * 1e6)
                        : fmt::format("{:.2f} ms", seconds * 1e3);
}

std::string percent(double part) { return fmt::format("{:.0f} %", 100 * part); }

Rows allreduce_table(const std::vector<Allreduce>& all) {
  Rows rows{{"", "ambit", "MPI_Allreduce", "ratio"}};
  for (const Allreduce& a : all) {
    rows.push_back({allreduce_row(a.bytes), text_of_time(a.ambit), text_of_time(a.bare),
                    fmt::format("{:.2f}", a.ambit / a.bare)});
  }
  return rows;
}

// Steps without exchange show how much is lost by sharing the machine and by waiting for the
// slowest rank.
Rows steps_table(const Steps& s, int ranks) {
  Rows rows{
      {fmt::format("tudui, batch {} per rank", kBatch), "step", "images/s", "times 1 rank's"}};
  const auto add = [&](const std::string& what, int n, double seconds) {
    rows.push_back({what, text_of_time(seconds), fmt::format("{:.0f}", kBatch * n / seconds),
                    fmt::format("{:.2f}", n * s.alone / seconds)});
  };
  add("1 rank", 1, s.alone);
  add(fmt::format("{} ranks, buckets of {} MiB", ranks, kBucketMiB), ranks, s.together);
  add("in one bucket", ranks, s.at_once);
  add("without exchange", ranks, s.computing);
  add("the same until all ranks are done", ranks, s.slowest);
  return rows;
}

Rows exchange_table(const Steps& s) {
  const double hidden = std::clamp((s.computing + s.exchange - s.together) / s.exchange, 0.0, 1.0);
  return {{"exchange of its gradients", ""},
          {"alone", text_of_time(s.exchange)},
          {"computing time lost to it", text_of_time(s.recorded.lost)},
          {"part that overlaps with backward", percent(hidden)}};
}

Rows against_table(const Against& a, const Peer& peer, int ranks) {
  return {{fmt::format("tudui, batch {} per rank, {} ranks", kBatch, ranks), "ambit",
           fmt::format("{} ({})", peer.version, a.way), "ratio"},
          {"step", text_of_time(a.ambit), text_of_time(a.peer),
           fmt::format("{:.2f}", a.ambit / a.peer)}};
}

// The model's prediction for these ranks.
Rows check_table(const Steps& s, const Network& network, int ranks) {
  const Prediction p = predict(s.recorded, network, ranks);
  return {{"the model, on these ranks", "predicted", "measured", "ratio"},
          {"step", text_of_time(p.end), text_of_time(s.together),
           fmt::format("{:.2f}", p.end / s.together)},
          {"exchange alone", text_of_time(std::min(p.ring, p.tree)), text_of_time(s.exchange),
           fmt::format("{:.2f}", std::min(p.ring, p.tree) / s.exchange)}};
}

std::string text_of_buckets(const Step& step) {
  std::string text;
  for (const Step::Bucket& b : step.buckets) {
    text += fmt::format("{}{:.0f} KiB at {}", text.empty() ? "" : ", ", b.bytes / 1024,
                        text_of_time(b.ready));
  }
  return text;
}

// The rows are for powers of two from 8 ranks up to the requested number.
Rows model_table(const Step& step, const Network& network) {
  Rows rows{{"ranks", "machines", "ring", "tree", "step", "efficiency", "hidden"}};
  std::vector<int> ranks;
  for (int64_t n = 8; n < network.ranks; n *= 2) ranks.push_back(static_cast<int>(n));
  ranks.push_back(network.ranks);
  for (const int n : ranks) {
    const Prediction p = predict(step, network, n);
    rows.push_back({std::to_string(n), std::to_string(p.machines), text_of_time(p.ring),
                    text_of_time(p.tree), text_of_time(p.end), percent(p.efficiency),
                    percent(p.hidden)});
  }
  return rows;
}

// Return whether a launcher (Open MPI, MPICH, Slurm) has started this process.
bool is_launched() {
  return std::getenv("OMPI_COMM_WORLD_SIZE") || std::getenv("PMI_SIZE") ||
         std::getenv("SLURM_STEP_ID");
}

std::string run_model(const Options& options, const Table& table) {
  const Network network = parse_network(options.model);
  const Step step = record_step(options.seconds);
  return fmt::format(
      "measured on 1 rank: a step of {}, backward until {}, buckets of {}\n"
      "modelled:\n\n{}",
      text_of_time(step.end), text_of_time(step.backward_end), text_of_buckets(step),
      table(model_table(step, network)));
}

// Called on all ranks; only rank 0's result is used.
std::string measure(const std::shared_ptr<ProcessGroup>& group, const Options& options,
                    const Table& table, const Progress& progress) {
  const int ranks = group->size();
  const auto report = [&](const std::string& what) {
    if (group->rank() == 0) progress(what);
  };
  std::string text;
  const auto add = [&](const Rows& rows) { text += (text.empty() ? "" : "\n") + table(rows); };
  const auto exchanges = measure_allreduce(*group, options.filter, options.seconds, report);
  if (!exchanges.empty()) add(allreduce_table(exchanges));
  if (std::string("tudui").find(options.filter) == std::string::npos) {
    if (text.empty()) {
      throw ambit::Error("--filter: expected part of allreduce/1 MiB or tudui, got " +
                         options.filter);
    }
    return text;
  }
  report("tudui");
  const Steps steps = measure_steps(group, options.seconds);
  add(steps_table(steps, ranks));
  add(exchange_table(steps));
  if (!options.model.empty()) add(check_table(steps, parse_network(options.model), ranks));
  for (const std::string& name : options.against) {
    const Against against = measure_against(group, name, options.seconds, report);
    add(against_table(against, open_peer(name), ranks));
  }
  return text;
}

}  // namespace

std::string run(const Options& options, bool markdown, const Progress& progress) {
  const Table table = markdown ? markdown_table : plain_table;
  ambit::set_num_threads(1);
  if (!options.model.empty()) parse_network(options.model);  // validate before anything is started
  if (!options.model.empty() && !is_launched()) return run_model(options, table);
  ambit::distributed::find_communicator("mpi");  // throws with the reason if MPI is missing
  const char* const mpi = open_peer("mpi").version;
  const auto group = ambit::distributed::init_process_group("mpi");
  const int ranks = group->size();
  std::string text;
  if (ranks > 1) {
    text = fmt::format("{} ranks of one thread each, {}\n\n", ranks, mpi);
    text += measure(group, options, table, progress);
    if (group->rank() > 0) text.clear();
  }
  ambit::distributed::destroy_process_group();
  if (ranks == 1) {
    throw ambit::Error(
        "--distributed: expected several processes, got one; try mpirun -n 2 --bind-to core "
        "ambit bench --distributed, or --model");
  }
  return text;
}

}  // namespace bench::distributed
