"""Clients that do a server all the harm they can from the outside, until SIGTERM.

    hostile_clients.py PORT SECRET TOKEN NOTIFICATION

Holds a thousand connections open; trickles heads and bodies; sends ten megabytes; asks in wrong methods, for files, with
missing, wrong and doubled authorization; sends the webhook of one notification again and again. Prints `at work`, and at
the end a JSON object: for each of these what it met, and how often. An answer is its status; `cut` is the end of the
connection without one; `leak` is an answer with something in it that nobody may see.
"""

import asyncio
import collections
import json
import signal
import sys

port, secret, token, notification = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
tally = collections.defaultdict(collections.Counter)
stopping = asyncio.Event()

HEAD = "HTTP/1.1\r\nHost: h\r\n"
IDLE, TRICKLING = 1000, 25
METHODS = ["PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "OPTIONS", "BREW", "GE T", "get", "\x01\x02"]
PATHS = ["/webhooks/notifications", "/metrics", "/", "/api/v1/overview"]
FILES = [
    "/assets/../../../../etc/passwd", "/assets/%2e%2e/%2e%2e/etc/passwd", "/assets/..%2f..%2fetc%2fpasswd",
    "/..%5c..%5cetc%5cpasswd", "//etc/passwd", "/assets/%00/etc/passwd", "/assets/app.js%00.html", "/%ff%fe",
    "/assets/" + "../" * 500 + "etc/passwd", "file:///etc/passwd", "/deliveries/../metrics/../../etc/shadow",
]
CREDENTIALS = [
    [], ["Bearer"], ["Bearer "], ["Bearer x"], ["Basic " + token], [token], ["Bearer " + token[:-1]],
    ["Bearer " + token + "x"], ["Bearer " + token, "Bearer " + token], ["Bearer x", "Bearer " + token],
    ["Bearer " + token + ", Bearer " + token], ["Bearer " + "y" * 4000],
]


def body(kind):
    return json.dumps({
        "type": kind, "table": "notifications", "schema": "public", "record": {"id": notification}, "old_record": None,
    })


async def ask(what, text, after=None):
    """One request on a connection of its own; what came of it is noted."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        tally[what]["refused"] += 1
        return
    try:
        writer.write(text.encode("latin-1"))
        if after:
            await after(writer)
        answer = await asyncio.wait_for(reader.read(65536), 30)
        if b"root:" in answer or (what == "authorization" and b"workers" in answer):
            tally[what]["leak"] += 1
        tally[what][answer[9:12].decode("latin-1") if answer else "cut"] += 1
    except (OSError, asyncio.TimeoutError) as error:
        tally[what]["cut" if isinstance(error, OSError) else "nothing"] += 1
    finally:
        writer.close()


async def trickle(writer):
    while not stopping.is_set():
        writer.write(b"a")
        await writer.drain()
        await asyncio.sleep(0.1)


async def flood(writer):
    for _ in range(100):
        writer.write(b"a" * 100_000)
        await writer.drain()


async def flood_in_chunks(writer):
    for _ in range(100):
        writer.write(b"186A0\r\n" + b"a" * 100_000 + b"\r\n")
        await writer.drain()


async def again(action, rest=0.02):
    while not stopping.is_set():
        await action()
        await asyncio.sleep(rest)


async def idle():
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        tally["idle"]["refused"] += 1
        return
    await asyncio.wait([asyncio.ensure_future(reader.read(1)), asyncio.ensure_future(stopping.wait())],
                       return_when=asyncio.FIRST_COMPLETED)
    tally["idle"]["held" if stopping.is_set() else "cut"] += 1
    writer.close()


async def methods():
    for method in METHODS:
        for path in PATHS:
            await ask("methods", f"{method} {path} {HEAD}\r\n")


async def files():
    for path in FILES:
        await ask("files", f"GET {path} {HEAD}\r\n")


async def authorization():
    for values in CREDENTIALS:
        lines = "".join(f"Authorization: {value}\r\n" for value in values)
        await ask("authorization", f"GET /api/v1/overview {HEAD}{lines}\r\n")
        hook = "".join(f"Authorization: {value}\r\n" for value in (v.replace(token, secret) for v in values))
        await ask("authorization", f"POST /webhooks/notifications {HEAD}{hook}Content-Length: 2\r\n\r\n{{}}")


async def replay():
    for kind in ["INSERT", "UPDATE", "INSERT"]:
        text = body(kind)
        await ask("replay", f"POST /webhooks/notifications {HEAD}Authorization: Bearer {secret}\r\n"
                            f"Content-Length: {len(text)}\r\n\r\n{text}")


async def main():
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stopping.set)
    hook = f"POST /webhooks/notifications {HEAD}Authorization: Bearer {secret}\r\n"
    tasks = [again(idle) for _ in range(IDLE)]
    for _ in range(TRICKLING):
        tasks.append(again(lambda: ask("slow head", f"GET / {HEAD}X-Slow: ", trickle)))
        tasks.append(again(lambda: ask("slow body", hook + "Content-Length: 10000\r\n\r\n{", trickle)))
    tasks.append(again(lambda: ask("large body", hook + "Content-Length: 10000000\r\n\r\n", flood), 0.5))
    tasks.append(again(lambda: ask("endless body", hook + "Transfer-Encoding: chunked\r\n\r\n", flood_in_chunks), 0.5))
    tasks += [again(methods, 0.2), again(files, 0.2), again(authorization, 0.2), again(replay)]
    running = asyncio.gather(*tasks)
    await asyncio.sleep(2)
    print("at work", flush=True)
    await running
    print(json.dumps({what: dict(met) for what, met in tally.items()}), flush=True)


asyncio.run(main())
