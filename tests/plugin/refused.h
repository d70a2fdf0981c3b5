// Every plugin that the loader must refuse, with the expected reason.
#pragma once

#include <string>
#include <vector>

struct Refused {
  std::string name;    ///< the file is libambit_<name>.so
  std::string reason;  ///< the reported reason, or a part of it
  bool whole = true;
};

/// Return the path of a fixture plugin.
inline std::string plugin_path(const std::string& name) {
  return AMBIT_TEST_PLUGINS "/libambit_" + name + ".so";
}

inline std::vector<Refused> refused_plugins() {
  return {
      {"no_such_file", "expected a file, got none of that name"},
      {"needs_absent", "libambit_absent.so: cannot open shared object file", false},
      {"no_entry", "expected the entry ambit_plugin(), got a library without it"},
      {"null_info", "expected ambit_plugin() to return its PluginInfo, got null"},
      {"throwing_entry", "expected ambit_plugin() to succeed, got an error: not today"},
      {"wrong_magic", "expected the magic 0x6e6967756c706d61 of a plugin, got 0x1234"},
      {"newer_abi",
       "expected plugin ABI 3 with 48 bytes of PluginInfo, got ABI 4 with 48; build it against "
       "this ambit"},
      {"other_size",
       "expected plugin ABI 3 with 48 bytes of PluginInfo, got ABI 3 with 8; build it against "
       "this ambit"},
      {"other_build", ", got \"ambit 9.9.9, C++ ABI 1, cxx11 1\"", false},
      {"no_build", ", got \"none\"", false},
      {"other_name", "expected a plugin name [a-z][a-z0-9_]*, got \"No Name\""},
      {"no_load", "expected a load function in PluginInfo, got null"},
      {"throws_error", "expected load() to succeed, got an error: no such hardware"},
      {"throws_own_error", "expected load() to succeed, got an error: an error of its own type"},
      {"throws_int", "expected load() to succeed, got an exception of an unknown type"},
      {"fails_half_way", "expected load() to succeed, got an error: half-way"},
      {"claims_cpu", "expected a new backend name, got \"cpu\", which libambit has taken"},
      {"claims_meta", "expected a new backend name, got \"meta\", which core has taken"},
      {"claims_reference",
       "expected a new backend name, got \"reference\", which libambit has taken"},
      {"twice_one_name", "expected one backend named \"twin\", got two"},
      {"twice_one_kernel", "expected one kernel of copy for repeating, got two"},
      {"kernel_of_nobody", "expected add_backend before the kernel of copy"},
      {"malformed_name", "expected a backend name [a-z][a-z0-9_]*, got \"My-GPU\""},
      {"null_backend", "expected a backend, got null"},
      {"empty_name", "expected a backend name [a-z][a-z0-9_]*, got \"\""},
      {"odd_name",
       "expected a backend name [a-z][a-z0-9_]*, got \"a\\n\\x1b]0;b\\x07\\xff\xc3\xa9\""},
      {"odd_error", "expected load() to succeed, got an error: no\\r\\n\\x1b[31mred\\u009b"},
      {"throws_no_text", "expected load() to succeed, got an error: none"},
      {"negative", "expected device_count() of negative to be 0 to 1024, got -1"},
      {"least", "expected device_count() of least to be 0 to 1024, got -2147483648"},
      {"too_many", "expected device_count() of too_many to be 0 to 1024, got 1025"},
      {"null_kernel", "expected a kernel of copy for hollow, got null"},
      {"throws_as_name", "expected load() to succeed, got an exception of an unknown type"},
      {"throws_as_reason", "expected load() to succeed, got an exception of an unknown type"},
  };
}
