import { useEffect, useRef, useState } from 'preact/hooks';
import type { RowFrame } from '../../src/messages/recording.ts';
import { milliseconds } from '../panels/labels.ts';

interface Props {
  episode: string;
  camera: string;
  row: number;
  frame: RowFrame | undefined;
}

/** The camera frame of a row. During a fetch, only the latest requested row is fetched next. */
export function FrameView({ episode, camera, row, frame }: Props) {
  const [shown, setShown] = useState(row);
  const wanted = useRef(row);
  const busy = useRef(false);
  wanted.current = row;
  useEffect(() => {
    if (!busy.current && shown !== row) {
      busy.current = true;
      setShown(row);
    }
  }, [row, shown]);
  const done = (): void => {
    busy.current = false;
    if (wanted.current !== shown) {
      busy.current = true;
      setShown(wanted.current);
    }
  };
  const query = `camera=${encodeURIComponent(camera)}&row=${shown}`;
  return (
    <figure class={`frame ${frame?.stale ? 'stale' : ''}`}>
      <img
        alt={`Camera ${camera}, row ${shown}`}
        data-testid={`frame-${camera}`}
        src={`api/episodes/${encodeURIComponent(episode)}/frame?${query}`}
        onLoad={done}
        onError={done}
      />
      <figcaption>
        {camera}
        <b>
          {frame ? `${milliseconds(frame.ageNs / 1e6, 0)} ms old${frame.stale ? ', stale' : ''}` : 'no frame'}
        </b>
      </figcaption>
    </figure>
  );
}
