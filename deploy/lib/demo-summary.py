"""The demo's summary: what each phone received, set against what the story says it should have.

usage: demo-summary.py DIRECTORY, with these files in it:
    story.tsv      notification id (- when none was written), badge after it, what happened, receiver's name,
                   receiver's account, kind, expected decision, English title and body, Dutch title and body
    phones.tsv     token, owner's name, platform, locale
    decisions.tsv  notification id, decision                            from push.fanouts
    attempts.tsv   notification id, token, outcome, milliseconds        from push.attempts
    received.json  what the simulator received                          from GET /received

Exit 0 when every expected push arrived exactly once with the expected words, and every decision is as expected.
"""

import collections
import json
import pathlib
import sys
import unicodedata

# Of these no row is written.
UNWRITTEN = {
    "dropped": "no row was written: an unread one says the same",
    "unseen": "no row was written: the receiver sees no difference",
    "ended": "no row was written: nobody is told of an ending",
}
WHY = UNWRITTEN | {
    "gone": "the row was taken back before the push went out",
    "coalesced": "an earlier unread one says the same",
    "switched_off": "the account's switch for this kind is off",
    "unknown_kind": "not a kind the worker knows",
    "already_read": "read before the push went out",
    "no_devices": "no phone to push to",
}
LANGUAGES = {"en": "English", "nl": "Dutch"}

Event = collections.namedtuple(
    "Event", "id badge what receiver account kind decision en_title en_body nl_title nl_body"
)
Phone = collections.namedtuple("Phone", "token owner platform locale")


def read_rows(path):
    if not path.exists():
        return []
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]


def width(text):
    """Columns of a terminal that a text takes."""
    columns = 0
    for character in text:
        if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
            continue
        columns += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return columns


def print_table(header, rows, right=()):
    widths = [max(width(str(row[column])) for row in [header, *rows]) for column in range(len(header))]
    for row in [header, ["─" * columns for columns in widths], *rows]:
        cells = []
        for column, cell in enumerate(row):
            padding = " " * (widths[column] - width(str(cell)))
            cells.append(padding + str(cell) if column in right else str(cell) + padding)
        print("  ".join(cells).rstrip())


def read_push(entry):
    """The (notification id, token, shown, badge) of a push as the simulator received it."""
    body = entry["body"]
    if isinstance(body, str):
        body = json.loads(body)
    if entry["provider"] == "apns":
        alert = body["aps"]["alert"]
        token = entry["path"].rsplit("/", 1)[-1]
        return body["id"], token, (alert.get("title", ""), alert.get("body", "")), body["aps"].get("badge")
    message = body["message"]
    if "notification" in message:
        return message["data"].get("id"), message.get("token"), {"notification": message["notification"]}, None
    return message["data"].get("id"), message.get("token"), message["data"], None


def shown_text(shown):
    if isinstance(shown, tuple):
        return " / ".join(part for part in shown if part)
    return "data: " + ", ".join(f"{key} = {shorten(str(value))}" for key, value in sorted(shown.items()))


def shorten(text):
    return text[:8] + "…" if len(text) == 36 else text


def expected_shown(event, phone):
    if phone.platform == "android":
        return {"id": event.id, "kind": event.kind}
    if phone.locale.startswith("nl"):
        return (event.nl_title, event.nl_body)
    return (event.en_title, event.en_body)


def main(directory):
    story = [Event(*row) for row in read_rows(directory / "story.tsv")]
    phones = [Phone(*row) for row in read_rows(directory / "phones.tsv")]
    decisions = collections.defaultdict(list)
    for notification, decision in read_rows(directory / "decisions.tsv"):
        decisions[notification].append(decision)
    attempts = collections.defaultdict(list)
    for notification, token, outcome, milliseconds in read_rows(directory / "attempts.tsv"):
        attempts[notification, token].append((outcome, milliseconds))

    faults = []
    pushes = collections.defaultdict(list)
    for entry in json.loads((directory / "received.json").read_text(encoding="utf-8")):
        if entry["provider"] not in ("apns", "fcm"):
            continue
        try:
            notification, token, shown, badge = read_push(entry)
        except (KeyError, TypeError, ValueError) as error:
            faults.append(f"a push that cannot be read: {type(error).__name__} {error} in {entry.get('path')}")
            continue
        if entry["status"] == 200:
            pushes[notification, token].append((shown, badge))
        else:
            faults.append(f"a push refused by the simulator: {entry['status']} {entry.get('reason')}")

    pushed, not_pushed, expected, arrived = [], [], 0, 0
    for event in story:
        if event.id == "-":
            decided = [event.decision if event.decision in UNWRITTEN else "no row was written"]
        else:
            decided = decisions[event.id]
        if decided != [event.decision]:
            faults.append(f"“{event.what}”: decided {' and '.join(decided) or 'nothing'}, expected {event.decision}")
        if event.decision != "fanned_out":
            decision = " and ".join(decided) or "undecided"
            not_pushed.append([event.what, event.receiver, event.kind, decision, WHY.get(decision, "")])
            continue
        for phone in phones:
            if phone.owner != event.receiver:
                continue
            expected += 1
            where = f"“{event.what}”, {event.receiver}’s {phone.platform} phone ({phone.locale})"
            received = pushes.pop((event.id, phone.token), [])
            tries = attempts[event.id, phone.token]
            accepted = [milliseconds for outcome, milliseconds in tries if outcome == "accepted"]
            right = len(received) == 1 and len(tries) == 1 and len(accepted) == 1
            if not right:
                faults.append(
                    f"{where}: received {len(received)} times, {len(tries)} attempts, {len(accepted)} accepted"
                )
            for shown, badge in received:
                if shown != expected_shown(event, phone):
                    faults.append(f"{where}: shows {shown}, expected {expected_shown(event, phone)}")
                    right = False
                if phone.platform == "ios" and badge != int(event.badge):
                    faults.append(f"{where}: badge {badge}, expected {event.badge}")
                    right = False
            shown, badge = received[0] if received else (("nothing", ""), None)
            pushed.append([
                event.kind,
                f"{phone.owner}’s {'iPhone' if phone.platform == 'ios' else 'Android'}",
                LANGUAGES.get(phone.locale[:2], phone.locale),
                shown_text(shown),
                "" if badge is None else badge,
                accepted[0] if accepted else "–",
            ])
            arrived += right
    for (notification, token), received in pushes.items():
        owner = next((phone.owner for phone in phones if phone.token == token), "nobody")
        faults.append(f"unexpected: {len(received)} pushes of {notification} to a phone of {owner}")

    print("What the phones received, as the simulator has it; ms from the row’s commit to the provider’s 200:\n")
    print_table(["kind", "phone", "language", "shows", "badge", "ms"], pushed, right=(4, 5))
    print("\nWhat was not pushed:\n")
    print_table(["what happened", "to", "kind", "decision", "why"], not_pushed)
    print()
    for fault in faults:
        print(f"WRONG  {fault}")
    print(f"{arrived} of {expected} expected pushes arrived exactly once, as expected; {len(faults)} things are wrong.")
    return 1 if faults or arrived != expected or not expected else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1])))
