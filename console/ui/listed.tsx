import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso/router';
import { addressWith } from './address.ts';
import { Button } from './button.tsx';

interface Props {
  /** The label of the button that creates an item. */
  readonly act: string;
  readonly disabled?: boolean;
  /** Hides that button; the list says why. */
  readonly withoutAct?: boolean;
  /** Shown beside the button. */
  readonly note?: ComponentChildren;
  readonly narrowList?: true;
  /** Address parameters that belong to the open item and are removed with it. */
  readonly ofOpen?: readonly string[];
  readonly list: (
    open: string | undefined,
    addressOf: (id: string) => string,
    onOpen: (id: string) => void,
  ) => ComponentChildren;
  readonly panel: (open: string, onClose: () => void) => ComponentChildren;
  /** The form for a new item; `onMade` closes it, and opens the item if it gets its id. */
  readonly form: (onMade: (id?: string) => void, onClose: () => void) => ComponentChildren;
}

/** A list, its open item beside it, and a button for a new item. The open item is in the address. */
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
        <div class="row listed-act">
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
