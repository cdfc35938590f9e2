import type { Signal } from '@preact/signals';
import { fieldTypeNames } from '../../../shared/collections/schema/field-types.ts';
import type { Delimiter } from '../../../shared/transfers/csv-format.ts';
import { schema as words } from '../../text/schema.ts';
import { Select } from '../../ui/select.tsx';
import type { FileColumn, Guess } from './guess-fields.ts';
import type { FileEncoding, TableFile } from './table-file.ts';

const shownRows = 20;

const cellText = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

const Head = ({
  column,
  place,
  onChange,
}: {
  readonly column: FileColumn;
  readonly place: number;
  readonly onChange: (changes: Partial<FileColumn>) => void;
}) => {
  const { source, name, kept, type } = column;
  const label = source === '' ? words.file.column(place + 1) : source;
  return (
    <th scope="col">
      <div class="file-head">
        <label class="row">
          <input type="checkbox" checked={kept} onChange={(event) => onChange({ kept: event.currentTarget.checked })} />
          <span class="spoken">{words.file.keep(label)}</span>
          <input
            class="input mono"
            aria-label={words.file.nameOf(label)}
            disabled={!kept}
            spellcheck={false}
            value={name}
            onInput={(event) => onChange({ name: event.currentTarget.value })}
          />
        </label>
        <select
          class="input"
          aria-label={words.typeOf(label)}
          disabled={!kept || name === '_id'}
          value={type?.type ?? ''}
          onInput={(event) => {
            const chosen = fieldTypeNames.find((each) => each === event.currentTarget.value);
            onChange({ type: chosen && ({ type: chosen } satisfies Guess) });
          }}
        >
          <option value="">{name === '_id' ? words.file.id : words.file.untyped}</option>
          {fieldTypeNames
            .filter((each) => each !== 'Ref')
            .map((each) => (
              <option key={each}>{each}</option>
            ))}
        </select>
      </div>
    </th>
  );
};

/** How the file is read, and its first rows under the fields that they become. */
export const FileColumns = ({
  table,
  columns,
  onRead,
}: {
  readonly table: TableFile;
  readonly columns: Signal<readonly FileColumn[]>;
  readonly onRead: (chosen: { readonly encoding?: FileEncoding; readonly delimiter?: Delimiter }) => void;
}) => {
  const { file, layout, unsure, rows } = table;
  return (
    <div class="stack file-columns">
      <div class="row">
        <strong>{file.name}</strong>
        <Select
          label={words.file.encoding}
          value={layout.encoding}
          options={Object.entries(words.file.encodings)}
          onInput={(event) => onRead({ ...layout, encoding: event.currentTarget.value as FileEncoding })}
        />
        {layout.format === 'csv' && (
          <Select
            label={words.file.delimiter}
            value={layout.delimiter}
            options={Object.entries(words.file.delimiters)}
            onInput={(event) => onRead({ ...layout, delimiter: event.currentTarget.value as Delimiter })}
          />
        )}
      </div>
      {unsure && <p class="note">{unsure}</p>}
      <p class="small muted">{words.file.columnsWhy}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <section class="table-box" aria-label={words.file.rows(Math.min(shownRows, rows.length))} tabIndex={0}>
        <table class="table">
          <thead>
            <tr>
              {columns.value.map((column, place) => (
                <Head
                  key={place}
                  column={column}
                  place={place}
                  onChange={(changes) => {
                    columns.value = columns.value.with(place, { ...column, ...changes });
                  }}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, shownRows).map((row, line) => (
              <tr key={line}>
                {columns.value.map(({ kept }, place) => (
                  <td key={place} class={kept ? undefined : 'muted left-out'} dir="auto">
                    {cellText(row[place])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
};
