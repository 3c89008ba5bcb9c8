#include <doctest/doctest.h>

#include <string>

#include "contend/base/error.hpp"
#include "contend/routes/dumps/dumps.hpp"
#include "contend/routes/dumps/table_columns.hpp"

using namespace contend;

TEST_CASE("tables are as wide as the highest LID told") {
  TableBuilder builder;
  builder.begin(0xA0, 1);
  builder.add(2, 7);
  builder.add(3, kDumpedNoPort);
  builder.add(0, 1);
  builder.begin(0xA1, 5);
  builder.own(3, 0xB1);
  const TableColumns columns = builder.finish({"note"});
  CHECK(columns.switch_guid == std::vector<std::uint64_t>{0xA0, 0xA1});
  CHECK(columns.addresses == 4);
  const std::vector<PortNumber> ports = {kNoPort, kNoPort, 7,       kNoPort,
                                         kNoPort, kNoPort, kNoPort, kNoPort};
  CHECK(columns.ports == ports);
  CHECK(columns.owner_guid == std::vector<std::uint64_t>{0, 0, 0, 0xB1});
  CHECK(columns.notes == std::vector<std::string>{"note"});
}

TEST_CASE("parts of a table are joined unless they contradict each other") {
  TableBuilder builder;
  builder.begin(0xA0, 1);
  builder.add(1, 7);
  builder.begin(0xA0, 9);
  builder.add(1, 7);
  builder.add(2, 8);
  CHECK(builder.finish({}).ports == std::vector<PortNumber>{kNoPort, 7, 8});

  builder.begin(0xA0, 1);
  builder.add(1, 7);
  builder.begin(0xA0, 9);
  builder.add(1, 8);
  try {
    builder.finish({});
    FAIL("accepted");
  } catch (const InputError& error) {
    CHECK(error.line() == 9);
    CHECK(error.got() == "8");
  }
}

TEST_CASE("a thin table is refused only when it is large") {
  TableBuilder builder;
  for (std::uint64_t guid = 0; guid < 100; ++guid) {
    builder.begin(guid, 1);
    builder.add(kHighestUnicastLid, 1);
  }
  CHECK(builder.finish({}).addresses == 49152);
  // 700 x 49,152 x 2 bytes are more than 64 MiB.
  for (std::uint64_t guid = 0; guid < 700; ++guid) {
    builder.begin(guid, 1);
    builder.add(kHighestUnicastLid, 1);
  }
  CHECK_THROWS_AS(builder.finish({}), InputError);
}

TEST_CASE("both kinds of dumps, a byte at a time") {
  LftsParser lfts;
  for (const char c : std::string("Unicast lids [0-2] of switch Lid 1 guid 0xa0 ('x'):\r\n"
                                  "0x0001 000 # Switch portguid 0xa0: 'x'\r\n"
                                  "0x0002 003 # Channel Adapter portguid 0xb1: 'y'\r\n"
                                  "2 lids dumped\r\n")) {
    lfts.feed({&c, 1});
  }
  FdbsParser fdbs;
  for (const char c : std::string("dump_ucast_routes: Switch 0xa0\nLID    : Port : Hops : Optimal\n"
                                  "0x0001 : 000  : 00   : yes\n0x0002 : 003  : 01   : yes\n")) {
    fdbs.feed({&c, 1});
  }
  const TableColumns a = lfts.finish();
  const TableColumns b = fdbs.finish();
  CHECK(a.ports == std::vector<PortNumber>{kNoPort, 0, 3});
  CHECK(a.ports == b.ports);
  CHECK(a.owner_guid == std::vector<std::uint64_t>{0, 0xA0, 0xB1});
  CHECK(b.owner_guid == std::vector<std::uint64_t>{0, 0xA0, 0});
  CHECK(a.notes.empty());
  CHECK(b.notes.empty());
}
