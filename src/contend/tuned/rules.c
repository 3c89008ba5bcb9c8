// The rules: read from rules.toml, which contend tune writes and people may edit.
//
// Of TOML it has tables [[rule]] and lines `key = value` of whole numbers, pairs [first, last] of
// them, true, false and "text". contend checks a file before it starts a program; this is for those
// that were edited since.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuned.h"

#define LONGEST_LINE 1024
#define MOST_RULES 100000
#define PHASES_SECONDS 10

contend_rule_book contend_rules;

const char* contend_schedule_name(enum contend_schedule schedule) {
  return schedule == CONTEND_LIBRARYS_OWN ? "library" : contend_schedules[schedule].name;
}

static bool is_schedule(const char* text, enum contend_schedule* schedule) {
  for (int index = 0; index <= CONTEND_LIBRARYS_OWN; index++) {
    *schedule = (enum contend_schedule)index;
    if (strcmp(text, contend_schedule_name(*schedule)) == 0) return true;
  }
  return false;
}

static bool is_number(const char** text, uint64_t* number) {
  char* end;
  while (isspace((unsigned char)**text)) ++*text;
  if (!isdigit((unsigned char)**text)) return false;
  *number = strtoull(*text, &end, 10);
  *text = end;
  while (isspace((unsigned char)**text)) ++*text;
  return true;
}

static bool is_range(const char* text, contend_range* range) {
  if (*text++ != '[' || !is_number(&text, &range->first)) return false;
  if (*text++ != ',' || !is_number(&text, &range->last)) return false;
  return strcmp(text, "]") == 0 && range->first <= range->last;
}

/// Takes one line's value; false when it is not what its key needs.
static bool take(contend_rule* rule, const char* key, char* value) {
  const char* text = value;
  uint64_t number = 0;
  size_t length = strlen(value);
  if (rule == NULL) {
    if (strcmp(key, "version") == 0) return is_number(&text, &number) && number == 1 && !*text;
    if (strcmp(key, "nonblocking") == 0) {
      contend_rules.nonblocking = strcmp(value, "true") == 0;
      return contend_rules.nonblocking || strcmp(value, "false") == 0;
    }
    if (strcmp(key, "phases_seconds") == 0)
      return is_number(&text, &contend_rules.phases_seconds) && !*text;
    return true;  // what contend notes of where the rules are from
  }
  if (strcmp(key, "ranks") == 0) return is_range(value, &rule->ranks);
  if (strcmp(key, "ranks_per_host") == 0) return is_range(value, &rule->ranks_per_host);
  if (strcmp(key, "bytes") == 0) return is_range(value, &rule->bytes);
  if (strcmp(key, "schedule") != 0) return true;
  if (length < 2 || value[0] != '"' || value[length - 1] != '"') return false;
  value[length - 1] = '\0';
  return is_schedule(value + 1, &rule->schedule);
}

static contend_rule* add_rule(void) {
  if (contend_rules.count == MOST_RULES) return NULL;
  contend_rule* grown =
      realloc(contend_rules.rules, (contend_rules.count + 1) * sizeof *contend_rules.rules);
  if (grown == NULL) return NULL;
  contend_rules.rules = grown;
  contend_rule* rule = &grown[contend_rules.count++];
  *rule = (contend_rule){.ranks_per_host = {1, UINT64_MAX},
                         .bytes = {0, UINT64_MAX},
                         .schedule = CONTEND_LIBRARYS_OWN};
  return rule;
}

/// The text of a line without comment and spaces around it.
static char* trimmed(char* line) {
  bool quoted = false;
  for (char* at = line; *at; at++) {
    if (*at == '"') quoted = !quoted;
    if (*at == '#' && !quoted) *at = '\0';
    if (*at == '\0') break;
  }
  while (isspace((unsigned char)*line)) line++;
  char* end = line + strlen(line);
  while (end > line && isspace((unsigned char)end[-1])) *--end = '\0';
  return line;
}

static bool read_line(char* line, contend_rule** rule, const char** wrong) {
  char* text = trimmed(line);
  if (*text == '\0') return true;
  if (*text == '[') {
    *wrong = "[[rule]]";
    if (strcmp(text, "[[rule]]") != 0) return false;
    *rule = add_rule();
    return *rule != NULL;
  }
  char* equal = strchr(text, '=');
  *wrong = "key = value";
  if (equal == NULL) return false;
  *equal = '\0';
  char* key = trimmed(text);
  *wrong = "a value that this key takes";
  return take(*rule, key, trimmed(equal + 1));
}

static void add_hash(const char* line) {
  for (; *line; line++) contend_rules.hash = (contend_rules.hash ^ (uint8_t)*line) * 0x100000001b3u;
}

static contend_range around(contend_range range, contend_range other) {
  if (other.first < range.first) range.first = other.first;
  if (other.last > range.last) range.last = other.last;
  return range;
}

static void find_ranges(void) {
  contend_rules.ranks = contend_rules.bytes = (contend_range){UINT64_MAX, 0};
  bool any = false;
  for (size_t index = 0; index < contend_rules.count; index++) {
    const contend_rule* rule = &contend_rules.rules[index];
    if (rule->schedule == CONTEND_LIBRARYS_OWN) continue;
    any = true;
    contend_rules.ranks = around(contend_rules.ranks, rule->ranks);
    contend_rules.bytes = around(contend_rules.bytes, rule->bytes);
  }
  if (!any) contend_rules.ranks = contend_rules.bytes = (contend_range){UINT64_MAX, UINT64_MAX};
}

bool contend_read_rules(const char* folder) {
  char path[4096 + 16], line[LONGEST_LINE];
  if (strlen(folder) >= sizeof contend_rules.folder) return false;
  strcpy(contend_rules.folder, folder);
  contend_rules.hash = 0xcbf29ce484222325u;
  contend_rules.phases_seconds = PHASES_SECONDS;
  snprintf(path, sizeof path, "%s/rules.toml", folder);
  FILE* file = fopen(path, "re");
  if (file == NULL) {
    fprintf(stderr, "contend: %s: cannot be read\n", path);
    return false;
  }
  contend_rule* rule = NULL;
  const char* wrong = NULL;
  bool good = true;
  for (int number = 1; good && fgets(line, sizeof line, file); number++) {
    add_hash(line);
    good = read_line(line, &rule, &wrong);
    if (!good) fprintf(stderr, "contend: %s:%d: expected %s\n", path, number, wrong);
  }
  fclose(file);
  find_ranges();
  return good;
}

static bool is_for(const contend_rule* rule, int ranks, int ranks_per_host) {
  return contend_within(rule->ranks, (uint64_t)ranks) &&
         contend_within(rule->ranks_per_host, (uint64_t)ranks_per_host);
}

enum contend_schedule contend_schedule_for(int ranks, int ranks_per_host, uint64_t bytes) {
  for (size_t index = 0; index < contend_rules.count; index++) {
    const contend_rule* rule = &contend_rules.rules[index];
    if (is_for(rule, ranks, ranks_per_host) && contend_within(rule->bytes, bytes))
      return rule->schedule;
  }
  return CONTEND_LIBRARYS_OWN;
}

enum contend_schedule contend_uneven_schedule(int ranks, int ranks_per_host) {
  for (size_t index = 0; index < contend_rules.count; index++) {
    const contend_rule* rule = &contend_rules.rules[index];
    if (rule->schedule != CONTEND_LIBRARYS_OWN && is_for(rule, ranks, ranks_per_host))
      return rule->schedule;
  }
  return CONTEND_LIBRARYS_OWN;
}
