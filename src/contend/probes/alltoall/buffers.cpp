#include "alltoall/buffers.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "alltoall/checked.hpp"
#include "common/operation.hpp"
#include "common/pages.hpp"

namespace contend::probe::alltoall {

void Buffers::plan(const Counts& counts) { planned_.push_back(counts); }

Buffers::Memory Buffers::take(std::size_t bytes) {
  const std::size_t whole_pages = (bytes + kGuardBytes + kPage - 1) / kPage * kPage;
  Memory memory(static_cast<std::byte*>(std::aligned_alloc(kPage, whole_pages)));
  if (memory) {
    std::memset(memory.get(), 0, whole_pages);
  }
  return memory;
}

void Buffers::make(MPI_Comm comm) {
  std::sort(planned_.begin(), planned_.end(),
            [](const Counts& a, const Counts& b) { return a.bytes() < b.bytes(); });
  // What this rank needs for a cell and all smaller ones.
  std::vector<Needs> needs{{0, 0}};
  for (const Counts& counts : planned_) {
    const Blocks blocks(comm, counts);
    needs.push_back({std::max(needs.back().send, blocks.sent_bytes()),
                     std::max(needs.back().receive, blocks.received_bytes())});
  }
  for (; !needs.empty(); needs.pop_back()) {
    send_ = take(needs.back().send);
    receive_ = take(needs.back().receive);
    held_ = needs.back();
    try {
      agree(send_ && receive_, comm);
      return;
    } catch (const std::bad_alloc&) {
      send_.reset();
      receive_.reset();
    }
  }
  held_ = {0, 0};
}

void Buffers::hold(Blocks& blocks) {
  if (!made_) {
    make(blocks.comm());
    made_ = true;
  }
  agree(send_ && receive_ && blocks.sent_bytes() <= held_.send &&
            blocks.received_bytes() <= held_.receive,
        blocks.comm());
  blocks.place(send_.get(), receive_.get());
}

}  // namespace contend::probe::alltoall
