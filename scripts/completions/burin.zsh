#compdef burin
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# Completion of burin(1) in zsh. The command prints what may follow: burin --complete.

local line
local -a found

for line in "${(@f)$(${(Q)words[1]} --complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
	case $line in
	'') ;;
	:directories)
		compset -P '*='
		_files -/
		return
		;;
	:files)
		compset -P '*='
		_files
		return
		;;
	:command*)
		shift $((${line#:command } + 1)) words
		((CURRENT -= ${line#:command } + 1))
		_normal
		return
		;;
	*) found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
	esac
done
_describe -t burin burin found
