#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <vector>

namespace contend {

/// Allocates large blocks so that the system may back them by huge pages: tables that are read at
/// random then miss the address cache less often.
template <class T>
struct LargePageAllocator {
  using value_type = T;
  static constexpr std::size_t kHugePage = std::size_t{2} << 20;
  static constexpr std::align_val_t kSmall{alignof(T)};

  LargePageAllocator() = default;
  template <class U>
  explicit LargePageAllocator(const LargePageAllocator<U>&) {}

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < 2 * kHugePage) return static_cast<T*>(::operator new(bytes, kSmall));
    void* block = ::operator new(bytes, std::align_val_t{kHugePage});
    // A hint: without huge pages everything works as before.
    madvise(block, bytes, MADV_HUGEPAGE);
    return static_cast<T*>(block);
  }

  void deallocate(T* block, std::size_t count) {
    if (count * sizeof(T) < 2 * kHugePage) {
      ::operator delete(block, kSmall);
    } else {
      ::operator delete(block, std::align_val_t{kHugePage});
    }
  }

  template <class U>
  bool operator==(const LargePageAllocator<U>&) const {
    return true;
  }
};

template <class T>
using LargeArray = std::vector<T, LargePageAllocator<T>>;

/// Fetches memory for later, also where that is all a function does: compilers take calls of one
/// that only has __builtin_prefetch away, as it changes nothing.
inline void prefetch(const void* memory) {
  __builtin_prefetch(memory);
  asm volatile("");
}

}  // namespace contend
