#include "common/exchange.hpp"

#include <cstddef>
#include <cstdint>

#include "common/check.hpp"
#include "common/waiting.hpp"

namespace contend::probe {

namespace {

constexpr int kTag = 1;

}  // namespace

std::vector<std::string> gather_everywhere(const std::string& text, MPI_Comm comm) {
  const int ranks = size_of(comm);
  const int length = static_cast<int>(text.size());
  std::vector<int> lengths(static_cast<std::size_t>(ranks));
  check("MPI_Allgather", MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, comm));
  std::vector<int> places;
  int total = 0;
  for (const int one : lengths) {
    places.push_back(total);
    total += one;
  }
  std::string all(static_cast<std::size_t>(total), '\0');
  check("MPI_Allgatherv", MPI_Allgatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(),
                                         places.data(), MPI_CHAR, comm));
  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
    texts.push_back(all.substr(static_cast<std::size_t>(places[rank]),
                               static_cast<std::size_t>(lengths[rank])));
  }
  return texts;
}

std::string broadcast(const std::string& text, MPI_Comm comm) {
  std::int64_t length = static_cast<std::int64_t>(text.size());
  check("MPI_Bcast", MPI_Bcast(&length, 1, MPI_INT64_T, 0, comm));
  std::string copy = text;
  copy.resize(static_cast<std::size_t>(length));
  check("MPI_Bcast", MPI_Bcast(copy.data(), static_cast<int>(length), MPI_CHAR, 0, comm));
  return copy;
}

void broadcast(std::vector<double>& values, MPI_Comm comm) {
  const int count = static_cast<int>(values.size());
  if (!crowded()) {
    check("MPI_Bcast", MPI_Bcast(values.data(), count, MPI_DOUBLE, 0, comm));
    return;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  check("MPI_Ibcast", MPI_Ibcast(values.data(), count, MPI_DOUBLE, 0, comm, &request));
  wait(request);
}

void gather(const std::vector<double>& mine, std::vector<double>& all, MPI_Comm comm) {
  const int count = static_cast<int>(mine.size());
  if (rank_in(comm) == 0) {
    all.resize(mine.size() * static_cast<std::size_t>(size_of(comm)));
  }
  if (!crowded()) {
    check("MPI_Gather",
          MPI_Gather(mine.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, 0, comm));
    return;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  check("MPI_Igather", MPI_Igather(mine.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, 0,
                                   comm, &request));
  wait(request);
}

std::string send_to_first(const std::string& text, int from, MPI_Comm comm) {
  const int rank = rank_in(comm);
  if (from == 0) {
    return rank == 0 ? text : "";
  }
  if (rank == from) {
    check("MPI_Send",
          MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, kTag, comm));
  }
  if (rank != 0) {
    return "";
  }
  MPI_Status status;
  check("MPI_Probe", MPI_Probe(from, kTag, comm, &status));
  int length = 0;
  check("MPI_Get_count", MPI_Get_count(&status, MPI_CHAR, &length));
  std::string told(static_cast<std::size_t>(length), '\0');
  check("MPI_Recv", MPI_Recv(told.data(), length, MPI_CHAR, from, kTag, comm, MPI_STATUS_IGNORE));
  return told;
}

Communicator& Communicator::operator=(Communicator&& other) noexcept {
  if (this != &other) {
    free();
    comm_ = other.comm_;
    other.comm_ = MPI_COMM_NULL;
  }
  return *this;
}

void Communicator::free() noexcept {
  if (comm_ != MPI_COMM_NULL) {
    MPI_Comm_free(&comm_);
  }
}

Communicator split(MPI_Comm comm, int colour) {
  MPI_Comm made = MPI_COMM_NULL;
  check("MPI_Comm_split",
        MPI_Comm_split(comm, colour < 0 ? MPI_UNDEFINED : colour, rank_in(comm), &made));
  return Communicator(made);
}

Communicator duplicate(MPI_Comm comm) {
  MPI_Comm made = MPI_COMM_NULL;
  check("MPI_Comm_dup", MPI_Comm_dup(comm, &made));
  return Communicator(made);
}

}  // namespace contend::probe
