// What the MPI library has of its own: called at once, begun and waited for, or prepared once.

#include <type_traits>

#include "alltoall/algorithm.hpp"
#include "common/ranks.hpp"
#include "compat/alltoall.hpp"
#include "timing/waiting.hpp"

namespace contend::probe::alltoall {

namespace {

/// The library's arguments for blocks. Throws Unsupported where it cannot count that many bytes.
template <class Arguments>
Arguments arguments_for(const Blocks& blocks) {
  if constexpr (std::is_same_v<Arguments, EqualAlltoall>) {
    return EqualAlltoall(blocks.counts().bytes());
  } else {
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
}

template <class Arguments>
class Called final : public Alltoall {
 public:
  explicit Called(const Blocks& blocks)
      : Alltoall(blocks), alltoall_(arguments_for<Arguments>(blocks)) {}

  void run(Stamps& /*stamps*/) override {
    alltoall_.call(blocks().send(), blocks().receive(), blocks().comm());
  }

 private:
  Arguments alltoall_;
};

template <class Arguments>
class Begun final : public Alltoall {
 public:
  explicit Begun(const Blocks& blocks)
      : Alltoall(blocks), alltoall_(arguments_for<Arguments>(blocks)) {}

  void run(Stamps& /*stamps*/) override {
    MPI_Request request = alltoall_.begin(blocks().send(), blocks().receive(), blocks().comm());
    wait(request);
  }

 private:
  Arguments alltoall_;
};

class Persistent final : public Alltoall {
 public:
  explicit Persistent(const Blocks& blocks) : Alltoall(blocks), alltoall_(blocks.counts().bytes()) {
    request_ = alltoall_.prepare(blocks.send(), blocks.receive(), blocks.comm());
  }

  ~Persistent() override { CHECKED(MPI_Request_free, &request_); }

  void run(Stamps& /*stamps*/) override {
    CHECKED(MPI_Start, &request_);
    wait(request_);
  }

 private:
  EqualAlltoall alltoall_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// One for blocks of equal size.
Algorithm even(Algorithm made) {
  made.uneven = false;
  return made;
}

}  // namespace

Algorithm library() {
  return even({"library", "the library's MPI_Alltoall", make_from_blocks<Called<EqualAlltoall>>});
}

Algorithm library_v() {
  return {"library-v", "the library's MPI_Alltoallv", make_from_blocks<Called<UnequalAlltoall>>};
}

Algorithm nonblocking() {
  return even({"nonblocking", "the library's MPI_Ialltoall, followed at once by a wait",
               make_from_blocks<Begun<EqualAlltoall>>});
}

Algorithm nonblocking_v() {
  return {"nonblocking-v", "the library's MPI_Ialltoallv, followed at once by a wait",
          make_from_blocks<Begun<UnequalAlltoall>>};
}

Algorithm persistent() {
  Algorithm made = even(
      {"persistent", "the library's MPI_Alltoall_init, prepared once and started for every sample",
       make_from_blocks<Persistent>});
  made.lacks = has_persistent_alltoall() ? "" : "MPI_Alltoall_init";
  return made;
}

}  // namespace contend::probe::alltoall
