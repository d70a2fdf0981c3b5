#include "coverage.h"

#include <ambit/backend/registry.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

using namespace ambit;

namespace {

// The names of the dtypes with each verdict.
using ByVerdict = std::map<Verdict, std::vector<std::string>>;

bool runs(Verdict verdict) { return verdict < Verdict::missing; }

// Return notes on the dtypes for which one function does not run. `texts`: the error messages.
std::vector<std::string> notes_on(const Example& example, const ByVerdict& found,
                                  const std::map<Verdict, std::string>& texts) {
  const std::string function = example.function.empty() ? "" : " " + example.function;
  std::vector<std::string> notes;
  for (const auto& [verdict, dtypes] : found) {
    if (runs(verdict)) continue;
    const bool all = found.size() == 1;
    notes.push_back(fmt::format("{}{} {}{}: {}", example.op->name(), function, name(verdict),
                                all ? "" : fmt::format(" for {}", fmt::join(dtypes, ", ")),
                                texts.at(verdict)));
  }
  return notes;
}

void add(OpCoverage& op, const Example& example, Device device) {
  ByVerdict found;
  std::map<Verdict, std::string> texts;
  for (const DType dtype : example.dtypes) {
    const Finding finding = find_out(example, dtype, device);
    found[finding.verdict].push_back(ambit::name(dtype));
    texts.emplace(finding.verdict, finding.text);
    Verdict& verdict = op.by_dtype.emplace(dtype, finding.verdict).first->second;
    verdict = std::max(verdict, finding.verdict);
  }
  // If nothing could run, the verdict is sufficient.
  if (!example.op->has_kernel(device.kind()) && !example.op->has_composite()) return;
  const std::vector<std::string> notes = notes_on(example, found, texts);
  op.notes.insert(op.notes.end(), notes.begin(), notes.end());
}

}  // namespace

Coverage coverage_of(Device device) {
  Coverage coverage{device, backend_library(device.kind()), {}};
  for (const Example& example : examples()) {
    add(coverage.ops[example.op->name()], example, device);
  }
  return coverage;
}

std::string summary(const OpCoverage& op) {
  ByVerdict found;
  for (const auto& [dtype, verdict] : op.by_dtype) found[verdict].push_back(ambit::name(dtype));
  const auto most = std::max_element(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.second.size() < b.second.size();
  });
  std::string text = name(most->first);
  for (const auto& [verdict, dtypes] : found) {
    if (verdict == most->first) continue;
    text += fmt::format("; {}: {}", name(verdict), fmt::join(dtypes, " "));
  }
  return text;
}
