# shellcheck shell=bash
# What the commands in deploy/ share: finding Swift, running a child that dies with the script, telling the time.
# To be sourced with `set -euo pipefail`.

# Puts Swift on PATH; fails when there is none.
find_swift() {
    command -v swift >/dev/null && return 0
    local directory
    for directory in /opt/swift/usr/bin /usr/local/swift/usr/bin "${HOME:-}/.local/share/swiftly/bin"; do
        if [[ -x $directory/swift ]]; then
            PATH=$directory:$PATH
            return 0
        fi
    done
    return 1
}

# Seconds since the epoch, with milliseconds.
now() {
    printf '%s' "$EPOCHREALTIME" | tr ',' '.'
}

# The time since $1, such as 12.3 s.
elapsed() {
    awk -v from="$1" -v to="$(now)" 'BEGIN { printf "%.1f s", to - from }'
}

children=()

# Starts a child in a process group of its own; its id is then in $child. With its own group, Ctrl-C reaches this
# script alone, which ends its children in the order it chooses.
start_child() {
    set -m
    "$@" </dev/null &
    child=$!
    set +m
    children+=("$child")
}

# Runs a child to its end, for $child_limit seconds at most. Other than a plain command, a signal to the script is
# handled at once.
child_limit=1800
run_child() {
    local status=0 pid watchdog
    start_child "$@"
    pid=$child
    start_child end_late "$pid" "$child_limit"
    watchdog=$child
    wait "$pid" || status=$?
    end_child "$watchdog"
    unset 'children[-1]' 'children[-1]'
    return "$status"
}

end_late() { # PID SECONDS
    exec >/dev/null 2>&1
    sleep "$2"
    end_child "$1"
}

# Ends one child and its descendants: asked first, forced after $2 seconds (10 if not given). The descendants are found
# by parent, not by process group: `swift test` gives the tests a group of their own.
end_child() {
    local pid=$1 tries=$((${2:-10} * 20)) pids
    mapfile -t pids < <(family_of "$pid")
    ((${#pids[@]} > 0)) || return 0
    kill -TERM "${pids[@]}" 2>/dev/null || true
    while any_alive "${pids[@]}"; do
        if ((tries-- == 0)); then
            kill -KILL "${pids[@]}" 2>/dev/null || true
            break
        fi
        sleep 0.05
    done
    wait "$pid" 2>/dev/null || true
}

# Prints a process and its descendants, as far as they are there.
family_of() { # PID
    ps -eo pid=,ppid= | awk -v root="$1" '
        { parent[$1] = $2 }
        END {
            for (pid in parent) {
                for (above = pid; above in parent && above > 1; above = parent[above]) {
                    if (above == root) {
                        print pid
                        break
                    }
                }
            }
        }'
}

any_alive() { # PID…
    local pid state
    for pid in "$@"; do
        # A zombie has ended; its parent, or ours, may take its time to notice.
        state=$(ps -o state= -p "$pid") && [[ $state != Z* ]] && return 0
    done
    return 1
}

# Ends all children that are left, last one first.
end_children() {
    local index
    for ((index = ${#children[@]} - 1; index >= 0; index--)); do
        end_child "${children[index]}"
    done
    children=()
}

# Calls $1 once, however the script ends. A second Ctrl-C does not cut it short.
on_any_exit() {
    # shellcheck disable=SC2064 # the name is meant to be expanded now
    trap "trap '' HUP INT TERM; $1" EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
}
