import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso/router';
import { addressWith } from './address.ts';
import { Button } from './button.tsx';

interface Props {
  /** What makes another one. */
  readonly act: string;
  readonly disabled?: boolean;
  /** True if nothing can be made here: the list says why. */
  readonly withoutAct?: boolean;
  /** Stands beside the act. */
  readonly note?: ComponentChildren;
  readonly narrowList?: true;
  /** Parameters of the address that belong to what is open, and go with it. */
  readonly ofOpen?: readonly string[];
  readonly list: (
    open: string | undefined,
    addressOf: (id: string) => string,
    onOpen: (id: string) => void,
  ) => ComponentChildren;
  readonly panel: (open: string, onClose: () => void) => ComponentChildren;
  /** The form for another one; `onMade` closes it, and opens what was made if it is told which. */
  readonly form: (onMade: (id?: string) => void, onClose: () => void) => ComponentChildren;
}

/**
 * A list, beside it what its row opens, and above it the act that makes another one. What is open stands in the
 * address.
 */
export const Listed = ({ act, disabled, withoutAct, note, narrowList, ofOpen = [], list, panel, form }: Props) => {
  const { path, query, route } = useLocation();
  const making = useSignal(false);
  const make = (is: boolean) => () => {
    making.value = is;
  };
  const gone = Object.fromEntries(ofOpen.map((name) => [name, undefined]));
  const addressOf = (open: string | undefined) => addressWith(path, query, { ...gone, open });
  const onOpen = (id: string) => route(addressOf(id));
  const onMade = (id?: string) => {
    making.value = false;
    if (id !== undefined) onOpen(id);
  };
  return (
    <div class="stack">
      {!withoutAct && (
        <div class="row">
          <Button kind="main-act" disabled={disabled} onClick={make(true)}>
            {act}
          </Button>
          {note}
        </div>
      )}
      <div class={query.open ? `halves ${narrowList ? 'thirds' : ''}` : undefined}>
        {list(query.open, addressOf, onOpen)}
        {query.open && panel(query.open, () => route(addressOf(undefined)))}
      </div>
      {making.value && form(onMade, make(false))}
    </div>
  );
};
