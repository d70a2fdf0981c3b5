// The readers of libambit_zip.so. Private to core. Errors of all: SerializationError.
#pragma once

#include <ambit/device.h>

#include <memory>
#include <string_view>

#include "core/files/pytorch/zip_reader.h"

namespace ambit {

std::unique_ptr<ZipReader> open_zip(const ByteSource& source);

/// Read a zip file of torch.save() since 1.6, or TorchScript.
PytorchContent read_zip(const ByteSource& source, Device device, bool metadata);
bool is_script_zip(const ByteSource& source);

/// Read a file that torch.save() wrote before 1.6.
PytorchContent read_legacy(const ByteSource& source, Device device);

}  // namespace ambit
