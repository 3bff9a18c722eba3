# fabricast: `make` builds, `make test` installs what is missing and tests, `make help` lists the rest.
# Yours: CC CFLAGS CPPFLAGS LDFLAGS PREFIX (or prefix) libdir DESTDIR V= (shows commands) OBJ=dir (a private build) ROOMS= (part of the
# library) ONLY='name ...' (test suites whose name contains one) TESTS= (test files) ARGS= (for run) THREADS= (calibrations, figures)
# BUDGET=--quick (figures) RUNS=N TARGETS='a b' (fuzz),
# MPICC= (compilers of the MPIs to record: all that are found; each adds a recorder).
# Compiles as many files at once as there are processors; -jN is obeyed.
V      = @
OBJ    = obj
PREFIX = /usr/local
prefix = $(PREFIX)
libdir = $(prefix)/lib
recorderdir = $(libdir)
MPICC  = mpicc.openmpi mpicc.mpich mpicc
ARGS   = predict -t traces/samples/lammps-lj-64.fct -m bgl-64,qsnet-64,percs-16,tmesh-216 --map def,optimize --plot out
CC     = gcc
THREADS = 2
RUNS   = 310000
TARGETS =
MAKEFLAGS += -j$(shell nproc)

# The project's own flags, apart from the user's CFLAGS, which come last and so win. No a * b + c in one rounding: every
# compiler and processor gives the same bytes (tests/validate_same_bytes.sh). No notes on how vectors are passed: only inlined
# functions take them.
OWN      = -std=c17 -ffp-contract=off -D_GNU_SOURCE -I. -fopenmp -Wall -Wextra -Wno-psabi -Wshadow -Wstrict-prototypes -MMD -MP
FAST     = -O3 -g -fPIC -fvisibility=hidden
# Every start of the checked program counts, and tests start it thousands of times: a trap where something is undefined
# (tests/sanitizers.c reports it) instead of a description of every check; linked at a fixed place.
CHECKED  = -Og -g1 -fPIC -fvisibility=hidden -fno-omit-frame-pointer -fsanitize=address,undefined -fsanitize-undefined-trap-on-error
FUZZED   = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined
LIBS     = -lgsl -lgslcblas -lglpk -lscotch -lyaml -ljansson -lotf2 -lzstd -llzma -lz -lm
PACKAGES = build-essential pkg-config libgsl-dev libglpk-dev libscotch-dev libyaml-dev libjansson-dev libotf2-trace-dev \
           libzstd-dev liblzma-dev zlib1g-dev libcunit1-dev gnuplot-nox fonts-dejavu-core openmpi-bin \
           libopenmpi-dev mpich libmpich-dev gfortran python3 clang-format
# Real launchers for the tests. Where systemd runs, Debian starts munged (Slurm only with a slurm.conf); tests use their own.
TEST_PACKAGES = slurm-wlm slurm-wlm-basic-plugins munge iproute2
FUZZ_PACKAGES = clang libclang-rt-14-dev libomp-dev

ROOMS  = $(foreach room,core models traces solvers mapping plots answer serve library reproduce sweep,\
           $(sort $(patsubst %/,%,$(dir $(wildcard $(room)/*.c $(room)/*/*.c)))))
