"""Many phones that follow a table, over real sockets."""

import selectors
import socket
import time


class Phones:
    """Many phones that follow, in one thread of the test."""

    def __init__(self, port, count):
        self.selector, self.read = selectors.DefaultSelector(), {}
        for _ in range(count):
            s = socket.create_connection(("127.0.0.1", port))
            s.sendall(b"GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.selector.register(s, selectors.EVENT_READ)
            self.read[s] = b""

    def until(self, what, seconds=60.0):
        """Reads until every phone's stream holds `what`; seconds it took till the last one did."""
        began = time.monotonic()
        waiting = {s for s, got in self.read.items() if what not in got}
        while waiting:
            assert time.monotonic() - began < seconds, f"{len(waiting)} phones got nothing"
            for key, _ in self.selector.select(0.2):
                data = key.fileobj.recv(65536)
                if not data:
                    self.selector.unregister(key.fileobj)
                self.read[key.fileobj] += data
                if what in self.read[key.fileobj]:
                    waiting.discard(key.fileobj)
        return time.monotonic() - began

    def forget(self):
        self.read = dict.fromkeys(self.read, b"")

    def close(self):
        for s in self.read:
            s.close()
