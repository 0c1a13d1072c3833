"""OpenTeach's PC and headset, following its code as described in docs/inputs/openteach.md.

pc RIGHT BUTTON PAUSE COUNT     the PC: PULL sockets that bind, read in turn, each blocking
quest PORT FILE COUNT           the headset: PUSH that connects and sends the lines of FILE in turn
pub PORT COUNT bind|connect     the documented publisher: JSON 21 x 3, topic hand_coords
sub PORT TOPIC [FILE]           one message of a publisher, as JSON or as bytes into FILE
"""

import json
import sys
import time

import zmq

context = zmq.Context()


def pull(port):
    socket = context.socket(zmq.PULL)
    socket.setsockopt(zmq.CONFLATE, 1)
    socket.setsockopt(zmq.RCVTIMEO, 8000)
    socket.bind(f"tcp://127.0.0.1:{port}")
    return socket


def parse(token):
    text = token.decode().strip()
    flag = 0 if text.startswith("absolute") else 1
    values = []
    for point in text.split(":")[1].strip().split("|"):
        values.extend(float(number) for number in point.split(",")[:3])
    return [flag] + values


def pc(right, button, pause, count):
    hands, buttons, pauses = pull(right), pull(button), pull(pause)
    lengths, button_values, pause_values, last = set(), set(), set(), None
    for _ in range(int(count)):
        last = parse(hands.recv())
        lengths.add(len(last))
        button_values.add(0 if buttons.recv() == b"Low" else 1)
        pause_values.add(0 if pauses.recv() == b"Low" else 1)
    print(
        json.dumps(
            {
                "lengths": sorted(lengths),
                "buttons": sorted(button_values),
                "pauses": sorted(pause_values),
                "last": last,
            }
        )
    )


def quest(port, file, count):
    socket = context.socket(zmq.PUSH)
    socket.connect(f"tcp://127.0.0.1:{port}")
    lines = open(file, encoding="utf-8").read().split("\n")
    for i in range(int(count)):
        socket.send(lines[i % len(lines)].encode())
        time.sleep(1 / 60)


def pub(port, count, how):
    socket = context.socket(zmq.PUB)
    getattr(socket, how)(f"tcp://127.0.0.1:{port}")
    points = [[0.1 * i, 0.01 * i * i, 0.3 - 0.02 * i] for i in range(21)]
    for i in range(int(count)):
        # Alternately as one frame and as two.
        body = json.dumps(points)
        if i % 2 == 0:
            socket.send_string("hand_coords " + body)
        else:
            socket.send_multipart([b"hand_coords", body.encode()])
        time.sleep(1 / 90)


def sub(port, topic, file=None):
    socket = context.socket(zmq.SUB)
    socket.setsockopt(zmq.RCVTIMEO, 8000)
    socket.setsockopt_string(zmq.SUBSCRIBE, topic)
    socket.connect(f"tcp://127.0.0.1:{port}")
    message = socket.recv()
    if file is not None:
        open(file, "wb").write(message)
        return
    print(json.dumps(json.loads(message[len(topic) + 1 :])))


{"pc": pc, "quest": quest, "pub": pub, "sub": sub}[sys.argv[1]](*sys.argv[2:])
