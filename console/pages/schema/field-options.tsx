import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { type BoundName, textFormatNames } from '../../../shared/collections/schema/field-bounds.ts';
import { schema as words } from '../../text/schema.ts';
import { Button } from '../../ui/button.tsx';
import { Tags } from '../../ui/tags.tsx';
import { boundInputs, boundsOfType, boundText } from './bounds-draft.ts';
import { useEditor } from './editor.ts';
import { FieldRight } from './field-right.tsx';
import {
  type FieldDraft,
  hasPointlessDefault,
  mayBeSearchable,
  mayBeUnique,
  mayHaveDefault,
  readWords,
  writeWords,
} from './schema-draft.ts';

interface Props {
  readonly field: FieldDraft;
  /** The name in labels, which tells rows apart for screen readers. */
  readonly name: string;
  /** `element`: the elements of an array; `inner`: a field inside another. */
  readonly kind: 'top' | 'inner' | 'element';
  readonly inArray: boolean;
}

/** The visible label, followed by the name of the field for screen readers. */
const Label = ({ text, name }: { readonly text: string; readonly name: string }) => (
  <>
    {text}
    <span class="spoken">{words.of(name)}</span>
  </>
);

const Check = ({
  label,
  name,
  on,
  onChange,
}: {
  readonly label: string;
  readonly name: string;
  readonly on: boolean;
  readonly onChange: (on: boolean) => void;
}) => (
  <label class="row check">
    <input type="checkbox" checked={on} onChange={(event) => onChange(event.currentTarget.checked)} />
    <span>
      <Label text={label} name={name} />
    </span>
  </label>
);

const Choice = ({
  label,
  name,
  value,
  options,
  onChange,
}: {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly onChange: (value: string) => void;
}) => {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>
        <Label text={label} name={name} />
      </label>
      <select id={id} class="input" value={value} onInput={(event) => onChange(event.currentTarget.value)}>
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
};

const noDefault = '-';

/** A value for documents without one, typed as it is. */
const Default = ({ field, name }: Pick<Props, 'field' | 'name'>) => {
  const id = useId();
  const { change } = useEditor();
  const { id: row, type, fallback, bounds } = field;
  const set = (text: string | undefined) => change(row, { fallback: text });
  const allowed = type === 'Boolean' ? ['true', 'false'] : (bounds.enum ?? []);
  if (allowed.length > 0 && (fallback === undefined || allowed.includes(fallback)))
    return (
      <Choice
        label={words.fallback}
        name={name}
        value={fallback === undefined ? noDefault : `=${fallback}`}
        options={[[noDefault, words.noDefault], ...allowed.map((value) => [`=${value}`, value] as const)]}
        onChange={(value) => set(value === noDefault ? undefined : value.slice(1))}
      />
    );
  return (
    <div class="field">
      <label for={id}>
        <Label text={words.fallback} name={name} />
      </label>
      <input
        id={id}
        class="input"
        autocomplete="off"
        spellcheck={false}
        inputMode={type === 'Number' ? 'decimal' : 'text'}
        placeholder={fallback === '' ? '""' : words.noDefault}
        value={fallback ?? ''}
        onInput={(event) => set(event.currentTarget.value || undefined)}
      />
    </div>
  );
};

const Bound = ({ field, name, bound }: Pick<Props, 'field' | 'name'> & { readonly bound: BoundName }) => {
  const id = useId();
  const { change } = useEditor();
  const { id: row, type, bounds } = field;
  const label = words.bounds[bound];
  if (bound === 'enum')
    return (
      <Tags
        label={<Label text={label} name={name} />}
        hint={words.enumHint}
        tags={bounds.enum ?? []}
        removeLabel={words.removeTag}
        inputMode={type === 'Number' ? 'decimal' : 'text'}
        onChange={(tags) => change(row, { bounds: { ...bounds, enum: tags } })}
      />
    );
  const text = boundText(bounds, bound);
  const set = (value: string) => change(row, { bounds: { ...bounds, [bound]: value } });
  const input = boundInputs[bound];
  if (input === 'flag')
    return <Check label={label} name={name} on={text === 'true'} onChange={(on) => set(on ? 'true' : '')} />;
  if (input === 'format')
    return (
      <Choice
        label={label}
        name={name}
        value={text}
        options={[['', words.noFormat], ...textFormatNames.map((format) => [format, format] as const)]}
        onChange={set}
      />
    );
  return (
    <div class="field">
      <label for={id}>
        <Label text={label} name={name} />
      </label>
      <input
        id={id}
        class={input === 'text' ? 'input mono' : 'input'}
        autocomplete="off"
        spellcheck={false}
        inputMode={input === 'text' ? 'text' : input === 'count' ? 'numeric' : 'decimal'}
        placeholder={input === 'text' ? words.patternHint : undefined}
        value={text}
        onInput={(event) => set(event.currentTarget.value)}
      />
    </div>
  );
};

