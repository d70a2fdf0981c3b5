#include "model.h"

#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

namespace bench::distributed {
namespace {

[[noreturn]] void refuse(const std::string& text, const char* what) {
  throw ambit::Error(
      fmt::format("--model: expected {} in RANKSxPER_MACHINE,BANDWIDTH,LATENCY such as "
                  "1024x8,25GB/s,5us, got {}",
                  what, text));
}

// Parse a positive number at the start of the text.
template <class T>
std::optional<T> take(std::string_view& text) {
  T value{};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !(value > 0) || !std::isfinite(static_cast<double>(value))) return {};
  text.remove_prefix(static_cast<size_t>(rest - text.data()));
  return value;
}

using Units = std::initializer_list<std::pair<std::string_view, double>>;

// Parse "25GB/s": a number and one of the units.
std::optional<double> quantity(std::string_view text, Units units) {
  const std::optional<double> value = take<double>(text);
  for (const auto& [unit, factor] : units) {
    if (value && text == unit) return *value * factor;
  }
  return {};
}

}  // namespace

Network parse_network(const std::string& text) {
  const size_t first = text.find(','), second = text.find(',', first + 1);
  if (first == text.npos || second == text.npos) refuse(text, "three parts");
  Network network;
  std::string_view shape = std::string_view(text).substr(0, first);
  const std::optional<int> ranks = take<int>(shape);
  if (!ranks) refuse(text, "a number of ranks");
  network.ranks = *ranks;
  if (!shape.empty()) {
    const bool has_x = shape.front() == 'x';
    shape.remove_prefix(1);
    const std::optional<int> per_machine = take<int>(shape);
    if (!has_x || !per_machine || !shape.empty()) refuse(text, "the ranks of a machine");
    network.per_machine = *per_machine;
  }
  const auto bandwidth =
      quantity(std::string_view(text).substr(first + 1, second - first - 1), {{"KB/s", 1e3},
                                                                              {"MB/s", 1e6},
                                                                              {"GB/s", 1e9},
                                                                              {"Kbit/s", 1e3 / 8},
                                                                              {"Mbit/s", 1e6 / 8},
                                                                              {"Gbit/s", 1e9 / 8}});
  if (!bandwidth) refuse(text, "a bandwidth");
  const auto latency = quantity(std::string_view(text).substr(second + 1),
                                {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}});
  if (!latency) refuse(text, "a latency");
  network.bytes_per_second = *bandwidth;
  network.latency_seconds = *latency;
  return network;
}

double ring_seconds(const Network& network, int machines, double bytes) {
  const double m = machines;
  return 2 * (m - 1) * (network.latency_seconds + bytes / m / network.bytes_per_second);
}

double tree_seconds(const Network& network, int machines, double bytes) {
  if (machines == 1) return 0;
  const double m = machines, levels = std::ceil(std::log2(m));
  return 2 * (levels * network.latency_seconds + bytes * (m - 1) / m / network.bytes_per_second);
}

Prediction predict(const Step& step, const Network& network, int ranks) {
  Prediction p;
  p.ranks = ranks;
  p.machines = (ranks + network.per_machine - 1) / network.per_machine;
  // Without data, only the latencies remain.
  p.ring = ring_seconds(network, p.machines, 0), p.tree = tree_seconds(network, p.machines, 0);
  const double ring_latencies = p.ring, tree_latencies = p.tree;
  double link_free = 0,
         last = 0;  // times: the link is free; the last bucket has arrived
  for (const Step::Bucket& bucket : step.buckets) {
    const double ring = ring_seconds(network, p.machines, bucket.bytes),
                 tree = tree_seconds(network, p.machines, bucket.bytes);
    const double latencies = ring < tree ? ring_latencies : tree_latencies;
    p.ring += ring - ring_latencies;
    p.tree += tree - tree_latencies;
    link_free = std::max(link_free, bucket.ready) + std::min(ring, tree) - latencies;
    last = std::max(last, link_free + latencies);
  }
  const double waited = std::max(0.0, last - step.backward_end);
  const double exchanged = std::min(p.ring, p.tree);
  p.end = step.end + waited + (exchanged > 0 ? step.lost : 0);
  p.efficiency = step.end / p.end;
  if (exchanged > 0) p.hidden = 1 - std::min(1.0, waited / exchanged);
  return p;
}

}  // namespace bench::distributed
