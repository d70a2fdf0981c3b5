// Libraries whose own objects exit() destroys while other threads may compute: oneDNN, LAPACK.
#pragma once

namespace ambit::cpu {

/// A kernel's use of such a library, in the thread that called the kernel. While it lives, exit()
/// waits (at most 10 s) before it destroys the library's objects. Once exit() has begun, it is
/// false: the kernel must do without the library.
class LibraryUse {
 public:
  /// `wanted`: whether the kernel wants the library at all; it is false otherwise.
  explicit LibraryUse(bool wanted = true) {
    if (wanted) begin();
  }
  ~LibraryUse() {
    if (is_allowed_) end();
  }
  LibraryUse(const LibraryUse&) = delete;
  LibraryUse& operator=(const LibraryUse&) = delete;
  explicit operator bool() const { return is_allowed_; }

  /// Call it after the library may have made objects that live until exit(), which destroys first
  /// what was made last.
  static void precede_at_exit();

 private:
  void begin();
  void end();

  bool is_allowed_ = false;
};

}  // namespace ambit::cpu
