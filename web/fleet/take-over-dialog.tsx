import type { FleetStore } from './store.ts';

/** Confirms taking over a robot that another user holds. */
export function TakeOverDialog({ store }: { store: FleetStore }) {
  const { takingOver } = store.state;
  if (takingOver === null) return null;
  const { robot, from } = takingOver;
  const close = () => store.set({ takingOver: null });
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
        Take over {robot} from {from}?
      </h3>
      <p>
        The robot stops and {from}’s session ends at once. To avoid this, press Request instead: {from} can
        then hand it over.
      </p>
      <div class="row">
        <button type="button" class="plain" onClick={close}>
          Cancel
        </button>
        <button
          type="button"
          class="plain danger"
          data-testid="take-away-sure"
          onClick={() => {
            close();
            void store.request({ kind: 'take-away', robot }, 'taking over…');
          }}
        >
          Take over
        </button>
      </div>
    </dialog>
  );
}
