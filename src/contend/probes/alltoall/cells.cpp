#include "alltoall/cells.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include "alltoall/blocks.hpp"
#include "common/ranks.hpp"
#include "timing/waiting.hpp"

namespace contend::probe::alltoall {

Parameters ParameterMaker::of(const Cell& cell, const std::string& option,
                              const Arguments& arguments, MPI_Comm comm) {
  Parameters made;
  if (option == CONTEND_BY_BATCH) {
    made.batch = cell.integer("batch");
  } else if (option == CONTEND_BY_WINDOW) {
    made.in_flight = cell.integer("in_flight");
  } else if (option == "radix") {
    made.radix = cell.integer("radix");
  } else if (option == CONTEND_BY_NODES) {
    made.nodes = nodes(cell.integer("ranks_per_node"), comm);
  } else if (option == kPhasesOption) {
    if (!phases_) {
      phases_ = read_phases(arguments.text(kPhasesOption), comm);
    }
    made.phases = *phases_;
  }
  return made;
}

const Nodes& ParameterMaker::nodes(std::int64_t ranks_per_node, MPI_Comm comm) {
  auto found = nodes_.find(ranks_per_node);
  if (found == nodes_.end()) {
    found = nodes_
                .emplace(ranks_per_node, ranks_per_node == 0
                                             ? find_nodes(comm)
                                             : divide_into_nodes(size_of(comm), ranks_per_node))
                .first;
  }
  return found->second;
}

namespace {

std::string place(std::size_t at, std::size_t bytes) {
  return "byte " + std::to_string(at) + " of " + std::to_string(bytes);
}

}  // namespace

CheckedAlltoall::CheckedAlltoall(const Blocks& blocks, std::unique_ptr<Alltoall> alltoall,
                                 Start start)
    : blocks_(blocks), alltoall_(std::move(alltoall)), start_(start) {
  std::byte* next = blocks_.send();
  for (int other = 0; other < blocks_.ranks(); ++other) {
    const std::size_t bytes = blocks_.to(other).bytes;
    fill_block(next, bytes, blocks_.rank(), other);
    next += bytes;
  }
  fill_guard(blocks_.send() + blocks_.sent_bytes(), kGuardBytes);
  fill_guard(blocks_.receive() + blocks_.received_bytes(), kGuardBytes);
}

void CheckedAlltoall::reset(bool verified) {
  if (!verified) {
    return;
  }
  for (int other = 0; other < blocks_.ranks(); ++other) {
    const Incoming block = blocks_.from(other);
    poison_block(block.data, block.bytes, other, blocks_.rank());
  }
}

std::optional<std::string> CheckedAlltoall::verify() {
  for (int other = 0; other < blocks_.ranks(); ++other) {
    const Incoming in = blocks_.from(other);
    if (const auto at = first_wrong(in.data, in.bytes, other, blocks_.rank())) {
      return place(*at, in.bytes) + " from rank " + std::to_string(other) + " is wrong";
    }
    const Outgoing out = blocks_.to(other);
    if (const auto at = first_wrong(out.data, out.bytes, blocks_.rank(), other)) {
      return place(*at, out.bytes) + " to rank " + std::to_string(other) +
             " has changed in the send buffer";
    }
  }
  if (const auto at = first_touched(blocks_.receive() + blocks_.received_bytes(), kGuardBytes)) {
    return "something wrote " + std::to_string(*at + 1) + " bytes beyond the receive buffer";
  }
  if (const auto at = first_touched(blocks_.send() + blocks_.sent_bytes(), kGuardBytes)) {
    return "something wrote " + std::to_string(*at + 1) + " bytes beyond the send buffer";
  }
  return std::nullopt;
}

namespace {

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Algorithm& algorithm : catalogue()) {
    all.push_back(algorithm.name);
  }
  return all;
}

// The least value of an option that algorithms depend on.
std::int64_t least(const std::string& option) {
  if (option == CONTEND_BY_NODES) {
    return 0;
  }
  return option == "radix" ? 2 : 1;
}

