/* version.c - `fabricast --version`: what a report of a fault needs. */
#include "cli/version.h"
#include "traces/trace_capture.h"

#include <glpk.h>
#include <gsl/gsl_version.h>
#include <jansson.h>
#include <lzma.h>
#include <scotch/scotch.h>
#include <yaml.h>
#include <zlib.h>
#include <zstd.h>

void fc_print_version(FILE *stream)
{
    char recorders[64];
    int v[3];
    fprintf(stream, "fabricast %s\n", FC_VERSION);
    fprintf(stream, "built with  %s, OpenMP %d\n",
#ifdef __clang__
            "clang " __clang_version__,
#else
            "gcc " __VERSION__,
#endif
            _OPENMP);
    SCOTCH_version(&v[0], &v[1], &v[2]);
    fprintf(stream,
            "libraries   GSL %s, GLPK %s, Scotch %d.%d.%d, jansson %s, libyaml %s, zlib %s, zstd %s, liblzma %s\n",
            gsl_version, glp_version(), v[0], v[1], v[2], jansson_version_str(), yaml_get_version_string(),
            zlibVersion(), ZSTD_versionString(), lzma_version_string());
    fc_recorders_found(recorders, sizeof recorders);
    fprintf(stream, "recorders   %s\n", *recorders ? recorders : "none is beside the program");
}
