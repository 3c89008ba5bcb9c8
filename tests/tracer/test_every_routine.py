"""Whatever can wait, copy or communicate is recorded, by the headers of the libraries here."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

from probe_programs import Build, Mpi
from processes import finished
from rank_records import FINISHED
from tracer.conftest import Run

PRELOADED = Path(__file__).parents[2] / "src" / "contend" / "preloaded"
# What is not recorded, by why not. None of it asks another process or moves a program's data.
LOCAL = {
    "says what the process or a handle knows": (
        "*_rank *_size *_get_name *_get_info *_get_errhandler *_get_attr *_get_group *_group "
        "Comm_remote_* Comm_compare Comm_get_parent Comm_test_inter Topo_test Cart_get Cart_coords "
        "Cart_shift Cart_map Cartdim_get Graph_get Graph_map Graph_neighbors* Graphdims_get "
        "Dist_graph_neighbors* Dims_create Win_shared_query* Finalized Initialized Query_thread "
        "Is_thread_main Get_version Get_library_version Get_processor_name Wtime Wtick Aint* "
        "Address Get_address Session_get_* *_size_c Pcontrol"
    ),
    "says what a status holds, or sets it": "Get_count* Get_elements* Status_* Test_cancelled",
    "describes data": "Type_* Op_* Register_datarep* Pack_size* Pack_external_size*",
    "describes ranks and settings": "Group_* Info_* Win_set_name Session_set_info",
    "is about errors and attributes": "*errhandler* Errhandler_* Error_* Add_error_* *_attr Attr_* "
    "*_keyval Keyval_*",
    "changes one handle for another": "*_c2f *_f2c *_c2f08 *_f082c *_f082f *_f2f08 *_toint "
    "*_fromint",
    "tells the library of a request of the program's own": "Grequest_*",
    "is the interface of tools": "T_*",
    "says of a file what the process knows of it": "File_get_amode File_get_atomicity "
    "File_get_byte_offset File_get_position File_get_type_extent* File_get_view File_seek",
}
EACH = 4000


def test_what_is_not_recorded_neither_waits_nor_copies(any_mpi: Mpi, tmp_path: Path) -> None:
    source = tmp_path / "names.c"
    source.write_text(
        '#include <mpi.h>\n#include "entries.h"\n'
        '#define ROUTINE(name, arguments) recorded: name\n#include "routines.h"\n'
    )
    skipped = ("-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX")
    command = [any_mpi.wrapper, "-E", "-P", "-w", *skipped, f"-I{PRELOADED}", str(source)]
    text = finished(command, check=True).stdout
    recorded = set(re.findall(r"recorded: (\w+)", text))
    declared = set(re.findall(r"\bMPI_(\w+) *\(", text))
    local = {
        name
        for name in declared
        if any(fnmatch(name, pattern) for words in LOCAL.values() for pattern in words.split())
    }
    assert len(declared) > 400
    assert recorded <= declared
    assert declared - recorded - local == set()


def test_what_else_waits_or_copies_counts_with_its_bytes(
    any_mpi: Mpi, build: Build, run_recorded: Run, tmp_path: Path
) -> None:
    program = build(any_mpi.wrapper, "others.c")
    recorded = run_recorded(any_mpi, 2, program, tmp_path / "file")
    assert recorded.ended.status == 0, recorded.ended.errors
    assert recorded.ended.output.count("whole") == 2
    for rank, record in enumerate(recorded.records):
        assert record.header["state"] == FINISHED
        totals = record.totals()
        assert totals["MPI_Pack"] == (1, EACH)
        assert totals["MPI_Unpack"] == (1, EACH // 2)
        assert totals["MPI_Pack_external"] == totals["MPI_Unpack_external"] == (1, 40)
        assert totals["MPI_Reduce_local"] == (1, 80)
        assert totals["MPI_Buffer_attach"] == totals["MPI_Buffer_detach"] == (1, 0)
        assert totals["MPI_File_write_at"] == (1, EACH)
        assert totals["MPI_File_iwrite_at"] == (1, 40)
        assert totals["MPI_File_write_at_all_begin"] == (1, 80)
        assert totals["MPI_File_write_at_all_end"] == totals["MPI_File_get_size"] == (1, 0)
        assert totals["MPI_File_read_at"] == totals["MPI_File_read_at_all"] == (1, EACH)
        assert ("MPI_Request_get_status" in totals) == ("MPI_File_delete" in totals) == (rank == 0)
    assert recorded.records[0].totals()["MPI_Request_get_status"][0] >= 2
