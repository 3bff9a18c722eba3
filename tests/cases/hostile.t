# Names that anyone may have written: no figure runs a command, no terminal obeys them, all are shown.

# Machines, a trace, a graph and a mapping whose names run `touch canary` where one evaluates them, and recolour a terminal.
$ S=$PWD; mkdir $TMP/run; cd $TMP/run; n='`touch canary`$(touch canary)@canary ^{b}_2 50%s #é'; for m in bgl-64 tmesh-216; do printf 'name: "%s {/Symbol a}'"'"'\\"\\\\\\n\\e[31m\\x9b"\ntitle: "%s </title><script>\\e[2J"\n' "$n" "$n" >$m.yaml; sed 1,2d $S/models/machines/$m.yaml >>$m.yaml; done; e=$(printf '\033[31m\302\233'); cp $S/traces/samples/lammps-lj-16.fct "$n'\"\\$e.fct"; printf '%%%%MatrixMarket matrix coordinate real general\n4 4 1\n1 4 9\n' >"$n'\"\\$e.mtx"; fabricast map -m bgl-64 -g "$n'\"\\$e.mtx" --strategy def --format cores -o "$n'\"\\$e.map" >told; head -1 bgl-64.yaml; ls | wc -l
> name: "`touch canary`$(touch canary)@canary ^{b}_2 50%s #é {/Symbol a}'\"\\\n\e[31m\x9b"
> 6

# Each command that draws, in a directory of such a name.
$ cd $TMP/run; n='`touch canary`$(touch canary)@canary ^{b}_2 50%s #é'; b="$n'\"\\$(printf '\033[31m\302\233')"; { fabricast predict -m bgl-64.yaml,bgl-64 -t "$b.fct" --map def,rnm --plot "-p$b"; fabricast load -m bgl-64.yaml -g "$b.mtx" --map "$b.map" --plot "l$b"; fabricast map -m bgl-64.yaml -g "$b.mtx" --strategy "$b.map" --plot "m$b"; fabricast curve -m bgl-64.yaml -p uniform --loads 20% --solver queueing --plot "c$b"; fabricast flit -m bgl-64.yaml -p uniform --load 20% --measure 9000 --plot "f$b"; fabricast place -m tmesh-216.yaml --set network.dims=[2,2,2] --objective hops --time 0.1 --plot "o$b"; fabricast reproduce gemini-fig6 --quick -o "r$b"; } >text; for d in -p l m c f o r; do ls "./$d$b" | grep -c 'png'; done; ls -d *.log */*.log canary* */canary* 2>&- | wc -l; cat ./*/*.gp | grep -c '[`@]\|\$(t'
> 7
> 3
> 1
> 1
> 1
> 1
> 1
> 0
> 0
? 1

# What they have printed shows the names and obeys nothing: C0, DEL and C1 stand as \x1b. So do notes, errors and what is typed.
$ cd $TMP/run; tr -d '\n -~\200-\377' <text | wc -c; LC_ALL=C grep -c "$(printf '\302[\200-\237]')" text; grep -c '^machine     `touch canary`$(touch canary)@canary ^{b}_2 50%s #é {/Symbol a}."..x0a.x1b.31m.xc2.x9b: ' text
> 0
> 0
> 5
$ fabricast load -m "$(printf 'a\033]0;b\a\302\233\377\303\251')" -p uniform
! fabricast: no shipped machine is called 'a\x1b]0;b\x07\xc2\x9b\xffé' (`fabricast machines` lists them; a path contains '/' or ends in .yaml)
? 2
$ fabricast load "$(printf -- '--\033[31m\302\233')"
! fabricast load: unrecognized option '--\x1b[31m\xc2\x9b'
! Try `fabricast load --help' or `fabricast load --usage' for more information.
? 2
$ fabricast load -m bgl-64 --threads "$(printf '\033[31m')"
! fabricast load: --threads: '\x1b[31m' is not an integer
! Try `fabricast load --help' or `fabricast load --usage' for more information.
? 2
$ fabricast "$(printf '\033[31m')"
! fabricast: unknown command '\x1b[31m' (`fabricast --help` lists them)
? 2

# JSON escapes them; a page has no tag of theirs.
$ cd $TMP/run; fabricast load -m bgl-64.yaml -p uniform --json >json; tr -d '\n -~\200-\377' <json | wc -c; LC_ALL=C grep -c "$(printf '\302[\200-\237]')" json; grep '"machine"' json; n='`touch canary`$(touch canary)@canary ^{b}_2 50%s #é'; fabricast report -m bgl-64.yaml -g "$n'\"\\$(printf '\033[31m\302\233').mtx" --map def --versus rnm -o page.html -q >/dev/null; grep -c '<script>' page.html; grep -c '</title>' page.html
> 0
> 0
>   "machine": "`touch canary`$(touch canary)@canary ^{b}_2 50%s #é {/Symbol a}'\"\\\n\u001B[31m\u009B",
> 1
> 1
