// Bisect patterns on the fabrics that tools/bench_fabrics.py wrote: nanoseconds per message and
// core for drawing and counting, beside a bare loop that does the same and nothing else with a
// generator of its own; the ratio is how many times as long that takes. Times are processor times
// of the threads, the best of several repetitions, so that other work on the machine does not
// count.

#include <omp.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "contend/base/large_array.hpp"
#include "contend/congestion/simulate.hpp"
#include "contend/pattern/random_patterns.hpp"
#include "contend/routes/checks/trace.hpp"

namespace {

using namespace contend;

struct Loaded {
  std::vector<SwitchId> host_switch;
  std::vector<PortNumber> host_port;
  std::vector<PortNumber> switch_ports;
  std::vector<Cable> cables;
  std::vector<Address> lid;
  std::vector<std::uint8_t> lmc;
  std::vector<PortNumber> ports;
  std::size_t addresses = 0;
};

template <class T>
std::vector<T> read_array(std::ifstream& file, std::size_t count) {
  std::vector<T> values(count);
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(count * sizeof(T)));
  return values;
}

Loaded load(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const auto counts = read_array<std::uint64_t>(file, 4);
  Loaded loaded;
  loaded.host_switch = read_array<std::uint32_t>(file, counts[0]);
  loaded.host_port = read_array<std::uint16_t>(file, counts[0]);
  loaded.switch_ports = read_array<std::uint16_t>(file, counts[1]);
  const auto from = read_array<std::uint32_t>(file, counts[2]);
  const auto from_port = read_array<std::uint16_t>(file, counts[2]);
  const auto to = read_array<std::uint32_t>(file, counts[2]);
  const auto to_port = read_array<std::uint16_t>(file, counts[2]);
  for (std::size_t k = 0; k < counts[2]; ++k) {
    loaded.cables.push_back({from[k], from_port[k], to[k], to_port[k]});
  }
  loaded.lid = read_array<std::uint32_t>(file, counts[0]);
  loaded.lmc.assign(counts[0], 0);
  loaded.addresses = counts[3];
  loaded.ports = read_array<std::uint16_t>(file, counts[1] * counts[3]);
  return loaded;
}

double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The fastest that anyone would write in plain scalar code for one fabric and one pattern:
/// xorshift, a pairing that takes one word a message, a table of all routes, counters of 32 bits.
template <class Id, std::size_t Hops>
class BareLoop {
 public:
  BareLoop(const Fabric& fabric, const TableView& tables, const std::vector<Address>& lid)
      : usage_(fabric.switch_channels() + 1) {
    std::vector<ChannelId> route;
    std::vector<std::uint32_t> row(fabric.switches(), kNoSwitch);
    std::vector<SwitchId> leaves;
    for (HostId h = 0; h < fabric.hosts(); ++h) {
      std::uint32_t& r = row[fabric.host_switch(h)];
      if (r == kNoSwitch) {
        r = static_cast<std::uint32_t>(leaves.size());
        leaves.push_back(fabric.host_switch(h));
      }
      row_.push_back(r * fabric.hosts());
    }
    const auto none = static_cast<Id>(fabric.switch_channels());
    Route pads;
    pads.fill(none);
    auto table = std::make_shared<LargeArray<Route>>(leaves.size() * fabric.hosts(), pads);
    for (std::size_t r = 0; r < leaves.size(); ++r) {
      for (HostId h = 0; h < fabric.hosts(); ++h) {
        trace(fabric, tables, leaves[r], h, lid[h], route);
        std::copy(route.begin(), route.end(), (*table)[r * fabric.hosts() + h].begin());
      }
    }
    table_ = table;
    routes_.resize(fabric.hosts() / 2);
    source_.resize(fabric.hosts() / 2);
    target_.resize(fabric.hosts() / 2);
    left_.resize(fabric.hosts());
  }

  void draw(std::uint64_t seed) {
    std::uint64_t x = seed * 0x9E3779B97F4A7C15U + 1;
    std::iota(left_.begin(), left_.end(), 0U);
    std::uint32_t count = static_cast<std::uint32_t>(left_.size()) & ~1U;
    for (std::size_t m = 0; m < routes_.size(); ++m, count -= 2) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      std::uint32_t& partner = left_[(x & 0xFFFFFFFF) * (count - 1) >> 32];
      const std::uint32_t flip =
          (left_[count - 1] ^ partner) & (0U - static_cast<std::uint32_t>(x >> 63));
      source_[m] = left_[count - 1] ^ flip;
      target_[m] = partner ^ flip;
      partner = left_[count - 2];
    }
  }

  double count() {
    std::fill(usage_.begin(), usage_.end(), 0U);
    const Route* const table = table_->data();
    for (std::size_t m = 0; m < routes_.size(); ++m) {
      routes_[m] = table[row_[source_[m]] + target_[m]];
      for (const Id channel : routes_[m]) ++usage_[channel];
    }
    usage_.back() = 1;
    double sum = 0;
    for (const Route& route : routes_) {
      std::uint32_t most = 1;
      for (const Id channel : route) most = std::max(most, usage_[channel]);
      sum += 1.0 / most;
    }
    return sum / static_cast<double>(routes_.size());
  }

 private:
  using Route = std::array<Id, Hops>;

  std::vector<std::size_t> row_;
  std::shared_ptr<const LargeArray<Route>> table_;  ///< that copies share
  std::vector<std::uint32_t> usage_;
  std::vector<std::uint32_t> left_;
  std::vector<std::uint32_t> source_;
  std::vector<std::uint32_t> target_;
  std::vector<Route> routes_;
};

