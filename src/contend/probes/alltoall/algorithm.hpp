#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "alltoall/blocks.hpp"
#include "alltoall/parameters.hpp"
#include "common/operation.hpp"
#include "schedules/schedules.h"

namespace contend::probe::alltoall {

/// An all-to-all of given blocks under one schedule, to be done again and again; whatever the data
/// is, and whoever looks at it.
///
/// Making and ending one may communicate.
class Alltoall {
 public:
  explicit Alltoall(const Blocks& blocks) : blocks_(blocks) {}
  Alltoall(const Alltoall&) = delete;
  Alltoall& operator=(const Alltoall&) = delete;
  virtual ~Alltoall() = default;

  /// Names of what run() puts into the stamps.
  [[nodiscard]] virtual std::vector<std::string> columns() const { return {}; }
  /// Brings every rank its blocks. Collective.
  virtual void run(Stamps& stamps) = 0;

 protected:
  [[nodiscard]] const Blocks& blocks() const { return blocks_; }

 private:
  Blocks blocks_;
};

/// What some algorithms want to know beside the blocks.
struct Parameters {
  Nodes nodes;
  std::int64_t batch = CONTEND_WIDTH;
  std::int64_t in_flight = CONTEND_WIDTH;
  std::int64_t radix = CONTEND_RADIX;
  PatternParts phases;
};

/// The option that names a file of phases; all others that algorithms depend on have numbers.
inline constexpr const char* kPhasesOption = CONTEND_BY_PHASES;

/// Makes an algorithm's all-to-all; collective over the blocks' communicator.
using MakeAlltoall =
    std::function<std::unique_ptr<Alltoall>(const Blocks& blocks, const Parameters& parameters)>;

/// One way to do an all-to-all.
struct Algorithm {
  /// On the command line and in what is written.
  std::string name;
  /// What it does, in a line.
  std::string summary;
  MakeAlltoall make;
  /// The option that it depends on: one of those that schedules.h names, "radix" or "".
  std::string option = "";
  /// Whether blocks may differ in size.
  bool uneven = true;
  /// Whether some ranks have to know what others exchange with each other.
  bool knows_all = false;
  /// Whether the number of ranks must be a power of two.
  bool power_of_two = false;
  /// What it needs and the MPI library has not; "" for nothing.
  std::string lacks = "";
};

/// Makes all-to-alls of a class that needs nothing but blocks.
template <class Made>
[[nodiscard]] std::unique_ptr<Alltoall> make_from_blocks(const Blocks& blocks,
                                                         const Parameters& /*parameters*/) {
  return std::make_unique<Made>(blocks);
}

/// Why an algorithm is not for so many ranks or such counts; "" when it is.
[[nodiscard]] std::string unsuitable(const Algorithm& algorithm, int ranks, Counts::Kind counts);

/// All algorithms, in the order in which they are listed.
[[nodiscard]] const std::vector<Algorithm>& catalogue();

/// The algorithm of a name; ends the program when there is none.
[[nodiscard]] const Algorithm& find_algorithm(const std::string& name);

/// One that sends every block straight to the rank that it is for.
[[nodiscard]] Algorithm direct(contend_schedule schedule);

// One function per file of the same name.
[[nodiscard]] Algorithm library();

[[nodiscard]] Algorithm library_v();

[[nodiscard]] Algorithm nonblocking();

[[nodiscard]] Algorithm nonblocking_v();

[[nodiscard]] Algorithm persistent();

[[nodiscard]] Algorithm bruck();

[[nodiscard]] Algorithm hierarchical();

[[nodiscard]] Algorithm put();

}  // namespace contend::probe::alltoall
