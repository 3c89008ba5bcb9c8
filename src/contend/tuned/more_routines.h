// Routines that matter to requests under way beside those of `routines.h`, which includes this.
ROUTINE(Request_get_status, 3)
ROUTINE(Comm_spawn, 8)
ROUTINE(Comm_spawn_multiple, 9)
ROUTINE(Comm_accept, 5)
ROUTINE(Comm_connect, 5)
ROUTINE(Comm_join, 2)
