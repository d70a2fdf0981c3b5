// Downloads CIFAR-10 from its author's page.
#pragma once

#include <string>

namespace images {

/// Create cifar-10-batches-bin in `folder`, unless it exists: download by curl, verify the
/// checksum, and rename. Errors: ambit::Error; in this case no files remain.
void download_cifar10(const std::string& folder);

}  // namespace images
