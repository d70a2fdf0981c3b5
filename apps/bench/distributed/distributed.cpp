#include "distributed.h"

#include <ambit/backend/communicator.h>
#include <ambit/error.h>
#include <ambit/parallel.h>
#include <fmt/format.h>

#include <algorithm>

#include "../../ambit/table.h"
#include "../peers.h"
#include "exchange.h"
#include "model.h"
#include "training.h"

namespace bench::distributed {
namespace {

using ambit::distributed::ProcessGroup;

std::string text_of_bytes(int64_t bytes) {
  return bytes < 1 << 20 ? fmt::format("{} KiB", bytes >> 10) : fmt::format("{} MiB", bytes >> 20);
}

std::string text_of_time(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.1f} us", seconds * 1e6)
                        : fmt::format("{:.2f} ms", seconds * 1e3);
}

std::string percent(double part) { return fmt::format("{:.0f} %", 100 * part); }

Rows allreduce_table(const std::vector<Allreduce>& all) {
  Rows rows{{"allreduce", "ambit", "MPI_Allreduce", "ratio"}};
  for (const Allreduce& a : all) {
    rows.push_back({text_of_bytes(a.bytes), text_of_time(a.ambit), text_of_time(a.bare),
                    fmt::format("{:.2f}", a.ambit / a.bare)});
  }
  return rows;
}

Rows steps_table(const Steps& s, int ranks) {
  const double images = static_cast<double>(kBatch);
  const double hidden = std::clamp((s.computing + s.exchange - s.together) / s.exchange, 0.0, 1.0);
  return {{fmt::format("tudui, batch {} a rank", kBatch), "1 rank", fmt::format("{} ranks", ranks)},
          {"step", text_of_time(s.alone), text_of_time(s.together)},
          {"images/s", fmt::format("{:.0f}", images / s.alone),
           fmt::format("{:.0f}", images * ranks / s.together)},
          {"times those of 1 rank", "1", fmt::format("{:.2f}", ranks * s.alone / s.together)},
          {"step without exchange", "", text_of_time(s.computing)},
          {"exchange alone", "", text_of_time(s.exchange)},
          {"of it hidden behind backward", "", percent(hidden)}};
}

std::string text_of_buckets(const Step& step) {
  std::string text;
  for (const Step::Bucket& b : step.buckets) {
    text += fmt::format("{}{:.0f} KiB at {}", text.empty() ? "" : ", ", b.bytes / 1024,
                        text_of_time(b.ready));
  }
  return text;
}

// From 8 ranks on, in powers of two, up to those asked for.
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

}  // namespace

std::string run(const Options& options, bool markdown,
                const std::function<void(const std::string&)>& progress) {
  const auto table = [&](const Rows& rows) {
    return markdown ? markdown_table(rows) : plain_table(rows);
  };
  ambit::set_num_threads(1);
  if (!options.model.empty()) {
    const Network network = parse_network(options.model);
    const Step step = record_step(options.seconds);
    return fmt::format(
        "measured on 1 rank: a step of {}, backward until {}, buckets of {}\n"
        "modelled:\n\n{}",
        text_of_time(step.end), text_of_time(step.backward_end), text_of_buckets(step),
        table(model_table(step, network)));
  }
  ambit::distributed::find_communicator("mpi");  // says what is missing
  const char* const mpi = open_peer("mpi").version;
  const auto group = ambit::distributed::init_process_group("mpi");
  const int ranks = group->size();
  std::string text;
  if (ranks > 1) {
    const auto tell = [&](const std::string& what) {
      if (group->rank() == 0) progress(what);
    };
    text = fmt::format("{} ranks of one thread each, {}\n\n", ranks, mpi);
    text += table(allreduce_table(measure_allreduce(*group, options.seconds, tell)));
    tell("tudui");
    text += "\n" + table(steps_table(measure_steps(group, options.seconds), ranks));
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
