#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

#include "alltoall/blocks.hpp"

namespace contend::probe::alltoall {

/// A send and a receive buffer for all cells, so that memory is taken, and its pages are touched,
/// once.
class Buffers {
 public:
  /// Notes, before the first cell, what one will exchange. All ranks plan the same.
  void plan(const Counts& counts);

  /// Gives blocks their places. The first time the buffers are made, for the largest cell of those
  /// planned that all ranks have the memory for. Collective; throws std::bad_alloc, on all ranks,
  /// for cells that are larger.
  void hold(Blocks& blocks);

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  struct Needs {
    std::size_t send;
    std::size_t receive;
  };
  using Memory = std::unique_ptr<std::byte[], Free>;

  [[nodiscard]] static Memory take(std::size_t bytes);
  void make(MPI_Comm comm);

  std::vector<Counts> planned_;
  Memory send_;
  Memory receive_;
  Needs held_{0, 0};
  bool made_ = false;
};

}  // namespace contend::probe::alltoall