struct PerMessage {
  double drawing = 1e9;
  double counting = 1e9;
  double mean = 0;
  double both() const { return drawing + counting; }
};

/// A loop for each thread, all of which do the same work; the slowest counts.
template <class Loop>
PerMessage measure_bare(std::vector<Loop>& loops, const Fabric& fabric, int threads,
                        std::uint32_t samples) {
  PerMessage slowest;
  slowest.drawing = slowest.counting = 0;
#pragma omp parallel num_threads(threads)
  {
    Loop& loop = loops[static_cast<std::size_t>(omp_get_thread_num())];
    double drawing = 0;
    double counting = 0;
    double sum = 0;
    for (std::uint32_t k = 0; k < samples; ++k) {
      const double start = processor_seconds();
      loop.draw(k + 1);
      const double drawn = processor_seconds();
      sum += loop.count();
      counting += processor_seconds() - drawn;
      drawing += drawn - start;
    }
    const double messages = static_cast<double>(fabric.hosts() / 2) * samples;
#pragma omp critical
    {
      slowest.drawing = std::max(slowest.drawing, 1e9 * drawing / messages);
      slowest.counting = std::max(slowest.counting, 1e9 * counting / messages);
      slowest.mean = sum / samples;
    }
  }
  return slowest;
}

PerMessage measure_contend(const Resolver& resolver, const Pattern& pattern, int threads,
                           std::uint32_t samples) {
  Seating seating;
  seating.slots.resize(resolver.places());
  std::iota(seating.slots.begin(), seating.slots.end(), Place{0});
  const BatchResult result =
      simulate(resolver, pattern, seating,
               {1, 0, samples * static_cast<std::uint32_t>(threads), false}, threads);
  const double messages = static_cast<double>(pattern.ranks() / 2) * samples * threads;
  PerMessage found{1e9 * result.drawing_seconds / messages,
                   1e9 * result.counting_seconds / messages, 0};
  found.mean = std::accumulate(result.bandwidth.begin(), result.bandwidth.end(), 0.0) /
               static_cast<double>(result.bandwidth.size());
  return found;
}

void keep_best(PerMessage& best, const PerMessage& found) {
  if (found.both() < best.both()) best = found;
}

template <class Id, std::size_t Hops>
void bench(const std::filesystem::path& path, const Loaded& loaded, const Fabric& fabric,
           const Resolver& resolver) {
  const TableView tables{loaded.ports.data(), fabric.switches(), loaded.addresses};
  // Beside a fabric whose table of routes would take gigabytes stands nothing.
  std::vector<BareLoop<Id, Hops>> loops;
  if (fabric.hosts() < 30'000) loops.assign(2, BareLoop<Id, Hops>(fabric, tables, loaded.lid));
  const auto pattern = make_bisect(static_cast<Rank>(fabric.hosts()), false);
  const auto samples =
      static_cast<std::uint32_t>(std::max<std::size_t>(4'000'000 / fabric.hosts(), 20));
  for (const int threads : {1, 2}) {
    PerMessage bare;
    PerMessage ours;
    for (int repeat = 0; repeat < 5; ++repeat) {
      if (!loops.empty()) keep_best(bare, measure_bare(loops, fabric, threads, samples));
      keep_best(ours, measure_contend(resolver, *pattern, threads, samples));
    }
    std::printf("%-16s %d thread%s  contend %6.2f + %6.2f = %6.2f   mean 1/pi %.4f",
                path.stem().c_str(), threads, threads > 1 ? "s" : " ", ours.drawing, ours.counting,
                ours.both(), ours.mean);
    if (!loops.empty()) {
      std::printf("   bare %6.2f + %6.2f = %6.2f   mean 1/pi %.4f   ratio %.2f", bare.drawing,
                  bare.counting, bare.both(), bare.mean, bare.both() / ours.both());
    }
    std::printf("   routes %.1f MB\n", 1e-6 * static_cast<double>(resolver.bytes()));
    std::fflush(stdout);
  }
}

void bench(const std::filesystem::path& path) {
  const Loaded loaded = load(path);
  const Fabric fabric(loaded.host_switch, loaded.host_port, loaded.switch_ports, loaded.cables);
  const TableView tables{loaded.ports.data(), fabric.switches(), loaded.addresses};
  Places places;
  places.hosts.resize(fabric.hosts());
  std::iota(places.hosts.begin(), places.hosts.end(), HostId{0});
  const AddressView addresses{loaded.lid, loaded.lmc};
  const std::size_t longest = longest_route(fabric, tables, addresses, places);
  const auto resolver =
      make_stored_resolver(fabric, tables, addresses, places, longest, std::size_t{256} << 20);
  if (longest > 6) {
    std::printf("%s: routes of at most 6 channels, got %zu\n", path.c_str(), longest);
  } else if (resolver->narrow()) {
    longest > 4 ? bench<std::uint16_t, 6>(path, loaded, fabric, *resolver)
                : bench<std::uint16_t, 4>(path, loaded, fabric, *resolver);
  } else {
    longest > 4 ? bench<std::uint32_t, 6>(path, loaded, fabric, *resolver)
                : bench<std::uint32_t, 4>(path, loaded, fabric, *resolver);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* folder = std::getenv("CONTEND_BENCH_FABRICS");
  std::vector<std::filesystem::path> paths(argv + 1, argv + argc);
  if (paths.empty() && folder != nullptr) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".bin") paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end(), [](const auto& a, const auto& b) {
      return std::filesystem::file_size(a) < std::filesystem::file_size(b);
    });
  }
  std::printf("ns per message and core, drawing + counting:\n");
  for (const auto& path : paths) bench(path);
}
