// StatefulDataset: a dataset that itself chooses the next batch and the end of an epoch.
#pragma once

#include <ambit/archive.h>
#include <ambit/data/dataset.h>

#include <optional>
#include <vector>

namespace ambit::data::datasets {

/// Throw NotImplementedError saying that a class does not implement `function`.
[[noreturn]] AMBIT_API void throw_not_saved(const char* base, const char* function);

/// A source whose get_batch() returns nullopt at the end of an epoch. The workers of a loader share
/// one instance, so with more than one of them get_batch() must be thread-safe.
template <class Self, class Batch = std::vector<Example<>>, class BatchRequest = size_t>
class StatefulDataset : public BatchDataset<Self, std::optional<Batch>, BatchRequest> {
 public:
  /// Start an epoch, or continue one after load(). begin() of a loader calls it.
  virtual void reset() = 0;
  /// Write the position in the dataset. Errors: NotImplementedError unless the class overrides it.
  virtual void save(serialize::OutputArchive&) const { throw_not_saved("StatefulDataset", "save"); }
  /// Continue where save() was called. Errors: as save(), and those of reading.
  virtual void load(serialize::InputArchive&) { throw_not_saved("StatefulDataset", "load"); }
};

/// Call dataset.save(archive).
template <class... Args>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const StatefulDataset<Args...>& dataset) {
  dataset.save(archive);
  return archive;
}
/// Call dataset.load(archive).
template <class... Args>
serialize::InputArchive& operator>>(serialize::InputArchive& archive,
                                    StatefulDataset<Args...>& dataset) {
  dataset.load(archive);
  return archive;
}

}  // namespace ambit::data::datasets
