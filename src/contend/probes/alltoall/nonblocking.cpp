#include "alltoall/algorithm.hpp"
#include "compat/alltoall.hpp"
#include "timing/waiting.hpp"

namespace contend::probe::alltoall {

namespace {

class Nonblocking final : public Alltoall {
 public:
  explicit Nonblocking(const Blocks& blocks)
      : Alltoall(blocks), alltoall_(blocks.counts().bytes()) {}

  void run(Stamps& /*stamps*/) override {
    MPI_Request request = alltoall_.begin(blocks().send(), blocks().receive(), blocks().comm());
    wait(request);
  }

 private:
  EqualAlltoall alltoall_;
};

}  // namespace

Algorithm nonblocking() {
  Algorithm made{"nonblocking", "the library's MPI_Ialltoall, followed at once by a wait",
                 make_from_blocks<Nonblocking>};
  made.uneven = false;
  return made;
}

}  // namespace contend::probe::alltoall
