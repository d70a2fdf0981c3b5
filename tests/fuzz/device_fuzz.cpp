// Names of devices: an error, or a device whose name is the same.
#include <ambit/device.h>
#include <ambit/error.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 100) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const ambit::Device device(text);
    if (ambit::Device(device.str()) != device) std::abort();
  } catch (const ambit::Error& e) {
    if (std::string_view(e.what()).empty()) std::abort();
  }
  return 0;
}
