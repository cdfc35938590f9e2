import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Collection } from '../../../shared/collections/collection.ts';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { FilterForm } from './filter-form.tsx';
import { FilterJson } from './filter-json.tsx';
import { isSendable, jsonOf, type Part } from './filter-parts.ts';
import { type Condition, conditionsOf } from './filter-values.ts';

interface Props {
  /** `undefined` until known. */
  readonly collection: Collection | undefined;
  readonly parts: readonly Part[];
  /** The known fields; others can be typed. */
  readonly fields: readonly string[];
  readonly adding: Signal<boolean>;
  readonly onChange: (parts: readonly Part[]) => void;
  readonly children: ComponentChildren;
}

const said = ({ field, operator, text }: Condition): string => `${field} ${t.operators[operator]} ${text}`;

/** The field that a part is about, and the whole part. */
const namesOf = (part: Part, conditions: readonly Condition[] | undefined): readonly [name: string, text: string] => {
  if ('parameter' in part) return [part.parameter, `${part.parameter} ${part.text}`];
  if (conditions) {
    const fields = [...new Set(conditions.map(({ field }) => field))];
    return [fields.join(', '), conditions.map(said).join(` ${t.documents.or} `)];
  }
  const json = jsonOf(part.filter);
  return [Object.keys(json).join(', '), JSON.stringify(json)];
};

/** The filter of a list. All parts must match; each can be edited, removed or added. */
export const FilterBar = ({ collection, parts, fields, adding, onChange, children }: Props) => {
  const changing = useSignal<number | undefined>(undefined);
  const asJson = useSignal(false);
  const show = (what: { readonly adding?: true; readonly at?: number; readonly json?: true }) => {
    adding.value = what.adding ?? false;
    changing.value = what.at;
    asJson.value = what.json ?? false;
  };
  const close = () => show({});
  /** Errors are shown in the form where they were typed. */
  const change = (next: readonly Part[]) => {
    if (!isSendable(next)) throw new Error(t.documents.filterTooLong);
    close();
    onChange(next);
  };
  const form = (first: readonly Condition[], put: (part: Part) => readonly Part[]) =>
    collection && (
      <FilterForm
        key={changing.value ?? ''}
        collection={collection}
        first={first}
        fields={fields}
        onCancel={close}
        onApply={(filter) => change(put({ filter }))}
      />
    );
  return (
    <div class="row">
      {parts.map((part, at) => {
        const conditions = collection && 'filter' in part ? conditionsOf(collection, part.filter) : undefined;
        const [name, text] = namesOf(part, conditions);
        if (conditions && changing.value === at) return form(conditions, (next) => parts.with(at, next));
        return (
          <span key={`${at} ${text}`} class="chip">
            <button
              type="button"
              class="mono chip-text"
              title={text}
              onClick={() => show(conditions ? { at } : { json: true })}
            >
              {text}
            </button>
            <button
              type="button"
              aria-label={t.documents.removeFilter(name)}
              onClick={() => {
                close();
                onChange(parts.toSpliced(at, 1));
              }}
            >
              ✕
            </button>
          </span>
        );
      })}
      {adding.value ? (
        form([{ field: fields[0] ?? '_id', operator: '$eq', text: '' }], (next) => [...parts, next])
      ) : (
        <Button kind="plain" onClick={() => show({ adding: true })}>
          + {t.documents.filter}
        </Button>
      )}
      {collection && (
        <Button
          kind="plain"
          title={t.documents.whereJson}
          aria-label={t.documents.whereJson}
          onClick={() => show({ json: true })}
        >
          JSON
        </Button>
      )}
      {collection && asJson.value && (
        <FilterJson collection={collection} parts={parts} onCancel={close} onApply={change} />
      )}
      <span class="grow" />
      {children}
    </div>
  );
};
