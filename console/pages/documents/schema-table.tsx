import type { Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { usersCollection } from '../../../shared/collections/names.ts';
import { fieldTypeNames, isScalar } from '../../../shared/collections/schema/field-types.ts';
import { rightHints } from '../../../shared/collections/schema/right-hints.ts';
import { useEvery } from '../../api/query-every.ts';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { Switch } from '../../ui/switch.tsx';
import { BoundsFields } from './bounds-fields.tsx';
import { FieldRight } from './field-right.tsx';
import { RefOptions } from './ref-options.tsx';
import {
  type FieldDraft,
  type FieldType,
  mayBeSearchable,
  mayHaveDefault,
  newField,
  readWords,
  writeWords,
} from './schema-draft.ts';

/** The fields of a schema, one per row. `self` is the name of the collection, which may not exist yet. */
export const SchemaTable = ({
  projectId,
  self,
  fields,
}: {
  readonly projectId: string;
  readonly self: string;
  readonly fields: Signal<readonly FieldDraft[]>;
}) => {
  const collections = useEvery('list-collections', { projectId }).data ?? [];
  const targetsOf = ({ ref }: FieldDraft) => [
    ...new Set(['', ref, ...collections.map(({ name }) => name), ...(self === '' ? [] : [self])]),
  ];
  // A rejected request names its field.
  const { field: named } = useLocation().query;
  const table = useRef<HTMLTableElement>(null);
  useEffect(() => table.current?.querySelector<HTMLElement>('[aria-selected=true] input')?.focus(), [named]);
  const change = (place: number, changes: Partial<FieldDraft>) => {
    fields.value = fields.value.map((field, at) => (at === place ? { ...field, ...changes } : field));
  };
  return (
    <div class="stack">
      <div class="table-box">
        <table ref={table} class="table">
          <thead>
            <tr>
              {[
                t.schema.key,
                t.schema.type,
                t.schema.required,
                t.schema.unique,
                t.schema.searchable,
                t.schema.write,
                t.schema.read,
                t.schema.fallback,
                t.schema.ref,
                t.schema.inside,
                t.schema.limits,
                '',
              ].map((label) => (
                <th key={label} scope="col">
                  {label || <span class="spoken">{t.acts.menu}</span>}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {fields.value.map((field, place) => (
              <tr key={place} aria-selected={field.key === named ? true : undefined}>
                <td>
                  <input
                    class="input mono"
                    aria-label={t.schema.key}
                    required
                    value={field.key}
                    onInput={(event) => change(place, { key: event.currentTarget.value })}
                  />
                </td>
                <td>
                  <select
                    class="input"
                    aria-label={t.schema.type}
                    value={field.type}
                    onInput={(event) => change(place, { type: event.currentTarget.value as FieldType })}
                  >
                    {fieldTypeNames.map((type) => (
                      <option key={type}>{type}</option>
                    ))}
                  </select>
                </td>
                <td>
                  <input
                    type="checkbox"
                    aria-label={t.schema.required}
                    checked={field.required}
                    onChange={(event) => change(place, { required: event.currentTarget.checked })}
                  />
                </td>
                <td>
                  <input
                    type="checkbox"
                    aria-label={t.schema.unique}
                    checked={field.unique}
                    onChange={(event) => change(place, { unique: event.currentTarget.checked })}
                  />
                  {field.unique && (
                    <label class="row">
                      <input
                        type="checkbox"
                        checked={field.uniquePer === 'owner'}
                        onChange={(event) =>
                          change(place, { uniquePer: event.currentTarget.checked ? 'owner' : undefined })
                        }
                      />
                      {t.schema.uniquePerOwner}
                    </label>
                  )}
                </td>
                <td>
                  <input
                    type="checkbox"
                    aria-label={t.schema.searchable}
                    disabled={!mayBeSearchable(field.type)}
                    checked={field.searchable}
                    onChange={(event) => change(place, { searchable: event.currentTarget.checked })}
                  />
                </td>
                <td>
                  <FieldRight
                    label={t.schema.write}
                    words={writeWords}
                    names={t.schema.writers}
                    value={field.write}
                    onChange={(write) => change(place, { write })}
                  />
                </td>
                <td>
                  <FieldRight
                    label={t.schema.read}
                    words={readWords}
                    names={t.schema.readers}
                    value={field.read}
                    onChange={(read) => change(place, { read })}
                  />
                </td>
                <td>
                  <input
                    class="input mono"
                    aria-label={t.schema.fallback}
                    disabled={!mayHaveDefault(field.type)}
                    value={field.fallback ?? ''}
                    onInput={(event) => change(place, { fallback: event.currentTarget.value || undefined })}
                  />
                </td>
                <td>
                  <select
                    class="input"
                    aria-label={t.schema.ref}
                    disabled={field.type !== 'Ref'}
                    required={field.type === 'Ref'}
                    value={field.ref}
                    onInput={(event) => change(place, { ref: event.currentTarget.value })}
                  >
                    {targetsOf(field).map((name) => (
                      <option key={name} value={name}>
                        {name || (field.type === 'Ref' ? t.schema.refChoose : '')}
                      </option>
                    ))}
                  </select>
                  {field.type === 'Ref' && (
                    <RefOptions options={field.others} onChange={(others) => change(place, { others })} />
                  )}
                </td>
                <td>
                  <input
                    class="input mono"
                    aria-label={t.schema.inside}
                    disabled={isScalar(field.type)}
                    placeholder={
                      field.type === 'Array' ? 'String' : field.type === 'Object' ? 'city: String' : undefined
                    }
                    value={field.inside}
                    onInput={(event) => change(place, { inside: event.currentTarget.value })}
                  />
                </td>
                <td>
                  <BoundsFields
                    type={field.type}
                    draft={field.bounds}
                    onChange={(bounds) => change(place, { bounds })}
                  />
                </td>
                <td>
                  <Button
                    kind="plain"
                    aria-label={t.schema.remove(field.key)}
                    onClick={() => {
                      fields.value = fields.value.filter((_, at) => at !== place);
                    }}
                  >
                    ✕
                  </Button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {self === usersCollection &&
        rightHints(fields.value).map((hint) => (
          <p key={hint} class="note" role="status">
            {hint}
          </p>
        ))}
      {fields.value.some(({ type }) => !isScalar(type)) && <p class="muted">{t.schema.insideWhy}</p>}
      {fields.value
        .filter(
          ({ required, fallback, type, write }) =>
            required && fallback !== undefined && mayHaveDefault(type) && write !== 'server',
        )
        .map(({ key }) => (
          <p key={key} class="note" role="status">
            {t.schema.pointless(key)}
          </p>
        ))}
      <div class="row">
        <Button
          onClick={() => {
            fields.value = [...fields.value, newField];
          }}
        >
          {t.schema.add}
        </Button>
      </div>
    </div>
  );
};

export const ClosedSwitch = ({ closed }: { readonly closed: Signal<boolean> }) => (
  <Switch
    label={t.schema.closed}
    hint={t.schema.closedWhy}
    on={closed.value}
    onChange={(on) => {
      closed.value = on;
    }}
  />
);
