#include "hotspot/load.hpp"

#include <array>

#include "common/check.hpp"
#include "common/waiting.hpp"

namespace contend::probe {

namespace {

/// Messages under way at a time: while one ends the next has begun.
constexpr std::size_t under_way = 2;
constexpr int load_tag = 11;
constexpr int stop_tag = 12;

}  // namespace

Load::Load(std::int64_t bytes, MPI_Comm comm)
    : bytes_(bytes),
      comm_(comm),
      buffer_(static_cast<std::size_t>(bytes) * under_way, std::byte{0x5A}) {}

void Load::send_to(int receiver, int stopper) {
  std::array<MPI_Request, under_way> sends;
  sends.fill(MPI_REQUEST_NULL);
  MPI_Request stopped = MPI_REQUEST_NULL;
  check("MPI_Irecv", MPI_Irecv(nullptr, 0, MPI_BYTE, stopper, stop_tag, comm_, &stopped));
  int is_stopped = 0;
  for (std::size_t message = 0; is_stopped == 0; ++message) {
    MPI_Request& slot = sends[message % under_way];
    wait(slot);
    check("MPI_Isend", MPI_Isend(buffer_.data(), static_cast<int>(bytes_), MPI_BYTE, receiver,
                                 load_tag, comm_, &slot));
    check("MPI_Test", MPI_Test(&stopped, &is_stopped, MPI_STATUS_IGNORE));
  }
  // Messages between two ranks stay in order: empty ones fill the receives that are still open.
  for (MPI_Request& slot : sends) {
    wait(slot);
    check("MPI_Isend", MPI_Isend(nullptr, 0, MPI_BYTE, receiver, load_tag, comm_, &slot));
  }
  for (MPI_Request& slot : sends) {
    wait(slot);
  }
}

void Load::receive_from(int sender) {
  std::array<MPI_Request, under_way> receives;
  const auto post = [&](std::size_t slot) {
    check("MPI_Irecv",
          MPI_Irecv(buffer_.data() + slot * static_cast<std::size_t>(bytes_),
                    static_cast<int>(bytes_), MPI_BYTE, sender, load_tag, comm_, &receives[slot]));
  };
  for (std::size_t slot = 0; slot < under_way; ++slot) {
    post(slot);
  }
  std::size_t open = under_way;
  for (std::size_t slot = 0; open > 0; slot = (slot + 1) % under_way) {
    MPI_Status status{};
    wait(receives[slot], status);
    int received = 0;
    check("MPI_Get_count", MPI_Get_count(&status, MPI_BYTE, &received));
    if (received == 0) {
      --open;
    } else {
      post(slot);
    }
  }
}

void Load::stop(int sender, MPI_Comm comm) {
  check("MPI_Send", MPI_Send(nullptr, 0, MPI_BYTE, sender, stop_tag, comm));
}

}  // namespace contend::probe
