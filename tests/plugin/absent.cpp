// The library that a fixture needs and, lying where nobody looks, does not find.
extern "C" __attribute__((visibility("default"))) int absent_function() { return 1; }
