/**
 * A description without addresses but those of relays. The policy `relay` of libdatachannel 0.2x only hides the own ones:
 * libjuice goes on to try its own socket against all that it is told (libdatachannel issue 1587, libjuice issue 345). Told of
 * relays alone, it has nothing to reach directly: a TURN server lets through only those for whom its client asked, and that
 * are the other's relays.
 */
export function relayedOnly(sdp: string): string {
  return sdp
    .split(/(?<=\n)/)
    .filter((line) => !line.startsWith('a=candidate:') || / typ relay(\s|$)/.test(line))
    .join('');
}
