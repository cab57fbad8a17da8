#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# Builds and runs the tracepoints' tests with compilers directly: matrix.sh ROOT PART [quick|long]
#   host     every compiler, language, optimisation and kind of object
#   strict   no warnings under strict options; what must not compile does not; BURIN_DISABLE
#   aarch64  cross-compiled, under qemu-user
# Prints `ok ...` or `not ok ...` for each case; exit 1 if one failed, 77 if a tool is missing.
set -u
root=$(cd "$1" && pwd) part=$2 extent=${3-long}
# With each optimisation; once each, further kinds.
kinds=$([ "$extent" = quick ] && echo "shared pie lto" || echo "shared pie no-pie lto static")
optimisations=$([ "$extent" = quick ] && echo '-O2' || echo '-O0 -O1 -O2 -O3')
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
# Compilers run in a folder of the work's, and see the tree by a short name: so ccache knows the files in another clone, too.
ln -s "$root" "$work/tree" && mkdir "$work/build" && cd "$work/build" || exit 99
root=../tree
here=$root/tests/source/tracepoint
cases=$work/cases
: >"$cases"

need() {
	for tool; do
		command -v "$tool" >/dev/null || { echo "SKIP: $tool is not installed"; exit 77; }
	done
}

# ok DESCRIPTION STATUS LOG
report() {
	if [ "$2" = 0 ]; then
		echo "ok $1" | tee -a "$cases"
	else
		echo "not ok $1" | tee -a "$cases"
		sed 's/^/    /' "$3" | head -20
	fi
}

finish() {
	echo "# $(grep -c ^ok "$cases") ok, $(grep -c '^not ok' "$cases") not ok"
	! grep -q '^not ok' "$cases" && grep -q ^ok "$cases"
	exit
}

library="$root/src/source/tracepoint/fields/serialize.c $root/src/source/tracepoint/fields/site_types.c $root/src/wire/wire_format.c $here/capture.c"

