import { useId } from 'preact/hooks';

interface Props<Value extends string> {
  readonly title: string;
  readonly value: Value;
  readonly options: readonly (readonly [value: Value, name: string, what: string])[];
  readonly onChoose: (value: Value) => void;
}

/** One of several, each with a sentence on what it is. */
export const Cards = <Value extends string>({ title, value, options, onChoose }: Props<Value>) => {
  const group = useId();
  return (
    <fieldset class="kinds">
      <legend>{title}</legend>
      {options.map(([each, name, what]) => (
        <label key={each} class="card kind" data-chosen={each === value ? '' : undefined}>
          <span class="row">
            <input type="radio" name={group} value={each} checked={each === value} onChange={() => onChoose(each)} />
            <strong>{name}</strong>
          </span>
          <span class="muted">{what}</span>
        </label>
      ))}
    </fieldset>
  );
};
