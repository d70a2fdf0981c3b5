// The states of a block whose backend may store it in a native layout.
#include <ambit/detail/layout_state.h>
#include <doctest/doctest.h>

#include <thread>

using namespace ambit;

namespace {

struct Native : LayoutState {
  Native() {
    open();
    become_native();
  }
};

}  // namespace

TEST_CASE("an open block becomes row-major, a native one does not") {
  LayoutState block;
  CHECK_FALSE(block.is_open());
  block.open();
  CHECK(block.is_open());
  CHECK(block.settle_row_major());
  CHECK_FALSE(block.is_open());
  CHECK_FALSE(block.acquire_native());
  CHECK(block.next_step() == LayoutState::Step::none);

  Native native;
  CHECK(native.is_native());
  CHECK_FALSE(native.settle_row_major());
}

TEST_CASE("a conversion waits for the last reader, and no reader starts during it") {
  Native block;
  REQUIRE(block.acquire_native());
  REQUIRE(block.acquire_native());
  bool released = false;  // written by the readers, then read by the converter
  std::thread converter([&] {
    CHECK(block.next_step() == LayoutState::Step::convert);
    CHECK(released);
    CHECK_FALSE(block.acquire_native());
    CHECK_FALSE(block.settle_row_major());
    block.end_conversion(true);
  });
  block.release_native();
  released = true;
  block.release_native();
  converter.join();
  CHECK(block.settle_row_major());
}

TEST_CASE("after a failed conversion the block is native as before") {
  Native block;
  CHECK(block.next_step() == LayoutState::Step::convert);
  block.end_conversion(false);
  CHECK(block.is_native());
  CHECK(block.acquire_native());
  block.release_native();
  CHECK(block.next_step() == LayoutState::Step::convert);
}

TEST_CASE("a thread that waits for another's conversion finds row-major elements") {
  Native block;
  REQUIRE(block.next_step() == LayoutState::Step::convert);
  std::thread waiting([&] { CHECK(block.next_step() == LayoutState::Step::none); });
  block.end_conversion(true);
  waiting.join();
}

TEST_CASE("a pending copy completes before the elements are row-major") {
  LayoutState block;
  block.set_pending_copy();
  CHECK_FALSE(block.settle_row_major());
  CHECK_FALSE(block.acquire_native());
  CHECK(block.next_step() == LayoutState::Step::await_copy);
  block.end_pending_copy();
  CHECK(block.settle_row_major());
  block.end_pending_copy();  // called by another thread that waited as well
  CHECK(block.settle_row_major());
}
