// The event files of a folder, from which SummaryWriter reads the steps.
#include "memory_file.h"
#include "nn/tensorboard/earlier_steps.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const MemoryFile events(data, size);
  static const LinkFolder folder;
  folder.link("events.out.tfevents.0", events);
  const ambit::tensorboard::EarlierSteps steps{std::filesystem::path(folder.path())};
  return 0;
}
