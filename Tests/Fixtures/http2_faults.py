"""A TLS server that speaks just enough HTTP/2 to break it on purpose.

    http2_faults.py CERTIFICATE KEY SCENARIO

Prints `port N`, then a line for each event; ends when its standard input does.
Only frames are read: a request is a HEADERS frame and the end of its stream. Header blocks are not decoded, and the
answers need nothing but `:status` (index 8 of the static table of RFC 7541).
"""

import os
import queue
import socket
import ssl
import struct
import sys
import threading
import time

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_STREAM, END_HEADERS, ACK = 1, 4, 1
MAX_CONCURRENT_STREAMS = 3
INTERNAL_ERROR, REFUSED_STREAM = 2, 7

lock = threading.Lock()
connections = 0
events = queue.Queue()


def say(text):
    events.put(text)


def write_events():
    """A thread of its own: nobody may be reading yet, and the connections must not wait."""
    while True:
        text = events.get()
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
        events.task_done()


class Connection:
    def __init__(self, number, tls, scenario):
        self.number, self.tls, self.scenario = number, tls, scenario
        self.streams = []
        self.open = set()
        self.sending = threading.RLock()

    def send(self, kind, flags=0, stream=0, payload=b""):
        length = struct.pack(">I", len(payload))[1:]
        with self.sending:
            self.tls.sendall(length + bytes([kind, flags]) + struct.pack(">I", stream) + payload)

    def later(self, seconds, action, *arguments):
        def act():
            try:
                action(*arguments)
            except (OSError, ssl.SSLError):
                pass

        threading.Timer(seconds, act).start()

    def settings(self, streams=None):
        payload = b"" if streams is None else struct.pack(">HI", MAX_CONCURRENT_STREAMS, streams)
        self.send(SETTINGS, 0, 0, payload)

    def answer(self, stream, status=200, body=b"", ends=True):
        self.open.discard(stream)
        block = b"\x88" if status == 200 else b"\x08\x03" + str(status).encode()
        self.send(HEADERS, END_HEADERS | (END_STREAM if ends and not body else 0), stream, block)
        for start in range(0, len(body), 16384):
            last = start + 16384 >= len(body)
            self.send(DATA, END_STREAM if ends and last else 0, stream, body[start : start + 16384])

    def reset(self, stream, code):
        self.open.discard(stream)
        self.send(RST_STREAM, 0, stream, struct.pack(">I", code))

    def goaway(self, last, code=0):
        self.send(GOAWAY, 0, 0, struct.pack(">II", last, code) + b'{"reason":"Shutdown"}')

    def break_off(self):
        """Ends the TCP connection with a reset, a little later: one that overtakes our last words would undo them."""
        time.sleep(0.2)
        self.tls.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        socket.socket(fileno=self.tls.detach()).close()
        raise ConnectionError("broken off")

    def read(self, count):
        data = b""
        while len(data) < count:
            piece = self.tls.recv(count - len(data))
            if not piece:
                raise ConnectionError("closed by the client")
            data += piece
        return data

    def run(self):
        self.read(24)  # PRI * HTTP/2.0
        self.scenario.begin(self)
        while True:
            head = self.read(9)
            length = struct.unpack(">I", b"\0" + head[:3])[0]
            kind, flags = head[3], head[4]
            stream = struct.unpack(">I", head[5:])[0] & 0x7FFFFFFF
            payload = self.read(length)
            if kind == HEADERS:
                self.open.add(stream)
            if kind == SETTINGS and not flags & ACK:
                self.send(SETTINGS, ACK)
            elif kind == PING and not flags & ACK:
                self.send(PING, ACK, 0, payload)
            elif kind == RST_STREAM and stream in self.open:
                self.open.discard(stream)
                say(f"reset {self.number} {stream}")
            if kind == DATA and payload:
                self.send(WINDOW_UPDATE, 0, 0, struct.pack(">I", length))
            if kind in (HEADERS, DATA) and flags & END_STREAM:
                self.streams.append(stream)
                say(f"request {self.number} {stream}")
                self.scenario.request(self, stream, len(self.streams))


class Scenario:
    """Answers 200 to everything."""

    def begin(self, connection):
        connection.settings(1000)

    def request(self, connection, stream, count):
        connection.answer(stream)


class NoLimit(Scenario):
    """Says nothing of how many streams it takes."""

    def begin(self, connection):
        connection.settings()


class AnswerThenReset(Scenario):
    """The second request on a connection is taken and answered by a TCP reset."""

    def request(self, connection, stream, count):
        if count == 2 and connection.number == 1:
            connection.break_off()
        connection.answer(stream)


class CutOff(Scenario):
    """A piece of an answer, then a TCP reset."""

    def __init__(self, status):
        self.status = status

    def request(self, connection, stream, count):
        connection.answer(stream, self.status, b'{"rea', ends=False)
        connection.break_off()


