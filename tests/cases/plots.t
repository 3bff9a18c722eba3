# Plots of any run: their data sum to what the commands print; what goes wrong leaves nothing half done.

# The timeline's computation is that of the ranks (shares to the ten-thousandth), and so is the profile's; all a rank does and
# waits ends when it does.
$ cd $TMP; fabricast predict -m bgl-64 -t $OLDPWD/traces/samples/lammps-lj-16.fct --map def,rnm --plot replayed >text; cd replayed; head -1 timeline.tsv time-profile.tsv throughput.tsv percent-of-peak.tsv; ls | grep -c png; ls | grep -c 'part\|log'
> ==> timeline.tsv <==
> series	prediction	first_rank	ranks	from_s	to_s	computation_share	receiving_share	sending_share	waiting_share
> 
> ==> time-profile.tsv <==
> series	prediction	from_s	to_s	computation_percent	receiving_percent	sending_percent	waiting_percent
> 
> ==> throughput.tsv <==
> series	run	from_s	to_s	bytes_per_s
> 
> ==> percent-of-peak.tsv <==
> what	percent_of_peak	least_percent	most_percent	time_s
> 7
> 0
? 1
$ cd $TMP/replayed; near() { awk -v a=$1 -v b=$2 -v c=$3 'BEGIN { print (a > 0 && a / b - 1 < c && 1 - a / b < c) ? "same" : a " " b }'; }; for s in 0 1; do near $(awk -F'\t' -v s=$s '$1 == s && NR > 1 { t += $4 * $7 * ($6 - $5) } END { print t }' timeline.tsv) $(awk -F'\t' -v s=$s '$1 == s && NR > 1 { t += $4 } END { print t }' ranks.tsv) 1e-3; near $(awk -F'\t' -v s=$s '$1 == s && NR > 1 { t += $4 * ($7 + $8 + $9 + $10) * ($6 - $5) } END { print t }' timeline.tsv) $(awk -F'\t' -v s=$s '$1 == s && NR > 1 { t += $5 } END { print t }' ranks.tsv) 1e-4; near $(awk -F'\t' -v s=$s '$1 == s && NR > 1 { t += 16 * $5 / 100 * ($4 - $3) } END { print t }' time-profile.tsv) $(awk -F'\t' -v s=$s '$1 == s && NR > 1 { t += $4 } END { print t }' ranks.tsv) 1e-9; done
> same
> same
> same
> same
> same
> same
$ cd $TMP/replayed; fabricast predict -m bgl-64 -t $OLDPWD/traces/samples/lammps-lj-16.fct --json -q | awk '/network_bytes/ { gsub(",", ""); print $2 }' >bytes; awk -F'\t' 'NR == FNR { b = $1; next } $1 == "0" { t += $5 * ($4 - $3) } END { d = t / b - 1; print (b > 0 && d < 1e-9 && d > -1e-9) ? "same" : t " " b }' bytes throughput.tsv
> same

# A job that sends nothing, and one that takes no time, have their plots too.
$ cd $TMP; for s in 0 0.001; do printf "fabricast-trace 1\nprogram a\nrecorded by hand\nranks 1\ncomm 0 0\nevents 1\nrank 0 1\nother 0 0 $s\nend\n" >alone.txt; fabricast predict -m qsnet-64 -t alone.txt --plot alone -q >text; ls alone | grep -c png; ls alone | grep -c log; done
> 7
> 0
> 7
> 0
? 1

# The kernel's: delivered flits over time, also without --interval; the text has its table only with it.
$ cd $TMP; fabricast flit -m bgl-64 -p uniform --load 50% --measure 20000 --plot f >text; head -1 f/throughput.tsv; grep -c 'from cycle' text; tail -1 text; ls f
> series	run	from_cycle	to_cycle	flits_per_node_cycle
> 0
> plot: f/throughput.png
> throughput.gp
> throughput.png
> throughput.tsv
$ cd $TMP; fabricast map -m bgl-64 --set network.dims=[4,2,2] -p stencil2d:bytes=64KiB --strategy all --time 0.5s --plot m -q >text; awk -F'\t' 'NR > 1 && ($2 <= 0 || $2 > 100.0001) { bad++ } END { print (NR > 5), bad + 0 }' m/percent-of-peak.tsv; ls m
> 1 0
> percent-of-peak.gp
> percent-of-peak.png
> percent-of-peak.tsv
$ cd $TMP/m; gnuplot -e "form='svg'" percent-of-peak.gp && gnuplot -e "form='pdf'" percent-of-peak.gp && ls
> percent-of-peak.gp
> percent-of-peak.pdf
> percent-of-peak.png
> percent-of-peak.svg
> percent-of-peak.tsv

# Refused before anything is computed: no gnuplot, no folder; the mapping cannot be the table too.
$ cd $TMP; mkdir bin; ln -s $(command -v fabricast) bin/; for c in 'predict -m bgl-64 -p neighbor' 'load -m bgl-64 -p neighbor' 'curve -m bgl-64 -p uniform --loads 50%' 'flit -m bgl-64 -p neighbor' 'map -m bgl-64 -p neighbor' 'place -m tmesh-216'; do PATH=$TMP/bin fabricast $c --plot nowhere; echo $?; done; test -e nowhere; echo $?
> 1
> 1
> 1
> 1
> 1
> 1
> 1
! fabricast: gnuplot cannot be run: No such file or directory (install gnuplot-nox)
! fabricast: gnuplot cannot be run: No such file or directory (install gnuplot-nox)
! fabricast: gnuplot cannot be run: No such file or directory (install gnuplot-nox)
! fabricast: gnuplot cannot be run: No such file or directory (install gnuplot-nox)
! fabricast: gnuplot cannot be run: No such file or directory (install gnuplot-nox)
! fabricast: gnuplot cannot be run: No such file or directory (install gnuplot-nox)
$ cd $TMP; fabricast load -m bgl-64 -p neighbor --plot /proc/none
! fabricast: /proc/none: cannot be made: No such file or directory
? 2
$ cd $TMP; fabricast map -m bgl-64 -p neighbor --plot text --strategy def
! fabricast: text: no directory (expected one for the figures)
? 2
$ fabricast map -m bgl-64 -p neighbor --plot $TMP/m --strategy def --format slurm
! fabricast: --plot: the mapping goes to standard output instead of a table (expected -o FILE)
? 2

# At a terminal: blocks and colours, none with NO_COLOR, '#' with another locale. In a pipe plain.
$ cd $TMP; c='fabricast load -m bgl-64 -p neighbor -q'; export TERM=xterm LC_ALL=C.UTF-8; script -qc "$c" /dev/null | grep -c '█'; script -qc "$c" /dev/null | grep -c "$(printf '\033')"; NO_COLOR=1 script -qc "$c" /dev/null | grep -c "$(printf '\033')"; TERM=dumb script -qc "$c" /dev/null | grep -c "$(printf '\033')"; LC_ALL=C script -qc "$c" /dev/null | grep -c '█'; LC_ALL=C script -qc "$c" /dev/null | grep -c '####'; $c | grep -c '####'; $c | grep -c "$(printf '\033')"
> 4
> 4
> 0
> 0
> 0
> 2
> 2
> 0
? 1
