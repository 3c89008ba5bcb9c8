#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace contend::probe {

constexpr std::size_t kPage = 4096;

/// Memory that begins with a page.
///
/// How fast a library copies messages through a machine's memory depends on where in a page they
/// begin: where buffers are wherever the heap had room, equal measurements differ by factors.
template <class Value>
struct PageAllocator {
  using value_type = Value;

  PageAllocator() = default;
  template <class Other>
  PageAllocator(const PageAllocator<Other>&) noexcept {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] Value* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(Value)) {
      throw std::bad_alloc();
    }
    return static_cast<Value*>(::operator new(count * sizeof(Value), std::align_val_t{kPage}));
  }
  void deallocate(Value* memory, std::size_t) noexcept {
    ::operator delete(memory, std::align_val_t{kPage});
  }

  template <class Other>
  bool operator==(const PageAllocator<Other>&) const noexcept {
    return true;
  }
  template <class Other>
  bool operator!=(const PageAllocator<Other>&) const noexcept {
    return false;
  }
};

/// A vector for what is sent or received.
template <class Value>
using Pages = std::vector<Value, PageAllocator<Value>>;

}  // namespace contend::probe
