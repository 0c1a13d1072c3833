import type { RecordFlow } from '../../src/desk/record-flow.ts';
import type { TouchButton } from './touch-buttons.ts';

const GREY = '#2b3644';
const RED = '#7d1119';

/** Recording one demonstration after another with bare hands, as the Operate page does with keys. */
export function recordButtons(flow: RecordFlow, offersRecording: () => boolean): TouchButton[] {
  const row = 1;
  return [
    {
      row,
      label: () => (flow.isRecording ? 'SAVE' : 'RECORD'),
      colour: RED,
      always: true,
      press: () => flow.startOrKeep(),
      shown: offersRecording,
    },
    {
      row,
      label: () => 'REDO',
      colour: GREY,
      always: false,
      press: () => flow.redo(),
      shown: offersRecording,
    },
    {
      row,
      label: () => 'FAILED',
      colour: GREY,
      always: false,
      press: () => flow.keep('failure'),
      shown: () => flow.isRecording,
    },
    {
      row,
      label: () => 'DISCARD',
      colour: GREY,
      always: false,
      press: () => flow.discard(),
      shown: () => flow.isRecording,
    },
  ];
}
