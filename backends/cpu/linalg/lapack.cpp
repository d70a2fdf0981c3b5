// Opening LAPACK, and its threads.
#include "lapack.h"

#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "backends/cpu/runtime/parallel.h"

namespace ambit::cpu {
namespace {

struct Library {
  Lapack functions{};
  bool found = false;
  std::string name;  // or why there is none
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
         find(library, type + "trsm_", f.trsm) && find(library, type + "gelqf_", f.gelqf) &&
         find(library, type + "orglq_", f.orglq) && find(library, type + "syevd_", f.syevd) &&
         find(library, type + "gesdd_", f.gesdd);
}

// The file that a name led to: Debian's is a link to one of several.
std::string file_of(const Lapack& functions) {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void*>(functions.of_double.getrf), &info)) return "unknown";
  std::error_code ignored;
  return std::filesystem::weakly_canonical(info.dli_fname, ignored);
}

// dlsym finds BLAS, too: LAPACK's library depends on it.
Library open() {
  const char* named = std::getenv("AMBIT_LAPACK");
  Library l{.name = named && *named ? named : "liblapack.so.3"};
  void* library = dlopen(l.name.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed: it has threads
  if (!library) {
    const char* why = dlerror();
    l.name = std::string("none (") + (why ? why : l.name) + ")";
  } else {
    l.found = find_all(library, l.functions.of_float) && find_all(library, l.functions.of_double);
    l.name = l.found ? file_of(l.functions) : "none (" + l.name + " lacks functions)";
  }
  return l;
}

const Library& library() {
  static const auto* const opened = new Library(open());  // leaked: threads may use it at exit
  return *opened;
}

// OpenMP's threads, which OpenBLAS may run on, are not there in a forked child, and it would wait
// for them.
std::atomic<bool> is_forked{false};
[[maybe_unused]] const int at_fork =
    pthread_atfork(nullptr, nullptr, [] { is_forked.store(true, std::memory_order_relaxed); });

}  // namespace

const Lapack* lapack() { return library().found ? &library().functions : nullptr; }
std::string lapack_name() { return library().name; }

LapackThreads::LapackThreads() : before_(omp_get_max_threads()) {
  omp_set_num_threads(is_forked.load(std::memory_order_relaxed) ? 1 : available_threads());
}

LapackThreads::~LapackThreads() { omp_set_num_threads(before_); }

}  // namespace ambit::cpu
