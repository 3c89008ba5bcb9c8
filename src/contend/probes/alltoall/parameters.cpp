#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "alltoall/parameters.hpp"
#include "common/ranks.hpp"
#include "io/pattern_file.hpp"
#include "timing/waiting.hpp"

namespace contend::probe::alltoall {

namespace {

// Nodes from one number for every rank that those of a node have in common.
Nodes group(const std::vector<int>& mark) {
  Nodes nodes;
  std::vector<int> node_of_mark(mark.size(), -1);
  for (std::size_t rank = 0; rank < mark.size(); ++rank) {
    int& node = node_of_mark[static_cast<std::size_t>(mark[rank])];
    if (node < 0) {
      node = nodes.count();
      nodes.ranks.emplace_back();
    }
    nodes.of_rank.push_back(node);
    nodes.ranks[static_cast<std::size_t>(node)].push_back(static_cast<int>(rank));
  }
  return nodes;
}

constexpr int kBadInput = 2;
// Numbers that rank 0 has in memory at a time.
constexpr int kAtATime = 1 << 20;

/// Some phases of all ranks, those of a rank together: whom it sends to and whom it receives from.
class Part {
 public:
  Part(int ranks, int most) : ranks_(ranks), most_(most) {}

  [[nodiscard]] int numbers_of_rank() const { return 2 * most_; }
  [[nodiscard]] const int* data() const { return numbers_.data(); }

  /// Takes as many phases of a file as there is room for, and says how many.
  int fill(PatternFile& file) {
    numbers_.assign(static_cast<std::size_t>(ranks_) * 2 * static_cast<std::size_t>(most_), -1);
    std::vector<int> destination;
    int phases = 0;
    while (phases < most_ && file.next(destination)) {
      for (int source = 0; source < ranks_; ++source) {
        if (const int to = destination[static_cast<std::size_t>(source)]; to >= 0) {
          at(source, phases) = to;
          at(to, most_ + phases) = source;
        }
      }
      ++phases;
    }
    return phases;
  }

 private:
  int& at(int rank, int place) {
    return numbers_[static_cast<std::size_t>(rank) * 2 * static_cast<std::size_t>(most_) +
                    static_cast<std::size_t>(place)];
  }

  int ranks_;
  int most_;
  std::vector<int> numbers_;
};

/// Hands every rank its numbers. Collective.
void hand_out(const int* all, std::vector<int>& own, int& phases, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  CHECKED(MPI_Ibcast, &phases, 1, MPI_INT, 0, comm, &request);
  wait(request);
  const int count = static_cast<int>(own.size());
  CHECKED(MPI_Iscatter, all, count, MPI_INT, own.data(), count, MPI_INT, 0, comm, &request);
  wait(request);
}

/// Whether a rank meets every other one once.
bool meets_all(const std::vector<int>& met, int rank, int ranks) {
  std::vector<int> times(static_cast<std::size_t>(ranks), 0);
  times[static_cast<std::size_t>(rank)] = 1;
  for (const int other : met) {
    if (other >= 0) {
      ++times[static_cast<std::size_t>(other)];
    }
  }
  return std::all_of(times.begin(), times.end(), [](int number) { return number == 1; });
}

}  // namespace

Nodes find_nodes(MPI_Comm comm) {
  const int rank = rank_in(comm);
  MPI_Comm shared = MPI_COMM_NULL;
  CHECKED(MPI_Comm_split_type, comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &shared);
  const Communicator node(shared);
  int leader = rank;
  CHECKED(MPI_Bcast, &leader, 1, MPI_INT, 0, node.get());
  std::vector<int> leaders(static_cast<std::size_t>(size_of(comm)));
  CHECKED(MPI_Allgather, &leader, 1, MPI_INT, leaders.data(), 1, MPI_INT, comm);
  return group(leaders);
}

Nodes divide_into_nodes(int ranks, std::int64_t ranks_per_node) {
  std::vector<int> mark;
  for (int rank = 0; rank < ranks; ++rank) {
    mark.push_back(static_cast<int>(rank / ranks_per_node));
  }
  return group(mark);
}

RankPhases read_phases(const std::string& path, MPI_Comm comm) {
  const int rank = rank_in(comm);
  const int ranks = size_of(comm);
  const int most = std::max(1, kAtATime / 2 / ranks);
  Part part(ranks, most);
  std::optional<PatternFile> file;
  if (rank == 0) {
    file.emplace(path, ranks);
  }
  RankPhases made;
  std::vector<int> own(static_cast<std::size_t>(part.numbers_of_rank()));
  for (int phases = most; phases == most;) {
    if (file) {
      phases = part.fill(*file);
    }
    hand_out(part.data(), own, phases, comm);
    made.to.insert(made.to.end(), own.begin(), own.begin() + phases);
    made.from.insert(made.from.end(), own.begin() + most, own.begin() + most + phases);
  }
  if (!meets_all(made.to, rank, ranks) || !meets_all(made.from, rank, ranks)) {
    fail(path + ": expected phases in which each rank sends to each other rank once, and rank " +
             std::to_string(rank) + " does not, or is not sent to",
         kBadInput);
  }
  return made;
}

}  // namespace contend::probe::alltoall
