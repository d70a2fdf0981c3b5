// Visibility of the public API: libambit hides every symbol that is not marked.
#pragma once

#define AMBIT_API __attribute__((visibility("default")))
#define AMBIT_VERSION "0.1.0"
