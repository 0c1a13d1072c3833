/**
 * A description with relay addresses only. The policy `relay` of libdatachannel 0.2x only hides our own
 * addresses: libjuice still tries its socket against every address it is given (libdatachannel issue 1587,
 * libjuice issue 345). Given relays alone, it has nothing to reach directly: a TURN server admits only the
 * peers its client named, and those are the other side's relays.
 */
export function relayedOnly(sdp: string): string {
  return sdp
    .split(/(?<=\n)/)
    .filter((line) => !line.startsWith('a=candidate:') || / typ relay(\s|$)/.test(line))
    .join('');
}
