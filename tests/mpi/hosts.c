/* hosts.c - preloaded: MPI_Get_processor_name gives made-up hosts, so that a test has several on one machine: the names of
 * TEST_HOSTS ("h00 h01 h01"), one a rank. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int PMPI_Get_processor_name(char *name, int *length);

int PMPI_Get_processor_name(char *name, int *length)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *host = getenv("TEST_HOSTS");
    if (!rank) rank = getenv("PMI_RANK");
    for (int i = rank ? atoi(rank) : 0; i > 0 && host && (host = strchr(host, ' ')); i--) host++;
    *length = host ? sprintf(name, "%.*s", (int)strcspn(host, " "), host) : sprintf(name, "nowhere");
    return 0;
}