// What an option is called among a cell's labels, which are columns of tables later.
std::string label_name(std::string option) {
  std::replace(option.begin(), option.end(), '-', '_');
  return option;
}

// A rank's bytes, and twice as many, as those of uneven counts may be, must be countable at all.
void refuse_overflow(std::int64_t bytes, int ranks) {
  if (bytes > std::numeric_limits<std::int64_t>::max() / 4 / ranks) {
    throw BadInput("--bytes: " + std::to_string(bytes) + " bytes for each of " +
                   std::to_string(ranks) + " ranks overflow 64 bits");
  }
}

constexpr const char* kBehindBarrier = "barrier";

}  // namespace

std::vector<Option> axes() {
  return {
      {"algorithm", Kind::words, "all", "The schedules to measure.", names()},
      {"bytes", Kind::integers,
       "1,2,4,8,16,32,64,128,256,512,1024,2048,"
       "4096,8192,16384,32768,65536,131072,262144,524288,1048576",
       "Bytes that each rank sends to each rank."},
  };
}

std::vector<Option> schedule_options() {
  return {
      {CONTEND_BY_NODES, Kind::integers, "0",
       "Schedules that work by node take every N consecutive ranks as a node; with 0, the ranks "
       "that share memory."},
      {CONTEND_BY_BATCH, Kind::integers, std::to_string(CONTEND_WIDTH),
       "scattered: messages in a batch, each way."},
      {CONTEND_BY_WINDOW, Kind::integers, std::to_string(CONTEND_WIDTH),
       "inflight: messages in flight at a time, each way."},
      {"radix", Kind::integers, std::to_string(CONTEND_RADIX),
       "bruck: base of the digits of a distance."},
      {kPhasesOption, Kind::word, "",
       "routed: file of its phases, in each line the rank that every rank sends to, or -."},
  };
}

std::vector<Option> options() {
  std::vector<Option> all = {
      {"counts",
       Kind::words,
       "even",
       "even: each pair of ranks exchanges --bytes. uneven: from 0 to twice as many.",
       {"even", "uneven"}},
      {"start",
       Kind::words,
       "barrier",
       "barrier: each rank begins as it leaves a barrier, as in most programs. clock: all begin at "
       "one instant of the global clock.",
       {kBehindBarrier, "clock"}},
      {"list", Kind::flag, "", "List what each algorithm does, and which cannot run here and why."},
      {"check", Kind::flag, "", "Verify the data of each cell once, without measuring."},
  };
  const std::vector<Option> more = schedule_options();
  all.insert(all.begin() + 1, more.begin(), more.end());
  return all;
}

bool lacks_phases(const std::string& option, const Arguments& arguments) {
  return option == kPhasesOption && arguments.text(kPhasesOption).empty();
}

std::vector<Cell> with_option(const Cell& cell, const std::string& option,
                              const Arguments& arguments) {
  if (lacks_phases(option, arguments)) {
    throw BadInput("--phases: expected a file with the phases of the schedule, got none");
  }
  if (option.empty() || option == kPhasesOption) {
    return {cell};
  }
  std::vector<Cell> cells;
  for (const Label& value : arguments.labels(option)) {
    if (std::get<std::int64_t>(value) < least(option)) {
      throw BadInput("--" + option + ": expected at least " + std::to_string(least(option)) +
                     ", got " + words_of(value));
    }
    cells.push_back(cell);
    cells.back().labels.emplace_back(label_name(option), value);
  }
  return cells;
}

