# shellcheck shell=bash
# What people's doings do to each other when they happen at once. Sourced by run, after two-sessions.sh.
# shellcheck disable=SC2154 # answer and second_answer are two-sessions.sh's

as() { # ACCOUNT QUERY
    session "$1" -c "$2"
}

new_person() { # NAME; then $person, $profile, $work and $friends are set
    person=$(sql reference_app -c "select gen_random_uuid()")
    profile=$(as "$person" "select ensure_account('$1')")
    work=$(as "$person" "select id from circles where seed = 'work'")
    friends=$(as "$person" "select id from circles where seed = 'friends'")
}

# Two people who are connected, each in the other's circle Work. Sets anna, anna_work, bram_sees, …
new_pair() {
    new_person "Anna Pair"
    anna=$person anna_profile=$profile anna_work=$work anna_friends=$friends
    new_person "Bram Pair"
    bram=$person bram_profile=$profile bram_work=$work bram_friends=$friends
    invitation=$(as "$anna" "select send_invitation('$bram_profile', '$anna_work')")
    bram_sees=$(as "$bram" "select accept_invitation('$invitation', '$bram_work')")
    anna_sees=$(as "$anna" "select id from connections")
    as "$anna" "select mark_all_read()" >/dev/null
    phone="select save_detail('phone', '\"+31612345678\"', p_circle_ids => array['$anna_work']::uuid[]) is not null"
    email="select save_detail('email', '\"anna@example.org\"', p_circle_ids => array['$anna_work']::uuid[]) is not null"
}

# Both do something at once: the second waits for the first to commit. Its answer is then in $second_answer.
at_once() { # NAME, first's ACCOUNT and STATEMENT, second's ACCOUNT and STATEMENT
    open_first "$2"
    first "begin"
    first "$3"
    second "$5" "$4"
    check "$1: the second waits for the first" "$(second_is)" blocked
    first "commit"
    second_ends
    close_first
}

stale_hashes() {
    sql "$superuser" -c "select count(*)
        from connections c join connections peer on peer.id = c.peer_connection_id
        where c.snapshot_hash is distinct from snapshot_hash(circle_views(c.profile_id) -> peer.circle_id::text)"
}

people_sessions() {
    local person profile work friends anna anna_profile anna_work anna_friends bram bram_profile bram_work bram_friends
    local invitation bram_sees anna_sees phone email

    new_pair
    at_once "two phones save" "$anna" "$phone" "$anna" "$email"
    check "… and both are seen" "$(as "$bram" "select string_agg(category, ' ') from contact_card('$bram_sees')")" "name phone email"
    check "… and told once" "$(as "$bram" "select string_agg(array_to_string(categories, '+'), ' ') from notifications where kind = 'contact_updated'")" phone
    check "… and hashed as they are" "$(stale_hashes)" 0

    new_pair
    open_first "$anna"
    first "begin"
    first "$phone"
    second "$email" "$anna"
    check "a save that is rolled back: the second waits" "$(second_is)" blocked
    first "rollback"
    second_ends
    close_first
    check "… and tells what it changed itself" "$(as "$bram" "select string_agg(array_to_string(categories, '+'), ' ') from notifications where kind = 'contact_updated'")" email

    new_pair
    as "$anna" "$phone" >/dev/null
    as "$bram" "select mark_all_read()" >/dev/null
    at_once "moving and saving" "$anna" "select move_connection('$anna_sees', '$anna_friends')" "$anna" "$email"
    check "… tells of the move alone: the mail is for the circle that was left" \
        "$(as "$bram" "select string_agg(kind, ' ') from notifications where read_at is null")" circle_changed
    check "… and the hash is of what is seen" "$(stale_hashes)" 0

    new_pair
    at_once "each moves the other" "$anna" "select move_connection('$anna_sees', '$anna_friends')" \
        "$bram" "select move_connection('$bram_sees', '$bram_friends')"
    check "… and both are moved" "$second_answer" t

    new_person "Anna Again"
    anna=$person anna_work=$work anna_profile=$profile
    new_person "Bram Again"
    invitation=$(as "$anna" "select send_invitation('$profile', '$anna_work')")
    at_once "taking back and accepting" "$anna" "select cancel_invitation('$invitation')" \
        "$person" "select accept_invitation('$invitation', '$work')"
    check "… ends without a connection" "$(as "$person" "select count(*) from connections")" 0
    check "… saying why" "${second_answer%%$'\n'*}" "ERROR:  the invitation was withdrawn"
    invitation=$(as "$anna" "select send_invitation('$profile', '$anna_work')")
    at_once "accepting and taking back" "$person" "select accept_invitation('$invitation', '$work')" \
        "$anna" "select cancel_invitation('$invitation')"
    check "… ends connected" "$second_answer $(as "$anna" "select count(*) from connections")" "f 1"

    new_person "Carla Again"
    at_once "inviting each other" "$anna" "select send_invitation('$profile', '$anna_work')" \
        "$person" "select send_invitation('$anna_profile', '$work')"
    check "… is one invitation" "${second_answer%%$'\n'*} $(as "$anna" "select count(*) from sent_invitations()")" \
        "ERROR:  this person has invited you: accept that invitation 1"
    invitation=$(as "$anna" "select invitation_id from sent_invitations()")
    at_once "accepting on two phones" "$person" "select accept_invitation('$invitation', '$work')" \
        "$person" "select accept_invitation('$invitation', '$friends')"
    check "… is one connection" "$second_answer" "$(as "$person" "select id from connections")"
    check "… told once" "$(as "$anna" "select count(*) from notifications where invitation_id = '$invitation'")" 1
    new_person "Dirk Again"
    at_once "sending twice" "$anna" "select send_invitation('$profile', '$anna_work')" \
        "$anna" "select send_invitation('$profile', '$anna_work')"
    check "… is one invitation, told once" "$(as "$person" "select count(*) from notifications")" 1

    new_pair
    at_once "ending and saving" "$bram" "select end_connection('$bram_sees')" "$anna" "$phone"
    check "… saves, and tells nobody" "$second_answer $(as "$bram" "select count(*) from notifications where read_at is null")" "t 0"
    new_pair
    at_once "saving and ending" "$anna" "$phone" "$bram" "select end_connection('$bram_sees')"
    check "… ends" "$second_answer $(as "$anna" "select count(*) from connections")" "t 0"
    new_pair
    at_once "deleting an account and saving" "$bram" "select delete_account()" "$anna" "$phone"
    check "… saves" "$second_answer" t
    new_pair
    at_once "both delete their accounts" "$bram" "select delete_account()" "$anna" "select delete_account()"
    check "… and both are gone" "$(sql "$superuser" -c "select count(*) from accounts where id in ('$anna', '$bram')")" 0

    new_pair
    at_once "deleting an account and writing to everybody" "$bram" "select delete_account()" \
        "" "select send_system_message(null, 'Hello') > 0"
    check "… reaches all others" "$second_answer" t
}
