#include "alltoall/algorithm.hpp"
#include "common/ranks.hpp"
#include "compat/alltoall.hpp"
#include "timing/waiting.hpp"

namespace contend::probe::alltoall {

namespace {

class Persistent final : public Alltoall {
 public:
  explicit Persistent(const Blocks& blocks) : Alltoall(blocks), alltoall_(blocks.counts().bytes()) {
    request_ = alltoall_.prepare(blocks.send(), blocks.receive(), blocks.comm());
  }

  ~Persistent() override { check("MPI_Request_free", MPI_Request_free(&request_)); }

  void run(Stamps& /*stamps*/) override {
    check("MPI_Start", MPI_Start(&request_));
    wait(request_);
  }

 private:
  EqualAlltoall alltoall_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

Algorithm persistent() {
  Algorithm made{"persistent",
                 "the library's MPI_Alltoall_init, prepared once and started for every sample",
                 make_from_blocks<Persistent>};
  made.uneven = false;
  made.lacks = has_persistent_alltoall() ? "" : "MPI_Alltoall_init";
  return made;
}

}  // namespace contend::probe::alltoall
