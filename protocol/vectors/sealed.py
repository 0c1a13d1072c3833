"""Makes sealed.json from protocol/SPEC.md and the Noise specification alone; shares no code with Farhand.

    python3 protocol/vectors/sealed.py > protocol/vectors/sealed.json

Needs the package "cryptography". Checks its own Noise against noise.json first.
"""

import hashlib
import hmac
import json
import os
import struct

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

NAME = b"Noise_NNpsk0_25519_AESGCM_SHA256"
PROLOGUE = b"farhand sealed link 2, operator to robot"


def mac(key, data):
    return hmac.new(key, data, hashlib.sha256).digest()


def hkdf(ck, ikm, outputs):
    temp, out, last = mac(ck, ikm), [], b""
    for i in range(1, outputs + 1):
        last = mac(temp, last + bytes([i]))
        out.append(last)
    return out


def public(private):
    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def dh(private, peer):
    return X25519PrivateKey.from_private_bytes(private).exchange(X25519PublicKey.from_public_bytes(peer))


def seal(key, n, plain, ad):
    return AESGCM(key).encrypt(bytes(4) + struct.pack(">Q", n), plain, ad)


def noise(psk, prologue, initiator, responder, payload1, payload2):
    """Both messages, the handshake hash and the two keys of NNpsk0."""
    h = ck = NAME
    h = hashlib.sha256(h + prologue).digest()
    ck, temp, k = hkdf(ck, psk, 3)
    h = hashlib.sha256(h + temp).digest()
    messages = []
    for private, shared, payload in (
        (initiator, None, payload1),
        (responder, dh(responder, public(initiator)), payload2),
    ):
        e = public(private)
        h = hashlib.sha256(h + e).digest()
        ck, k = hkdf(ck, e, 2)
        if shared is not None:
            ck, k = hkdf(ck, shared, 2)
        sealed = seal(k, 0, payload, h)
        h = hashlib.sha256(h + sealed).digest()
        messages.append(e + sealed)
    return messages, h, hkdf(ck, b"", 2)


def check_noise(folder):
    with open(os.path.join(folder, "noise.json")) as file:
        (vector,) = json.load(file)["vectors"]
    from_hex = bytes.fromhex
    first, second, *transport = [{k: from_hex(v) for k, v in m.items()} for m in vector["messages"]]
    messages, h, keys = noise(
        from_hex(vector["init_psks"][0]),
        from_hex(vector["init_prologue"]),
        from_hex(vector["init_ephemeral"]),
        from_hex(vector["resp_ephemeral"]),
        first["payload"],
        second["payload"],
    )
    assert messages == [first["ciphertext"], second["ciphertext"]] and h.hex() == vector["handshake_hash"]
    for i, message in enumerate(transport):
        assert seal(keys[i % 2], i // 2, message["payload"], b"") == message["ciphertext"]


def main():
    check_noise(os.path.dirname(os.path.abspath(__file__)))
    psk = bytes(range(32))
    operator, robot = bytes([0x11]) * 32, bytes([0x22]) * 32
    nonce, cookie = bytes(range(0x40, 0x50)), bytes(range(0x60, 0x70))
    index = 0x12345678
    key_id = hashlib.sha256(b"farhand key id" + psk).digest()[:8]
    # HKDF-SHA-256 without salt: extract, then one block of expand.
    mac_key = mac(mac(bytes(32), psk), b"farhand sealed link mac" + b"\x01")
    ended = lambda datagram, more=b"": datagram + mac(mac_key, datagram + more)[:16]
    (first, second), h, (to_robot, to_operator) = noise(
        psk, PROLOGUE + cookie, operator, robot, b"", struct.pack("<I", index)
    )
    init = ended(b"FH2i" + key_id + cookie + first)
    altered = lambda at: init[:at] + bytes([init[at] ^ 1]) + init[at + 1 :]
    packets = []
    for channel in range(3):
        for counter, plain in ((0, b'FH1h{"session":43981}'), (1, b'FH1d{"session":43981,"request":3,"action":"estop","epoch":1}')):
            header = b"FH2x" + struct.pack("<IQ", index, counter)
            body = seal(to_robot, (channel << 56) + counter, plain, header)
            packets.append({"channel": channel, "counter": counter, "plain": plain.decode(), "sealed": (header + body).hex()})
    print(json.dumps({
        "format": "farhand-sealed-vectors/2",
        "key": psk.hex(),
        "keyId": key_id.hex(),
        "handshake": {
            "operatorPrivate": operator.hex(),
            "robotPrivate": robot.hex(),
            "nonce": nonce.hex(),
            "cookie": cookie.hex(),
            "index": index,
            "knockDatagram": ended(b"FH2k" + key_id + nonce + bytes(8)).hex(),
            "cookieDatagram": ended(b"FH2o" + nonce + cookie).hex(),
            "otherVersionCookieDatagram": ended(b"FH3o" + nonce + cookie).hex(),
            "initDatagram": init.hex(),
            "acceptDatagram": ended(b"FH2j" + second, public(operator)).hex(),
            "handshakeHash": h.hex(),
            "operatorToRobot": to_robot.hex(),
            "robotToOperator": to_operator.hex(),
        },
        "inits": [
            {"note": "authentic, its cookie is not this robot's", "datagram": init.hex(), "reason": "replayed"},
            {"note": "a byte too short", "datagram": init[:-1].hex(), "reason": "malformed"},
            {"note": "a byte too long", "datagram": (init + b"\0").hex(), "reason": "malformed"},
            {"note": "another key", "datagram": altered(4).hex(), "reason": "unknown-key"},
            {"note": "another cookie", "datagram": altered(12).hex(), "reason": "bad-auth"},
            {"note": "another ephemeral key", "datagram": altered(28).hex(), "reason": "bad-auth"},
            {"note": "another tag of Noise", "datagram": altered(60).hex(), "reason": "bad-auth"},
            {"note": "another mac", "datagram": altered(91).hex(), "reason": "bad-auth"},
        ],
        "packets": packets,
    }, indent=2))


main()
