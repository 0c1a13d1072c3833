"""One half of a Python message pair: the same message as Farhand's command, over ZeroMQ PUB/SUB or plain UDP.

  pair.py check {zmq|udp}             prints the versions in use; exit code 3 when pyzmq is missing
  pair.py sub {zmq|udp} COUNT         prints its port, then what it received
  pair.py pub {zmq|udp} PORT COUNT HZ prints what it sent

Stamps are CLOCK_MONOTONIC nanoseconds, which all processes of a Linux machine share. Each half keeps its stamps in
memory and prints them as one JSON line when it ends, so that nothing is written while it measures.
"""
import gc
import json
import os
import socket
import sys
import time

TAG = b"FH1c"
# The subscriber's address: loopback, or one of a network namespace.
HOST = os.environ.get("PAIR_HOST", "127.0.0.1")
QUIET_S = 2.0


def open_subscriber(kind):
    """Blocking receive, the fastest way to wait in Python; None after QUIET_S without a message."""
    if kind == "udp":
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.bind((HOST, 0))
        sock.settimeout(QUIET_S)

        def receive():
            try:
                return sock.recv(2048)
            except socket.timeout:
                return None

        return sock.getsockname()[1], receive
    import zmq

    sock = zmq.Context.instance().socket(zmq.SUB)
    sock.setsockopt(zmq.SUBSCRIBE, b"")
    sock.setsockopt(zmq.RCVTIMEO, int(QUIET_S * 1000))
    port = sock.bind_to_random_port("tcp://%s" % HOST)

    def receive():
        try:
            return sock.recv()
        except zmq.Again:
            return None

    return port, receive


def open_publisher(kind, port):
    if kind == "udp":
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.connect((HOST, port))
        return sock.send
    import zmq

    sock = zmq.Context.instance().socket(zmq.PUB)
    sock.connect("tcp://%s:%d" % (HOST, port))
    time.sleep(0.5)  # until the subscription arrives, messages are lost
    return sock.send


def message(seq, now_ns):
    return {
        "session": 1837465920,
        "seq": seq,
        "epoch": 1,
        "engagement": 1,
        "tracking": True,
        "state_ns": now_ns,
        "send_robot_ns": now_ns,
        "q": [0.1234567, -1.2345678, 1.8765432, -0.6543211, 1.5707963, 0.0123457],
        "gripper": 0.4321,
        "last": [],
    }


def subscribe(kind, count):
    port, receive = open_subscriber(kind)
    print(port, flush=True)
    stamps = []
    while len(stamps) < count:
        data = receive()
        if data is None:
            if stamps:
                break
            continue
        received_ns = time.monotonic_ns()
        body = json.loads(data[len(TAG):].decode())
        stamps.append((body["seq"], received_ns, time.monotonic_ns()))
    print(json.dumps(stamps), flush=True)


def publish(kind, port, count, hz):
    send = open_publisher(kind, port)
    stamps = []
    size = 0
    next_ns = time.monotonic_ns()
    for seq in range(1, count + 1):
        next_ns += int(1e9 / hz)
        time.sleep(max(0, next_ns - time.monotonic_ns()) / 1e9)
        body = message(seq, time.monotonic_ns())
        published_ns = time.monotonic_ns()
        data = TAG + json.dumps(body, separators=(",", ":")).encode()
        sent_ns = time.monotonic_ns()
        send(data)
        stamps.append((seq, published_ns, sent_ns))
        size = len(data)
    time.sleep(0.2)
    print(json.dumps({"bytes": size, "stamps": stamps}), flush=True)


def check(kind):
    versions = {"python": sys.version.split()[0]}
    if kind == "zmq":
        try:
            import zmq
        except ImportError:
            sys.exit(3)
        versions["pyzmq"] = zmq.__version__
        versions["libzmq"] = zmq.zmq_version()
    print(json.dumps(versions))


def main(argv):
    gc.disable()  # in Python's favour: no pauses of its collector
    if argv[0] == "check":
        check(argv[1])
    elif argv[0] == "sub":
        subscribe(argv[1], int(argv[2]))
    else:
        publish(argv[1], int(argv[2]), int(argv[3]), float(argv[4]))


main(sys.argv[1:])
