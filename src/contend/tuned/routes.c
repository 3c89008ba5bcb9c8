// Routes between the hosts of a communicator, from routes.txt, which contend wrote for the whole
// fabric: how many hosts and switches there are; for each host its switch and its name; for each
// switch the switches that its channels lead to, and for each host which of these channels leads
// there.
#include "routes.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "contend routes 1\n"
#define NOWHERE UINT32_MAX
#define SEVERAL (NOWHERE - 1)

/// What the file says of the hosts that are asked for; channels are numbered through.
typedef struct {
  char *text, *at;
  uint32_t hosts, switches, wanted, channels;
  const char* const* names;  ///< of those that are wanted
  uint32_t* place;           ///< number of each, in the order of the file
  uint32_t* column;          ///< that number of every host of the file; NOWHERE for others
  uint32_t* leaf;            ///< switch of each that is wanted, by that number
  uint32_t* leads_to;        ///< switch at the end of each channel
  uint32_t* way;             ///< channel from a switch to a wanted host, a row for each switch
} file;

static char* read_text(const char* path) {
  FILE* opened = fopen(path, "re");
  char* text = NULL;
  if (opened == NULL) return NULL;
  if (fseek(opened, 0, SEEK_END) == 0) {
    long bytes = ftell(opened);
    rewind(opened);
    text = bytes < 0 ? NULL : malloc((size_t)bytes + 1);
    if (text) text[fread(text, 1, (size_t)bytes, opened)] = '\0';
  }
  fclose(opened);
  return text;
}

/// Takes the next number of a line; false where there is none.
static bool take_number(file* read, uint32_t end, uint32_t* number) {
  while (*read->at == ' ') read->at++;
  if (!isdigit((unsigned char)*read->at)) return false;
  errno = 0;
  unsigned long value = strtoul(read->at, &read->at, 10);
  *number = (uint32_t)value;
  return errno == 0 && value < end;
}

static bool take_end_of_line(file* read) {
  while (*read->at == ' ') read->at++;
  if (*read->at != '\n') return false;
  read->at++;
  return true;
}

/// Names are alike where they are the same, or where one is the other with its domain.
static bool is_alike(const char* first, const char* second) {
  while (*first && *first == *second) first++, second++;
  if (*first == '\0') return *second == '\0' || *second == '.';
  return *first == '.' && *second == '\0';
}

/// Takes the lines of hosts, and numbers those that are wanted in their order here. A name that
/// several have stands for none of them.
static bool take_hosts(file* read) {
  uint32_t places = 0;
  for (uint32_t index = 0; index < read->wanted; index++) read->place[index] = NOWHERE;
  for (uint32_t host = 0; host < read->hosts; host++) {
    uint32_t leaf;
    if (!take_number(read, read->switches, &leaf) || *read->at != ' ') return false;
    char* name = read->at + 1;
    char* end = strchr(name, '\n');
    if (end == NULL) return false;
    *end = '\0';
    read->at = end + 1;
    read->column[host] = NOWHERE;
    for (uint32_t index = 0; index < read->wanted; index++) {
      if (!is_alike(name, read->names[index])) continue;
      if (read->place[index] != NOWHERE || read->column[host] != NOWHERE) {
        read->place[index] = SEVERAL;
        continue;
      }
      read->leaf[places] = leaf;
      read->column[host] = read->place[index] = places++;
    }
  }
  return true;
}

static bool take_switches(file* read) {
  uint32_t room = 0;
  for (uint32_t here = 0; here < read->switches; here++) {
    uint32_t first = read->channels, to;
    while (take_number(read, read->switches, &to)) {
      if (read->channels == room) {
        room = 2 * room + 64;
        uint32_t* grown = realloc(read->leads_to, room * sizeof *grown);
        if (grown == NULL) return false;
        read->leads_to = grown;
      }
      read->leads_to[read->channels++] = to;
    }
    if (!take_end_of_line(read)) return false;
    for (uint32_t host = 0; host < read->hosts; host++) {
      uint32_t channel, way = NOWHERE;
      if (take_number(read, read->channels - first, &channel))
        way = first + channel;
      else if (*read->at == '-')
        read->at++;
      else
        return false;
      if (read->column[host] != NOWHERE)
        read->way[(size_t)here * read->wanted + read->column[host]] = way;
    }
    if (!take_end_of_line(read)) return false;
  }
  return true;
}

