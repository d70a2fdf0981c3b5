// The simulated accelerator with a planted bug in its runtime: memory, copies or synchronisation.
#pragma once

#include "backends/sim/backend.h"

namespace planted {

class PlantedBackend final : public ambit::sim::SimBackend {
 public:
  PlantedBackend() : SimBackend({"planted", 2}) {}

  void* allocate(int index, size_t bytes) override;
  void free(int index, void* p, size_t bytes) noexcept override;
  ambit::MemoryStats memory_stats(int index) const override;
  void empty_cache(int index) override;
  void copy(int to_index, void* to, int from_index, const void* from, size_t bytes) override;
  void copy_from_host(int index, void* to, const void* host, size_t bytes,
                      bool non_blocking) override;
  void copy_to_host(int index, void* host, const void* from, size_t bytes,
                    bool non_blocking) override;
  void wait_for_copies(int index, const void* host) override;
  void synchronize(int index) override;
};

}  // namespace planted
