import type { FleetStore } from './store.ts';

/** What has to be meant. */
export function TakeAwayDialog({ store }: { store: FleetStore }) {
  const { takingAway } = store.state;
  if (takingAway === null) return null;
  const { robot, from } = takingAway;
  const close = () => store.set({ takingAway: null });
  return (
    <dialog
      class="fleet-dialog"
      data-testid="take-away-dialog"
      aria-labelledby="take-away-title"
      ref={(dialog) => {
        if (dialog && !dialog.open) dialog.showModal();
      }}
      onClose={close}
    >
      <h3 id="take-away-title">
        Take {robot} away from {from}?
      </h3>
      <p>
        A robot in motion stops, and {from}’s session ends at once. Asking for it is kinder: {from} sees the
        question and hands it over.
      </p>
      <div class="row">
        <button type="button" class="plain" onClick={close}>
          Leave it
        </button>
        <button
          type="button"
          class="plain danger"
          data-testid="take-away-sure"
          onClick={() => {
            close();
            void store.ask({ kind: 'take-away', robot }, 'taking away…');
          }}
        >
          Take it away
        </button>
      </div>
    </dialog>
  );
}
