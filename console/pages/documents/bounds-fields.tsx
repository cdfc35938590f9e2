import { useId } from 'preact/hooks';
import { type BoundName, textFormatNames } from '../../../shared/collections/schema/field-bounds.ts';
import { t } from '../../text/words.ts';
import { type BoundsDraft, boundInputs, boundsOfType, countBounds } from './bounds-draft.ts';
import type { FieldType } from './schema-draft.ts';

interface Props {
  readonly type: FieldType;
  readonly draft: BoundsDraft;
  readonly onChange: (draft: BoundsDraft) => void;
}

const BoundInput = ({ name, text, onText }: { name: BoundName; text: string; onText: (text: string) => void }) => {
  const id = useId();
  const kind = boundInputs[name];
  const common = { id, class: 'input' };
  const label = <label for={id}>{t.schema.bounds[name]}</label>;
  if (kind === 'flag')
    return (
      <div class="row">
        <input
          id={id}
          type="checkbox"
          checked={text === 'true'}
          onChange={(event) => onText(event.currentTarget.checked ? 'true' : '')}
        />
        {label}
      </div>
    );
  if (kind === 'format')
    return (
      <div class="field">
        {label}
        <select {...common} value={text} onInput={(event) => onText(event.currentTarget.value)}>
          {['', ...textFormatNames].map((format) => (
            <option key={format} value={format}>
              {format}
            </option>
          ))}
        </select>
      </div>
    );
  const typed = { ...common, value: text, spellcheck: false, autocomplete: 'off' };
  return (
    <div class="field">
      {label}
      {kind === 'lines' ? (
        <textarea {...typed} class="input mono" rows={3} onInput={(event) => onText(event.currentTarget.value)} />
      ) : (
        <input
          {...typed}
          class={kind === 'text' ? 'input mono' : 'input'}
          inputMode={kind === 'text' ? 'text' : kind === 'count' ? 'numeric' : 'decimal'}
          onInput={(event) => onText(event.currentTarget.value)}
        />
      )}
    </div>
  );
};

/** The bounds of a field. When closed, it shows how many there are. */
export const BoundsFields = ({ type, draft, onChange }: Props) => {
  const names = boundsOfType(type);
  if (names.length === 0) return null;
  return (
    <details>
      <summary>{t.schema.boundCount(countBounds(type, draft))}</summary>
      <div class="stack">
        {names.map((name) => (
          <BoundInput
            key={name}
            name={name}
            text={draft[name] ?? ''}
            onText={(text) => onChange({ ...draft, [name]: text })}
          />
        ))}
      </div>
    </details>
  );
};
