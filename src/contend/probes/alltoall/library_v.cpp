#include "alltoall/library_v.hpp"

#include "alltoall/algorithm.hpp"

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
  return UnequalAlltoall(out, in);
}

namespace {

class LibraryV final : public Alltoall {
 public:
  explicit LibraryV(const Blocks& blocks) : Alltoall(blocks), alltoall_(unequal_alltoall(blocks)) {}

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
