import { useId } from 'preact/hooks';
import { isNumber, isScalar } from '../../../shared/collections/schema/field-types.ts';
import { rows } from '../../text/rows.ts';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { bytesText } from '../../ui/bytes.tsx';
import { useMended } from '../../ui/form.tsx';
import { Wrong } from '../../ui/wrong.tsx';
import { boundHints, unitsFor } from '../schema/bounds-draft.ts';
import { DateInput, localText, timeZone } from './date-input.tsx';
import { holdsFile } from './file-paths.ts';
import { FilePicker } from './file-picker.tsx';
import { RefInput } from './ref-input.tsx';
import { RefLink } from './ref-link.tsx';
import { RefPicker } from './ref-picker.tsx';
import type { ShownField } from './shown-fields.ts';
import { TagInput, tagsOf } from './tag-input.tsx';

interface Props {
  readonly field: ShownField;
  readonly text: string;
  /** The text for an empty field: `null` or nothing. */
  readonly empty: string;
  /** Why the typed text is not valid. */
  readonly unread: string | undefined;
  /** The service's error for the value when it was saved. */
  readonly wrong: string | undefined;
  readonly onType: (text: string) => void;
  readonly onClear: () => void;
}

/** Longer texts are typed as JSON, in the editor made for it. */
const longest = 64 * 1024;

const isLine = (type: ShownField['type']): boolean => type !== 'Any' && type !== 'String' && isScalar(type);

const isNumeric = (type: ShownField['type']): boolean => type !== 'Any' && isNumber(type);

type InputProps = Pick<Props, 'field' | 'text' | 'empty' | 'onType'> & {
  readonly id: string;
  readonly described: string | undefined;
  readonly invalid: boolean;
  /** The name of the control if it has no label. */
  readonly name?: string;
};

/** The values that the schema allows. A stored value outside them can be kept. */
const choices = ({ rules }: ShownField, text: string): readonly string[] | undefined => {
  const allowed = rules?.enum?.map(String);
  return allowed && text !== '' && !allowed.includes(text) ? [...allowed, text] : allowed;
};

/** The control for a value, by its type in the schema. */
export const ValueInput = ({ field, text, empty, onType, id, described, invalid, name }: InputProps) => {
  const { type, required, rules, ref } = field;
  const allowed = type === 'Boolean' ? ['true', 'false'] : choices(field, text);
  const common = {
    id,
    'aria-label': name,
    'aria-describedby': described,
    'aria-invalid': invalid ? ('true' as const) : undefined,
  };
  const local = type === 'Date' ? localText(text) : undefined;
  if (local !== undefined) return <DateInput local={local} onType={onType} common={common} />;
  const tags = rules?.items?.type === 'String' ? tagsOf(text) : undefined;
  if (tags) return <TagInput {...{ tags, onType, empty, common }} field={field.key} />;
  if (allowed)
    return (
      <select {...common} class="input" value={text} onInput={(event) => onType(event.currentTarget.value)}>
        {(!required || text === '') && <option value="">{empty}</option>}
        {allowed.map((value) => (
          <option key={value}>{value}</option>
        ))}
      </select>
    );
  if (ref !== undefined)
    return <RefInput {...{ text, onType }} collectionName={ref} common={{ ...common, placeholder: empty }} />;
  const typed = {
    ...common,
    dir: 'auto',
    autocomplete: 'off',
    spellcheck: false,
    placeholder: empty,
    value: text,
  } as const;
  if (isLine(type))
    return (
      <input
        {...typed}
        class={isNumeric(type) ? 'input' : 'input mono'}
        inputMode={isNumeric(type) ? 'decimal' : 'text'}
        onInput={(event) => onType(event.currentTarget.value)}
      />
    );
  return (
    <textarea
      {...typed}
      class={type === 'String' ? 'input fitted' : 'input fitted mono'}
      rows={1}
      {...(rules?.maxLength === undefined ? {} : { maxLength: unitsFor(text, rules.maxLength) })}
      onInput={(event) => onType(event.currentTarget.value)}
    />
  );
};

/** An input for a field, by its type in the schema. */
export const ValueField = ({ field, text, empty, unread, wrong: said, onType: onText, onClear }: Props) => {
  const id = useId();
  const [known, mend] = useMended(said);
  const wrong = unread ?? known;
  const onType = (next: string) => {
    mend();
    onText(next);
  };
  const { key, type, required, ref } = field;
  const isLong = text.length > longest;
  return (
    <div class="field">
      <div class="row field-head">
        {isLong ? <span class="label mono">{key}</span> : <label for={id}>{key}</label>}
        <span id={`${id}-hint`} class="hint small">
          {ref === undefined ? type : `${type} → ${ref}`}
          {type === 'Date' && ` · ${rows.fields.zone(timeZone())}`}
          {required && ` · ${t.documents.required}`}
          {field.rules?.unique && ` · ${t.documents.unique}`}
          {boundHints(field.rules ?? {}).map((hint) => ` · ${hint}`)}
        </span>
        <span class="grow" />
        {ref !== undefined && <RefLink collectionName={ref} id={text} />}
        {ref !== undefined && <RefPicker collectionName={ref} onChoose={onType} />}
        {type === 'String' && !field.rules?.enum && holdsFile(key, text) && <FilePicker onChoose={onType} />}
        {type === 'Date' && (
          <Button kind="plain" onClick={() => onType(new Date().toISOString())}>
            {t.documents.now}
          </Button>
        )}
        {!required && text !== '' && (
          <Button
            kind="plain"
            aria-label={t.documents.clear(key)}
            onClick={() => {
              mend();
              onClear();
            }}
          >
            {t.documents.empty}
          </Button>
        )}
      </div>
      {isLong ? (
        <p class="muted">{t.documents.tooLong(bytesText(text.length))}</p>
      ) : (
        <ValueInput
          field={field}
          text={text}
          empty={empty}
          onType={onType}
          id={id}
          described={wrong ? `${id}-hint ${id}-wrong` : `${id}-hint`}
          invalid={wrong !== undefined}
        />
      )}
      <Wrong id={`${id}-wrong`} text={wrong} />
    </div>
  );
};
