// A library that a fixture needs but that is not found, because it is in no search folder.
extern "C" __attribute__((visibility("default"))) int absent_function() { return 1; }
