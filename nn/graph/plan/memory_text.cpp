// The table of the memory of a plan.
#include "memory_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace ambit::graph {
namespace {

std::string bytes_text(size_t bytes) {
  constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  auto value = static_cast<double>(bytes);
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

// Return the time at which the most bytes of the arena are in use.
uint32_t fullest_time(std::span<const PlannedBlock> blocks) {
  std::map<uint32_t, int64_t> changes;
  for (const PlannedBlock& b : blocks) {
    if (b.outlives_run()) continue;
    changes[b.first] += static_cast<int64_t>(b.bytes);
    changes[b.last] -= static_cast<int64_t>(b.bytes);
  }
  int64_t now = 0, most = -1;
  uint32_t found = 0;
  for (const auto& [time, change] : changes) {
    now += change;
    if (now > most) {
      most = now;
      found = time;
    }
  }
  return found;
}

// A row of the table.
struct Share {
  std::string name;
  size_t tensors = 0, bytes = 0, at_most = 0;
};

std::vector<Share> shares(const Program& program, const PlannedMemory& memory) {
  const std::span<const PlannedBlock> blocks = memory.blocks();
  const uint32_t time = fullest_time(blocks);
  std::vector<Share> out;
  for (const PlannedBlock& b : blocks) {
    if (b.outlives_run()) continue;
    const std::vector<Node>& nodes = program.block.nodes;
    const Node* const node = b.step == 0 || b.step > nodes.size() ? nullptr : &nodes[b.step - 1];
    const std::string name = !node                  ? "inputs and outputs"
                             : node->module.empty() ? node->function->name
                                                    : node->module;
    auto share = std::find_if(out.begin(), out.end(),
                              [&](const Share& other) { return other.name == name; });
    if (share == out.end()) share = out.insert(out.end(), Share{name});
    ++share->tensors;
    share->bytes += b.bytes;
    if (b.first <= time && time < b.last) share->at_most += b.bytes;
  }
  return out;
}

}  // namespace

std::string memory_text(const Program& program, const PlannedMemory& memory, Device device,
                        size_t packed_bytes) {
  size_t tensors = 0, bytes = 0, outputs = 0, width = 6;
  for (const PlannedBlock& b : memory.blocks()) {
    if (b.outlives_run()) {
      outputs += b.bytes;
    } else {
      ++tensors;
      bytes += b.bytes;
    }
  }
  const std::vector<Share> rows = shares(program, memory);
  for (const Share& row : rows) width = std::max(width, row.name.size());
  std::string out = fmt::format("{} in one block on {} for {} tensors of {}; outputs: {}",
                                bytes_text(memory.arena_bytes()), device.str(), tensors,
                                bytes_text(bytes), bytes_text(outputs));
  if (packed_bytes > 0) out += fmt::format("; packed weights: {}", bytes_text(packed_bytes));
  out += fmt::format("\n{:{}} {:>8} {:>12} {:>12}\n", "module", width, "tensors", "bytes",
                     "at the peak");
  for (const Share& row : rows) {
    out += fmt::format("{:{}} {:>8} {:>12} {:>12}\n", row.name, width, row.tensors,
                       bytes_text(row.bytes), bytes_text(row.at_most));
  }
  return out;
}

}  // namespace ambit::graph
