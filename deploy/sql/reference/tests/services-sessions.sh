# shellcheck shell=bash
# What connected services, limits and codes do when two sessions call at once. Sourced by run after two-sessions.sh,
# whose words it uses.
# shellcheck disable=SC2034,SC2154 # variables of run and two-sessions.sh

new_account_with_email() { # NAME; makes an account with an e-mail detail that is not verified
    sql "$superuser" -c "with account as (select gen_random_uuid() as id)
        select id from account, create_account(id, '$1') profile" | tee "$results/person"
    sql "$superuser" -c "insert into details (profile_id, category, value)
        select id, 'email', '\"sessions@example.com\"' from profiles where account_id = '$(<"$results/person")'"
}

email_of() { # ACCOUNT
    sql "$superuser" -c "select details.id from details join profiles on profiles.id = profile_id
        where account_id = '$1' and category = 'email'"
}

issue() { # ACCOUNT DETAIL
    sql "$superuser" -c "select issue_email_code('$1', '$2') ->> 'code'"
}

# Runs a statement many times in eight sessions and counts the answers: "3 this, 5 that".
eight_sessions() { # ACCOUNT STATEMENT TIMES
    local session pids=()
    for session in 1 2 3 4 5 6 7 8; do
        # Each statement a transaction of its own; errors are answers too.
        for ((try = 0; try < $3; try++)); do echo "$2;"; done >"$results/statements"
        session "$1" -v ON_ERROR_STOP=0 -v VERBOSITY=terse -f "$results/statements" >"$results/session-$session" 2>&1 &
        pids+=($!)
    done
    for session in "${pids[@]}"; do
        wait "$session" || true
    done
    sed 's/^.*ERROR: */ERROR /' "$results"/session-? | LC_ALL=C sort | uniq -c |
        sed 's/^ *//' | paste -sd, | sed 's/,/, /g'
}

services_sessions() {
    local anna bram detail code call answers
    anna=$(new_account_with_email Anna)
    bram=$(new_account_with_email Bram)

    # Labels
    call="select (connect_service('google', null)).label"
    open_first "$anna"
    first "begin"
    first "$call"
    check "a first service is labelled" "$answer" "Google"
    second "$call" "$bram"
    check "another account does not wait for its own" "$(second_is)" ended
    second_ends
    second "$call" "$anna"
    check "a second of the account waits for the first to end" "$(second_is)" blocked
    first "commit"
    second_ends
    check "… and is labelled as the second" "$second_answer" "Google (2)"
    first "begin"
    first "$call"
    second "$call" "$anna"
    check "a fourth waits for the third" "$(second_is)" blocked
    first "rollback"
    second_ends
    check "… and is the third when that is rolled back" "$second_answer" "Google (3)"
    close_first
    answers=$(eight_sessions "$bram" "select left((connect_service('icloud', null)).label, 6)" 5)
    check "eight sessions connect forty services" "$answers" "40 iCloud"
    check "… with forty labels, none left out" \
        "$(sql "$superuser" -c "select count(distinct label) || ' ' || max(substring(label from '\d+')::integer)
            from sync_services where account_id = '$bram' and provider = 'icloud'")" "40 40"

    # Thirty calls an hour
    sql "$superuser" -c "insert into call_limits values ('$anna', 'cross_reference', array_fill(now(), array[29]))"
    call="select cross_reference('{}')"
    open_first "$anna"
    first "begin"
    first "$call"
    check "the thirtieth call is answered" "$answer" "[]"
    second "$call" "$anna"
    check "one at the same time waits for it" "$(second_is)" blocked
    first "rollback"
    second_ends
    check "… and is the thirtieth when it is rolled back" "$second_answer" "[]"
    close_first
    sql "$superuser" -c "delete from call_limits"
    check "of a hundred and twenty calls in eight sessions thirty are answered" \
        "$(eight_sessions "$anna" "$call" 15)" "90 ERROR at most 30 calls an hour, 30 []"

    # Codes
    detail=$(email_of "$anna")
    call="select (issue_email_code('$anna', '$detail') ? 'code')::text"
    open_first ""
    first "begin"
    first "$call"
    check "a code is issued" "$answer" true
    second "$call"
    check "another for the same detail waits" "$(second_is)" blocked
    first "commit"
    second_ends
    check "… and is refused for a minute" "$second_answer" false
    close_first
    check "of forty wrong tries in eight sessions five are counted, the last of them as the end" \
        "$(eight_sessions "$anna" "select verify_email_detail('$detail', 'xxxxxx')" 5)" "36 invalid, 4 wrong"
    check "… which is what is stored" "$(sql "$superuser" -c "select wrong_tries from email_codes where detail_id = '$detail'")" 5
    detail=$(email_of "$bram")
    code=$(issue "$bram" "$detail")
    check "the right code in forty tries at once verifies once" \
        "$(eight_sessions "$bram" "select verify_email_detail('$detail', '$code')" 5)" "39 invalid, 1 verified"
    check "… and for good" "$(sql "$superuser" -c "select verified_at is not null from details where id = '$detail'")" t

    # The same name
    answers=$(eight_sessions "$bram" "select save_detail('name', '\"Bram Two\"') is not null" 1)
    check "one name saved in eight sessions at once is there once" "$answers" "7 ERROR the profile has this name already, 1 t"
}
