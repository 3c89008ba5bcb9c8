/// Point to point and requests: `messages MODE ...`.
#include "common.h"

enum { N = 64 };
static int data[N], room[N];
#define NEXT ((rank + 1) % size)
#define LAST ((rank + size - 1) % size)
#define WORLD MPI_COMM_WORLD
#define INTS(count) (4LL * (count))

static void persistent(void) {
  MPI_Request requests[4], off = MPI_REQUEST_NULL;
  MPI_Status status;
  int flag = 0, index = 0, empty;
  char buffer[2048];
  void* detached;
  MPI_Buffer_attach(buffer, sizeof buffer);
  CALL(Recv_init, room, 8, MPI_INT, LAST, 1, WORLD, &requests[0]);
  CALL(Recv_init, room + 8, 8, MPI_INT, MPI_ANY_SOURCE, 2, WORLD, &requests[1]);
  CALL(Send_init, data, 8, MPI_INT, NEXT, 1, WORLD, &requests[2]);
  CALL(Bsend_init, data + 8, 4, MPI_INT, NEXT, 2, WORLD, &requests[3]);
  // Inactive ones are complete, and so is none.
  CALL(Wait, &requests[0], &status);
  MPI_Get_count(&status, MPI_INT, &empty);
  CALL(Wait, &off, MPI_STATUS_IGNORE);
  CALL(Waitany, 4, requests, &index, MPI_STATUS_IGNORE);
  say("inactive: source %d count %d index %d", status.MPI_SOURCE == MPI_ANY_SOURCE, empty,
      index == MPI_UNDEFINED);
  for (int turn = 0; turn < 5; turn++) {
    for (int at = 0; at < N; at++) data[at] = 100 * turn + rank + at;
    memset(room, 0, sizeof room);
    if (turn % 2) {
      CALL(Startall, 4, requests);
      CALL(Waitall, 4, requests, MPI_STATUSES_IGNORE);
    } else {
      for (int at = 0; at < 4; at++) CALL(Start, &requests[at]);
      for (int left = 4; left; left--) CALL(Waitany, 4, requests, &index, MPI_STATUS_IGNORE);
      do CALL(Testall, 4, requests, &flag, MPI_STATUSES_IGNORE);
      while (!flag);
    }
    say_hash("turn", room, sizeof room);
  }
  for (int at = 0; at < 4; at++) CALL(Request_free, &requests[at]);
  say("null %d", requests[0] == MPI_REQUEST_NULL);
  CALL(Buffer_detach, &detached, &index);
}

static void freed(void) {
  MPI_Request request;
  for (int turn = 0; turn < 40; turn++) {
    data[0] = turn + rank;
    MOVE(INTS(1), Isend, data, 1, MPI_INT, NEXT, 3, WORLD, &request);
    CALL(Request_free, &request);
    MOVE(INTS(1), Recv, room, 1, MPI_INT, LAST, 3, WORLD, MPI_STATUS_IGNORE);
    if (room[0] != turn + LAST) say("wrong %d", turn);
    // A receive that was freed is done when a message that was sent after its own has come.
    CALL(Irecv, &room[1], 1, MPI_INT, LAST, 4, WORLD, &request);
    CALL(Request_free, &request);
    MOVE(INTS(1), Send, data, 1, MPI_INT, NEXT, 4, WORLD);
    MOVE(0, Send, data, 0, MPI_INT, NEXT, 4, WORLD);
    MOVE(0, Recv, room, 0, MPI_INT, LAST, 4, WORLD, MPI_STATUS_IGNORE);
    if (room[1] != turn + LAST) say("wrong receive %d", turn);
    CALL(Barrier, WORLD);
  }
  CALL(Barrier, WORLD);
  say("freed");
}

