/* The definition of schedules by itself: plans_of RANKS RANKS_PER_HOST prints a line for every
 * schedule that there is for so many ranks, and for every rank: schedule, rank, own, in flight, and
 * in every phase the ranks that it sends to and those that it receives from. Phases are those of
 * shift. */
#include <stdio.h>
#include <stdlib.h>

#include "schedules.h"

static void print(const int* list, int begin, int end) {
  for (; begin < end; begin++) printf(" %d", list[begin]);
}

int main(int count, char** words) {
  int ranks = atoi(words[1]), each = atoi(words[2]), messages = ranks - 1;
  int* host_of = calloc((size_t)ranks, sizeof *host_of);
  int* to = calloc((size_t)ranks, sizeof *to);
  int* from = calloc((size_t)ranks, sizeof *from);
  for (int rank = 0; rank < ranks; rank++) host_of[rank] = rank / each;
  for (int schedule = 0; schedule < CONTEND_SCHEDULES * ranks && count == 3; schedule++) {
    enum contend_schedule chosen = (enum contend_schedule)(schedule / ranks);
    contend_party party = {.rank = schedule % ranks,
                           .ranks = ranks,
                           .width = 3,
                           .hosts = (ranks + each - 1) / each,
                           .host_of = host_of,
                           .phases = messages,
                           .phase_to = to,
                           .phase_from = from};
    for (int phase = 0; phase < messages; phase++) {
      to[phase] = (party.rank + phase + 1) % ranks;
      from[phase] = (party.rank - phase - 1 + ranks) % ranks;
    }
    int phases = contend_count_phases(chosen, &party), sent = 0, received = 0;
    if (phases < 0) continue;
    int* numbers = calloc(contend_plan_numbers(&party, phases), sizeof *numbers);
    contend_plan plan = contend_make_plan(chosen, &party, numbers);
    printf("%s %d %d %d", contend_schedules[chosen].name, party.rank, plan.own, plan.in_flight);
    for (int phase = 0; phase < plan.phases; phase++) {
      printf(" to");
      print(plan.to, sent, plan.to_end[phase]);
      printf(" from");
      print(plan.from, received, plan.from_end[phase]);
      sent = plan.to_end[phase], received = plan.from_end[phase];
    }
    puts("");
    free(numbers);
  }
  free(host_of), free(to), free(from);
  return 0;
}
