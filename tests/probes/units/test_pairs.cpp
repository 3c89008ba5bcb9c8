#include <doctest/doctest.h>
#include <mpi.h>

#include "io/arguments.hpp"
#include "pingpong/messages.hpp"

using namespace contend::probe;
using namespace contend::probe::pingpong;

TEST_CASE("all shifts are those up to half of the ranks") {
  CHECK(name_pairs("all-shifts", 5) == std::vector<std::string>{"shift-1", "shift-2"});
  CHECK(name_pairs("3-0,all-shifts", 4) == std::vector<std::string>{"3-0", "shift-1", "shift-2"});
  for (const char* wrong : {"", "0", "1-1", "0-4", "a-b", "0-1-2", "0--1", "0-1,"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(name_pairs(wrong, 4), BadInput);
  }
}

TEST_CASE("the first rank of a pair sends first, others have nothing to do") {
  CHECK(partners_in("3-1", 3, 4).to == 1);
  CHECK(partners_in("3-1", 3, 4).from == MPI_PROC_NULL);
  CHECK(partners_in("3-1", 1, 4).to == MPI_PROC_NULL);
  CHECK(partners_in("3-1", 1, 4).from == 3);
  CHECK_FALSE(partners_in("3-1", 0, 4).any());
}

TEST_CASE("in a shift everybody's partners have it as theirs") {
  for (int ranks = 2; ranks < 8; ++ranks) {
    for (int shift = 1; shift <= ranks / 2; ++shift) {
      const std::string name = "shift-" + std::to_string(shift);
      for (int rank = 0; rank < ranks; ++rank) {
        CHECK(partners_in(name, partners_in(name, rank, ranks).to, ranks).from == rank);
      }
    }
  }
}

TEST_CASE("what is received is right only when every byte is") {
  Messages messages(0, 1, 1, 1000, 3);
  messages.clear();
  CHECK(messages.verify().has_value());
  messages.fill();
  CHECK_FALSE(messages.verify().has_value());
  messages.message(2)[999] ^= 1;
  CHECK(messages.verify()->find("byte 999 of message 2 from rank 0 is ") == 0);
}

TEST_CASE("messages of different ranks, ways and places differ") {
  Messages one(0, 1, 1, 512, 1);
  Messages other(1, 0, 1, 512, 1);
  Messages back(0, 1, 2, 512, 1);
  for (Messages* messages : {&one, &other, &back}) {
    messages->fill();
  }
  CHECK(one.message(0)[0] != other.message(0)[0]);
  CHECK(one.message(0)[0] != back.message(0)[0]);
  CHECK(one.message(0)[0] != one.message(0)[1]);
  CHECK(one.message(0)[0] != one.message(0)[256]);
}

TEST_CASE("more bytes than memory can hold are refused, not wrapped") {
  CHECK_THROWS_AS(Messages(0, 1, 1, std::size_t{1} << 62, 8), std::bad_alloc);
}
