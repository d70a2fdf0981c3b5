// Guards libraries whose objects exit() destroys while threads may compute: oneDNN, LAPACK.
#pragma once

namespace ambit::cpu {

/// A kernel's use of such a library, on the thread that called the kernel. While it exists, exit()
/// waits (at most 10 s) before it destroys the library's objects. Converts to false once exit() has
/// begun: the kernel must then not use the library.
class LibraryUse {
 public:
  /// If `wanted` is false, the kernel does not use the library and the object converts to false.
  explicit LibraryUse(bool wanted = true) {
    if (wanted) begin();
  }
  ~LibraryUse() {
    if (is_allowed_) end();
  }
  LibraryUse(const LibraryUse&) = delete;
  LibraryUse& operator=(const LibraryUse&) = delete;
  explicit operator bool() const { return is_allowed_; }

  /// Call this after the library may have created objects that live until exit(): exit() destroys
  /// in reverse order of creation.
  static void precede_at_exit();

 private:
  void begin();
  void end();

  bool is_allowed_ = false;
};

}  // namespace ambit::cpu
