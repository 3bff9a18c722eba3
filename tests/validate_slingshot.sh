#!/bin/sh
# validate_slingshot.sh - predictions on aurora against published OSU and dgnettest logs of a Slingshot 11 system (tests/slingshot.py).
exec python3 tests/slingshot.py "${FABRICAST:-obj/fabricast}"
