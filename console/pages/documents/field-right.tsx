import { t } from '../../text/words.ts';

interface Props<Word extends string> {
  readonly label: string;
  readonly words: readonly Word[];
  readonly names: Readonly<Record<Word | 'rule', string>>;
  /** A word, or a rule as JSON. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Who writes or reads a field: a choice, or a rule. */
export const FieldRight = <Word extends string>({ label, words, names, value, onChange }: Props<Word>) => {
  const isRule = !words.some((word) => word === value);
  return (
    <>
      <select
        class="input"
        aria-label={label}
        value={isRule ? 'rule' : value}
        onChange={(event) =>
          onChange(event.currentTarget.value === 'rule' ? '{"$user":{}}' : event.currentTarget.value)
        }
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
          aria-label={`${label}: ${t.schema.rule}`}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value || '{')}
        />
      )}
    </>
  );
};
