/** Something that can be chosen from a list below a field. */
interface Choice {
  readonly label: string;
  /** Stands at its end: its keys. */
  readonly keys?: string;
}

interface Props<T extends Choice> {
  /** Id of the list, which the field names in `aria-controls`; that of a choice has its place behind it. */
  readonly id: string;
  readonly label: string;
  readonly found: readonly T[];
  readonly chosen: number;
  readonly onChoose: (choice: T) => void;
}

/** What a field above found, of which one is chosen; the field has the keys. */
export const Choices = <T extends Choice>({ id, label, found, chosen, onChoose }: Props<T>) => (
  <div id={id} role="listbox" class="palette" aria-label={label}>
    {found.map((choice, at) => (
      // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys.
      <div
        key={choice.label}
        id={`${id}-${at}`}
        role="option"
        tabIndex={-1}
        aria-selected={at === chosen}
        onClick={() => onChoose(choice)}
      >
        {choice.label}
        {choice.keys && <kbd>{choice.keys}</kbd>}
      </div>
    ))}
  </div>
);