class SilentOnce(Scenario):
    """One request of the first connection is never answered."""

    def request(self, connection, stream, count):
        if connection.number > 1 or count != 3:
            connection.answer(stream)


class GoAway(Scenario):
    """Of ten requests five are answered, the others named as not processed."""

    def request(self, connection, stream, count):
        if connection.number > 1 or count == 1:
            connection.answer(stream)
        elif count == 10:
            for done in connection.streams[1:5]:
                connection.answer(done)
            connection.goaway(connection.streams[4])
            raise ConnectionError("gone away")


class GoAwayAtOnce(Scenario):
    """GOAWAY before SETTINGS."""

    def begin(self, connection):
        connection.goaway(0)
        raise ConnectionError("gone away")


class ResetStream(Scenario):
    """One stream of the first connection is reset."""

    def __init__(self, code):
        self.code = code

    def request(self, connection, stream, count):
        if connection.number == 1 and count == 3:
            connection.reset(stream, self.code)
        else:
            connection.answer(stream)


class OneStreamFirst(Scenario):
    """As APNs: one stream until the first good answer, then a thousand; refusals do not count."""

    def __init__(self, refusals=0):
        self.refusals = refusals

    def begin(self, connection):
        connection.settings(1)

    def request(self, connection, stream, count):
        if count <= self.refusals + 1 and len(connection.open) > 1:
            say("violation")
        connection.answer(stream, 403 if count <= self.refusals else 200)
        if count == self.refusals + 1:
            connection.settings(1000)


class OneStreamForLong(Scenario):
    """As OneStreamFirst, but the greater limit comes a while after the answer. Every answer takes its time."""

    def begin(self, connection):
        connection.settings(1)

    def request(self, connection, stream, count):
        say(f"open {len(connection.open)}")
        if count == 1:
            connection.answer(stream)
            connection.later(0.1, connection.settings, 1000)
        else:
            connection.later(0.03, connection.answer, stream)


class CloseAfterAnswer(Scenario):
    """Ends our side of the TCP connection; the other side may take its time."""

    def request(self, connection, stream, count):
        connection.answer(stream)
        socket.socket.shutdown(connection.tls, socket.SHUT_WR)
        say(f"left {connection.number}")


class Gather(Scenario):
    """Answers when as many requests are open as the scenario says, and then at once."""

    def __init__(self, count):
        self.count = count

    def request(self, connection, stream, count):
        if count >= self.count:
            for waiting in sorted(connection.open):
                connection.answer(waiting)


class Hold(Scenario):
    """Answers the first request only."""

    def request(self, connection, stream, count):
        if count == 1:
            connection.answer(stream)


class LongBody(Scenario):
    def request(self, connection, stream, count):
        connection.answer(stream, 500, b"x" * 100_000)


SCENARIOS = {
    "no-limit": NoLimit(),
    "plain": Scenario(),
    "answer-then-reset": AnswerThenReset(),
    "cut-off-200": CutOff(200),
    "cut-off-400": CutOff(400),
    "silent-once": SilentOnce(),
    "go-away": GoAway(),
    "go-away-at-once": GoAwayAtOnce(),
    "refuse-stream": ResetStream(REFUSED_STREAM),
    "reset-stream": ResetStream(INTERNAL_ERROR),
    "one-stream-first": OneStreamFirst(),
    "one-stream-for-long": OneStreamForLong(),
    "three-refusals-first": OneStreamFirst(3),
    "close-after-answer": CloseAfterAnswer(),
    "gather-20": Gather(20),
    "hold": Hold(),
    "long-body": LongBody(),
    "http1": None,
    "no-alpn": None,
}


def serve(context, client, name):
    global connections
    try:
        client.settimeout(60)
        tls = context.wrap_socket(client, server_side=True)
    except (OSError, ssl.SSLError):
        say("handshake failed")
        client.close()
        return
    with lock:
        connections += 1
        number = connections
    say(f"connection {number}")
    try:
        if SCENARIOS[name] is None:
            say(f"received {len(tls.recv(4096))} bytes")
            tls.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        else:
            Connection(number, tls, SCENARIOS[name]).run()
    except (OSError, ssl.SSLError, ConnectionError):
        pass
    tls.close()
    say(f"closed {number}")


def main():
    certificate, key, name = sys.argv[1:4]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    if name != "no-alpn":
        context.set_alpn_protocols(["http/1.1" if name == "http1" else "h2"])
    listener = socket.create_server(("127.0.0.1", 0))

    def accept():
        while True:
            client, _ = listener.accept()
            threading.Thread(target=serve, args=(context, client, name), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    threading.Thread(target=write_events, daemon=True).start()
    say(f"port {listener.getsockname()[1]}")
    sys.stdin.read()
    events.join()
    os._exit(0)


main()
