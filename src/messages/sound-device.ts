/** A microphone as a setting names it: `alsa:DEVICE`, `pulse:SOURCE`, `test` for a tone, or empty for none. */
export const SOUND_DEVICE = /^(test|(alsa|pulse):[A-Za-z0-9][\w.:,=@+-]{0,127})?$/;
export const SOUND_DEVICE_FORM = 'write alsa:DEVICE, pulse:SOURCE or test, or leave it empty';

/** For the setting `test`. */
export const TEST_TONE_HZ = 440;

/**
 * ffmpeg's input. The setting's format was validated; it is passed as one argument, never through a shell.
 */
export function soundInput(setting: string, rateHz: number): string[] {
  const source = `sine=frequency=${TEST_TONE_HZ}:sample_rate=${rateHz}`;
  if (setting === 'test') return ['-re', '-f', 'lavfi', '-i', source];
  const at = setting.indexOf(':');
  return ['-f', setting.slice(0, at), '-ac', '1', '-i', setting.slice(at + 1)];
}