std::vector<Cell> expand(const Cell& cell, const Arguments& arguments, int ranks) {
  const Algorithm& algorithm = find_algorithm(cell.text("algorithm"));
  refuse_overflow(cell.integer("bytes"), ranks);
  std::vector<Cell> cells;
  for (const Label& counts : arguments.labels("counts")) {
    const Counts::Kind kind = counts_kind(std::get<std::string>(counts));
    if (arguments.text("algorithm") == "all" && (!unsuitable(algorithm, ranks, kind).empty() ||
                                                 lacks_phases(algorithm.option, arguments))) {
      continue;
    }
    const std::vector<Label> starts = arguments.labels("start");
    for (const Label& start : starts) {
      Cell one = cell;
      one.labels.emplace_back("counts", counts);
      // Where all start by the clock nobody says so, as in runs of before there was another way.
      if (starts.size() > 1 || std::get<std::string>(start) == kBehindBarrier) {
        one.labels.emplace_back("start", start);
      }
      for (Cell& made : with_option(one, algorithm.option, arguments)) {
        cells.push_back(std::move(made));
      }
    }
  }
  return cells;
}

Start start_of(const Cell& cell) {
  const bool behind = std::any_of(cell.labels.begin(), cell.labels.end(), [](const auto& label) {
    return label.first == "start" && words_of(label.second) == kBehindBarrier;
  });
  return behind ? Start::behind_barrier : Start::by_clock;
}

Counts counts_of(const Cell& cell, int ranks) {
  return Counts(counts_kind(cell.text("counts")), static_cast<std::size_t>(cell.integer("bytes")),
                ranks);
}

Counts::Kind counts_kind(const std::string& name) {
  return name == "uneven" ? Counts::Kind::uneven : Counts::Kind::even;
}

namespace {

enum class Found { right, skipped, wrong };

struct Verdict {
  Found found;
  // Why, where it is not right.
  std::string said;
};

Verdict check_here(const Cell& cell, const MakeOperation& make, MPI_Comm comm) {
  try {
    const std::unique_ptr<Operation> operation = make(cell, comm);
    operation->reset(true);
    Stamps stamps;
    operation->run(stamps);
    operation->finish(stamps);
    if (const auto problem = operation->verify()) {
      return {Found::wrong, *problem};
    }
    return {Found::right, ""};
  } catch (const Unsupported& reason) {
    return {Found::skipped, reason.what()};
  } catch (const NoMemory& reason) {
    return {Found::wrong, reason.what()};
  } catch (const std::bad_alloc&) {
    return {Found::wrong, "not enough memory for the data"};
  }
}

// The worst of all ranks' verdicts, with the words of the first rank that has it.
Verdict worst_of(const Verdict& mine, MPI_Comm comm) {
  const int code = static_cast<int>(mine.found);
  int worst = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  CHECKED(MPI_Iallreduce, &code, &worst, 1, MPI_INT, MPI_MAX, comm, &request);
  wait(request);
  if (worst == static_cast<int>(Found::right)) {
    return {Found::right, ""};
  }
  const std::vector<std::string> said =
      gather_everywhere(code == worst ? mine.said : std::string(), comm);
  for (std::size_t rank = 0; rank < said.size(); ++rank) {
    if (!said[rank].empty()) {
      return {static_cast<Found>(worst), "rank " + std::to_string(rank) + ": " + said[rank]};
    }
  }
  return {static_cast<Found>(worst), ""};
}

}  // namespace

int check_cells(const std::vector<Cell>& cells, const MakeOperation& make, MPI_Comm comm) {
  const bool first = rank_in(comm) == 0;
  int wrong = 0;
  int skipped = 0;
  for (const Cell& cell : cells) {
    const Verdict verdict = worst_of(check_here(cell, make, comm), comm);
    wrong += verdict.found == Found::wrong ? 1 : 0;
    skipped += verdict.found == Found::skipped ? 1 : 0;
    if (verdict.found != Found::right && first) {
      std::printf("%s %s, %s\n",
                  verdict.found == Found::wrong ? "wrong:" : "skipped:", cell.name().c_str(),
                  verdict.said.c_str());
    }
  }
  if (first) {
    std::printf("%d ranks, %zu cells: %zu right, %d wrong, %d skipped\n", size_of(comm),
                cells.size(), cells.size() - static_cast<std::size_t>(wrong + skipped), wrong,
                skipped);
    std::fflush(stdout);
  }
  return wrong == 0 ? 0 : 1;
}

}  // namespace contend::probe::alltoall
