// The plugin loader: search paths, the loader lock, and the report on each file.
#include <ambit/detail/memory_errors.h>
#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <ambit/plugins.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>

#include "communicators.h"
#include "plugin_file.h"
#include "plugin_library.h"
#include "registry.h"
#include "timed_recursive_lock.h"

namespace ambit {
namespace {

namespace fs = std::filesystem;

// A line of the report.
struct ReportLine : LoadAttempt {
  bool may_retry = false;  // it failed for lack of memory, so a later attempt may succeed
};

struct Loader {
  // Recursive: a plugin's load() may use device names, which may load plugins.
  TimedRecursiveLock recursive_lock;
  std::set<std::string> searched;  // "NAME in PATH" of each search that was done
  // Guards `report`, which other threads read without holding the loader lock.
  std::mutex mutex;
  std::vector<ReportLine> report;
};

// Leaked, like the plugins: their code may run until the process ends.
Loader& loader() {
  static auto* l = new Loader;
  return *l;
}

const char* const kPending = "expected it to be loaded, got a second request while it is loading";

// Timeout for plugins that another thread loads; drivers may be slow. An invalid
// $AMBIT_LOAD_TIMEOUT is ignored, so that it cannot make a device disappear.
double load_timeout_s() {
  constexpr double kDefault = 60;
  const char* const value = std::getenv("AMBIT_LOAD_TIMEOUT");
  if (!value || !*value) return kDefault;
  double seconds = 0;
  const char* const end = value + std::strlen(value);
  const auto [rest, error] = std::from_chars(value, end, seconds);
  // More than a day is ignored; it would only overflow.
  const bool is_time = error == std::errc() && rest == end && seconds > 0 && seconds <= 86400;
  return is_time ? seconds : kDefault;
}

std::string file_being_loaded() {
  Loader& l = loader();
  const std::lock_guard lock(l.mutex);
  for (const LoadAttempt& attempt : l.report) {
    if (attempt.result == kPending) return attempt.file;
  }
  return "a plugin";
}

// Holds the loader lock. Errors: BackendError on timeout.
class LoaderLock {
 public:
  LoaderLock() {
    const double timeout_s = load_timeout_s();
    if (loader().recursive_lock.acquire(timeout_s)) return;
    throw BackendError(fmt::format(
        "expected another thread to have loaded {} within {} s, but it has not finished; "
        "does its load() wait for this thread? ($AMBIT_LOAD_TIMEOUT sets the limit)",
        printable(file_being_loaded()), timeout_s));
  }
  ~LoaderLock() { loader().recursive_lock.release(); }
  LoaderLock(const LoaderLock&) = delete;
  LoaderLock& operator=(const LoaderLock&) = delete;
};

// Find a file's line in the report; end() if it was never tried.
std::vector<ReportLine>::iterator find_line(std::vector<ReportLine>& report,
                                            const std::string& file) {
  return std::find_if(report.begin(), report.end(),
                      [&](const ReportLine& known) { return known.file == file; });
}

enum class Try {
  unless_stand_in,  // skip stand-ins; the file then counts as never tried
  once,
  again,  // also if it failed before
};

// Add a pending line for a file to the report. Return nothing, or the known line if the file must
// not be tried again.
std::optional<LoadAttempt> add_pending_line(const std::string& file, Try how) {
  Loader& l = loader();
  ReportLine pending{{file, false, kPending}};
  const std::lock_guard lock(l.mutex);
  const auto known = find_line(l.report, file);
  if (known == l.report.end()) {
    l.report.push_back(std::move(pending));
  } else if (known->loaded || known->result == kPending ||
             (how != Try::again && !known->may_retry)) {
    return *known;  // includes a plugin whose load() loads itself
  } else {
    *known = std::move(pending);
  }
  return std::nullopt;
}

// A file's pending line in the report; unless a result is reported, it is removed again, as if the
// file had never been tried.
class PendingLine {
 public:
  explicit PendingLine(const std::string& file) : file_(file) {}
  ~PendingLine() {
    if (reported_) return;
    Loader& l = loader();
    const std::lock_guard lock(l.mutex);
    l.report.erase(find_line(l.report, file_));
  }
  PendingLine(const PendingLine&) = delete;
  PendingLine& operator=(const PendingLine&) = delete;

  // Store the result and return it.
  LoadAttempt report(ReportLine end) {
    Loader& l = loader();
    const std::lock_guard lock(l.mutex);
    ReportLine& line = *find_line(l.report, file_);
    line = std::move(end);
    reported_ = true;
    return line;
  }