/** The option for a collection that does not exist yet; no collection has such a name. */
const newTarget = ' ';

const Reference = ({ field, name }: Pick<Props, 'field' | 'name'>) => {
  const { change, targets } = useEditor();
  const { id, ref, exists, onDelete } = field;
  const inputId = useId();
  const isNew = useSignal(ref !== '' && !targets.includes(ref));
  return (
    <>
      <Choice
        label={words.ref}
        name={name}
        value={isNew.value ? newTarget : ref}
        options={[
          ['', words.refChoose],
          ...targets.map((target) => [target, target] as const),
          [newTarget, words.refNew],
        ]}
        onChange={(target) => {
          isNew.value = target === newTarget;
          change(id, { ref: isNew.value ? '' : target });
        }}
      />
      {isNew.value && (
        <div class="field">
          <label for={inputId}>
            <Label text={words.refName} name={name} />
          </label>
          <input
            id={inputId}
            class="input"
            autocomplete="off"
            spellcheck={false}
            value={ref}
            onInput={({ currentTarget: { value } }) => change(id, { ref: value })}
          />
        </div>
      )}
      <Choice
        label={words.onDelete}
        name={name}
        value={onDelete}
        options={Object.entries(words.deleteActions)}
        onChange={(action) => change(id, { onDelete: action as FieldDraft['onDelete'] })}
      />
      <Check label={words.exists} name={name} on={exists} onChange={(on) => change(id, { exists: on })} />
    </>
  );
};

const isCheck = (bound: BoundName): boolean => boundInputs[bound] === 'flag';

/** The options of a field, as far as its type and place have them. */
export const FieldOptions = ({ field, name, kind, inArray }: Props) => {
  const { change, move, remove } = useEditor();
  const { id, type, required, unique, uniquePer, searchable, write, read } = field;
  const bounds = boundsOfType(type);
  const isElement = kind === 'element';
  return (
    <fieldset class="field-options" aria-label={words.optionsOf(name)}>
      {!isElement && (
        <div class="checks">
          <Check label={words.required} name={name} on={required} onChange={(on) => change(id, { required: on })} />
          {kind === 'top' && mayBeUnique(type) && (
            <Check label={words.unique} name={name} on={unique} onChange={(on) => change(id, { unique: on })} />
          )}
          {kind === 'top' && mayBeUnique(type) && unique && (
            <Check
              label={words.uniquePerOwner}
              name={name}
              on={uniquePer === 'owner'}
              onChange={(on) => change(id, { uniquePer: on ? 'owner' : undefined })}
            />
          )}
          {kind === 'top' && mayBeSearchable(field) && (
            <Check
              label={words.searchable}
              name={name}
              on={searchable}
              onChange={(on) => change(id, { searchable: on })}
            />
          )}
          {bounds.filter(isCheck).map((bound) => (
            <Bound key={bound} field={field} name={name} bound={bound} />
          ))}
        </div>
      )}
      <div class="settings">
        {type === 'Ref' && <Reference field={field} name={name} />}
        {!isElement && mayHaveDefault(type) && <Default field={field} name={name} />}
        {bounds
          .filter((bound) => isElement || !isCheck(bound))
          .map((bound) => (
            <Bound key={bound} field={field} name={name} bound={bound} />
          ))}
        {!isElement && (!inArray || write !== '') && (
          <FieldRight
            label={words.write}
            name={name}
            words={writeWords}
            names={words.writers}
            value={write}
            onChange={(text) => change(id, { write: text })}
          />
        )}
        {!isElement && (
          <FieldRight
            label={words.read}
            name={name}
            words={read === 'true' ? [...readWords, 'true' as const] : readWords}
            names={words.readers}
            value={read}
            onChange={(text) => change(id, { read: text })}
          />
        )}
      </div>
      {kind === 'top' && type === 'String' && <p class="small muted">{words.fileWhy}</p>}
      {!isElement && hasPointlessDefault(field) && (
        <p class="note" role="status">
          {words.pointless(name)}
        </p>
      )}
      {!isElement && (
        <div class="row">
          <Button kind="plain" onClick={() => move(id, -1)}>
            <Label text={words.up} name={name} />
          </Button>
          <Button kind="plain" onClick={() => move(id, 1)}>
            <Label text={words.down} name={name} />
          </Button>
          <Button kind="danger" onClick={() => remove(id)}>
            {words.remove(name)}
          </Button>
        </div>
      )}
    </fieldset>
  );
};
