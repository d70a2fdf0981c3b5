// Getting CIFAR-10 from its author's page.
#pragma once

#include <string>

namespace images {

/// Put the folder cifar-10-batches-bin into `folder`, unless it is there: downloaded by curl, its
/// checksum verified, renamed as a whole. Errors: ambit::Error; then nothing is left behind.
void download_cifar10(const std::string& folder);

}  // namespace images
