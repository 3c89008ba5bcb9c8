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

TEST_CASE("where something streams, messages that go off at once take their share of it") {
  Ring ring(3);
  ring.network.piece = 930;
  ring.network.peak = 10;
  MessageClass large = Ring::free();
  large.eager = false;
  ring.costs.between[0].up_to = 1000;
  ring.costs.between.push_back(large);
  Written written;
  written.sender(0, 1, 2000);
  written.strand(1);
  written.receive(0);
  written.receive(2);
  written.wait_all();
  written.strand(2);
  written.compute(10);
  written.send(1, 900);
  written.wait_all();
  // 100 alone, then halves: 900 by 190, and the rest alone.
  const Outcome outcome = ring.run(written);
  CHECK(outcome.operation_end[3] == near(190));
  CHECK(outcome.operation_end[2] == near(290));
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

TEST_CASE("what sets out behind others at a full channel waits for them") {
  Ring ring(3);
  ring.network.queue[ring.channels] = 500;
  ring.costs.between[0].latency = 5;
  Written written;
  written.strand(0);
  written.send(1, 10000);
  written.compute(10);
  written.send(2, 0);
  written.receiver(1, 0);
  written.receiver(2, 0);
  const Outcome outcome = ring.run(written);
  // 10 + 500 / 10 + 5.
  CHECK(outcome.rank_end[2] == near(65));
  CHECK(outcome.rank_end[1] == near(1005));
}

TEST_CASE("each message at a full channel lets as much of it wait") {
  Ring ring(4);
  ring.network.queue[ring.channels] = 500;
  ring.costs.between[0].latency = 5;
  Written written;
  written.strand(0);
  written.send(1, 10000);
  written.send(2, 300);
  written.compute(10);
  written.send(3, 0);
  written.receiver(1, 0);
  written.receiver(2, 0);
  written.receiver(3, 0);
  // 10, half of 100 bytes of the shorter one having gone: 500 of the first, 250 of the second.
  CHECK(ring.run(written).rank_end[3] == near(10 + (500 + 250) / 10.0 + 5));
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

TEST_CASE("small messages wait behind what hosts have sent and a switch has not passed on") {
  Ring ring(4);
  Written written;
  written.sender(0, 2, 1000);
  written.strand(1);
  written.send(2, 1000);
  written.compute(10);
  written.send(3, 100);
  written.wait_all();
  written.strand(2);
  written.receive(0);
  written.receive(1);
  written.wait_all();
  written.receiver(3, 1);
  // The cable from switch 1 to 2 is shared, so after 10 s half of what hosts can send stands there:
  // 2 * 10 * (10 - 5) bytes, which it takes 10 s for.
  ring.network.queue[2] = 1e9;
  CHECK(ring.run(written).rank_end[3] == near(20));
  // No more than it has room for.
  ring.network.queue[2] = 30;
  CHECK(ring.run(written).rank_end[3] == near(16));
  ring.network.queue[2] = 0;
  CHECK(ring.run(written).rank_end[3] == near(10));
  // Hosts have sent all by 100 s; the last of 1000 bytes that waited then leaves at 200.
  written.amount[3] = 130;
  ring.network.queue[2] = 1e9;
  CHECK(ring.run(written).rank_end[3] == near(200));
}
