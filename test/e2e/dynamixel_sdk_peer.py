"""ROBOTIS' own dynamixel-sdk as the other side: one JSON request on stdin, one JSON answer on stdout."""
import json
import sys
import time

from dynamixel_sdk import (
    COMM_SUCCESS,
    GroupBulkRead,
    GroupSyncRead,
    GroupSyncWrite,
    PacketHandler,
    PortHandler,
)

IDS = list(range(1, 18))
# Motors that reach their goals; the others are at a stop.
MOST = 15
WITHIN_S = 30


class Memory:
    """A port without hardware: keeps what is sent, plays back what was given."""

    def __init__(self, incoming=b""):
        self.is_using = False
        self.sent = []
        self.incoming = list(incoming)

    def clearPort(self):
        pass

    def getBaudRate(self):
        return 1000000

    def writePort(self, packet):
        self.sent.append(bytes(packet))
        return len(packet)

    def readPort(self, length):
        taken, self.incoming = self.incoming[:length], self.incoming[length:]
        return taken

    def setPacketTimeout(self, _length):
        pass

    def setPacketTimeoutMillis(self, _ms):
        pass

    def isPacketTimeout(self):
        return not self.incoming


class Patient(PortHandler):
    """The SDK gives a motor 34 ms; a busy machine may let its simulation wait longer."""

    patience_ms = 1000

    def setPacketTimeout(self, packet_length):
        super().setPacketTimeout(packet_length)
        self.packet_timeout += self.patience_ms

    def setPacketTimeoutMillis(self, msec):
        super().setPacketTimeoutMillis(msec + self.patience_ms)

    def readPort(self, length):
        found = super().readPort(length)
        if len(found) == 0:
            time.sleep(0.001)
        return found


def until(holds):
    """Waits for it, but not for ever."""
    end = time.monotonic() + WITHIN_S
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)


def little(value, size):
    return list((value & (256**size - 1)).to_bytes(size, "little"))


def built(handler, item):
    """The bytes the SDK sends for an instruction."""
    port = Memory()
    kind = item["kind"]
    if kind == "ping":
        handler.ping(port, item["id"])
    elif kind == "reboot":
        handler.reboot(port, item["id"])
    elif kind == "read":
        handler.readTx(port, item["id"], item["address"], item["size"])
    elif kind == "write":
        handler.writeTxOnly(port, item["id"], item["address"], len(item["data"]), list(item["data"]))
    elif kind == "syncRead":
        handler.syncReadTx(port, item["address"], item["size"], list(item["ids"]), len(item["ids"]), False)
    elif kind == "fastSyncRead":
        handler.syncReadTx(port, item["address"], item["size"], list(item["ids"]), len(item["ids"]), True)
    elif kind == "syncWrite":
        group = GroupSyncWrite(port, handler, item["address"], item["size"])
        for motor, value in zip(item["ids"], item["values"]):
            group.addParam(motor, little(value, item["size"]))
        group.txPacket()
    elif kind == "bulkRead":
        group = GroupBulkRead(port, handler)
        for motor, address, size in item["items"]:
            group.addParam(motor, address, size)
        group.txPacket()
    return port.sent[0].hex()


def parsed(handler, hexes, fast):
    packet, result = handler.rxPacket(Memory(bytes.fromhex(hexes)), fast)
    return {"ok": result == COMM_SUCCESS, "hex": bytes(packet).hex()}


def instruction(handler, hexes):
    """An instruction packet as the SDK's own parts see it: header, length, CRC, stuffing removed."""
    packet = list(bytes.fromhex(hexes))
    length = packet[5] | packet[6] << 8
    crc = packet[-2] | packet[-1] << 8
    ok = packet[:4] == [0xFF, 0xFF, 0xFD, 0] and length + 7 == len(packet)
    ok = ok and handler.updateCRC(0, packet, len(packet) - 2) == crc
    plain = handler.removeStuffing(list(packet))
    plain_length = plain[5] | plain[6] << 8
    return {"ok": ok, "hex": bytes(plain[7 : 7 + plain_length - 2]).hex()}


def device(handler, path, baud):
    port = Patient(path)
    assert port.openPort() and port.setBaudRate(baud)
    out = {}
    out["ping"] = {motor: handler.ping(port, motor) for motor in IDS}
    out["pingAll"] = handler.broadcastPing(port)
    port.patience_ms = 0
    out["absent"] = handler.ping(port, 99)[1]
    port.patience_ms = Patient.patience_ms
    out["torque"] = [handler.write1ByteTxRx(port, motor, 64, 1) for motor in IDS]
    out["eepromWhileOn"] = handler.write1ByteTxRx(port, 4, 11, 3)
    out["outOfRange"] = handler.write1ByteTxRx(port, 4, 98, 200)
    before = {motor: handler.read4ByteTxRx(port, motor, 132)[0] for motor in IDS}
    group = GroupSyncWrite(port, handler, 116, 4)
    for motor in IDS:
        group.addParam(motor, little(before[motor] + 20, 4))
    out["syncWrite"] = group.txPacket()
    reads = GroupSyncRead(port, handler, 126, 10)
    for motor in IDS:
        reads.addParam(motor)
    seen = [None]

    def rest():
        """All motors stand still, most of them at their goals."""
        out["syncRead"] = reads.txRxPacket()
        seen.append({motor: reads.getData(motor, 132, 4) for motor in IDS})
        arrived = [motor for motor in IDS if abs(seen[-1][motor] - before[motor] - 20) <= 1]
        return len(arrived) >= MOST and seen[-1] == seen[-2]

    until(rest)
    out["after"] = seen[-1]
    out["before"] = before
    out["fastSyncRead"] = reads.fastSyncRead()
    out["afterFast"] = {motor: reads.getData(motor, 132, 4) for motor in IDS}
    bulk = GroupBulkRead(port, handler)
    bulk.addParam(4, 144, 2)
    bulk.addParam(17, 146, 1)
    out["bulkRead"] = bulk.txRxPacket()
    out["voltage"] = bulk.getData(4, 144, 2)
    out["temperature"] = bulk.getData(17, 146, 1)
    out["reboot"] = handler.reboot(port, 4)

    def replies():
        out["torqueAfterReboot"] = handler.read1ByteTxRx(port, 4, 64)
        return out["torqueAfterReboot"][1] == COMM_SUCCESS

    until(replies)
    port.closePort()
    return out


def main():
    request = json.load(sys.stdin)
    handler = PacketHandler(2.0)
    answer = {}
    if "build" in request:
        answer["build"] = [built(handler, item) for item in request["build"]]
    if "status" in request:
        answer["status"] = [parsed(handler, hexes, False) for hexes in request["status"]]
    if "fast" in request:
        answer["fast"] = [parsed(handler, hexes, True) for hexes in request["fast"]]
    if "instructions" in request:
        answer["instructions"] = [instruction(handler, hexes) for hexes in request["instructions"]]
    if "device" in request:
        answer["device"] = device(handler, request["device"], request["baud"])
    json.dump(answer, sys.stdout)


main()
