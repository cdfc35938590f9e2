import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { type FieldType, fieldTypeNames } from '../../../shared/collections/schema/field-types.ts';
import { schema as words } from '../../text/schema.ts';
import { Button } from '../../ui/button.tsx';
import { Wrong } from '../../ui/wrong.tsx';
import { useEditor } from './editor.ts';
import { FieldOptions } from './field-options.tsx';
import { chipsOf } from './field-texts.ts';
import { type FieldDraft, newField } from './schema-draft.ts';
import { TypeIcon } from './type-icon.tsx';

/** The place of a list of fields in the schema. */
interface Around {
  /** The name of what contains it; `''` at the top. */
  readonly parentName: string;
  readonly inArray: boolean;
}

const anyType = 'Any';

/** The changes that make a field one of another type. What the type does not have is kept until the page is left. */
const asType = (field: FieldDraft, type: FieldType): Partial<FieldDraft> => ({
  type,
  ...(type === 'Array' && !field.items && { items: newField() }),
});

const TypeSelect = ({
  label,
  type,
  first,
  onChange,
}: {
  readonly label: string;
  readonly type: string;
  readonly first?: string;
  readonly onChange: (type: string) => void;
}) => (
  <select class="input quiet" aria-label={label} value={type} onInput={(event) => onChange(event.currentTarget.value)}>
    {first !== undefined && <option value={anyType}>{first}</option>}
    {fieldTypeNames.map((each) => (
      <option key={each}>{each}</option>
    ))}
  </select>
);

/** What is special about a field. It opens the options. */
const OptionsButton = ({ field, name }: { readonly field: FieldDraft; readonly name: string }) => {
  const { open, toggle } = useEditor();
  const chips = chipsOf(field);
  return (
    <button type="button" class="field-chips" aria-expanded={open.value.has(field.id)} onClick={() => toggle(field.id)}>
      <span class="spoken">{words.optionsOf(name)}</span>
      {chips.map((chip) => (
        <span key={chip} class="badge" title={chip}>
          {chip}
        </span>
      ))}
      {chips.length === 0 && <span class="small muted option-word">{words.options}</span>}
      <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
        <path d="M4.5 6.25 8 9.75l3.5-3.5" />
      </svg>
    </button>
  );
};

/** Puts the focus into a row that asks for it. */
const useRowFocus = (id: number) => {
  const { focused } = useEditor();
  const first = useRef<HTMLInputElement>(null);
  const isFocused = focused.value === id;
  useLayoutEffect(() => {
    if (!isFocused) return;
    focused.value = undefined;
    first.current?.focus();
    first.current?.scrollIntoView({ block: 'nearest' });
  }, [isFocused, focused]);
  return first;
};

const focusBeside = (here: HTMLElement, step: 1 | -1): void => {
  const names = [...(here.closest('.schema-editor')?.querySelectorAll<HTMLElement>('.field-name') ?? [])];
  names[names.indexOf(here) + step]?.focus();
};

const middleOf = (row: Element): number => {
  const { top, height } = row.getBoundingClientRect();
  return top + height / 2;
};

/** Moves a row with the pointer. */
const useDrag = (id: number) => {
  const { dragged, moveTo } = useEditor();
  return (event: PointerEvent & { readonly currentTarget: HTMLElement }): void => {
    const list = event.currentTarget.closest('ul');
    if (!list || event.button !== 0) return;
    event.preventDefault();
    dragged.value = id;
    const onMove = ({ clientY }: PointerEvent): void => {
      const others = [...list.children].filter((row) => row.getAttribute('data-row') !== String(id));
      moveTo(id, others.filter((row) => middleOf(row) < clientY).length);
    };
    const ended = new AbortController();
    const end = (): void => {
      dragged.value = undefined;
      ended.abort();
    };
    const { signal } = ended;
    addEventListener('pointermove', onMove, { signal });
    addEventListener('pointerup', end, { signal });
    addEventListener('pointercancel', end, { signal });
  };
};

/** The elements of an array, with the editor of a field except its name. */
const ElementRow = ({ array, name }: { readonly array: FieldDraft; readonly name: string }) => {
  const { change, open } = useEditor();
  const { items } = array;
  const label = words.elementsOf(name);
  return (
    <ul class="fields">
      <li class="field-row">
        <div class="field-line">
          <span class="handle" />
          <TypeIcon type={items?.type ?? 'Any'} />
          <span class="field-element muted">{words.element}</span>
          <TypeSelect
            label={words.typeOf(label)}
            type={items?.type ?? anyType}
            first={words.any}
            onChange={(type) => {
              const wanted = type as FieldType;
              if (type === anyType) change(array.id, { items: undefined });
              else if (items) change(items.id, asType(items, wanted));
              else change(array.id, { items: newField({ type: wanted }) });
            }}
          />
          {items && <OptionsButton field={items} name={label} />}
        </div>
        {items && <RowError field={items} />}
        {items && open.value.has(items.id) && <FieldOptions field={items} name={label} kind="element" inArray />}
        {items && <Inner field={items} name={`${name}[]`} inArray />}
      </li>
    </ul>
  );
};

