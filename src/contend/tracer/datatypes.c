// Sizes of datatypes, as asking for one takes as long as a short send does.
#include "handles.h"

contend_type_size contend_type_sizes[CONTEND_TYPE_SLOTS];
// Where handles are addresses, two of these may share a slot in some runs and not in others.
static contend_type_size usual[16];

uint64_t contend_size_slowly(MPI_Datatype type) {
  static int (*ask)(MPI_Datatype, MPI_Count*);
  if (ask == NULL) ask = (__typeof__(ask))contend_symbol("PMPI_Type_size_x");
  MPI_Count bytes = 0;
  // Where nothing is sent, programs may name no type.
  if (type == MPI_DATATYPE_NULL || ask(type, &bytes) != MPI_SUCCESS || bytes < 0) return 0;
  uint64_t key = CONTEND_KEY(type);
  contend_type_sizes[contend_type_slot(key)] = (contend_type_size){key, (uint64_t)bytes};
  return (uint64_t)bytes;
}

uint64_t contend_usual_size(uint64_t key) {
  for (const contend_type_size* one = usual; one->key; one++)
    if (one->key == key) return one->bytes;
  return CONTEND_UNKNOWN_BYTES;
}

void contend_start_datatypes(void) {
  const MPI_Datatype types[] = {MPI_BYTE,     MPI_CHAR,          MPI_INT,   MPI_LONG,
                                MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_FLOAT, MPI_DOUBLE,
                                MPI_INT64_T,  MPI_INTEGER,       MPI_REAL,  MPI_DOUBLE_PRECISION,
                                MPI_UINT64_T};
  contend_type_size* next = usual;
  for (size_t index = 0; index < sizeof types / sizeof *types; index++) {
    uint64_t key = CONTEND_KEY(types[index]);
    if (key) *next++ = (contend_type_size){key, contend_size_slowly(types[index])};
  }
}

int contend_Type_free(MPI_Datatype* type) {
  CONTEND_CALL_OF(Type_free, (type));
  contend_lock();
  contend_type_size* known = &contend_type_sizes[contend_type_slot(CONTEND_KEY(*type))];
  if (known->key == CONTEND_KEY(*type)) known->key = 0;
  contend_unlock();
  int result = REAL(Type_free)(type);
  contend_leave(&call);
  contend_done();
  return result;
}
