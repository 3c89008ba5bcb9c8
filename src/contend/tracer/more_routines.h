// Routines that the recorder has beside those of `routines.h`, which includes this: none.
