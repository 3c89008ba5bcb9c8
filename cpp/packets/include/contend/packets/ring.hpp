#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace contend::packets {

/// A queue in one array, whose size is a power of two; it grows as it fills, and then stays.
template <class Entry>
class Ring {
 public:
  bool empty() const { return begin_ == end_; }
  std::size_t size() const { return end_ - begin_; }
  Entry& operator[](std::size_t place) { return entries_[(begin_ + place) & mask()]; }
  const Entry& operator[](std::size_t place) const { return entries_[(begin_ + place) & mask()]; }
  const Entry& front() const { return (*this)[0]; }
  void pop() { ++begin_; }
  void push(const Entry& entry) {
    if (size() == entries_.size()) grow();
    entries_[end_++ & mask()] = entry;
  }

 private:
  std::size_t mask() const { return entries_.size() - 1; }
  void grow() {
    std::vector<Entry> more(entries_.empty() ? 8 : 2 * entries_.size());
    for (std::size_t at = begin_; at != end_; ++at) {
      more[at & (more.size() - 1)] = entries_[at & mask()];
    }
    entries_ = std::move(more);
  }

  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace contend::packets