const Inner = ({ field, name, inArray }: { field: FieldDraft; name: string; inArray: boolean }) => {
  if (field.type === 'Array') return <ElementRow array={field} name={name} />;
  if (field.type !== 'Object') return null;
  return <FieldList fields={field.fields} parent={field.id} parentName={name} inArray={inArray} />;
};

const RowError = ({ field, id }: { readonly field: FieldDraft; readonly id?: string }) => {
  const { errors } = useEditor();
  return <Wrong {...(id === undefined ? {} : { id })} text={errors.value.get(field)} />;
};

interface RowProps extends Around {
  readonly field: FieldDraft;
  readonly place: number;
  readonly parent: number | undefined;
}

const FieldRow = ({ field, place, parent, parentName, inArray }: RowProps) => {
  const { change, add, remove, move, toggle, open, dragged, errors } = useEditor();
  const wrongId = useId();
  const input = useRowFocus(field.id);
  const drag = useDrag(field.id);
  const { id, key, was, type } = field;
  const own = key || words.unnamed(place + 1);
  const name = parentName ? `${parentName}.${own}` : own;
  const isWrong = errors.value.has(field);
  const onKeyDown = (event: KeyboardEvent & { readonly currentTarget: HTMLInputElement }): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : undefined;
    if (event.isComposing || event.ctrlKey || event.metaKey) return;
    if (step !== undefined) {
      if (event.altKey) move(id, step);
      else focusBeside(event.currentTarget, step);
    } else if (event.key === 'Enter') add(parent, place + 1);
    else if (event.key === 'Backspace' && key === '') remove(id);
    else return;
    event.preventDefault();
  };
  return (
    <li class="field-row" data-row={id} data-dragged={dragged.value === id ? '' : undefined}>
      <div class="field-line">
        <span class="handle" title={words.drag(name)} onPointerDown={drag}>
          <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
            <path d="M6 4h.01M10 4h.01M6 8h.01M10 8h.01M6 12h.01M10 12h.01" />
          </svg>
        </span>
        <TypeIcon type={type} />
        <input
          ref={input}
          class="input quiet mono field-name"
          aria-label={words.name(place + 1, parentName)}
          aria-invalid={isWrong ? 'true' : undefined}
          aria-describedby={isWrong ? wrongId : undefined}
          placeholder={words.namePlaceholder}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          value={key}
          onInput={(event) => change(id, { key: event.currentTarget.value })}
          onKeyDown={onKeyDown}
        />
        <TypeSelect
          label={words.typeOf(name)}
          type={type}
          onChange={(next) => {
            change(id, asType(field, next as FieldType));
            if (next === 'Ref' && !open.peek().has(id)) toggle(id);
          }}
        />
        <OptionsButton field={field} name={name} />
        <Button kind="plain" aria-label={words.remove(name)} onClick={() => remove(id)}>
          ✕
        </Button>
      </div>
      <RowError field={field} id={wrongId} />
      {was !== undefined && key !== was && (
        <p class="note small" role="status">
          {words.renamed(was, key)}
        </p>
      )}
      {open.value.has(id) && (
        <FieldOptions field={field} name={name} kind={parentName ? 'inner' : 'top'} inArray={inArray} />
      )}
      <Inner field={field} name={name} inArray={inArray} />
    </li>
  );
};

/** The fields of a schema or of an object, one line each. */
export const FieldList = ({
  fields,
  parent,
  parentName,
  inArray,
}: Around & { readonly fields: readonly FieldDraft[]; readonly parent: number | undefined }) => {
  const { add } = useEditor();
  return (
    <div class={parentName ? 'inner-fields' : undefined}>
      {fields.length > 0 && (
        <ul class="fields">
          {fields.map((field, place) => (
            <FieldRow
              key={field.id}
              field={field}
              place={place}
              parent={parent}
              parentName={parentName}
              inArray={inArray}
            />
          ))}
        </ul>
      )}
      <div class="row add-field">
        <Button kind={parentName ? 'plain' : undefined} onClick={() => add(parent, fields.length)}>
          {parentName ? words.addTo(parentName) : words.add}
        </Button>
        {parentName && fields.length === 0 && <span class="small muted">{words.anyFields}</span>}
      </div>
    </div>
  );
};
