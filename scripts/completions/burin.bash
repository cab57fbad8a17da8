# SPDX-License-Identifier: MIT OR GPL-2.0-only
# Completion of burin(1) in bash. The command prints what may follow: burin --complete.

_burin()
{
	local cur=${COMP_WORDS[COMP_CWORD]} words=("${COMP_WORDS[@]}") cword=$COMP_CWORD prefix= separator word description

	# Bash splits words at = and :, those of bash-completion does not.
	if declare -F _get_comp_words_by_ref >/dev/null; then
		_get_comp_words_by_ref -n =: cur words cword
	fi
	# It inserts what is behind the last one.
	for separator in = :; do
		if [[ $COMP_WORDBREAKS == *"$separator"* && ${cur#"$prefix"} == *"$separator"* ]]; then
			prefix=${cur%"${cur##*"$separator"}"}
		fi
	done
	COMPREPLY=()
	while IFS=$'\t' read -r word description; do
		case $word in
		:directories)
			compopt -o filenames
			mapfile -t COMPREPLY < <(compgen -d -- "${cur#"$prefix"}")
			;;
		:files)
			compopt -o filenames
			mapfile -t COMPREPLY < <(compgen -f -- "${cur#"$prefix"}")
			;;
		:command*)
			if declare -F _command_offset >/dev/null; then
				_command_offset $((${word#:command } + 1))
			elif ((cword == ${word#:command } + 1)); then
				mapfile -t COMPREPLY < <(compgen -c -- "$cur")
			else
				compopt -o filenames
				mapfile -t COMPREPLY < <(compgen -f -- "$cur")
			fi
			;;
		*) COMPREPLY+=("${word#"$prefix"}") ;;
		esac
	done < <("$1" --complete "${words[@]:1:cword}" 2>/dev/null)
}

complete -F _burin burin
