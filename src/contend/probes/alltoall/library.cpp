#include "alltoall/algorithm.hpp"
#include "alltoall/checked.hpp"
#include "compat/alltoall.hpp"

namespace contend::probe::alltoall {

namespace {

class Library final : public CheckedAlltoall {
 public:
  explicit Library(const Blocks& blocks)
      : CheckedAlltoall(blocks), alltoall_(blocks.counts().bytes()) {}

  void run(Stamps& /*stamps*/) override {
    alltoall_.call(blocks().send(), blocks().receive(), blocks().comm());
  }

 private:
  EqualAlltoall alltoall_;
};

}  // namespace

Algorithm library() {
  Algorithm made{"library", "the library's MPI_Alltoall", make_from_blocks<Library>};
  made.uneven = false;
  return made;
}

}  // namespace contend::probe::alltoall