PMPI   = $(sort $(wildcard traces/pmpi/*.c))
RANKS  = $(wildcard sweep/sweep_mpi.c cli/ranks_mpi.c)
REORDER = $(sort $(wildcard library/reorder/*.c))
BESIDE = $(sort $(wildcard answer/mpi/*.c))
SRC    = $(filter-out $(PMPI) $(RANKS) $(REORDER) $(BESIDE),$(sort $(wildcard $(ROOMS:%=%/*.c))))
CLI    = $(filter-out $(RANKS),$(sort $(wildcard cli/*.c)))
TESTS  = $(sort $(wildcard tests/test_*.c))
FUZZ   = $(sort $(wildcard tests/fuzz/*.c))
SHARED = tests/main.c tests/run.c tests/sanitizers.c tests/support.c tests/maxmin.c $(sort $(wildcard tests/trace_*.c)) $(filter-out %_main.c,$(FUZZ))
BENCH  = $(sort $(wildcard tests/bench_*.c))
VALID  = $(sort $(wildcard tests/validate_*.c))
SCRIPTS = $(sort $(wildcard tests/validate_*.sh))

# What programs link: obj/libfabricast.a is ours, with all names; the public one and the shared one have fabricast.h's.
# They need no figures and no sweeps. Scotch is taken in, since its hooks for errors are ours (mapping/scotch_errors.c).
LIB     = $(OBJ)/libfabricast.a
SHARED_LIB = $(OBJ)/libfabricast.so.0
PUBLIC_LIB = $(OBJ)/public/libfabricast.a
PUBLIC  = $(filter-out plots/% serve/% reproduce/% sweep/%,$(SRC))
MANUAL  = $(if $(CLI),$(OBJ)/man/fabricast.1)
VERSION = $(shell sed -n 's/^\#define FC_VERSION "\(.*\)"/\1/p' cli/version.h)
PROGRAM = $(if $(CLI),$(OBJ)/fabricast)
HOOK    = $(if $(PMPI)$(RANKS),$(OBJ)/libfabricast-pmpi.so)
BENCHES = $(BENCH:tests/%.c=$(OBJ)/%)
CHECKS  = $(VALID:tests/%.c=$(OBJ)/%)
TESTLIB = $(OBJ)/test/libfabricast.a
TESTED  = $(OBJ)/test/tests $(if $(CLI),$(OBJ)/test/fabricast) $(OBJ)/fail_allocation.so $(OBJ)/test/libfabricast.so.0 \
          $(OBJ)/test/public/libfabricast.a $(OBJ)/test/man/fabricast.1
OBJECTS = $(patsubst %.c,$(OBJ)/%.o,$(SRC) $(CLI) $(BENCH) $(VALID)) \
          $(patsubst %.c,$(OBJ)/test/o/%.o,$(SRC) $(CLI) $(SHARED) $(TESTS)) \
          $(patsubst %.c,$(OBJ)/fuzz/o/%.o,$(SRC) $(FUZZ) tests/trace_pack.c)

all: $(LIB) $(PROGRAM) $(HOOK) $(SHARED_LIB) $(PUBLIC_LIB) $(MANUAL)

help:
	@echo "make [all|run ARGS='...'|test|cases|bench|figures|validate|fuzz|fuzz-smoke|format|calibrations|install|uninstall|clean|deps]"

# Installs the Debian packages that are missing; asks dpkg only, so it costs nothing when none is.
deps:
	$(V)command -v dpkg-query >/dev/null || { echo "not a Debian system; needed: $(PACKAGES)"; exit 0; }; \
	missing=; for p in $(PACKAGES); do dpkg-query -W -f='$${db:Status-Status}\n' $$p 2>/dev/null | \
	    grep -qx installed || missing="$$missing $$p"; done; \
	[ -n "$$missing" ] || exit 0; \
	as_root=; [ "$$(id -u)" = 0 ] || as_root=sudo; echo "installing$$missing"; \
	$$as_root apt-get update && \
	$$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $$missing

run: deps all
	$(V)$(PROGRAM) $(ARGS)

# Only what is tested is built: the checked library, program and tests, and the recorder.
test validate: PACKAGES += $(TEST_PACKAGES)
test: deps $(HOOK) $(TESTED)
	$(V)OMP_WAIT_POLICY=passive $(OBJ)/test/tests $(ONLY)

# Writes what golden commands print now into their files, to be read in a diff: make cases ONLY=cases/flit
cases: deps $(HOOK) $(TESTED)
	$(V)OMP_WAIT_POLICY=passive $(OBJ)/test/tests --update $(or $(ONLY),cases/) || true

bench: deps all $(BENCHES)
	$(V)set -e; for b in $(BENCHES); do $$b; done

# Every figure of the papers into figures/ and the summary into docs/validation.md; points outside are no failure here.
figures: deps all
	$(V)touch $(OBJ)/.figures; $(PROGRAM) reproduce $(BUDGET) --threads $(THREADS) -o figures --into docs/validation.md || \
	    [ docs/validation.md -nt $(OBJ)/.figures ]

# C files as .clang-format has them; a test checks it.
format:
	$(V)find . -path ./$(OBJ) -prune -o -name '*.[ch]' -print0 | xargs -0 clang-format -i

# Random input through every reader (docs/fuzzing.md): RUNS executions in all, dealt over the targets; a minute of it.
fuzz: deps $(OBJ)/fuzz/fuzz
	$(V)tests/fuzz/fuzz.sh $(OBJ)/fuzz $(RUNS) $(TARGETS)
fuzz-smoke: deps $(OBJ)/fuzz/fuzz
	$(V)tests/fuzz/fuzz.sh $(OBJ)/fuzz 60s $(TARGETS)
fuzz fuzz-smoke: PACKAGES += $(FUZZ_PACKAGES)

# Runs them all; fails at the end when one did. validate_curve writes the tables of docs/trust.md.
validate: deps all $(CHECKS) $(OBJ)/fail_allocation.so
	$(V)failed=; export FABRICAST=$(PROGRAM); echo "  VALIDATE reproduce"; \
	$(PROGRAM) reproduce --full --threads $(THREADS) -o $(OBJ)/figures || failed=" reproduce"; for c in $(CHECKS) $(SCRIPTS); do \
	    echo "  VALIDATE $$c"; case $$c in */validate_curve) set -- -a -c $(OBJ)/curves -o docs/trust.md;; *) set --;; esac; \
	    $$c "$$@" || failed="$$failed $$c"; done; \
	[ -z "$$failed" ] || { echo "failed:$$failed"; exit 1; }