/// Writes the channels from a wanted host to another where there is room for them; how many, or -1
/// where they lead nowhere.
static int64_t follow(const file* read, uint32_t from, uint32_t to, uint32_t* channels) {
  uint32_t here = read->leaf[from];
  int64_t count = 0;
  while (here != read->leaf[to]) {
    uint32_t way = read->way[(size_t)here * read->wanted + to];
    if (way == NOWHERE || count == read->switches) return -1;
    if (channels) channels[count] = way;
    count++;
    here = read->leads_to[way];
  }
  return count;
}

static enum contend_routing follow_all(const file* read, contend_routes* made) {
  size_t pairs = (size_t)read->wanted * read->wanted, pair = 0;
  made->begin = malloc((pairs + 1) * sizeof *made->begin);
  if (made->begin == NULL) return CONTEND_ROUTES_TOO_LARGE;
  made->begin[0] = 0;
  for (uint32_t from = 0; from < read->wanted; from++) {
    for (uint32_t to = 0; to < read->wanted; to++, pair++) {
      int64_t count = from == to ? 0 : follow(read, from, to, NULL);
      if (count < 0) return CONTEND_NO_ROUTE;
      made->begin[pair + 1] = made->begin[pair] + (uint64_t)count;
    }
  }
  made->channel = malloc((made->begin[pairs] + 1) * sizeof *made->channel);
  if (made->channel == NULL) return CONTEND_ROUTES_TOO_LARGE;
  for (pair = 0; pair < pairs; pair++)
    if (made->begin[pair + 1] > made->begin[pair])
      follow(read, (uint32_t)(pair / read->wanted), (uint32_t)(pair % read->wanted),
             made->channel + made->begin[pair]);
  made->hosts = read->wanted;
  made->channels = read->channels;
  return CONTEND_ROUTES_READ;
}

static enum contend_routing read_all(file* read, contend_routes* made, uint32_t* unknown) {
  if (strncmp(read->text, HEAD, strlen(HEAD)) != 0) return CONTEND_ROUTES_UNREADABLE;
  read->at = read->text + strlen(HEAD);
  if (!take_number(read, NOWHERE, &read->hosts) || !take_number(read, NOWHERE, &read->switches) ||
      !take_end_of_line(read))
    return CONTEND_ROUTES_UNREADABLE;
  // Every host and switch has a line, so that a file cannot ask for more room than it has itself.
  size_t bytes = strlen(read->at);
  if (read->hosts > bytes || read->switches > bytes) return CONTEND_ROUTES_UNREADABLE;
  read->column = malloc(((size_t)read->hosts + 1) * sizeof *read->column);
  read->leaf = malloc(((size_t)read->wanted + 1) * sizeof *read->leaf);
  read->way = malloc(((size_t)read->switches * read->wanted + 1) * sizeof *read->way);
  if (!read->column || !read->leaf || !read->way) return CONTEND_ROUTES_TOO_LARGE;
  if (!take_hosts(read)) return CONTEND_ROUTES_UNREADABLE;
  for (*unknown = 0; *unknown < read->wanted; ++*unknown)
    if (read->place[*unknown] >= read->wanted) return CONTEND_UNKNOWN_HOST;
  return take_switches(read) ? follow_all(read, made) : CONTEND_ROUTES_UNREADABLE;
}

enum contend_routing contend_read_routes(const char* path, const char* const* names, uint32_t count,
                                         contend_routes* made, uint32_t* place, uint32_t* unknown) {
  file read = {.names = names, .wanted = count, .place = place, .text = read_text(path)};
  *made = (contend_routes){0};
  enum contend_routing end = read.text ? read_all(&read, made, unknown) : CONTEND_ROUTES_UNREADABLE;
  free(read.text);
  free(read.column);
  free(read.leaf);
  free(read.leads_to);
  free(read.way);
  return end;
}

void contend_free_routes(contend_routes* routes) {
  free(routes->begin);
  free(routes->channel);
}
