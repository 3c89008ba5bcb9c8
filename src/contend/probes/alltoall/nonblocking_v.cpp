#include "alltoall/algorithm.hpp"
#include "alltoall/library_v.hpp"
#include "timing/waiting.hpp"

namespace contend::probe::alltoall {

namespace {

class NonblockingV final : public Alltoall {
 public:
  explicit NonblockingV(const Blocks& blocks)
      : Alltoall(blocks), alltoall_(unequal_alltoall(blocks)) {}

  void run(Stamps& /*stamps*/) override {
    MPI_Request request = alltoall_.begin(blocks().send(), blocks().receive(), blocks().comm());
    wait(request);
  }

 private:
  UnequalAlltoall alltoall_;
};

}  // namespace

Algorithm nonblocking_v() {
  return {"nonblocking-v", "the library's MPI_Ialltoallv, followed at once by a wait",
          make_from_blocks<NonblockingV>};
}

}  // namespace contend::probe::alltoall
