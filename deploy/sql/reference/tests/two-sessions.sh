# shellcheck shell=bash
# What the reference functions do when two sessions call them at once. Sourced by run, which defines `sql` and $results.
# shellcheck disable=SC2153,SC2154 # FIRST_PID is coproc's, results is run's

check() { # NAME ACTUAL EXPECTED
    if [[ $2 == "$3" ]]; then
        echo "ok      $1"
    else
        echo "not ok  $1: got '$2', expected '$3'"
    fi
}

# The first session: a psql that reads from us and answers into a pipe. With an empty account it is the app's
# server, else somebody who is signed in.
open_first() { # ACCOUNT or ""
    coproc FIRST { session "$1" 2>&1; }
    first_out=${FIRST[0]}
    first_in=${FIRST[1]}
    first_pid=$FIRST_PID
}

first() { # STATEMENT; its result is then in $answer
    answer=
    local line
    printf '%s;\n\\echo end-of-answer\n' "$1" >&"$first_in"
    while IFS= read -r -t 10 -u "$first_out" line; do
        [[ $line == end-of-answer ]] && return 0
        answer=$line
    done
    echo "not ok  the first session did not answer: $1"
    return 1
}

close_first() {
    exec {first_in}>&-
    wait "$first_pid" || true
}

second() { # STATEMENT [ACCOUNT]
    PGAPPNAME=second session "${2:-}" -c "$1" >"$results/second" 2>&1 &
    second_pid=$!
}

session() { # ACCOUNT or "", psql's arguments
    local account=$1
    shift
    if [[ -z $account ]]; then
        sql reference_app "$@"
    else
        PGOPTIONS="$PGOPTIONS -c role=authenticated -c request.jwt.claims={\"sub\":\"$account\"}" sql authenticator "$@"
    fi
}

# Waits until the second session is blocked (`blocked`) or has ended by itself (`ended`).
second_is() {
    local tries
    for ((tries = 0; tries < 200; tries++)); do
        kill -0 "$second_pid" 2>/dev/null || {
            echo ended
            return
        }
        if [[ $(sql reference_app -c "select count(*) from pg_stat_activity
                where application_name = 'second' and cardinality(pg_blocking_pids(pid)) > 0") == 1 ]]; then
            echo blocked
            return
        fi
        sleep 0.02
    done
    echo "neither blocked nor ended in time"
}

# Waits for the second session to end; its result is then in $second_answer.
second_ends() {
    wait "$second_pid" || true
    second_answer=$(<"$results/second")
}

new_account() { sql reference_app -c "insert into accounts default values returning id"; }

unread() { # ACCOUNT CONNECTION
    sql reference_app -c "select count(*) from notifications where account_id = '$1' and connection_id = '$2' and read_at is null"
}

two_sessions() {
    local anna bram connection=00000000-0000-4000-8000-000000000001 other=00000000-0000-4000-8000-000000000002
    local token=abcdef0123456789abcdef0123456789 call former_device session pids
    anna=$(new_account)
    bram=$(new_account)
    open_first ""

    # Commit: the second waits, then finds the first's row.
    call="select insert_notification('$anna', 'contact_updated', '$connection')"
    first "begin"
    first "$call"
    check "the first session writes its row" "${#answer}" 36
    second "select insert_notification('$anna', 'contact_updated', '$other') is not null"
    check "another connection does not wait for it" "$(second_is)" ended
    second_ends
    check "… and is written" "$second_answer" t
    second "$call"
    check "the same connection waits for the first to end" "$(second_is)" blocked
    first "commit"
    second_ends
    check "… and is dropped" "$second_answer" ""
    check "… so one unread row is left" "$(unread "$anna" "$connection")" 1

    # Roll-back: the second waits, finds nothing, and writes.
    call="select insert_notification('$bram', 'circle_changed', '$connection') is not null"
    first "begin"
    first "$call"
    second "$call"
    check "a second circle change waits" "$(second_is)" blocked
    first "rollback"
    second_ends
    check "… and is written when the first is rolled back" "$second_answer" t
    check "… as the one unread row" "$(unread "$bram" "$connection")" 1

    # The token goes to whoever registered it last, whoever began first.
    first "begin"
    first "select register_device('$anna', 'ios', '$token', 'nl')"
    former_device=$answer
    second "select register_device('$bram', 'ios', '$token', 'en') is not null"
    check "registering the same token waits" "$(second_is)" blocked
    first "commit"
    second_ends
    check "… and succeeds" "$second_answer" t
    check "… and the token is the second's alone" \
        "$(sql reference_app -c "select string_agg(account_id || ' ' || locale, ',') from devices where push_token = '$token'")" \
        "$bram en"
    check "… as another device than the first session was told" \
        "$(sql reference_app -c "select count(*) from devices where id = '$former_device'")" 0
    close_first

    # Many sessions, no choreography: five connections and three tokens, read now and then.
    anna=$(new_account)
    bram=$(new_account)
    pids=()
    for session in 1 2 3 4 5 6 7 8; do
        sql reference_app >"$results/session-$session" 2>&1 <<SQL &
            select format('select insert_notification(%L, ''contact_updated'',
                    (''00000000-0000-4000-8000-00000000000'' || %s)::uuid)', '$anna'::uuid, n % 5),
                case when n % 10 = $session then format('select mark_all_read(%L)', '$anna'::uuid) end,
                format('select register_device(%L, ''android'', ''token-%s'')',
                    case when (n + $session) % 2 = 0 then '$anna' else '$bram' end, n % 3)
            from generate_series(1, 60) n \gexec
SQL
        pids+=($!)
    done
    for session in "${pids[@]}"; do
        wait "$session" || echo "not ok  one of eight sessions failed: $(grep -h -m 1 ERROR "$results"/session-*)"
    done
    check "eight sessions at once leave at most one unread row of a connection" \
        "$(sql reference_app -c "select max(n) from (select count(*) n from notifications
            where account_id = '$anna' and read_at is null group by connection_id) counts")" 1
    check "… which they did write, again and again" \
        "$(sql reference_app -c "select count(*) > 5 from notifications where account_id = '$anna'")" t
    check "… and one device for each token" \
        "$(sql reference_app -c "select count(*) from devices where push_token ~ '^token-'")" 3
}