# Fits the queueing model of every shipped machine to kernel runs (some two CPU minutes each) and writes beside its file.
# Those of dragonfly-plus are left out: their machines are too large for the budget. One made with another budget keeps it.
# models/add_traffic.sh adds patterns that people name.
calibrations: deps all
	$(V)set -e; for m in $(basename $(notdir $(filter-out %.calibration.yaml,$(wildcard models/machines/*.yaml)))); do \
	    if grep -q 'family: dragonfly-plus' models/machines/$$m.yaml; then continue; fi; \
	    b=$$(sed -n 's/^budget: //p' models/machines/$$m.calibration.yaml 2>/dev/null || :); echo "  CALIBRATE $$m"; \
	    $(PROGRAM) calibrate -m models/machines/$$m.yaml -o models/machines/$$m.calibration.yaml --threads $(THREADS) \
	        $${b:+--budget $$b} >/dev/null; done; \
	models/add_traffic.sh $(PROGRAM) $(THREADS)

install: all install-built
install-built:
	$(V)set -e; to="$(DESTDIR)$(prefix)"; lib="$(DESTDIR)$(libdir)"; \
	install -d "$$to/bin" "$$lib/pkgconfig" "$$to/include" "$$to/share/fabricast/machines"; \
	install -m 755 $(PROGRAM) "$$to/bin/"; install -m 644 library/fabricast.h "$$to/include/"; \
	install -m 755 $(SHARED_LIB) "$$lib/"; ln -sf $(notdir $(SHARED_LIB)) "$$lib/libfabricast.so"; \
	install -m 644 $(PUBLIC_LIB) "$$lib/"; \
	sed -e 's,@PREFIX@,$(prefix),;s,@LIBDIR@,$(libdir),;s,@VERSION@,$(VERSION),;s,@LIBS@,$(LIBS),' library/fabricast.pc.in \
	    >"$$lib/pkgconfig/fabricast.pc"; \
	recorder="$(DESTDIR)$(recorderdir)"; install -d "$$recorder" "$$to/share/man/man1" "$$to/share/bash-completion/completions"; \
	for f in $(OBJ)/libfabricast-*.so; do [ ! -e $$f ] || install -m 755 $$f "$$recorder/"; done; \
	for f in $(OBJ)/fabricast-measure-*; do [ ! -e $$f ] || install -D -m 755 $$f "$$to/lib/fabricast/$${f##*/}"; done; \
	install -m 644 $(dir $(MANUAL))*.1 "$$to/share/man/man1/"; \
	install -m 644 $(dir $(MANUAL))fabricast "$$to/share/bash-completion/completions/"; \
	for f in $(wildcard models/machines/*); do install -m 644 $$f "$$to/share/fabricast/machines/"; done; \
	[ -n "$(DESTDIR)" ] || [ "$$(id -u)" != 0 ] || ldconfig

uninstall:
	$(V)to="$(DESTDIR)$(prefix)"; lib="$(DESTDIR)$(libdir)"; \
	rm -f "$$to/bin/fabricast" "$$to/include/fabricast.h" "$$lib"/libfabricast.* "$$lib/pkgconfig/fabricast.pc" \
	    "$$to"/lib/fabricast/fabricast-measure-* "$(DESTDIR)$(recorderdir)"/libfabricast-pmpi*.so \
	    "$(DESTDIR)$(recorderdir)"/libfabricast-reorder*.so "$(DESTDIR)$(recorderdir)"/libfabricast-sweep*.so \
	    "$$to"/share/man/man1/fabricast*.1 "$$to/share/bash-completion/completions/fabricast"; rm -rf "$$to/share/fabricast"; \
	[ ! -d "$$to/lib/fabricast" ] || rmdir --ignore-fail-on-non-empty "$$to/lib/fabricast"

clean:
	$(V)rm -rf $(OBJ)

# Where packages may be installed first, nothing is compiled before they are there (also with -j).
ifneq ($(filter run test cases bench figures validate calibrations fuzz fuzz-smoke,$(MAKECMDGOALS)),)
$(OBJECTS) $(HOOK): | deps
endif

$(OBJ)/%.o: %.c Makefile
	$(V)mkdir -p $(@D); echo "  CC      $<"; $(CC) $(OWN) $(FAST) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<
$(OBJ)/test/o/%.o: %.c Makefile
	$(V)mkdir -p $(@D); echo "  CC test $<"; $(CC) $(OWN) $(CHECKED) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<
# Half of the tests' time is spent in these (perf record make test); others would not pay for their compiling.
HOT = core/random mapping/bipartition mapping/exact_job mapping/hop_search mapping/search models/network \
      models/routings/routing_torus solvers/adaptive_split solvers/bound/flow_weights solvers/flit/cycle_allocate \
      solvers/flit/cycle_bits solvers/flit/cycle_inject solvers/flit/cycle_step solvers/flit/event_router solvers/flit/event_run \
      solvers/flit/event_transfer solvers/flit/event_wait solvers/flit/route_tmesh solvers/flit/route_torus \
      solvers/flit/source solvers/nic/nic_spread solvers/queueing/queueing_heads solvers/queueing/queueing_rounds \
      solvers/queueing/turns solvers/queueing/turns_tables solvers/queueing/turns_zero solvers/transit/transit_contention \
      solvers/transit/transit_fair solvers/transit/transit_routes
$(HOT:%=$(OBJ)/test/o/%.o): CHECKED += -O2
# These are many and run briefly: compiling them costs more than what it would gain, but for tests that compute.
COLD = cli library reproduce sweep tests
$(COLD:%=$(OBJ)/test/o/%/%.o): CHECKED += -O0
WARM = maxmin support test_dependencies test_flit_route test_flit_run test_map_search test_options test_transit
$(WARM:%=$(OBJ)/test/o/tests/%.o): CHECKED += -Og

# The kernel reads no input, and clang takes minutes to instrument it.
$(OBJ)/fuzz/o/solvers/flit/%.o: FUZZED = -O1
$(OBJ)/fuzz/o/%.o: %.c Makefile
	$(V)mkdir -p $(@D); echo "  CC fuzz $<"; clang $(OWN) $(FUZZED) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

# The page's parts are taken in by the assembler.
$(OBJ)/plots/page_parts.o $(OBJ)/test/o/plots/page_parts.o $(OBJ)/fuzz/o/plots/page_parts.o: $(wildcard plots/report*.*)

$(LIB): $(SRC:%.c=$(OBJ)/%.o)
$(TESTLIB): $(SRC:%.c=$(OBJ)/test/o/%.o)
$(LIB) $(TESTLIB):
	$(V)mkdir -p $(@D); rm -f $@; $(AR) rcs $@ $^

$(OBJ)/libfabricast.so.0: $(PUBLIC:%.c=$(OBJ)/%.o) library/exports.map
	$(V)$(call share,$(FAST))
$(OBJ)/test/libfabricast.so.0: $(PUBLIC:%.c=$(OBJ)/test/o/%.o) library/exports.map
	$(V)$(call share,$(CHECKED))
share = echo "  LINK    $@"; $(CC) -shared $(1) $(CFLAGS) -fopenmp $(LDFLAGS) -Wl,-soname,$(@F) -Wl,--version-script=library/exports.map \
	-o $@ $(filter %.o,$^) $(subst -lscotch,-l:libscotch.a,$(LIBS)) -ldl
$(OBJ)/public/libfabricast.a: $(PUBLIC:%.c=$(OBJ)/%.o)
$(OBJ)/test/public/libfabricast.a: $(PUBLIC:%.c=$(OBJ)/test/o/%.o)
$(OBJ)/public/libfabricast.a $(OBJ)/test/public/libfabricast.a:
	$(V)mkdir -p $(@D); echo "  LINK    $@"; rm -f $@; $(LD) -r -o $(@D)/fabricast.o $^ && \
	objcopy --localize-hidden $(@D)/fabricast.o && $(AR) rcs $@ $(@D)/fabricast.o

# The man pages and bash's completion, by the program itself.
$(OBJ)/man/fabricast.1: $(OBJ)/fabricast
$(OBJ)/test/man/fabricast.1: $(OBJ)/test/fabricast
$(OBJ)/man/fabricast.1 $(OBJ)/test/man/fabricast.1:
	$(V)mkdir -p $(@D); $< --manual $(@D)

$(OBJ)/fabricast: $(CLI:%.c=$(OBJ)/%.o) $(LIB)
$(BENCHES) $(CHECKS): $(OBJ)/%: $(OBJ)/tests/%.o $(LIB)
$(OBJ)/fabricast $(BENCHES) $(CHECKS):
	$(V)echo "  LINK    $@"; $(CC) $(FAST) $(CFLAGS) -fopenmp $(LDFLAGS) -o $@ $^ $(LIBS)
$(OBJ)/test/fabricast: $(CLI:%.c=$(OBJ)/test/o/%.o) $(OBJ)/test/o/tests/sanitizers.o $(TESTLIB)
$(OBJ)/test/tests: $(SHARED:%.c=$(OBJ)/test/o/%.o) $(TESTS:%.c=$(OBJ)/test/o/%.o) \
                   $(patsubst %.c,$(OBJ)/test/o/%.o,$(filter-out cli/main.c,$(CLI))) $(TESTLIB)
$(OBJ)/test/tests: $(OBJ)/test/linked
$(OBJ)/test/fabricast $(OBJ)/test/tests:
	$(V)echo "  LINK    $@"; $(CC) $(CHECKED) -no-pie $(CFLAGS) -fopenmp $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -lcunit $(LIBS)

$(OBJ)/fuzz/fuzz: $(patsubst %.c,$(OBJ)/fuzz/o/%.o,$(FUZZ) $(filter-out plots/% reproduce/%,$(SRC)))
	$(V)echo "  LINK    $@"; clang $(subst fuzzer-no-link,fuzzer,$(FUZZED)) $(CFLAGS) -fopenmp $(LDFLAGS) -o $@ $^ $(LIBS)

# Which test files the tests were linked from: another TESTS links them anew.
$(OBJ)/test/linked: FORCE
	$(V)mkdir -p $(@D); echo '$(TESTS)' | cmp -s - $@ || echo '$(TESTS)' > $@

# For each MPI that is there a recorder, what reorders ranks (its names come from this MPI's mpi.h), MPI for `sweep` and the kernel, and the
# benchmark of `measure`, named after its family, by its own compiler; and what picks one of the first two, with all their names.
# These live inside other people's programs: no sanitizers, no OpenMP; they take the MPI that the program has.
HOOKED = $(filter-out -I. -fopenmp -MMD -MP,$(OWN)) -I$(CURDIR) -O2 -g -ffile-prefix-map=$(CURDIR)/= -fPIC $(CPPFLAGS) $(CFLAGS)
$(HOOK): $(PMPI) $(RANKS) $(REORDER) $(BESIDE) $(wildcard traces/pmpi/*.h library/reorder/*.h library/reorder/*.awk answer/mpi/*.h) \
         sweep/sweep.h cli/ranks.h core/ranks.h core/core.h library/fabricast.h $(OBJ)/mpi Makefile
	$(V)set -e; names=$(OBJ)/pmpi; rm -rf $$names; mkdir -p $$names; built=; \
	printf '#include <mpi.h>\n#ifdef OPEN_MPI\nopenmpi\n#elif defined MPICH_VERSION\nmpich\n#endif\n' >$$names/family.c; \
	while read -r cc; do family=$$($$cc -E -P $$names/family.c | tail -n 1); \
	    case $$family in openmpi|mpich) ;; *) echo "$$cc: neither Open MPI nor MPICH"; exit 1;; esac; \
	    case " $$built " in *" $$family "*) continue;; esac; built="$$built $$family"; echo "  MPICC   $@ ($$family)"; \
	    mkdir -p $$names/$$family $$names/reorder-$$family; \
	    (cd $$names/$$family && $$cc $(HOOKED) -c $(abspath $(filter-out %/pmpi_pick.c,$(PMPI)))); \
	    $(CC) -shared $(LDFLAGS) -o $(OBJ)/libfabricast-pmpi-$$family.so $$names/$$family/*.o -pthread; \
	    $$cc -E -P $$names/family.c | awk -f library/reorder/names.awk >$$names/reorder-$$family/reorder_names.h; \
	    (cd $$names/reorder-$$family && $$cc $(subst -O2,-O1,$(HOOKED)) -I. -DFC_MPI_$$family -c $(abspath $(REORDER))); \
	    $(CC) -shared $(LDFLAGS) -o $(OBJ)/libfabricast-reorder-$$family.so $$names/reorder-$$family/*.o -ldl -pthread -lm; \
	    $$cc $(HOOKED) -shared $(LDFLAGS) -o $(OBJ)/libfabricast-sweep-$$family.so $(RANKS); \
	    $$cc $(HOOKED) $(LDFLAGS) -o $(OBJ)/fabricast-measure-$$family $(BESIDE) -lm; done <$(OBJ)/mpi; \
	[ -n "$$built" ] || { echo "  no compiler of an MPI is there ($(MPICC)): no recorder"; exit 0; }; \
	for kind in reorder pmpi; do define=; [ $$kind = pmpi ] || define="-DFC_PICK=\"$$kind\""; \
	    nm -D --defined-only $(OBJ)/libfabricast-$$kind-*.so | awk '$$3 ~ /^(mpi|MPIX?)_/ { print "NAME(" $$3 ")" }' | \
	        sort -u >$$names/pmpi_names.h; \
	    $(CC) $(subst -O2 -g ,-O1 -g1 ,$(HOOKED)) $$define -fvisibility=hidden -I$$names -shared $(LDFLAGS) \
	        -o $(OBJ)/libfabricast-$$kind.so $(filter %/pmpi_pick.c,$(PMPI)) -ldl -pthread; done

# Preloaded by the tests of memory that runs out.
$(OBJ)/fail_allocation.so: tests/fail_allocation.c Makefile
	$(V)mkdir -p $(@D); echo "  CC      $@"; $(CC) $(filter-out -fopenmp -MMD -MP,$(OWN)) -O2 -g -fPIC -shared $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $<

# Which compilers are there: another one builds the recorders anew. One that was asked for must be there.
$(OBJ)/mpi: FORCE
	$(V)mkdir -p $(@D); for c in $(MPICC); do command -v $$c || \
	    [ "$(origin MPICC)" = file ] || { echo "MPICC: $$c is not there" >&2; exit 1; }; done >$@.new && \
	{ cmp -s $@.new $@ && rm $@.new || mv $@.new $@; }

FORCE:
.PHONY: FORCE all help deps run format test cases bench figures validate fuzz fuzz-smoke calibrations install install-built uninstall clean
.DELETE_ON_ERROR:
# Nothing makes these but a compiler: make looks for no rule.
$(OBJECTS:.o=.d): ;
-include $(OBJECTS:.o=.d)
