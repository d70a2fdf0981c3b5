#include "growth.h"

#include <ambit/error.h>
#include <ambit/parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "../ambit/table.h"
#include "alone.h"
#include "measure.h"
#include "rows/rows.h"

namespace bench {
namespace {

std::vector<int> thread_counts() {
  const int all = ambit::get_num_threads();
  std::vector<int> counts;
  for (int n = 1; n < all; n *= 2) counts.push_back(n);
  counts.push_back(all);
  return counts;
}

Growth::Cell measure_cell(const Row& row, int64_t batch, int threads, const Options& options) {
  ambit::set_num_threads(threads);
  const Inputs inputs = row.inputs();
  const std::unique_ptr<Work> work = row.make(inputs, ambit::Device(options.device));
  Growth::Cell cell{row.what, batch, threads};
  cell.seconds = measure({work.get()}, options.seconds).works[0].seconds;
  if (options.memory && ambit::Device(options.device).is_cpu()) {
    cell.peak_bytes = peak_bytes("ambit", row.name(), threads);
  }
  return cell;
}

Rows table(const Growth& growth) {
  Rows rows{{"work", "batch", "threads", "time", "images/s per thread", "peak"}};
  for (const Growth::Cell& cell : growth.cells) {
    rows.push_back(
        {cell.work, std::to_string(cell.batch), std::to_string(cell.threads),
         fmt::format("{:.3f} ms", cell.seconds * 1e3), fmt::format("{:.0f}", cell.rate()),
         cell.peak_bytes ? fmt::format("{:.1f} MiB", *cell.peak_bytes / (1 << 20)) : "-"});
  }
  return rows;
}

}  // namespace

Growth measure_growth(const Options& options, const std::vector<int64_t>& batches,
                      const std::function<void(const std::string&)>& progress) {
  Growth growth{ambit::Device(options.device).str(), {}};
  const std::vector<int> threads = thread_counts();
  for (const std::string_view name : kLessonWorks) {
    const std::string what(name);
    if (what.find(options.filter) == std::string::npos) continue;
    for (const int64_t batch : batches) {
      for (const int n : threads) {
        progress(fmt::format("{}/{}, {} threads", what, batch, n));
        growth.cells.push_back(measure_cell(lesson_row(what, batch), batch, n, options));
      }
    }
  }
  ambit::set_num_threads(threads.back());
  if (growth.cells.empty()) {
    throw ambit::Error(
        fmt::format("--filter: expected part of a network's row's name, got {}", options.filter));
  }
  return growth;
}

std::string text_of(const Growth& growth) {
  return fmt::format("ambit on {}\n\n{}", growth.device, plain_table(table(growth)));
}

std::string markdown_of(const Growth& growth) { return markdown_table(table(growth)); }

std::string json_of(const Growth& growth) {
  nlohmann::ordered_json all{{"device", growth.device}, {"cells", nlohmann::json::array()}};
  for (const Growth::Cell& cell : growth.cells) {
    nlohmann::ordered_json& c = all["cells"].emplace_back(
        nlohmann::ordered_json{{"work", cell.work},
                               {"batch", cell.batch},
                               {"threads", cell.threads},
                               {"seconds", cell.seconds},
                               {"images_per_second_and_thread", cell.rate()}});
    if (cell.peak_bytes) c["peak_bytes"] = *cell.peak_bytes;
  }
  return all.dump(2) + "\n";
}

}  // namespace bench
