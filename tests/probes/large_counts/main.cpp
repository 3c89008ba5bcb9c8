// Blocks that are larger than a call's count may be, by every call that takes them. Compiled with a
// limit so small that they fit any machine.

#include <cstdio>
#include <string>
#include <vector>

#include "common/operation.hpp"
#include "common/ranks.hpp"
#include "timing/waiting.hpp"
#include "compat/alltoall.hpp"
#include "compat/large_count.hpp"

namespace {

using namespace contend::probe;

constexpr int kTag = 0;

// What a rank sends to another one, at a position.
char value(int source, int destination, std::size_t at) {
  const std::size_t pair = static_cast<std::size_t>(31 * source + 7 * destination);
  return static_cast<char>((pair + at + at / 251) % 127);
}

// One rank's blocks, a multiple of some bytes for each pair of ranks, with the buffers.
class Exchange {
 public:
  Exchange(std::size_t bytes, bool equal, const char* call)
      : rank_(rank_in(MPI_COMM_WORLD)), call_(call) {
    std::size_t sent = 0;
    std::size_t received = 0;
    for (int other = 0; other < size_of(MPI_COMM_WORLD); ++other) {
      add(out, equal ? bytes : bytes * multiple(rank_, other), sent);
      add(in, equal ? bytes : bytes * multiple(other, rank_), received);
    }
    send.resize(sent);
    receive.assign(received, -1);
    for (int other = 0; other < size_of(MPI_COMM_WORLD); ++other) {
      const auto index = static_cast<std::size_t>(other);
      for (std::size_t at = 0; at < out.bytes[index]; ++at) {
        send[out.begin[index] + at] = value(rank_, other, at);
      }
    }
  }

  // Ends the program unless all blocks have come.
  void expect_all() const {
    for (int other = 0; other < size_of(MPI_COMM_WORLD); ++other) {
      expect(other);
    }
  }

  void expect(int source) const {
    const auto index = static_cast<std::size_t>(source);
    for (std::size_t at = 0; at < in.bytes[index]; ++at) {
      if (receive[in.begin[index] + at] != value(source, rank_, at)) {
        fail(std::string(call_) + ": byte " + std::to_string(at) + " of " +
             std::to_string(in.bytes[index]) + " is wrong");
      }
    }
  }

  Side out;
  Side in;
  std::vector<char> send;
  std::vector<char> receive;

 private:
  static std::size_t multiple(int source, int destination) {
    return static_cast<std::size_t>((source + 2 * destination) % 3);
  }

  static void add(Side& side, std::size_t bytes, std::size_t& end) {
    side.bytes.push_back(bytes);
    side.begin.push_back(end);
    end += bytes;
  }

  int rank_;
  const char* call_;
};

void try_messages(std::size_t bytes) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int ranks = size_of(MPI_COMM_WORLD);
  const int next = (rank + 1) % ranks;
  const int last = (rank + ranks - 1) % ranks;
  Exchange apart(bytes, true, "send_bytes");
  const char* out = apart.send.data() + apart.out.begin[static_cast<std::size_t>(next)];
  char* in = apart.receive.data() + apart.in.begin[static_cast<std::size_t>(last)];
  MPI_Request receiving = receive_bytes(in, bytes, last, kTag, MPI_COMM_WORLD);
  MPI_Request sending = send_bytes(out, bytes, next, kTag, MPI_COMM_WORLD);
  wait(receiving);
  wait(sending);
  apart.expect(last);

  Exchange both(bytes, true, "send_and_receive_bytes");
  out = both.send.data() + both.out.begin[static_cast<std::size_t>(next)];
  in = both.receive.data() + both.in.begin[static_cast<std::size_t>(last)];
  send_and_receive_bytes(out, bytes, next, in, bytes, last, kTag, MPI_COMM_WORLD);
  both.expect(last);

  Exchange put(bytes, true, "put_bytes");
  MPI_Win window = MPI_WIN_NULL;
  check("MPI_Win_create",
        MPI_Win_create(put.receive.data(), static_cast<MPI_Aint>(put.receive.size()), 1,
                       MPI_INFO_NULL, MPI_COMM_WORLD, &window));
  check("MPI_Win_fence", MPI_Win_fence(0, window));
  out = put.send.data() + put.out.begin[static_cast<std::size_t>(next)];
  const auto place = static_cast<MPI_Aint>(put.in.begin[static_cast<std::size_t>(rank)]);
  put_bytes(out, bytes, next, place, window);
  check("MPI_Win_fence", MPI_Win_fence(0, window));
  check("MPI_Win_free", MPI_Win_free(&window));
  put.expect(last);
}

void try_equal(std::size_t bytes) {
  const EqualAlltoall alltoall(bytes);
  Exchange called(bytes, true, "MPI_Alltoall");
  alltoall.call(called.send.data(), called.receive.data(), MPI_COMM_WORLD);
  called.expect_all();

  Exchange begun(bytes, true, "MPI_Ialltoall");
  MPI_Request request = alltoall.begin(begun.send.data(), begun.receive.data(), MPI_COMM_WORLD);
  wait(request);
  begun.expect_all();

  Exchange prepared(bytes, true, "MPI_Alltoall_init");
  request = alltoall.prepare(prepared.send.data(), prepared.receive.data(), MPI_COMM_WORLD);
  check("MPI_Start", MPI_Start(&request));
  wait(request);
  check("MPI_Request_free", MPI_Request_free(&request));
  prepared.expect_all();
}

void try_unequal(std::size_t bytes) {
  Exchange called(bytes, false, "MPI_Alltoallv");
  const UnequalAlltoall alltoall(called.out, called.in);
  alltoall.call(called.send.data(), called.receive.data(), MPI_COMM_WORLD);
  called.expect_all();

  Exchange begun(bytes, false, "MPI_Ialltoallv");
  MPI_Request request = alltoall.begin(begun.send.data(), begun.receive.data(), MPI_COMM_WORLD);
  wait(request);
  begun.expect_all();
}

// What no unit wider than a byte divides cannot be counted before MPI 4.
bool uncountable_is_refused() {
  Side side{{1, kLargestCount}, {0, 1 + kLargestCount}};
  try {
    const UnequalAlltoall alltoall(side, side);
    return MPI_VERSION >= 4;
  } catch (const Unsupported& refused) {
    return MPI_VERSION < 4 && std::string(refused.what()).rfind("sizes overflow 32 bits", 0) == 0;
  }
}

}  // namespace

int main(int argc, char** argv) {
  check("MPI_Init", MPI_Init(&argc, &argv));
  set_crowded(true);
  for (const std::size_t bytes : {0, 100, 101, 1009}) {
    try_messages(bytes);
    try_equal(bytes);
    try_unequal(bytes);
  }
  if (!uncountable_is_refused()) {
    fail("what cannot be counted is not refused");
  }
  check("MPI_Barrier", MPI_Barrier(MPI_COMM_WORLD));
  if (rank_in(MPI_COMM_WORLD) == 0) {
    std::puts("right");
  }
  check("MPI_Finalize", MPI_Finalize());
  return 0;
}
