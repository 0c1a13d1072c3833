/** An address in a session description (SDP), in the form that `addIceCandidate` takes. */
export interface IceCandidate {
  candidate: string;
  /** Name of its media section. */
  mid: string;
}

const MID = 'a=mid:';

/**
 * Takes the addresses out of an offer. The answering side adds them once its answer was accepted: whoever
 * checks a path before the other side knows the answer may connect too early for libdatachannel, which then
 * rejects the handshake (`NotAccepted` in src/wire/transports/rtc-peer.ts).
 */
export function splitCandidates(offer: string): { sdp: string; candidates: IceCandidate[] } {
  const lines = offer.split('\r\n');
  const candidates: IceCandidate[] = [];
  let mid = '';
  const kept = lines.filter((line, i) => {
    if (line.startsWith('m='))
      mid =
        lines
          .slice(i)
          .find((each) => each.startsWith(MID))
          ?.slice(MID.length) ?? '';
    if (line.startsWith('a=candidate:')) candidates.push({ candidate: line.slice(2), mid });
    return !/^a=(candidate:|end-of-candidates)/.test(line);
  });
  return { sdp: kept.join('\r\n'), candidates };
}
