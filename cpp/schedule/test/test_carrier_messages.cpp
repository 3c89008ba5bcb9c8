#include <doctest/doctest.h>

#include "contend/schedule/carry_out.hpp"
#include "written_schedule.hpp"

// What messages do between ranks: bursts, pieces, lines, and what waits behind others.

using namespace contend;
using namespace contend::test;

namespace {

/// Every channel lets 1000 bytes pass at once, and messages go in pieces of 930.
struct RingWithPieces : Ring {
  RingWithPieces() : Ring(3) {
    network.burst.assign(network.rate.size(), 1000);
    network.piece = 930;
    network.peak = 1000;
  }
};

/// Rank 0 sends to rank 1, and later to rank 2.
Written to_both(double first, double second, double later = 0) {
  Written written;
  written.strand(0);
  written.send(1, first);
  written.compute(later);
  written.send(2, second);
  written.wait_all();
  written.receiver(1, 0);
  written.receiver(2, 0);
  return written;
}

}  // namespace

TEST_CASE("a burst passes at once and is made up for") {
  Ring ring(3);
  ring.network.burst.assign(ring.network.rate.size(), 1000);
  ring.network.peak = 1000;
  // 1000 + 10 t = 3000.
  CHECK(ring.run(one_message(3000)).end == near(200));
  // Within the burst: 500 / 1000.
  CHECK(ring.run(one_message(500)).end == near(0.5));
}

TEST_CASE("messages that go off at once leave a port one after the other, piece by piece") {
  RingWithPieces ring;
  // Pieces of 930, 870 and 500: 1000 are there at once, so the first leaves at 0, the second once
  // 800 more are there, and the third 500 later; beyond the port bursts are whole enough.
  const Outcome outcome = ring.run(to_both(1800, 500));
  CHECK(outcome.rank_end[1] == near(80));
  CHECK(outcome.rank_end[2] == near(130));
  // The port was at work for as long as the bytes take.
  CHECK(outcome.channel_busy[ring.channels] == near(230));
  CHECK(outcome.channel_bytes[ring.channels] == near(2300));
}

TEST_CASE("two pieces of a message wait in a port's line") {
  RingWithPieces ring;
  // The third one lines up as the first one leaves, behind the other message.
  const Outcome outcome = ring.run(to_both(2700, 500));
  CHECK(outcome.rank_end[2] == near((930 + 930 + 500 - 1000) / 10.0));
  CHECK(outcome.rank_end[1] == near((930 + 930 + 500 + 840 - 1000) / 10.0));
}

TEST_CASE("a short last piece waits until the others have left, or all but one are there") {
  RingWithPieces ring;
  const Written written = to_both(2000, 500, 50);
  // The first one is there at 0, so the last one stands behind the second one before 500 come.
  Outcome outcome = ring.run(written);
  CHECK(outcome.rank_end[1] == near(100));
  CHECK(outcome.rank_end[2] == near(150));
  // It is there at 93, and the second one leaves at 86: by then the 500 are in line.
  ring.network.burst[ring.channels + 3 + 1] = 0;
  outcome = ring.run(written);
  CHECK(outcome.rank_end[2] == near(136));
  // Two pieces one after the other take 186, which the last one, gone at 150, stands behind.
  CHECK(outcome.rank_end[1] == near(200));
}

TEST_CASE("pieces that meet at a channel pass in the order in which they come") {
  RingWithPieces ring;
  // The cable that both cross; shares of it would end at 100 and 140.
  ring.network.burst[0] = 0;
  Written written;
  written.sender(0, 1, 500);
  written.strand(1);
  written.receive(0);
  written.receive(2);
  written.wait_all();
  written.sender(2, 1, 900);
  const Outcome outcome = ring.run(written);
  CHECK(outcome.operation_end[2] == near(50));
  CHECK(outcome.operation_end[3] == near(140));
}

TEST_CASE("messages that ask first go in pieces too, and ask behind what came before them") {
  RingWithPieces ring;
  ring.network.burst.assign(ring.network.rate.size(), 0);
  ring.costs.between[0].eager = false;
  // Both cross the cable from switch 0; the second one asks when half of the first has passed it.
  Written written;
  written.sender(0, 1, 930);
  written.strand(1);
  written.receive(0);
  written.receive(2);
  written.wait_all();
  written.strand(2);
  written.compute(140);
  written.send(1, 930);
  written.wait_all();
  // Three channels of 93 each, with the asking behind them, and four for the second one's piece.
  const Outcome outcome = ring.run(written);
  CHECK(outcome.operation_end[2] == near(279));
  CHECK(outcome.operation_end[3] == near(279 + 4 * 93));
}

TEST_CASE("a send that asks first ends once its host has room for what is not there yet") {
  RingWithPieces ring;
  ring.network.burst.assign(ring.network.rate.size(), 0);
  ring.costs.between[0].eager = false;
  // Pieces leave the port at 93, 186, 279 and 372, and are there two channels later.
  Outcome outcome = ring.run(one_message(3720));
  CHECK(outcome.operation_end[0] == near(372 + 2 * 93));
  ring.costs.between[0].buffered = 1860;
  outcome = ring.run(one_message(3720));
  CHECK(outcome.operation_end[0] == near(186 + 2 * 93));
  CHECK(outcome.rank_end[1] == near(372 + 2 * 93));
}

TEST_CASE("small messages use bursts up, and wait in line") {
  RingWithPieces ring;
  Written written;
  written.strand(0);
  for (int i = 0; i < 4; ++i) written.send(1, 200);
  written.send(1, 900);
  written.send(2, 200);
  written.wait_all();
  written.strand(1);
  for (int i = 0; i < 5; ++i) written.receive(0);
  written.wait_all();
  written.receiver(2, 0);
  // The four are there at once; 900 leave the port at 70, and the last one waits behind them.
  const Outcome outcome = ring.run(written);
  CHECK(outcome.rank_end[2] == near(70));
  // On the first way there are 900 again by then.
  CHECK(outcome.rank_end[1] == near(70));
  // Within the host nothing waits for its port.
  ring.network.place_of_rank[2] = 0;
  CHECK(ring.run(written).rank_end[2] == near(0));
}

TEST_CASE("the gap keeps messages of a host apart") {
  Ring ring(3);
  ring.costs.between[0].gap = 30;
  Written written;
  written.strand(0);
  written.send(1, 0);
  written.send(2, 0);
  written.receiver(1, 0);
  written.receiver(2, 0);
  const Outcome outcome = ring.run(written);
  CHECK(outcome.rank_end[1] == near(0));
  CHECK(outcome.rank_end[2] == near(30));
}
