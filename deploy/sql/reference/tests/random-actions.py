"""Random sequences of what people do, and what must hold whatever they do.

usage: random-actions.py DATABASE [SECONDS [SEED]], with PGHOST and PGUSER of a superuser, on the tests' database

First one after another, against a model in Python of who sees what: every notification is foretold, every contact card,
every hash, every badge. Then all at once, in several sessions: there each row that was written is held against what the
tables say. Prints lines of "ok" and "not ok", with the seed that makes the same happen again.
"""

import collections
import json
import os
import queue
import random
import subprocess
import sys
import threading
import time
import uuid

CATEGORIES = ["name", "phone", "email", "address", "date", "photo"]
# What an answer may be besides a result: no such thing, there already, refused, somebody is in it.
REFUSALS = {"P0002", "23505", "22023", "23503"}
MARK = "zqvalue"  # in every value but names: must not turn up in a notification

AUDIT = """
create table if not exists test.written (
    number bigserial, notification_id uuid, account_id uuid, kind text, connection_id uuid, invitation_id uuid,
    categories text[], action text, actor text, transaction bigint, row_text text
);
create table if not exists test.views_changed (connection_id uuid, transaction bigint);
truncate test.written, test.views_changed;
create or replace function test.log_notification() returns trigger language plpgsql security definer as $$
begin
    insert into test.written (notification_id, account_id, kind, connection_id, invitation_id, categories, action, actor,
        transaction, row_text)
    values (new.id, new.account_id, new.kind, new.connection_id, new.invitation_id, new.categories,
        current_setting('test.action', true),
        nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub', txid_current(),
        (to_jsonb(new) - 'actor_name')::text);
    return null;
end
$$;
create or replace function test.log_view() returns trigger language plpgsql security definer as $$
begin
    insert into test.views_changed values (new.id, txid_current());
    return null;
end
$$;
drop trigger if exists log_notification on notifications;
create trigger log_notification after insert on notifications for each row execute function test.log_notification();
drop trigger if exists log_view on connections;
create trigger log_view after update on connections for each row
    when (old.snapshot_hash is distinct from new.snapshot_hash and old.snapshot_hash is not null)
    execute function test.log_view();
"""

END_AUDIT = """
drop trigger log_notification on notifications;
drop trigger log_view on connections;
"""


class Failure(Exception):
    pass


class Session:
    """A psql that answers one statement at a time."""

    def __init__(self, database, user=None):
        arguments = ["psql", "-X", "-q", "-A", "-t", "-F", "\t", "-d", database, "-v", "VERBOSITY=sqlstate"]
        if user:
            arguments += ["-U", user]
        self.process = subprocess.Popen(
            arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1
        )

    def run(self, sql):
        self.process.stdin.write(sql + "\n\\echo end-of-answer\n")
        self.process.stdin.flush()
        lines = []
        while (line := self.process.stdout.readline()) != "end-of-answer\n":
            if not line:
                raise Failure("psql has ended: " + " ".join(lines))
            lines.append(line.rstrip("\n"))
        return lines

    def rows(self, sql):
        lines = self.run(sql)
        if lines and lines[0].startswith("ERROR"):
            raise Failure(f"{lines[0]} in {sql}")
        return [line.split("\t") for line in lines]

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=10)


class People:
    """A session as whoever is signed in."""

    def __init__(self, database):
        self.session = Session(database, "authenticator")
        self.session.run("set role authenticated;")

    def call(self, account, function, *arguments, **named):
        """The result and None, or None and the SQLSTATE."""
        told = [literal(value) for value in arguments] + [f"{name} => {literal(value)}" for name, value in named.items()]
        claims = json.dumps({"sub": str(account)})
        lines = self.session.run(
            f"set request.jwt.claims = '{claims}'; set test.action = '{function}'; "
            f"select * from {function}({', '.join(told)});"
        )
        for line in lines:
            if line.startswith("ERROR:"):
                return None, line.split()[1].strip(":")
        return lines, None

    def close(self):
        self.session.close()


def literal(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, set, frozenset)):
        return "array[" + ", ".join(literal(item) for item in sorted(value)) + "]::uuid[]"
    if isinstance(value, dict):
        return "'" + json.dumps(value).replace("'", "''") + "'::jsonb"
    return "'" + str(value).replace("'", "''") + "'"


