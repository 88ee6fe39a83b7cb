"""slow.py - clients that take their time, or more than their share, for hive.py: others are served meanwhile."""
import socket
import threading
import time

from client import Server, case, different, draw, result

PLACES = 40


class Slow(threading.Thread):
    """Sends the beginning of a request, then a byte now and then, until the hive has enough of it."""

    def __init__(self, server, begin):
        super().__init__()
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=0.2)
        self.socket.sendall(begin)
        self.ended = False

    def run(self):
        for _ in range(300):  # a minute
            try:
                if self.socket.recv(1000) == b"":
                    self.ended = True
                    break
                self.socket.sendall(b"x")
            except TimeoutError:
                try:
                    self.socket.sendall(b"x")
                except OSError:
                    self.ended = True
                    break
            except OSError:
                self.ended = True
                break
        self.socket.close()


def half_closed(server):
    """Says all, closes its half, and still gets its answer."""
    s = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    s.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    s.shutdown(socket.SHUT_WR)
    answer = b""
    while part := s.recv(1000):
        answer += part
    s.close()
    return answer[:15], answer[-3:]


def from_address(server, address):
    """The status of a request from this address of the machine itself, or None if it is not served."""
    try:
        s = socket.create_connection(("127.0.0.1", server.port), timeout=60, source_address=(address, 0))
        s.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        answer = s.recv(1000)
        s.close()
        return int(answer.split()[1]) if answer else None
    except ConnectionResetError:
        return None


def is_closed(s):
    try:
        return s.recv(1) == b""
    except ConnectionResetError:
        return True


def crowded(server):
    """One address takes all that it can get: its share, and no more. Then they time out."""
    idle = [socket.create_connection(("127.0.0.1", server.port), timeout=60) for _ in range(PLACES)]
    refused = next((s for s in reversed(idle) if is_closed(s)), None)
    got = (refused is not None, from_address(server, "127.0.0.2"))
    for s in idle:
        is_closed(s)
        s.close()
    return got, until_served(server, "127.0.0.1")


def until_served(server, address):
    """The hive closes a connection before it counts it as gone, on a busy machine long before."""
    for _ in range(600):
        if (status := from_address(server, address)) is not None:
            return status
        time.sleep(0.1)
    return None


def test_slow(deadheat, db, named, key, token, build):
    server = Server(deadheat, db, f"--connections={PLACES}", "--timeout=1")
    user = draw()
    head = f"Host: x\r\nAuthorization: Bearer {key}\r\nX-Deadheat-User: {user}\r\n".encode()
    before = server.ask("GET", "/v1/status", key=token)[1]["events"]
    slow = [Slow(server, b"GET /healthz HTTP/1.1\r\nX-Slow: "), Slow(server, b"G"),
            Slow(server, b"POST /v1/results HTTP/1.1\r\n" + head + b"Content-Length: 5000\r\n\r\n{")]
    for s in slow:
        s.start()
    meanwhile = [server.ask("GET", "/healthz")[0] for _ in range(5)]
    case(named("others are served meanwhile"), different(meanwhile, [200] * 5))
    for s in slow:
        s.join()
    case(named("slow requests are ended"), different([s.ended for s in slow], [True] * 3))
    case(named("half closed"), different(half_closed(server), (b"HTTP/1.1 200 OK", b"ok\n")))
    case(named("no address takes all connections"), different(crowded(server), ((True, 200), 200)))
    task = server.ask("POST", "/v1/poll", {"build": build}, key, user)[1]["task"]["task"]
    waiting = server.ask("POST", "/v1/poll", {"build": build, "since": 10**9, "wait_s": 3}, key, user)
    case(named("who waits for news is not late"), different((waiting[0], waiting[1]["task"]["task"]), (200, task)))
    server.ask("POST", "/v1/results", result(task, "not-seen"), key, user)
    after = server.ask("GET", "/v1/status", key=token)[1]["events"]
    case(named("what came slowly is not stored"), different(after - before, 3))  # user, task and result of this very user
    late = int(server.ask("GET", "/metrics")[1].split("\ndeadheat_hive_late_connections_total ")[1].split()[0])
    case(named("late connections are counted"), different((late >= 3, server.stop()), (True, 0)))
