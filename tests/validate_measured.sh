#!/bin/sh
# validate_measured.sh - predictions against collectives measured on Fugaku, LUMI and Leonardo (tests/measured.py). Needs the table:
# MEASURED names it; without it the check is skipped, and says so.
table=${MEASURED:-../shared/reference/measured/collectives.tsv}
[ -r "$table" ] || { echo "skipped: no $table (MEASURED=FILE names the measured collectives)"; exit 0; }
exec python3 tests/measured.py "${FABRICAST:-obj/fabricast}" "$table"
