#include "alltoall/algorithm.hpp"
#include "common/ranks.hpp"
#include "compat/large_count.hpp"

namespace contend::probe::alltoall {

namespace {

// Some libraries have no one-sided communication for some machines: none for a single rank, or none
// over their network.
MPI_Win make_window(const Blocks& blocks) {
  MPI_Win window = MPI_WIN_NULL;
  const int code = MPI_Win_create(blocks.receive(), static_cast<MPI_Aint>(blocks.received_bytes()),
                                  1, MPI_INFO_NULL, blocks.comm(), &window);
  // Unlike its codes, a library's classes of errors mean the same on all ranks.
  int mine = MPI_SUCCESS;
  CHECKED(MPI_Error_class, code, &mine);
  int worst = MPI_SUCCESS;
  CHECKED(MPI_Allreduce, &mine, &worst, 1, MPI_INT, MPI_MAX, blocks.comm());
  if (worst != MPI_SUCCESS) {
    throw Unsupported("MPI_Win_create failed: " + error_text(worst));
  }
  return window;
}

class Put final : public Alltoall {
 public:
  explicit Put(const Blocks& blocks)
      : Alltoall(blocks), place_(static_cast<std::size_t>(blocks.ranks())) {
    std::vector<MPI_Aint> mine;
    for (int source = 0; source < blocks.ranks(); ++source) {
      mine.push_back(static_cast<MPI_Aint>(blocks.from(source).data - blocks.receive()));
    }
    CHECKED(MPI_Alltoall, mine.data(), 1, MPI_AINT, place_.data(), 1, MPI_AINT, blocks.comm());
    window_ = make_window(blocks);
    CHECKED(MPI_Win_set_errhandler, window_, MPI_ERRORS_RETURN);
  }

  ~Put() override { CHECKED(MPI_Win_free, &window_); }

  void run(Stamps& /*stamps*/) override {
    CHECKED(MPI_Win_fence, MPI_MODE_NOPRECEDE, window_);
    for (int places = 1; places < blocks().ranks(); ++places) {
      const int destination = blocks().shifted(places);
      if (const Outgoing out = blocks().to(destination); out.bytes != 0) {
        put_bytes(out.data, out.bytes, destination, place_[static_cast<std::size_t>(destination)],
                  window_);
      }
    }
    blocks().copy_own();
    CHECKED(MPI_Win_fence, MPI_MODE_NOSUCCEED, window_);
  }

 private:
  // Where this rank's block begins in every rank's receive buffer.
  std::vector<MPI_Aint> place_;
  MPI_Win window_ = MPI_WIN_NULL;
};

}  // namespace

Algorithm put() {
  return {"put", "puts into every rank's memory, between two fences", make_from_blocks<Put>};
}

}  // namespace contend::probe::alltoall