# build_and_run CC CXX KIND STANDARD OPTIONS...; RUN is put before programs
build_and_run() (
	cc=$1 cxx=$2 kind=$3 standard=$4
	shift 4
	rm -f ./*
	inc="-I$root/include"
	lib_options="-std=gnu17 -D_GNU_SOURCE -I$root/src"
	objects=1 compile= link=
	case $kind in
	shared) compile=-fPIC link=-pie objects=2 ;;
	pie) compile=-fPIE link=-pie ;;
	no-pie) compile=-fno-pie link=-no-pie ;;
	lto) compile=-flto link=-flto ;;
	static) compile=-fno-pie link=-static ;;
	gc) compile='-ffunction-sections -fdata-sections -fvisibility=hidden' link=-Wl,--gc-sections ;;
	asan) compile='-fsanitize=address,undefined -fno-sanitize-recover=undefined' link=-fsanitize=address,undefined ;;
	intel) compile=-masm=intel ;;
	esac
	case $cc in *clang*) [ "$kind" = lto ] || [ "$kind" = gc ] && link="$link -fuse-ld=lld" ;; esac
	cache=$(command -v ccache)
	set -e
	set -x
	for file in $library; do
		$cache $cc $lib_options $inc "$@" $compile -c "$file" -o "lib-$(basename "$file" .c).o"
	done
	$cache $cc -std=gnu17 $inc "$@" $compile -c "$here/other.c" -o other.o
	case $standard in
	c++*|gnu++*) $cache $cxx -std="$standard" $inc "$@" $compile -DBURIN_OBJECTS=$objects -c "$here/use.cc" -o use.o; linker=$cxx ;;
	*) $cache $cc -std="$standard" $inc "$@" $compile -DBURIN_OBJECTS=$objects -c "$here/use.c" -o use.o; linker=$cc ;;
	esac
	if [ $kind = shared ]; then
		$cache $cc -std=gnu17 $inc "$@" $compile -c "$here/object.c" -o object.o
		$cc -shared "$@" lib-*.o -o libcapture.so
		$cc -shared "$@" object.o -o libobject.so -L. -lcapture
		$linker "$@" use.o other.o -o use $link -L. -lobject -lcapture -Wl,-rpath,"$work/build"
	else
		$linker "$@" use.o other.o lib-*.o -o use $link
	fi
	${RUN-} ./use
)

host() {
	need gcc g++ clang clang++ ld.lld
	for cc in gcc clang; do
		cxx=$([ $cc = gcc ] && echo g++ || echo clang++)
		for standard in c17 c++17; do
			for optimise in $optimisations; do
				for kind in $kinds; do
					build_and_run $cc $cxx $kind $standard $optimise >"$work/log" 2>&1
					report "$cc $standard $optimise $kind" $? "$work/log"
				done
			done
		done
		for more in 'c17 -O0 pie' 'c++17 -O0 shared' 'gnu17 -O2 gc' 'c++20 -O2 gc' 'c17 -O1 asan' 'c++17 -O1 asan' 'gnu17 -O2 intel' 'c++20 -O0 pie' \
			'c++20 -O2 shared' 'c17 -O2 no-pie' 'c++17 -O2 static' 'gnu17 -Os pie' 'c11 -O2 pie'; do
			set -- $more
			build_and_run $cc $cxx $3 $1 $2 >"$work/log" 2>&1
			report "$cc $more" $? "$work/log"
		done
	done
	finish
}

aarch64() {
	need aarch64-linux-gnu-gcc qemu-aarch64
	export RUN='qemu-aarch64 -L /usr/aarch64-linux-gnu'
	for optimise in $optimisations; do
		for kind in shared pie no-pie lto static gc; do
			build_and_run aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ $kind gnu17 $optimise >"$work/log" 2>&1
			report "aarch64 gcc gnu17 $optimise $kind" $? "$work/log"
		done
	done
	finish
}

# compiles DESCRIPTION LANGUAGE CODE OPTIONS...: without a warning, with every compiler
compiles() {
	description=$1 language=$2 code=$3
	shift 3
	printf '%s\n' '#include <burin/burin.h>' "$code" >"$work/code.$language"
	for cc in gcc clang; do
		[ $language = cc ] && compiler=$([ $cc = gcc ] && echo g++ || echo clang++) || compiler=$cc
		$compiler -Werror -Wall -Wextra "-I$root/include" "$@" -c "$work/code.$language" -o "$work/code.o" >"$work/log" 2>&1
		report "$compiler $description" $? "$work/log"
	done
}

# refused DESCRIPTION PATTERN BODY OPTIONS...: neither C nor C++ compiles a function with this body, and says why
refused() {
	description=$1 pattern=$2 body=$3
	shift 3
	for compiler in gcc g++ clang clang++; do
		case $compiler in *++) language=cc standard=c++17 ;; *) language=c standard=c17 ;; esac
		printf '%s\n' '#include <burin/burin.h>' 'struct pair { int a, b; };' \
			'void function(int i, const char *s, struct pair pair, int *p);' \
			'void function(int i, const char *s, struct pair pair, int *p)' \
			"{ (void)i; (void)s; (void)pair; (void)p; $body; }" >"$work/code.$language"
		if $compiler -std=$standard -Wall "$@" -c "$work/code.$language" -o "$work/code.o" >"$work/log" 2>&1; then
			echo 'it compiled' >>"$work/log"
			report "$compiler refuses $description" 1 "$work/log"
		else
			grep -qiE "$pattern" "$work/log"
			report "$compiler refuses $description" $? "$work/log"
		fi
	done
}

# The same, and the first error says why.
refused_first() {
	pattern=$2
	refused "$@"
	for compiler in gcc g++ clang clang++; do
		case $compiler in *++) language=cc standard=c++17 ;; *) language=c standard=c17 ;; esac
		printf '%s\n' '#include <burin/burin.h>' 'struct pair { int a, b; };' "void function(int i, struct pair pair) { (void)i; (void)pair; $3; }" \
			>"$work/code.$language"
		$compiler -std=$standard "-I$root/include" -c "$work/code.$language" -o "$work/code.o" 2>&1 | grep 'error:' | head -1 >"$work/log"
		grep -qE "$2" "$work/log"
		report "$compiler refuses $1: the first error says why" $? "$work/log"
	done
}

strict() {
	need gcc g++ clang clang++
	warnings='-Wshadow -Wconversion -pedantic -Wcast-qual -Wundef'
	cache=$(command -v ccache)
	for optimise in -O0 -O2; do
		for compiler in gcc clang; do
			for standard in c17 gnu17; do
				$cache $compiler -Werror -Wall -Wextra $warnings -Wsign-conversion -Wstrict-prototypes -Wmissing-prototypes \
					-Wno-unused-value -std=$standard $optimise "-I$root/include" -DBURIN_OBJECTS=1 -c "$here/use.c" \
					-o "$work/code.o" >"$work/log" 2>&1
				report "$compiler $standard $optimise without warnings" $? "$work/log"
			done
		done
		for compiler in g++ clang++; do
			# (clang dislikes NULL itself, which the test uses)
			null=$([ $compiler = g++ ] && echo -Wzero-as-null-pointer-constant)
			for standard in c++17 c++20; do
				$cache $compiler -Werror -Wall -Wextra $warnings $null -Wno-unused-value -std=$standard \
					$optimise "-I$root/include" -DBURIN_OBJECTS=1 -c "$here/use.cc" -o "$work/code.o" >"$work/log" 2>&1
				report "$compiler $standard $optimise without warnings" $? "$work/log"
			done
		done
	done

	for where in -I -isystem; do
		o="$where$root/include"
		refused "a number under %s ($where)" format 'BURIN_TRACE("a", "%s", i)' $o -Werror=format
		refused "a string under %d ($where)" format 'BURIN_TRACE("a", "x=%d", s)' $o -Werror=format
		refused "an int under %ld ($where)" format 'BURIN_BEGIN("a", "%ld", i)' $o -Werror=format
		refused "too few arguments ($where)" 'format|argument' 'BURIN_SCOPE("a", "%d %d", i)' $o -Werror=format
		refused "an int under %ld of a span with an id ($where)" format 'BURIN_SPAN_BEGIN(i, "a", "%ld", i)' $o -Werror=format
		refused "too few arguments of a span with an id ($where)" 'format|argument' 'BURIN_SPAN128_END(i, 1, "a", "%d %d", i)' $o -Werror=format
	done
	o="-I$root/include"
	# (clang says nothing about this one in an installed header; registration refuses it)
	refused "too many arguments" 'format|argument' 'BURIN_TRACE("a", "%d", i, i)' $o -Werror=format-extra-args
	refused '%n' 'must not contain %n' 'BURIN_TRACE("a", "%d %n", i, p)' $o -Wno-format
	refused '%hhn' 'must not contain %n' 'BURIN_TRACE("a", "%hhn", p)' $o -Wno-format
	refused '%*d' 'must not contain %n' 'BURIN_TRACE("a", "%s %*d", s, i, i)' $o
	refused '%-*d' 'must not contain %n' 'BURIN_TRACE("a", "%-*d", i, i)' $o
	refused '%.*d' 'must not contain %n' 'BURIN_TRACE("a", "%.*d", i, i)' $o
	refused '%.*s with a long' format 'BURIN_TRACE("a", "%.*s", 3l, s)' $o -Werror=format
	refused 'an array under the wrong conversion' format 'BURIN_TRACE("a", "%s", BURIN_ARRAY(p, i))' $o -Werror=format
	refused 'an array of structs' 'cannot record' 'BURIN_TRACE("a", "%d", BURIN_ARRAY(&pair, i))' $o -Wno-format
	refused 'an array of pointers' 'cannot record' 'BURIN_TRACE("a", "%p", BURIN_ARRAY(&p, i))' $o -Wno-format
	refused '9 arrays' 'too many arguments' "$(printf 'BURIN_TRACE("a", "%s"%s)' "$(printf '%%d%.0s' 1 2 3 4 5 6 7 8 9)" \
		"$(printf ', BURIN_ARRAY(p, i)%.0s' 1 2 3 4 5 6 7 8 9)")" $o
	refused '%m' 'must not contain %n' 'BURIN_TRACE("a", "%m")' $o
	refused '%ls' 'must not contain %n' 'BURIN_TRACE("a", "%ls", L"x")' $o
	refused 'a name with a blank' 'letters, digits' 'BURIN_TRACE("a b")' $o
	refused 'a name of a span with a percent sign' 'letters, digits' 'BURIN_SCOPE("load.%d", "%d", i)' $o
	refused 'a name of a counter in UTF-8' 'letters, digits' 'BURIN_COUNTER("gr\303\266sse", i)' $o
	refused '17 arguments' 'at most 16' 'BURIN_TRACE("a", "%d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17)' $o
	refused '16 arguments and an id' 'at most 16' 'BURIN_SPAN_BEGIN(1, "a", "%d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)' $o -Wno-format
	refused '17 arguments and an id' 'at most 16' 'BURIN_SPAN_BEGIN(1, "a", "%d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17)' $o -Wno-format
	refused '15 arguments and an id of 128 bits' 'at most 16' 'BURIN_SPAN128_END(1, 2, "a", "%d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)' $o -Wno-format
	for more in '' -DBURIN_DISABLE; do
		refused_first "a string as an id $more" 'the id of a span is an integer' 'BURIN_SPAN_BEGIN("x", "a")' $o $more
		refused_first "a double as an id $more" 'the id of a span is an integer' 'BURIN_SPAN_END(i * 0.5, "a", "%d", i)' $o $more
		refused_first "a struct as an id $more" 'the id of a span is an integer' 'BURIN_SPAN_BEGIN(pair, "a")' $o $more
		refused_first "an __int128 as an id $more" 'the id of a span is an integer' 'BURIN_SPAN128_BEGIN(1, (__int128)i, "a")' $o $more
		refused_first "a pointer as an id $more" 'the id of a span is an integer' 'BURIN_SPAN128_BEGIN(&pair, 1, "a")' $o $more
	done
	refused 'a %n in a span with an id' 'must not contain %n' 'BURIN_SPAN_BEGIN(1, "a", "%d %n", i, p)' $o -Wno-format
	refused 'a long format of a span with an id' '1023' "BURIN_SPAN_BEGIN(1, \"a\", \"$(printf '%01010d' 0)\")" $o
	refused 'a long name of a span with an id' '1 to 127' "BURIN_SPAN_BEGIN(1, \"$(printf '%0122d' 0)\")" $o
	refused_first 'a struct' 'cannot record an argument of this type; a struct: pass its members' 'BURIN_TRACE("a", "%d", pair)' $o
	refused_first 'a struct as a counter' 'cannot record' 'BURIN_COUNTER("a", pair)' $o
	refused_first 'a scope without braces' 'BURIN_SCOPE_is_a_declaration_put_it_between_braces|expected expression' \
		'if (i) BURIN_SCOPE("a")' $o
	refused 'a scope without braces' 'BURIN_SCOPE_is_a_declaration_put_it_between_braces' 'if (i) BURIN_SCOPE("a")' $o
	refused '__int128' 'cannot record' 'BURIN_TRACE("a", "%d", (__int128)i)' $o -Wno-format
	refused 'unsigned __int128' 'cannot record' 'BURIN_TRACE("a", "%d", (unsigned __int128)i)' $o -Wno-format
	refused 'a name that is no literal' 'error' 'BURIN_TRACE(s, "%d", i)' $o
	refused 'a format that is no literal' 'error' 'BURIN_TRACE("a", s, i)' $o
	refused 'no name' '1 to 127' 'BURIN_TRACE("")' $o
	refused 'a long name' '1 to 127' "BURIN_TRACE(\"$(printf '%0128d' 0)\")" $o
	refused 'a long name of a span' '1 to 127' "BURIN_BEGIN(\"$(printf '%0125d' 0)\")" $o
	refused 'a long format' '1023' "BURIN_TRACE(\"a\", \"$(printf '%01024d' 0)\")" $o
	refused 'a string as a counter' 'error' 'BURIN_COUNTER("a", s)' $o
	refused 'an old standard' 'C11 or later|C\+\+17 or later' 'BURIN_TRACE("a")' $o -std=gnu++14 -x c++
	refused 'another machine' 'x86-64 or' 'BURIN_TRACE("a")' $o -mx32 -ffreestanding
	body='(void)0; BURIN_TRACE("a", "%d %s %p", side(), text, BURIN_BYTES(text, 3)); BURIN_SCOPE("b", "%d", alone);
		BURIN_COUNTER("c", alone); BURIN_BEGIN("d"); if (alone) BURIN_END("d", "%%"); else BURIN_TRACE("e", "1 * 2, 100%% * 3 n");
		long id = 4; int high = 5; BURIN_SPAN_BEGIN(id, "f"); BURIN_SPAN_END(side(), "f", "%s", text); BURIN_SPAN128_BEGIN(high, side(), "g");'
	code="int side(void);
		#ifdef __cplusplus
		extern \"C\"
		#endif
		int main(void) { const char *text = \"x\"; int alone = 3; $body return 0; }"
	compiles 'everything' c "$code" -std=c17 -pedantic
	compiles 'everything' cc "$code" -std=c++17 -pedantic
	compiles 'no formats with %% and * refused' c "void f(void); void f(void) { BURIN_TRACE(\"e\", \"1 * 2, 100%% * n 3\"); }"
	sed -i 's/extern "C"//' "$work/code.c"
	for compiler in gcc g++ clang clang++; do
		case $compiler in *++) language=c++ standard=c++17 ;; *) language=c standard=c17 ;; esac
		for optimise in -O0 -O2; do
			{
				echo '#include <burin/burin.h>'
				echo 'int side(void); int main(void) { const char *text = "x"; int alone = 3;'
				echo "$body"
				echo 'return burin_active() || burin_callback_set("a", 0, 0) != -95; }'
				echo 'int side(void) { return 1; }'
			} >"$work/disabled.c"
			{
				$compiler -x $language -std=$standard -Werror -Wall -Wextra -Wshadow -pedantic $optimise -DBURIN_DISABLE $o \
					"$work/disabled.c" -o "$work/disabled" && "$work/disabled" &&
					! readelf -SW "$work/disabled" | grep burin && ! nm "$work/disabled" | grep -i burin_
			} >"$work/log" 2>&1
			report "$compiler $optimise BURIN_DISABLE leaves nothing and needs nothing" $? "$work/log"
		done
		refused_disabled=$($compiler -x $language -std=$standard -Werror=format -Wall -DBURIN_DISABLE $o -c -o "$work/code.o" - 2>&1 <<-END
			#include <burin/burin.h>
			int main(void) { BURIN_TRACE("a", "%s", 3); return 0; }
			END
		) && s=1 || s=0
		echo "$refused_disabled" >"$work/log"
		report "$compiler BURIN_DISABLE still checks formats" $s "$work/log"
	done
	finish
}

case $part in
host | strict | aarch64) $part ;;
*) echo "usage: $0 ROOT host|strict|aarch64 [quick|long]" >&2; exit 99 ;;
esac
