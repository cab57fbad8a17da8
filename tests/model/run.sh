#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# run.sh [quick|long] - verify the protocols, and that the models can distinguish them from broken ones (README.md).
#
# Three kinds of case: `right` must verify; `seen` must fail at a witness, which shows that what the case is about
# does happen in it; `broken` is a variant that must fail at the assertion named, alone. An assertion that no variant
# trips is a failure as well: a check that cannot fail is a defect. The quick run has every third of the broken variants, other
# ones each time: TEST_SEED repeats them; which assertions are tripped is for the long run. Needs spin and a C compiler; leaves no files.
# Exit status: 0, 1 if a case failed, 77 if a tool is missing.

set -u
mode=${1:-quick}
here=$(cd "$(dirname "$0")" && pwd) || exit 1
cc=${CC:-cc}
# A model of the quick run is compiled for longer than it runs: by tcc in 0.04 s, by clang in 0.7 s, by gcc in 1.5 s.
fast=$(command -v tcc || command -v clang || command -v "$cc")
cache=$(command -v ccache)
for tool in spin "$cc"; do
	command -v "$tool" >/dev/null 2>&1 || { echo "skip model: $tool is not installed"; exit 77; }
done
case $mode in
quick | long) ;;
*) echo "usage: run.sh [quick|long]" >&2; exit 2 ;;
esac
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
cd "$dir" || exit 1

failed=0
tripped=
variant=${TEST_SEED:-$(date +%s)}
echo "# seed $variant"
started=$(date +%s)

# compile LEVEL: pan.c, to pan. States are stored as they are: to mask the bytes between variables takes longer than it saves.
compile()
{
	set -- "-$1" -w -DSAFETY -DNOREDUCE -DNOCOMP -DMEMLIM="$memory"
	case $1,$fast in
	-O0,*/tcc) "$fast" "$@" -o pan pan.c ;;
	-O0,*) $cache "$fast" "$@" -c pan.c && "$fast" -o pan pan.o ;;
	*) $cache "$cc" "$@" -c pan.c && "$cc" -o pan pan.o ;;
	esac >cc.out 2>&1
}

# verify LEVEL FLAGS...: sets result (ok, or the assertion that failed), states, seconds.
verify()
{
	level=$1
	shift
	rm -f pan* ./*.trail
	result="did not run"
	states=0
	seconds=$(date +%s.%N)
	if ! spin -a "$@" "$here/$model.pml" >spin.out 2>&1; then
		result="spin: $(head -n 1 spin.out)"
	elif ! compile "$level"; then
		result="cc: $(head -n 1 cc.out)"
	else
		nice ./pan -E $depth $buckets >pan.out 2>&1
		states=$(sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' pan.out)
		if grep -q '^pan:.*assertion violated' pan.out; then
			result=$(sed -n 's/^pan:[0-9]*: assertion violated *( *!(\([a-z]*\)).*/\1/p' pan.out)
			[ -n "$result" ] || result=$(grep -m 1 '^pan:' pan.out)
		elif ! grep -q 'errors: 0$' pan.out || grep -q 'Search not completed\|max search depth' pan.out; then
			result="not finished: $(grep -m 1 '^pan:\|^error' pan.out)"
		else
			result=ok
		fi
	fi
	seconds=$(date +%s.%N | awk -v from="$seconds" '{ printf "%.1f", $1 - from }')
}

# report PASSED NAME NOTE
report()
{
	if [ "$1" = yes ]; then
		echo "ok $model: $2 ($states states, $seconds s)$3"
	else
		echo "not ok $model: $2 ($states states, $seconds s): $result"
		failed=$((failed + 1))
	fi
}

# right NAME FLAGS...
right()
{
	name=$1
	shift
	verify "$optimise" "$@"
	case $result in
	ok) report yes "$name" "" ;;
	*) report no "$name" "" ;;
	esac
}

# seen WITNESS FLAGS...
seen()
{
	name=$1
	shift
	verify O0 "$@" -DALL=0 -DWITNESS="$name"
	case $result in
	pan:*assertion*) report yes "seen: $name" "" ;;
	*) report no "seen: $name" "" ;;
	esac
}

# broken NAME ASSERTION FLAGS...
broken()
{
	name=$1 assertion=$2
	shift 2
	variant=$((variant + 1))
	[ "$mode" = long ] || [ $((variant % 3)) -eq 0 ] || return 0
	only=$(echo "$assertion" | tr '[:lower:]' '[:upper:]')
	verify O0 "$@" -D"$name" -DALL=0 -D"$only"=1
	if [ "$result" = "$assertion" ]; then
		report yes "broken: $name" ", caught by: $assertion"
		tripped="$tripped $model:$assertion "
	else
		report no "broken: $name, not caught by $assertion" ""
	fi
}

optimise=O0
memory=3000
buckets=-w20 # of the hash table of states, 2^20; the default of 128 MB takes longer to clear than most cases to search
depth=-m1000000 # steps of a path at most: its memory is cleared, too. A case that needs more is "not finished"
# shellcheck source=cases.sh
. "$here/cases.sh"

for model in $([ "$mode" = long ] && echo ring snapshot kernel names filter switch); do
	files=$here/$model.pml
	[ "$model" = ring ] && files="$files $here/reader.pml"
	[ "$model" = kernel ] && files="$files $here/kernel_reader.pml"
	# shellcheck disable=SC2086,SC2013  # one file or two; words are lines
	for assertion in $(sed -n 's/.*CHECK(\([a-z]*\),.*/\1/p' $files | sort -u); do
		case $tripped in
		*" $model:$assertion "*) ;;
		*) echo "not ok $model: no variant trips the assertion: $assertion"; failed=$((failed + 1)) ;;
		esac
	done
done
echo "model: $failed failed, $(($(date +%s) - started)) s"
[ "$failed" -eq 0 ]
