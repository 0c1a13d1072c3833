import { useEffect, useRef, useState } from 'preact/hooks';
import type { EpisodeView } from '../../src/messages/console.ts';

/** The part of an episode that trimming keeps. */
export interface Cut {
  fromS: number;
  toS: number;
}

interface Props {
  view: EpisodeView;
  atS: number;
  cut: Cut;
  setCut(cut: Cut): void;
  /** A viewer changes nothing. */
  isDisabled: boolean;
  onTrim(cut: Cut): void;
  onDelete(): void;
}

/** Chooses a part and keeps only that, or deletes the episode; both can be undone. */
export function CutRow({ view, atS, cut, setCut, isDisabled, onTrim, onDelete }: Props) {
  const { durationS } = view.info;
  const isOff = isDisabled || !view.info.complete;
  const from = () => setCut({ fromS: atS, toS: cut.toS > atS ? cut.toS : durationS });
  const to = () => setCut({ fromS: cut.fromS < atS ? cut.fromS : 0, toS: atS });
  useMarkKeys(isOff, from, to);
  const isWhole = cut.fromS <= 0 && cut.toS >= durationS;
  const kept = `${cut.fromS.toFixed(1)} to ${Math.min(cut.toS, durationS).toFixed(1)} s`;
  return (
    <div class="cut-row" data-testid="cut">
      <button type="button" class="plain" data-testid="cut-from" disabled={isOff} onClick={from}>
        Start here <kbd>[</kbd>
      </button>
      <button type="button" class="plain" data-testid="cut-to" disabled={isOff} onClick={to}>
        End here <kbd>]</kbd>
      </button>
      <button
        type="button"
        class="plain strong"
        data-testid="cut-trim"
        disabled={isOff || isWhole}
        onClick={() => onTrim(cut)}
      >
        {isWhole ? 'Trim' : `Trim to ${kept}`}
      </button>
      <button
        type="button"
        class="plain danger cut-delete"
        data-testid="cut-delete"
        disabled={isOff}
        onClick={onDelete}
      >
        Delete <kbd>Del</kbd>
      </button>
    </div>
  );
}

/** The whole episode until somebody marks a part of it. */
export function useCut({ info }: EpisodeView): [Cut, (cut: Cut) => void] {
  return useState<Cut>({ fromS: 0, toS: info.durationS });
}

function useMarkKeys(isOff: boolean, from: () => void, to: () => void): void {
  const now = useRef({ isOff, from, to });
  now.current = { isOff, from, to };
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isTyping = (event.target as HTMLElement | null)?.closest('input[type="text"], textarea') != null;
      const isShown = document.querySelector<HTMLElement>('.cut-row')?.offsetParent != null;
      if (now.current.isOff || isTyping || !isShown || event.ctrlKey || event.metaKey) return;
      if (event.key === '[') now.current.from();
      else if (event.key === ']') now.current.to();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}
