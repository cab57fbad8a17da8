# SPDX-License-Identifier: MIT OR GPL-2.0-only
# Completion of burin(1) in fish. The command prints what may follow: burin --complete.

function __burin_complete
    set -l before (commandline -opc)
    set -l token (commandline -ct)
    # The part behind the last = is a path; fish replaces the whole word.
    set -l prefix (string replace -r -- '^(.*=)?.*$' '$1' $token)
    set -l path (string replace -r -- '^.*=' '' $token)

    for line in ($before[1] --complete $before[2..-1] "$token" 2>/dev/null)
        switch $line
            case :directories
                printf '%s\n' $prefix(__fish_complete_directories "$path" '')
            case :files
                printf '%s\n' $prefix(__fish_complete_path "$path" '')
            case ':command *'
                set -l first (math (string replace ':command ' '' -- $line) + 2)
                complete -C (string join ' ' -- (string escape -- $before[$first..-1]) "$token")
            case '*'
                printf '%s\n' $line
        end
    end
end

complete -c burin -f -a '(__burin_complete)'
