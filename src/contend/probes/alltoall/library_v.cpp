#include "alltoall/library_v.hpp"

#include "alltoall/algorithm.hpp"
#include "alltoall/checked.hpp"
#include "common/check.hpp"

namespace contend::probe::alltoall {

UnequalAlltoall unequal_alltoall(const Blocks& blocks) {
  Side out;
  Side in;
  for (int other = 0; other < blocks.ranks(); ++other) {
    out.bytes.push_back(blocks.to(other).bytes);
    out.begin.push_back(static_cast<std::size_t>(blocks.to(other).data - blocks.send()));
    in.bytes.push_back(blocks.from(other).bytes);
    in.begin.push_back(static_cast<std::size_t>(blocks.from(other).data - blocks.receive()));
  }
  UnequalAlltoall made(out, in);
  const int mine = made.possible() ? 1 : 0;
  int all = 0;
  check("MPI_Allreduce", MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, blocks.comm()));
  if (all == 0) {
    throw Unsupported(
        "sizes overflow 32 bits: a rank's bytes pass 2^31, and MPI_Alltoallv counts "
        "no further before MPI 4");
  }
  return made;
}

namespace {

class LibraryV final : public CheckedAlltoall {
 public:
  explicit LibraryV(const Blocks& blocks)
      : CheckedAlltoall(blocks), alltoall_(unequal_alltoall(blocks)) {}

  void run(Stamps& /*stamps*/) override {
    alltoall_.call(blocks().send(), blocks().receive(), blocks().comm());
  }

 private:
  UnequalAlltoall alltoall_;
};

}  // namespace

Algorithm library_v() {
  return {"library-v", "the library's MPI_Alltoallv", make_from_blocks<LibraryV>};
}

}  // namespace contend::probe::alltoall
