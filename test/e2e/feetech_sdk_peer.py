"""Feetech's own SDK as the other side: one JSON request on stdin, one JSON answer on stdout."""
import json
import sys

from scservo_sdk import GroupSyncRead, GroupSyncWrite, PacketHandler, PortHandler


class Memory:
    """A port without hardware: keeps what is sent, plays back what was given."""

    def __init__(self, incoming=b""):
        self.is_using = False
        self.sent = []
        self.incoming = list(incoming)

    def clearPort(self):
        pass

    def writePort(self, packet):
        self.sent.append(bytes(packet))
        return len(packet)

    def readPort(self, length):
        taken, self.incoming = self.incoming[:length], self.incoming[length:]
        return taken

    def setPacketTimeout(self, _length):
        pass

    def isPacketTimeout(self):
        return not self.incoming


def word(value, little):
    return list(value.to_bytes(2, "little" if little else "big"))


def built(item):
    """The bytes the SDK sends for an instruction."""
    little = item.get("little", True)
    handler = PacketHandler(0 if little else 1)
    port = Memory()
    kind = item["kind"]
    if kind == "ping":
        handler.ping(port, item["id"])
    elif kind == "read":
        handler.readTx(port, item["id"], item["address"], item["size"])
    elif kind == "write":
        handler.write2ByteTxOnly(port, item["id"], item["address"], item["value"])
    elif kind == "syncRead":
        handler.syncReadTx(port, item["address"], item["size"], list(item["ids"]), len(item["ids"]))
    elif kind == "syncWrite":
        group = GroupSyncWrite(port, handler, item["address"], 2)
        for servo, value in zip(item["ids"], item["values"]):
            group.addParam(servo, word(value, little))
        group.txPacket()
    return port.sent[0].hex()


def parsed(handler, hexes):
    packet, result = handler.rxPacket(Memory(bytes.fromhex(hexes)))
    return {"ok": result == 0, "hex": bytes(packet).hex()}


def device(handler, path, ids):
    port = PortHandler(path)
    assert port.openPort() and port.setBaudRate(1000000)
    # Its own 34 ms are too short for a busy machine.
    port.setPacketTimeout = lambda _length: port.setPacketTimeoutMillis(500)
    out = {"ping": [handler.ping(port, servo) for servo in ids]}
    out["absent"] = handler.ping(port, 99)[1]
    group = GroupSyncWrite(port, handler, 42, 2)
    for servo in ids:
        group.addParam(servo, word(servo * 300, True))
    out["syncWrite"] = group.txPacket()
    out["write"] = handler.write1ByteTxRx(port, ids[0], 40, 1)
    reads = GroupSyncRead(port, handler, 42, 2)
    for servo in ids:
        reads.addParam(servo)
    out["syncRead"] = reads.txRxPacket()
    out["goals"] = [reads.getData(servo, 42, 2) for servo in ids]
    port.closePort()
    return out


def main():
    request = json.load(sys.stdin)
    answer = {}
    if "build" in request:
        answer["build"] = [built(item) for item in request["build"]]
    if "status" in request:
        answer["status"] = [parsed(PacketHandler(0), hexes) for hexes in request["status"]]
    if "device" in request:
        answer["device"] = device(PacketHandler(0), request["device"], request["ids"])
    json.dump(answer, sys.stdout)


main()