def random_value(dice, category):
    number = dice.randrange(4)  # few, so that saving what is there already happens
    if category == "name":
        return json.dumps("Person " + "ABCD"[number])
    if category == "phone":
        return json.dumps(f"+3161234567{number}")
    if category == "email":
        return json.dumps(f"{MARK}{number}@example.org")
    if category == "date":
        return json.dumps({"day": 1 + number // 2, "month": 5, "year": 1990 + number % 2})
    return json.dumps({"text": f"{MARK}{number}"})


# --- One after another


class Model:
    """What must be so, worked out from the rules and not from the SQL."""

    def __init__(self):
        self.accounts = {}  # id: main profile
        self.circles = {}  # id: account, updates
        self.profiles = {}  # id: account, main
        self.details = {}  # id: profile, category, label, value, default, day, year (circles)
        self.connections = {}  # id: account, profile, circle, peer, in the order they were made
        self.invitations = {}  # id: sender, receiver, profile, to_profile, circle, state
        self.notifications = {}  # id: account, kind, connection, invitation, read, ignored
        self.blocks = set()

    def circles_of(self, account):
        return [id for id, circle in self.circles.items() if circle["account"] == account]

    def profiles_of(self, account):
        return [id for id, profile in self.profiles.items() if profile["account"] == account]

    def details_of(self, profile):
        return [id for id, detail in self.details.items() if detail["profile"] == profile]

    def connections_of(self, account):
        return [id for id, connection in self.connections.items() if connection["account"] == account]

    def view(self, id):
        connection = self.connections[id]
        circle = self.connections[connection["peer"]]["circle"]
        seen = []
        for detail in self.details.values():
            if detail["profile"] == connection["profile"] and (detail["default"] or circle in detail["day"]):
                value = json.loads(detail["value"])
                if detail["category"] == "date" and circle not in detail["year"]:
                    del value["year"]
                seen.append((detail["category"], detail["label"], json.dumps(value, sort_keys=True), detail["default"]))
        return sorted(seen)

    def views(self):
        return {id: self.view(id) for id in self.connections}

    def unread(self, account):
        return [
            id for id, told in self.notifications.items()
            if told["account"] == account and not told["read"] and not told["ignored"]
        ]

    def has_unread(self, account, kind, connection):
        return any(
            (told["kind"], told["connection"]) == (kind, connection)
            for told in (self.notifications[id] for id in self.unread(account))
        )

    def told_of_changes(self, before):
        """The contact_updated that must be written now that views are no longer as they were."""
        told = []
        for id, seen in before.items():
            now = self.view(id)
            connection = self.connections[id]
            if seen == now or not self.circles[connection["circle"]]["updates"]:
                continue
            if not self.has_unread(connection["account"], "contact_updated", id):
                changed = [
                    category for category in CATEGORIES
                    if [row for row in seen if row[0] == category] != [row for row in now if row[0] == category]
                ]
                told.append((connection["account"], "contact_updated", id, ",".join(changed)))
        return told

    def pair(self, one, other):
        for account, counterpart in ((one, other), (other, one)):
            held = [
                id for id in self.connections_of(account)
                if self.profiles[self.connections[id]["profile"]]["account"] == counterpart
            ]
            held.sort(key=lambda id: not self.profiles[self.connections[id]["profile"]]["main"])
            for id in self.connections_of(counterpart):
                if self.profiles[self.connections[id]["profile"]]["account"] == account:
                    self.connections[id]["peer"] = held[0]

    def remove(self, ids):
        """Ends connections; who keeps another one with the same account keeps holding it."""
        for id in ids:
            connection = self.connections[id]
            profile = self.profiles[connection["profile"]]
            others = [
                other for other in self.connections_of(connection["account"])
                if other not in ids and self.profiles[self.connections[other]["profile"]]["account"] == profile["account"]
            ]
            others.sort(key=lambda other: not self.profiles[self.connections[other]["profile"]]["main"])
            if others and not profile["main"]:
                for held in self.connections.values():
                    if held["peer"] == id:
                        held["peer"] = others[0]
        doomed = set(ids)
        while doomed:
            for id in doomed:
                del self.connections[id]
            doomed = {id for id, connection in self.connections.items() if connection["peer"] not in self.connections}

    def withdraw(self, ids):
        for id in ids:
            if self.invitations[id]["state"] in ("pending", "ignored"):
                self.invitations[id]["state"] = "cancelled"
                self.forget(id)

    def forget(self, invitation):
        for id, told in list(self.notifications.items()):
            if told["invitation"] == invitation and told["kind"] == "invitation_received" and not told["read"]:
                del self.notifications[id]

    def between(self, one, other):
        return [
            id for id, connection in self.connections.items()
            if {connection["account"], self.profiles[connection["profile"]]["account"]} == {one, other}
        ]


class Sequence:
    """Random actions one by one, each foretold by the model."""

    def __init__(self, database, dice):
        self.dice = dice
        self.people = People(database)
        self.eye = Session(database)
        self.model = Model()
        self.number = 0
        self.done = collections.Counter()
        self.trail = collections.deque(maxlen=8)
        for _ in range(5):
            self.new_account()

    def close(self):
        self.people.close()
        self.eye.close()

    def do(self, account, function, *arguments, **named):
        """Calls a function; its first value. A refusal that the model did not foretell is a failure."""
        self.trail.append(f"{function}{arguments}{named or ''} by {account}")
        lines, error = self.people.call(account, function, *arguments, **named)
        if error:
            raise Failure(f"{function}: unexpected {error}")
        self.done[function] += 1
        return lines[0].split("\t")[0] if lines else ""

    def refused(self, account, function, *arguments, **named):
        self.trail.append(f"{function}{arguments}{named or ''} by {account}")
        _, error = self.people.call(account, function, *arguments, **named)
        if error not in REFUSALS:
            raise Failure(f"{function}: {error or 'no error'} where a refusal was expected")
        self.done[function + " refused"] += 1
        self.expect([])

    def expect(self, expected):
        """What was written since the last look must be exactly this."""
        rows = self.eye.rows(
            "select number, notification_id, account_id, kind, connection_id, invitation_id,"
            f" array_to_string(categories, ',') from test.written where number > {self.number} order by number;"
        )
        written = []
        for number, id, account, kind, connection, invitation, categories in rows:
            self.number = int(number)
            written.append((account, kind, connection or invitation, categories))
            self.model.notifications[id] = {
                "account": account, "kind": kind, "connection": connection, "invitation": invitation, "read": False,
                "ignored": False,
            }
        if sorted(written) != sorted(expected):
            raise Failure(f"written {written}, expected {expected}")

    def new_account(self):
        account = str(uuid.uuid4())
        profile = self.do(account, "ensure_account", "Person A")
        self.model.accounts[account] = profile
        self.model.profiles[profile] = {"account": account, "main": True}
        self.learn(account, profile)
        self.expect([])

    def learn(self, account, profile):
        """The circles and the name that came with an account or a profile."""
        for (id,) in self.eye.rows(f"select id from circles where account_id = '{account}';"):
            self.model.circles.setdefault(id, {"account": account, "updates": True})
        for id, value in self.eye.rows(f"select id, value from details where profile_id = '{profile}';"):
            self.model.details[id] = {
                "profile": profile, "category": "name", "label": "", "value": value, "default": True, "day": set(),
                "year": set(),
            }

    # One function for each thing that people do. Each does it in the model and in the database.

    def step(self):
        account = self.dice.choice(list(self.model.accounts))
        actions = [
            (24, self.save), (6, self.delete_detail), (10, self.share), (14, self.move), (12, self.invite), (14, self.accept),
            (3, self.ignore), (3, self.cancel), (4, self.end), (4, self.block), (5, self.unblock), (12, self.read),
            (4, self.switch), (2, self.new_profile), (1, self.delete_profile), (1, self.delete_account), (4, self.trespass),
        ]
        action = self.dice.choices([action for _, action in actions], [weight for weight, _ in actions])[0]
        action(account)
        if len(self.model.accounts) < 5:
            self.new_account()

    def some_circles(self, account):
        return {id for id in self.model.circles_of(account) if self.dice.random() < 0.5}

    def save(self, account):
        model, dice = self.model, self.dice
        profile = dice.choice(model.profiles_of(account))
        details = model.details_of(profile)
        before = {id: seen for id, seen in model.views().items() if model.connections[id]["profile"] == profile}
        if details and (dice.random() < 0.6 or len(details) > 8):
            id = dice.choice(details)
            detail = model.details[id]
            value = random_value(dice, detail["category"])
            makes_default = detail["category"] == "name" and dice.random() < 0.3
            if detail["category"] == "name" and self.has_name(profile, value, but=id):
                return self.refused(
                    account, "save_detail", "name", value, p_detail_id=id, p_is_default=makes_default or None
                )
            self.do(account, "save_detail", detail["category"], value, p_detail_id=id, p_is_default=makes_default or None)
            detail["value"] = value
        else:
            category = dice.choice(CATEGORIES)
            day = self.some_circles(account)
            year = {id for id in day if dice.random() < 0.5} if category == "date" else set()
            value = random_value(dice, category)
            makes_default = False
            if category == "name" and self.has_name(profile, value):
                return self.refused(account, "save_detail", category, value, p_profile_id=profile)
            id = self.do(
                account, "save_detail", category, value, "label", p_circle_ids=day, p_year_circle_ids=year,
                p_profile_id=profile,
            )
            model.details[id] = {
                "profile": profile, "category": category, "label": "label", "value": value, "default": False, "day": day,
                "year": year,
            }
        if makes_default:
            for other in model.details_of(profile):
                model.details[other]["default"] = other == id
        self.expect(model.told_of_changes(before))

    def has_name(self, profile, value, but=None):
        details = self.model.details
        return any(
            details[id]["category"] == "name" and details[id]["value"] == value and id != but
            for id in self.model.details_of(profile)
        )

    def delete_detail(self, account):
        model = self.model
        profile = self.dice.choice(model.profiles_of(account))
        id = self.dice.choice(model.details_of(profile))
        if model.details[id]["default"]:
            return self.refused(account, "delete_detail", id)
        before = {id: seen for id, seen in model.views().items() if model.connections[id]["profile"] == profile}
        self.do(account, "delete_detail", id)
        del model.details[id]
        self.expect(model.told_of_changes(before))

    def share(self, account):
        model = self.model
        profile = self.dice.choice(model.profiles_of(account))
        id = self.dice.choice(model.details_of(profile))
        detail = model.details[id]
        day = self.some_circles(account)
        year = {circle for circle in day if self.dice.random() < 0.5} if detail["category"] == "date" else set()
        before = {id: seen for id, seen in model.views().items() if model.connections[id]["profile"] == profile}
        self.do(account, "set_detail_circles", id, day, year)
        detail["day"], detail["year"] = day, year
        self.expect(model.told_of_changes(before))

    def move(self, account):
        model = self.model
        if not (mine := model.connections_of(account)):
            return
        id = self.dice.choice(mine)
        circle = self.dice.choice(model.circles_of(account))
        before = model.views()
        moved = self.do(account, "move_connection", id, circle)
        if moved != ("t" if model.connections[id]["circle"] != circle else "f"):
            raise Failure(f"move_connection answered {moved}")
        model.connections[id]["circle"] = circle
        self.expect([
            (model.connections[seen]["account"], "circle_changed", seen, "")
            for seen in before
            if model.view(seen) != before[seen]
            and not model.has_unread(model.connections[seen]["account"], "circle_changed", seen)
        ])

    def invite(self, account):
        model, dice = self.model, self.dice
        profile = dice.choice(model.profiles_of(account))
        to_profile = dice.choice(list(model.profiles))
        receiver = model.profiles[to_profile]["account"]
        circle = dice.choice(model.circles_of(account))
        same = [
            id for id, invitation in model.invitations.items()
            if invitation["state"] in ("pending", "ignored") and invitation["sender"] == account
            and (invitation["profile"], invitation["to_profile"]) == (profile, to_profile)
        ]
        reverse = any(
            invitation["state"] in ("pending", "ignored") and invitation["sender"] == receiver
            and (invitation["profile"], invitation["to_profile"]) == (to_profile, profile)
            for invitation in model.invitations.values()
        )
        sees = {(connection["account"], connection["profile"]) for connection in model.connections.values()}
        connected = (account, to_profile) in sees and (receiver, profile) in sees
        call = ("send_invitation", to_profile, circle, profile)
        if receiver == account or (account, receiver) in model.blocks or connected or reverse:
            return self.refused(account, *call)
        id = self.do(account, *call)
        if same:
            if id != same[0]:
                raise Failure("sent twice it is not the same invitation")
            model.invitations[id]["circle"] = circle
            return self.expect([])
        arrives = (receiver, account) not in model.blocks
        model.invitations[id] = {
            "sender": account, "receiver": receiver, "profile": profile, "to_profile": to_profile, "circle": circle,
            "state": "pending" if arrives else "ignored",
        }
        self.expect([(receiver, "invitation_received", id, "")] if arrives else [])

    def an_invitation(self, key, account):
        found = [id for id, invitation in self.model.invitations.items() if invitation[key] == account]
        return self.dice.choice(found) if found else None

    def accept(self, account):
        model = self.model
        if not (id := self.an_invitation("receiver", account)):
            return
        invitation = model.invitations[id]
        circle = self.dice.choice(model.circles_of(account))
        if invitation["state"] == "cancelled" or (account, invitation["sender"]) in model.blocks:
            return self.refused(account, "accept_invitation", id, circle)
        mine = self.do(account, "accept_invitation", id, circle)
        if invitation["state"] == "accepted":
            return self.expect([])
        sender = invitation["sender"]
        found = {}
        for owner, profile, in_circle in (
            (account, invitation["profile"], circle), (sender, invitation["to_profile"], invitation["circle"]),
        ):
            ((connection,),) = self.eye.rows(
                f"select id from connections where account_id = '{owner}' and profile_id = '{profile}';"
            )
            model.connections.setdefault(
                connection, {"account": owner, "profile": profile, "circle": in_circle, "peer": None}
            )
            found[owner] = connection
        if mine != found[account]:
            raise Failure("accepting answers another connection")
        model.pair(account, sender)
        invitation["state"] = "accepted"
        for told in model.notifications.values():
            if told["invitation"] == id and told["account"] == account:
                told["read"] = True
        self.expect([(sender, "invitation_accepted", found[sender], "")])

    def ignore(self, account):
        if not (id := self.an_invitation("receiver", account)):
            return
        invitation = self.model.invitations[id]
        answer = self.do(account, "ignore_invitation", id)
        if answer != ("t" if invitation["state"] == "pending" else "f"):
            raise Failure(f"ignore_invitation answered {answer}")
        if answer == "t":
            invitation["state"] = "ignored"
            for told in self.model.notifications.values():
                if told["invitation"] == id and told["account"] == account:
                    told["ignored"] = True
        self.expect([])

    def cancel(self, account):
        if not (id := self.an_invitation("sender", account)):
            return
        open = self.model.invitations[id]["state"] in ("pending", "ignored")
        if self.do(account, "cancel_invitation", id) != ("t" if open else "f"):
            raise Failure("cancel_invitation answers otherwise")
        self.model.withdraw([id])
        self.expect([])

    def end(self, account):
        if not (mine := self.model.connections_of(account)):
            return
        id = self.dice.choice(mine)
        self.do(account, "end_connection", id)
        self.model.remove([id])
        self.expect([])

    def block(self, account):
        model = self.model
        profile = self.dice.choice(list(model.profiles))
        other = model.profiles[profile]["account"]
        if other == account:
            return self.refused(account, "block", profile)
        self.do(account, "block", profile)
        model.blocks.add((account, other))
        for id in model.between(account, other):
            model.connections.pop(id)
        model.withdraw([
            id for id, invitation in model.invitations.items()
            if (invitation["sender"], invitation["receiver"]) == (account, other)
        ])
        for id, invitation in model.invitations.items():
            if (invitation["sender"], invitation["receiver"]) == (other, account):
                if invitation["state"] == "pending":
                    invitation["state"] = "ignored"
                model.forget(id)
        self.expect([])

    def unblock(self, account):
        blocked = [other for one, other in self.model.blocks if one == account]
        if blocked:
            other = self.dice.choice(blocked)
            self.do(account, "unblock", self.model.accounts[other])
            self.model.blocks.remove((account, other))
            self.expect([])

    def read(self, account):
        unread = self.model.unread(account)
        if not unread or self.dice.random() < 0.3:
            self.do(account, "mark_all_read")
            for told in self.model.notifications.values():
                if told["account"] == account:
                    told["read"] = True
        else:
            id = self.dice.choice(unread)
            self.do(account, "mark_read", id)
            self.model.notifications[id]["read"] = True
        self.expect([])

    def switch(self, account):
        circle = self.dice.choice(self.model.circles_of(account))
        updates = self.dice.random() < 0.6
        self.do(account, "update_circle", circle, p_send_updates=updates)
        self.model.circles[circle]["updates"] = updates
        self.expect([])

    def new_profile(self, account):
        if len(self.model.profiles_of(account)) < 3:
            profile = self.do(account, "create_profile", "child", "Person B")
            self.model.profiles[profile] = {"account": account, "main": False}
            self.learn(account, profile)
            self.expect([])

    def delete_profile(self, account):
        model = self.model
        profile = self.dice.choice(model.profiles_of(account))
        if model.profiles[profile]["main"]:
            return self.refused(account, "delete_managed_profile", profile)
        self.do(account, "delete_managed_profile", profile)
        self.forget_profile(profile)
        self.expect([])

    def forget_profile(self, profile):
        model = self.model
        offered = [
            id for id, invitation in model.invitations.items() if profile in (invitation["profile"], invitation["to_profile"])
        ]
        model.withdraw(offered)
        for id in offered:
            del model.invitations[id]
        model.remove([id for id, connection in model.connections.items() if connection["profile"] == profile])
        for id in model.details_of(profile):
            del model.details[id]
        del model.profiles[profile]

    def delete_account(self, account):
        model = self.model
        self.do(account, "delete_account")
        for id, connection in list(model.connections.items()):
            if account in (connection["account"], model.profiles[connection["profile"]]["account"]):
                del model.connections[id]
        for profile in model.profiles_of(account):
            self.forget_profile(profile)
        for id, told in list(model.notifications.items()):
            if told["account"] == account:
                del model.notifications[id]
        for id in model.circles_of(account):
            del model.circles[id]
        model.blocks = {pair for pair in model.blocks if account not in pair}
        del model.accounts[account]
        self.expect([])

    def trespass(self, account):
        """With what is somebody else's, nothing can be done."""
        model = self.model
        other = self.dice.choice([id for id in model.accounts if id != account])
        circle = self.dice.choice(model.circles_of(other))
        detail = self.dice.choice(model.details_of(self.dice.choice(model.profiles_of(other))))
        self.refused(account, *self.dice.choice([
            ("set_detail_circles", detail, set()),
            ("save_detail", "phone", '"+31612345678"', None, None, None, detail),
            ("save_detail", "phone", '"+31612345678"', None, {circle}),
            ("delete_managed_profile", self.dice.choice(model.profiles_of(other))),
            ("update_circle", circle, "Mine"),
            ("delete_circle", circle),
            ("send_invitation", model.accounts[other], circle),
        ]))

    def compare(self):
        """The whole database against the whole model."""
        model = self.model
        for account in model.accounts:
            lines, error = self.people.call(account, "unread_count")
            if error or int(lines[0]) != len(model.unread(account)):
                raise Failure(f"the badge of {account} is {lines or error}, expected {len(model.unread(account))}")
            lines, error = self.people.call(account, "notification_feed", 200)
            new = sum(line.split("\t")[13] == "t" for line in lines)
            if error or new != min(len(model.unread(account)), new if len(lines) >= 200 else new + 999):
                raise Failure(f"the list of {account} has {new} new, expected {len(model.unread(account))}")
        in_list = {
            id: (account, profile, circle, peer)
            for id, account, profile, circle, peer in self.eye.rows(
                "select id, account_id, profile_id, circle_id, peer_connection_id from connections"
                f" where account_id = any ('{{{','.join(model.accounts)}}}');"
            )
        }
        expected = {
            id: (connection["account"], connection["profile"], connection["circle"], connection["peer"])
            for id, connection in model.connections.items()
        }
        if in_list != expected:
            raise Failure(f"connections differ: {set(in_list.items()) ^ set(expected.items())}")
        for id, connection in model.connections.items():
            lines, error = self.people.call(connection["account"], "contact_card", id)
            rows = [line.split("\t") for line in lines or []]
            seen = sorted(
                (category, label, json.dumps(json.loads(value), sort_keys=True), default == "t")
                for category, label, value, default in rows
            )
            if error or seen != model.view(id):
                raise Failure(f"the card of {id} shows {error or seen}, expected {model.view(id)}")
        hashes = dict(self.eye.rows("select id, snapshot_hash from connections;"))
        by_view = {}
        for id in model.connections:
            view = json.dumps(model.view(id))
            if by_view.setdefault(view, hashes[id]) != hashes[id]:
                raise Failure(f"two views that are the same have two hashes: {id}")
        if len(set(by_view.values())) != len(by_view):
            raise Failure("two views that differ have one hash")


# --- All at once


def act_at_once(database, seed, accounts, until, errors, done):
    """One session of several: whatever anybody may do, with whatever is there at the moment."""
    dice = random.Random(seed)
    people, eye = People(database), Session(database)

    def some(sql):
        rows = eye.rows(sql)
        return dice.choice(rows) if rows else None

    try:
        while time.monotonic() < until and not errors:
            account = dice.choice(accounts)
            mine = f"account_id = '{account}'"
            circles = [row[0] for row in eye.rows(f"select id from circles where {mine};")]
            if not circles:
                call = ("ensure_account", "Person A")
            else:
                circle = dice.choice(circles)
                everybody = f"any ('{{{','.join(accounts)}}}')"
                detail = some(f"select d.id, d.category from details d join profiles p on p.id = profile_id where {mine};")
                connection = some(f"select id from connections where {mine};")
                received = some(f"select id from invitations where to_account_id = '{account}';")
                sent = some(f"select id from invitations where from_account_id = '{account}';")
                profile = some(f"select id from profiles where account_id = {everybody};")
                own = some(f"select id from profiles where {mine};")
                category = dice.choice(CATEGORIES)
                choices = [
                    (20, ("save_detail", category, random_value(dice, category), "label", set(circles[:2])), circles),
                    (20, ("save_detail", *(detail and (detail[1], random_value(dice, detail[1]), None, None, None, detail[0]) or ())),
                     detail),
                    (10, ("set_detail_circles", detail and detail[0], {circle}), detail),
                    (6, ("delete_detail", detail and detail[0]), detail),
                    (16, ("move_connection", connection and connection[0], circle), connection),
                    (16, ("send_invitation", profile and profile[0], circle, own and own[0]), profile),
                    (20, ("accept_invitation", received and received[0], circle), received),
                    (3, ("ignore_invitation", received and received[0]), received),
                    (3, ("cancel_invitation", sent and sent[0]), sent),
                    (3, ("end_connection", connection and connection[0]), connection),
                    (1, ("block", profile and profile[0]), profile),
                    (2, ("unblock", profile and profile[0]), profile),
                    (14, ("mark_all_read",), True),
                    (2, ("update_circle", circle, None, dice.random() < 0.7), True),
                    (1, ("create_profile", "child", "Person B"), True),
                    (1, ("delete_managed_profile", own and own[0]), own),
                    (1, ("delete_account",), True),
                ]
                able = [(weight, call) for weight, call, found in choices if found]
                call = dice.choices([call for _, call in able], [weight for weight, _ in able])[0]
            _, error = people.call(account, *call)
            if error and error not in REFUSALS:
                # Somebody else deletes the account: what it does meanwhile finds it gone.
                errors.put(f"{call[0]}: {error}")
            done[call[0]] += not error
        people.close()
        eye.close()
    except (Failure, OSError, ValueError) as error:
        errors.put(str(error))


MUST_HOLD = {
    "one unread for a connection and kind": """
        select account_id, kind, connection_id from notifications
        where read_at is null and ignored_at is null and connection_id in (select connection_id from test.written)
            and kind in ('contact_updated', 'circle_changed')
        group by 1, 2, 3 having count(*) > 1""",
    "nobody is told of an ending": """
        select distinct action, kind from test.written where action in ('end_connection', 'block', 'unblock',
            'delete_managed_profile', 'delete_account', 'ignore_invitation', 'cancel_invitation', 'mark_all_read')""",
    "each thing that people do tells of that and nothing else": """
        select distinct action, kind from test.written where (action, kind) not in (
            ('send_invitation', 'invitation_received'), ('accept_invitation', 'invitation_accepted'),
            ('save_detail', 'contact_updated'), ('set_detail_circles', 'contact_updated'),
            ('delete_detail', 'contact_updated'), ('move_connection', 'circle_changed'))""",
    "nobody is told of a view that did not change": """
        select w.notification_id from test.written w
        where w.kind in ('contact_updated', 'circle_changed') and not exists (
            select from test.views_changed v where (v.connection_id, v.transaction) = (w.connection_id, w.transaction))""",
    "nobody is told of what oneself does": "select notification_id from test.written where account_id::text = actor",
    "no value is in a notification": f"select notification_id from test.written where row_text ~ '{MARK}|\\+316|year'",
    "every hash is of what is seen": """
        select c.id from connections c join connections peer on peer.id = c.peer_connection_id
        where c.snapshot_hash is distinct from snapshot_hash(circle_views(c.profile_id) -> peer.circle_id::text)""",
    "every connection has a peer in the other's list": """
        select c.id from connections c join profiles seen on seen.id = c.profile_id
            left join connections peer on peer.id = c.peer_connection_id and peer.account_id = seen.account_id
            left join profiles own on own.id = peer.profile_id and own.account_id = c.account_id
        where own.id is null""",
    "nobody who is blocked is connected": """
        select c.id from connections c join profiles p on p.id = c.profile_id
            join blocks b on (b.account_id, b.blocked_account_id) in
                ((c.account_id, p.account_id), (p.account_id, c.account_id))""",
    "every profile has one default name": """
        select p.id from profiles p left join details d on d.profile_id = p.id and d.is_default
        where p.account_id in (select actor::uuid from test.written) group by p.id having count(d.id) <> 1""",
    "an open invitation that was not ignored is in the list": """
        select i.id from invitations i where i.state = 'pending' and i.from_account_id in (select actor::uuid from test.written)
            and not exists (select from notifications n where n.invitation_id = i.id and n.account_id = i.to_account_id)""",
    "an invitation that was taken back is not unread": """
        select i.id from invitations i join notifications n on n.invitation_id = i.id and n.kind = 'invitation_received'
        where i.state = 'cancelled' and n.read_at is null""",
}


def report(holds, name, found=""):
    print(f"{'ok     ' if holds else 'not ok '} {name}{': ' + found if found and not holds else ''}")


def main(database, seconds, seed):
    eye = Session(database)
    for line in eye.run(AUDIT):
        if line.startswith("ERROR"):
            raise Failure(line)
    dice = random.Random(seed)

    name = "one after another, everything is as foretold"
    sequence = Sequence(database, dice)
    steps = 0
    end = time.monotonic() + seconds / 2
    try:
        while time.monotonic() < end:
            sequence.step()
            steps += 1
            if steps % 25 == 0:
                sequence.compare()
        sequence.compare()
        report(True, f"{name}: {steps} actions")
        report(
            len(sequence.done) > 12 and sequence.number > 5, "… and enough happened",
            f"{dict(sequence.done)}, {sequence.number} notifications in {steps} actions, seed {seed}",
        )
    except Failure as failure:
        report(False, name, f"seed {seed}, action {steps}: {failure}; after: {'; '.join(sequence.trail)}")
    sequence.close()

    accounts = [str(uuid.UUID(int=dice.getrandbits(128), version=4)) for _ in range(6)]
    errors, done = queue.Queue(), collections.Counter()
    until = time.monotonic() + seconds / 2
    threads = [
        threading.Thread(target=act_at_once, args=(database, dice.random(), accounts, until, _Errors(errors), done))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds + 60)
    found = []
    while not errors.empty():
        found.append(errors.get())
    report(not found, f"at once, nothing fails but what is refused: {sum(done.values())} actions", f"seed {seed}: {found}")
    report(len(done) > 8, "… and enough happened", f"seed {seed}: {dict(done)}")
    for name, query in MUST_HOLD.items():
        rows = eye.rows(query + ";")
        report(not rows, name, f"seed {seed}: {rows[:3]}")
    people = People(database)
    for account in accounts:
        badge, _ = people.call(account, "unread_count")
        feed, _ = people.call(account, "notification_feed", 200)
        rows = [line.split("\t") for line in feed]
        new = {row[0]: int(row[16]) for row in rows}
        report(int(badge[0]) == sum(new.values()), "the badge counts what is new in the list", f"seed {seed}: {badge} {new}")
    people.close()
    eye.run(END_AUDIT)
    eye.close()


class _Errors:
    """A queue that is true once something is in it."""

    def __init__(self, queue):
        self.queue = queue

    def __bool__(self):
        return not self.queue.empty()

    def put(self, error):
        self.queue.put(error)


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    main(
        sys.argv[1],
        float(sys.argv[2]) if len(sys.argv) > 2 else 20,
        int(sys.argv[3]) if len(sys.argv) > 3 else int.from_bytes(os.urandom(4), "big"),
    )