static void cancelled(void) {
  MPI_Request request;
  MPI_Status status;
  int flag;
  for (int turn = 0; turn < 50; turn++) {
    CALL(Irecv, room, N, MPI_INT, turn % 2 ? LAST : MPI_ANY_SOURCE, 900 + turn, WORLD, &request);
    CALL(Cancel, &request);
    CALL(Wait, &request, &status);
    MPI_Test_cancelled(&status, &flag);
    if (!flag) say("not cancelled %d", turn);
  }
  CALL(Recv_init, room, N, MPI_INT, LAST, 7, WORLD, &request);
  for (int turn = 0; turn < 3; turn++) {
    CALL(Start, &request);
    CALL(Cancel, &request);
    CALL(Wait, &request, &status);
    MPI_Test_cancelled(&status, &flag);
    say("persistent cancelled %d, kept %d", flag, request != MPI_REQUEST_NULL);
  }
  CALL(Request_free, &request);
  // One that has its message is not cancelled.
  MPI_Request sent;
  CALL(Irecv, room, N, MPI_INT, LAST, 8, WORLD, &request);
  CALL(Isend, data, 3, MPI_INT, NEXT, 8, WORLD, &sent);
  CALL(Wait, &request, &status);
  CALL(Wait, &sent, MPI_STATUS_IGNORE);
  MPI_Test_cancelled(&status, &flag);
  say("arrived, cancelled %d", flag);
}

static void matched(void) {
  MPI_Message message;
  MPI_Status status;
  MPI_Request send, receive;
  int flag = 0, items;
  for (int turn = 0; turn < 20; turn++) {
    for (int at = 0; at < N; at++) data[at] = turn + at + rank;
    MOVE(INTS(turn), Isend, data, turn, MPI_INT, NEXT, turn, WORLD, &send);
    if (turn % 2)
      CALL(Mprobe, LAST, turn, WORLD, &message, &status);
    else
      do CALL(Improbe, MPI_ANY_SOURCE, turn, WORLD, &flag, &message, &status);
      while (!flag);
    MPI_Get_count(&status, MPI_INT, &items);
    if (turn % 3) {
      MOVE(INTS(turn), Mrecv, room, items, MPI_INT, &message, &status);
    } else {
      CALL(Imrecv, room, items, MPI_INT, &message, &receive);
      CALL(Wait, &receive, &status);
    }
    say("message %d from %d: %d %016llx", status.MPI_TAG, status.MPI_SOURCE, items,
        (unsigned long long)hash_of(room, INTS(items)));
    CALL(Wait, &send, MPI_STATUS_IGNORE);
  }
  CALL(Mprobe, MPI_PROC_NULL, 1, WORLD, &message, &status);
  say("no process %d", message == MPI_MESSAGE_NO_PROC);
  MOVE(0, Mrecv, room, 0, MPI_INT, &message, &status);
  say("from nobody %d", status.MPI_SOURCE == MPI_PROC_NULL);
}

/// Many requests under way at a time.
static void outstanding(void) {
  MPI_Request* requests = malloc(2 * (size_t)many * sizeof *requests);
  int *given = malloc((size_t)many * sizeof *given), *got = calloc((size_t)many, sizeof *got);
  for (int at = 0; at < many; at++) {
    given[at] = 7 * at + rank;
    CALL(Irecv, &got[at], 1, MPI_INT, LAST, 0, WORLD, &requests[at]);
  }
  CALL(Barrier, WORLD);
  for (int at = 0; at < many; at++)
    MOVE(INTS(1), Isend, &given[at], 1, MPI_INT, NEXT, 0, WORLD, &requests[many + at]);
  CALL(Waitall, 2 * many, requests, MPI_STATUSES_IGNORE);
  say_hash("all", got, (size_t)many * sizeof *got);
}

static void polled(void) {
  MPI_Request requests[3];
  MPI_Status statuses[3];
  int flag = 0, index, done, list[3], left = 3;
  for (int at = 0; at < 3; at++) CALL(Irecv, room + at, 1, MPI_INT, LAST, at, WORLD, &requests[at]);
  for (int at = 0; at < 3; at++) MOVE(INTS(1), Send, data + at, 1, MPI_INT, NEXT, at, WORLD);
  while (!flag) CALL(Request_get_status, requests[0], &flag, MPI_STATUS_IGNORE);
  say("looked at, kept %d", requests[0] != MPI_REQUEST_NULL);
  CALL(Wait, &requests[0], &statuses[0]);
  while (--left)
    for (flag = 0; !flag;) CALL(Testany, 3, requests, &index, &flag, MPI_STATUS_IGNORE);
  CALL(Testsome, 3, requests, &done, list, statuses);
  say("none left %d", done == MPI_UNDEFINED);
  MOVE(INTS(2), Send, data, 2, MPI_INT, NEXT, 5, WORLD);
  for (flag = 0; !flag;) CALL(Iprobe, LAST, 5, WORLD, &flag, &statuses[0]);
  CALL(Probe, LAST, 5, WORLD, &statuses[1]);
  MPI_Get_count(&statuses[1], MPI_INT, &index);
  MOVE(INTS(2), Recv, room, N, MPI_INT, LAST, 5, WORLD, MPI_STATUS_IGNORE);
  say("probed %d", index);
}

