#include "lapack.h"

#include <ambit/detail/late_library.h>
#include <ambit/error.h>
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace ambit::cpu {
namespace {

struct Library {
  Lapack functions{};
  bool found = false;
  std::string name;  // name of the library's file, or why it was not found
};

template <class Function>
bool find(void* library, const std::string& name, Function& to) {
  to = reinterpret_cast<Function>(dlsym(library, name.c_str()));
  return to != nullptr;
}

template <class T>
bool find_all(void* library, LapackOf<T>& f) {
  const std::string type = sizeof(T) == 4 ? "s" : "d";
  return find(library, type + "getrf_", f.getrf) && find(library, type + "potrf_", f.potrf) &&
         find(library, type + "trsm_", f.trsm) && find(library, type + "geqrf_", f.geqrf) &&
         find(library, type + "orgqr_", f.orgqr) && find(library, type + "syevd_", f.syevd) &&
         find(library, type + "gesdd_", f.gesdd) && find(library, type + "geev_", f.geev) &&
         find(library, (sizeof(T) == 4 ? "cgeev_" : "zgeev_"), f.complex_geev);
}

// Return the file that the library's name resolves to. On Debian it is a link to one of several.
std::string file_of(const Lapack& functions) {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void*>(functions.of_double.getrf), &info)) return "unknown";
  std::error_code ignored;
  return std::filesystem::weakly_canonical(info.dli_fname, ignored);
}

// dlsym also finds BLAS, a dependency of LAPACK's library. Errors: OutOfMemoryError; the next call
// tries again.
Library open() {
  const char* named = std::getenv("AMBIT_LAPACK");
  Library l{.name = named && *named ? named : "liblapack.so.3"};
  const OpenedLibrary library = open_library(l.name);
  if (library.no_memory) {
    throw OutOfMemoryError("LAPACK: expected memory to open its library, got: " + library.reason);
  }
  if (!library.handle) {
    l.name = "none (" + library.reason + ")";
  } else {
    l.found = find_all(library.handle, l.functions.of_float) &&
              find_all(library.handle, l.functions.of_double);
    l.name = l.found ? file_of(l.functions) : "none (" + l.name + " lacks functions)";
  }
  return l;
}

const Library& library() {
  static const auto* const opened = [] {
    const auto* const made = new Library(open());  // leaked: threads may use it at exit
    LibraryUse::precede_at_exit();
    return made;
  }();
  return *opened;
}

}  // namespace

const Lapack* LapackUse::find() { return library().found ? &library().functions : nullptr; }
std::string lapack_name() { return library().name; }

}  // namespace ambit::cpu
