import { t } from '../text/words.ts';

interface Props {
  readonly ticked: ReadonlySet<string>;
  readonly onTick: (keys: ReadonlySet<string>) => void;
}

/** Takes a row among those that something is to be done with; a click on it opens nothing. */
export const Tick = ({ keyed, ticked, onTick }: Props & { readonly keyed: string }) => (
  <input
    type="checkbox"
    aria-label={t.table.tick(keyed)}
    checked={ticked.has(keyed)}
    onChange={({ currentTarget: { checked } }) =>
      onTick(checked ? new Set([...ticked, keyed]) : new Set([...ticked].filter((key) => key !== keyed)))
    }
  />
);

/** Takes all rows of the page, or none. */
export const TickAll = ({ keys, ticked, onTick }: Props & { readonly keys: readonly string[] }) => {
  const count = keys.filter((key) => ticked.has(key)).length;
  return (
    <input
      type="checkbox"
      aria-label={t.table.tickAll}
      checked={count > 0 && count === keys.length}
      indeterminate={count > 0 && count < keys.length}
      onChange={({ currentTarget: { checked } }) => onTick(new Set(checked ? keys : []))}
    />
  );
};