 private:
  const std::string& file_;
  bool reported_ = false;
};

// Try a file and return the result; a file tried before is skipped unless `how` says otherwise.
// Errors: BackendError on timeout of another thread's loading; std::bad_alloc, after which the file
// counts as never tried, unless it was loaded.
LoadAttempt try_file(const std::string& path, Try how) {
  std::error_code ignored;
  const fs::path given = fs::absolute(path, ignored);
  const fs::path canonical = fs::weakly_canonical(given, ignored);
  const std::string file = canonical.empty() ? path : canonical.string();
  const LoaderLock loader_lock;
  if (const auto known = add_pending_line(file, how)) return *known;
  PendingLine pending(file);
  ReportLine end{{file, false, ""}};
  try {
    const PluginInfo& plugin = open_plugin(file);
    if (plugin.stand_in && how == Try::unless_stand_in) return end;
    const std::vector<std::string> brought = load_plugin(file, plugin);
    end.loaded = true;
    end.result = "loaded";  // short enough to need no allocation
    end.result = brought.empty() ? "no backends" : fmt::format("{}", fmt::join(brought, ", "));
  } catch (const std::bad_alloc&) {
    if (end.loaded) pending.report(std::move(end));
    throw;
  } catch (const std::exception& e) {
    end.result = printable(e.what());
    end.may_retry = dynamic_cast<const NoMemoryToLoad*>(&e);
  }
  return pending.report(std::move(end));
}

// Return the files and the folders' contents in $AMBIT_BACKEND_PATH, then the installed folder's:
// backends or communicators. Missing entries of the path are candidates too, so that the report
// mentions them.
std::vector<fs::path> candidates(const char* installed = "backends") {
  std::vector<fs::path> files;
  const auto add = [&](const std::vector<fs::path>& more) {
    files.insert(files.end(), more.begin(), more.end());
  };
  const char* value = std::getenv("AMBIT_BACKEND_PATH");
  std::string_view rest = value ? value : "";
  while (!rest.empty()) {
    const size_t colon = rest.find(':');
    const fs::path place = rest.substr(0, colon);
    rest = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
    std::error_code error;
    std::vector<fs::path> inside;
    if (fs::is_directory(place, error)) inside = plugins_in(place);
    if (!inside.empty()) {
      add(inside);
    } else if (!place.empty()) {
      add({place});  // also a folder without plugins
    }
  }
  add(plugins_in(fs::path(library_folder()) / "ambit" / installed));
  return files;
}

// Try all candidates, even if memory is lacking for one. Errors: std::bad_alloc, at the end.
void try_all() {
  const std::vector<fs::path> files = candidates();
  std::exception_ptr no_memory;
  for (const Try how : {Try::unless_stand_in, Try::once}) {
    for (const fs::path& file : files) {
      try {
        try_file(file, how);
      } catch (const std::bad_alloc&) {
        no_memory = std::current_exception();
      }
    }
  }
  if (no_memory) std::rethrow_exception(no_memory);
}

bool all_tried() {
  Loader& l = loader();
  const std::lock_guard lock(l.mutex);
  return std::none_of(l.report.begin(), l.report.end(),
                      [](const ReportLine& e) { return e.may_retry; });
}

void search_for(std::string_view name) {
  const char* path = std::getenv("AMBIT_BACKEND_PATH");
  Loader& l = loader();
  // Held until the end: other threads that search the same name must wait for the result.
  const LoaderLock loader_lock;
  const auto [searched, is_new] =
      l.searched.insert(fmt::format("{} in {}", name, path ? path : ""));
  if (!is_new) return;
  // Inserted before loading, since a plugin being loaded may search the same name.
  try {
    const std::string wanted = fmt::format("libambit_{}.so", name);
    for (const fs::path& file : candidates()) {
      if (file.filename() == wanted) try_file(file, Try::once);
    }
    if (!has_devices(name)) try_all();
  } catch (...) {
    l.searched.erase(searched);
    throw;
  }
  if (!all_tried()) l.searched.erase(searched);
}

}  // namespace

void load_backend(const std::string& path) {
  typed_memory_errors("load_backend", [&] {
    if (const LoadAttempt attempt = try_file(path, Try::again); !attempt.loaded) {
      throw BackendError(fmt::format("{}: {}", printable(attempt.file), attempt.result));
    }
  });
}

void load_all_backends() noexcept {
  try {
    try_all();
  } catch (...) {
    // Out of memory, or a folder that vanished: plugins loaded so far are kept.
  }
}

void load_communicators_for(const std::string& name) {
  typed_memory_errors("init_process_group", [&] {
    const std::string wanted = fmt::format("libambit_{}.so", name);
    for (const fs::path& file : candidates("communicators")) {
      if (file.filename() == wanted) try_file(file, Try::once);
    }
  });
}

void distributed::load_all_communicators() noexcept {
  try {
    for (const fs::path& file :
         plugins_in(fs::path(library_folder()) / "ambit" / "communicators")) {
      try_file(file, Try::once);
    }
  } catch (...) {
    // Like load_all_backends().
  }
}

void load_backends_for(std::string_view name) {
  typed_memory_errors("Device", [&] { search_for(name); });
}

std::vector<LoadAttempt> load_report() {
  return typed_memory_errors("load_report", [] {
    Loader& l = loader();
    const std::lock_guard lock(l.mutex);
    return std::vector<LoadAttempt>(l.report.begin(), l.report.end());
  });
}

}  // namespace ambit
