import { TeleopError } from '../core/errors.ts';
import { httpPolicy, zmqPolicy } from './json-policy.ts';
import { lerobotPolicy } from './lerobot-policy.ts';
import { openOnnxPolicy } from './onnx-policy.ts';
import { openpiPolicy } from './openpi-policy.ts';
import type { Policy } from './policy.ts';

const LEROBOT = 'lerobot:';

/** `model.onnx`, `lerobot:CHECKPOINT`, `ws://…`, `http://…` or `tcp://…`. */
export async function openPolicy(address: string): Promise<Policy> {
  const checked = policyAddress(address);
  if (checked.endsWith('.onnx')) return openOnnxPolicy(checked);
  if (checked.startsWith(LEROBOT)) return lerobotPolicy(checked.slice(LEROBOT.length));
  if (/^wss?:/.test(checked)) return openpiPolicy(checked);
  return /^http/.test(checked) ? httpPolicy(checked) : zmqPolicy(checked);
}

/** The address, if it is valid for a policy. */
export function policyAddress(address: string): string {
  if (address.endsWith('.onnx')) return address;
  if (address.startsWith(LEROBOT) && address.length > LEROBOT.length) return address;
  if (/^(https?|wss?|tcp|ipc):\/\//.test(address) && URL.canParse(address)) return address;
  throw new TeleopError('bad-option', `${address} is not a policy`, {
    hint: 'Use model.onnx, lerobot:CHECKPOINT, ws://127.0.0.1:8000 for openpi, http://127.0.0.1:8080/act, or tcp://127.0.0.1:5555 for ZeroMQ.',
  });
}
