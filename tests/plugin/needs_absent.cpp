// A plugin with a dependency that is missing.
extern "C" int absent_function();
extern "C" __attribute__((visibility("default"))) int ambit_plugin() { return absent_function(); }
