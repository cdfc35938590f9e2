import { useId } from 'preact/hooks';
import { schema as texts } from '../../text/schema.ts';

interface Props<Word extends string> {
  readonly label: string;
  /** The name of the field, for screen readers. */
  readonly name: string;
  readonly words: readonly Word[];
  readonly names: Readonly<Record<Word | 'rule', string>>;
  /** A word, or a rule as JSON. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Who writes or reads a field: a choice, or a rule. */
export const FieldRight = <Word extends string>({ label, name, words, names, value, onChange }: Props<Word>) => {
  const id = useId();
  const isRule = !words.some((word) => word === value);
  return (
    <div class="field">
      <label for={id}>
        {label}
        <span class="spoken">{texts.of(name)}</span>
      </label>
      <select
        id={id}
        class="input"
        value={isRule ? 'rule' : value}
        onInput={(event) => onChange(event.currentTarget.value === 'rule' ? '{"$user":{}}' : event.currentTarget.value)}
      >
        {words.map((word) => (
          <option key={word} value={word}>
            {names[word]}
          </option>
        ))}
        <option value="rule">{names.rule}</option>
      </select>
      {isRule && (
        <input
          class="input mono"
          aria-label={`${label}: ${texts.rule}${texts.of(name)}`}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value || '{')}
        />
      )}
    </div>
  );
};
