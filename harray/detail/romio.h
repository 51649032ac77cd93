/* Whose files are. OMPIO, which is Open MPI's, loses elements in collective transfers: it reads what lies between those of
 * a rank, and writes it back over what others have written meanwhile (before 5.0.6:
 * https://github.com/open-mpi/ompi/pull/12759); and ranks that read the same elements may not get them (before 4.1.5:
 * https://github.com/open-mpi/ompi/issues/10546). So ranks transfer together through ROMIO alone, and else each by itself. */
#ifndef HARRAY_DETAIL_ROMIO_H
#define HARRAY_DETAIL_ROMIO_H

#include <mpi.h>
#include <string.h>

#include "../../layout/status.h"

/* Whether ROMIO (of MPICH, and of what is made of it) has opened the file, as its hints say. Returns MPI's code. */
HA_IN_ int ha_mpi_is_romio(MPI_File file, int *is_romio) {
    char key[MPI_MAX_INFO_KEY + 1] = "";
    MPI_Info hints = MPI_INFO_NULL;
    int count = 0;
    int code = MPI_File_get_info(file, &hints);
    *is_romio = 0;
    if (!code && hints != MPI_INFO_NULL) code = MPI_Info_get_nkeys(hints, &count);
    for (int i = 0; i < count && !code && !*is_romio; i++) {
        code = MPI_Info_get_nthkey(hints, i, key);
        *is_romio = !code && !strncmp(key, "romio_", 6);
    }
    if (hints != MPI_INFO_NULL) (void)MPI_Info_free(&hints);
    return code;
}

#endif