static void buffered(void) {
  char *buffer = malloc(1 << 20), packed[1024];
  void* detached;
  int length, place = 0;
  MPI_Aint far = 0;
  MPI_Request request;
  MPI_Buffer_attach(buffer, 1 << 20);
  for (int turn = 0; turn < 100; turn++) {
    data[0] = turn;
    MOVE(INTS(9), Bsend, data, 9, MPI_INT, NEXT, 6, WORLD);
    MOVE(INTS(2), Ibsend, data, 2, MPI_INT, NEXT, 7, WORLD, &request);
    CALL(Wait, &request, MPI_STATUS_IGNORE);
  }
  for (int turn = 0; turn < 100; turn++) {
    MOVE(INTS(9), Recv, room, N, MPI_INT, LAST, 6, WORLD, MPI_STATUS_IGNORE);
    MOVE(INTS(2), Recv, room + 9, N - 9, MPI_INT, LAST, 7, WORLD, MPI_STATUS_IGNORE);
  }
  CALL(Buffer_detach, &detached, &length);
  say("detached %d %d", detached == buffer, length);
  CALL(Pack, data, 3, MPI_INT, packed, sizeof packed, &place, WORLD);
  CALL(Pack, &rank, 1, MPI_INT, packed, sizeof packed, &place, WORLD);
  CALL(Sendrecv_replace, packed, place, MPI_PACKED, NEXT, 1, LAST, 1, WORLD, MPI_STATUS_IGNORE);
  place = 0;
  CALL(Unpack, packed, sizeof packed, &place, room, 4, MPI_INT, WORLD);
  say("unpacked %d", room[3]);
  CALL(Pack_external, "external32", data, 2, MPI_INT, packed, sizeof packed, &far);
  say("packed %ld %016llx", (long)far, (unsigned long long)hash_of(packed, (size_t)far));
}

#if MPI_4
static void partitioned(void) {
  MPI_Request requests[2];
  int flag = 0, list[2] = {2, 3}, given[8], got[8];
  CALL(Psend_init, given, 4, 2, MPI_INT, NEXT, 50, WORLD, MPI_INFO_NULL, &requests[0]);
  CALL(Precv_init, got, 4, 2, MPI_INT, LAST, 50, WORLD, MPI_INFO_NULL, &requests[1]);
  for (int turn = 0; turn < 3; turn++) {
    for (int at = 0; at < 8; at++) given[at] = 10 * turn + at + rank;
    CALL(Startall, 2, requests);
    CALL(Pready, 1, requests[0]);
    CALL(Pready_range, 0, 0, requests[0]);
    CALL(Pready_list, 2, list, requests[0]);
    for (flag = 0; !flag;) CALL(Parrived, requests[1], 2, &flag);
    CALL(Waitall, 2, requests, MPI_STATUSES_IGNORE);
    say_hash("turn", got, sizeof got);
  }
  CALL(Request_free, &requests[0]);
  CALL(Request_free, &requests[1]);
}
#endif

int main(int count, char** words) {
  static const theme modes[] = {{"persistent", persistent},
                                {"freed", freed},
                                {"cancelled", cancelled},
                                {"matched", matched},
                                {"outstanding", outstanding},
                                {"polled", polled},
                                {"buffered", buffered},
#if MPI_4
                                {"partitioned", partitioned},
#endif
                                {0}};
  begin(&count, &words, MPI_THREAD_SINGLE);
  for (int at = 0; at < N; at++) data[at] = 3 * at + rank;
  return run_all(modes, words) || end();
}
