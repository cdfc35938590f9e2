import { type Signal, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { schema as words } from '../../text/schema.ts';
import { Button } from '../../ui/button.tsx';
import { Wrong } from '../../ui/wrong.tsx';
import { FileColumns } from './file-columns.tsx';
import type { FileColumn } from './guess-fields.ts';
import type { CsvLayout, TableFile } from './table-file.ts';

/** The chosen file, and the columns as they are edited. */
interface ReadFile {
  readonly table: Signal<TableFile | undefined>;
  readonly columns: Signal<readonly FileColumn[]>;
}

export const useReadFile = (): ReadFile => ({
  table: useSignal<TableFile | undefined>(undefined),
  columns: useSignal<readonly FileColumn[]>([]),
});

/** The reader of CSV is loaded with the first file. */
const load = () => Promise.all([import('./table-file.ts'), import('./guess-fields.ts')]);

/** Asks for a CSV or JSON file, and shows its first rows with the types guessed from its values. */
export const FromFile = ({
  read: { table, columns },
  onFile,
}: {
  readonly read: ReadFile;
  /** Called with the name of a file that can be read. */
  readonly onFile?: (name: string) => void;
}) => {
  const input = useRef<HTMLInputElement>(null);
  const over = useSignal(false);
  const busy = useSignal(false);
  const wrong = useSignal<string | undefined>(undefined);
  const read = async (file: File | undefined, chosen: Partial<CsvLayout> = {}) => {
    if (!file) return;
    busy.value = true;
    wrong.value = undefined;
    try {
      if (file.size === 0) throw new Error(words.file.empty);
      const [{ readTable }, { columnsOf }] = await load();
      const found = await readTable(file, chosen);
      if (found.rows.length === 0) throw new Error(words.file.noRows);
      table.value = found;
      columns.value = columnsOf(found);
      onFile?.(file.name);
    } catch (error) {
      wrong.value = words.file.unread(error instanceof Error ? error.message : String(error));
      if (Object.keys(chosen).length === 0) table.value = undefined;
    } finally {
      busy.value = false;
    }
  };
  return (
    <div class="stack" aria-busy={busy.value}>
      <section
        class="drop-zone"
        aria-label={words.file.choose}
        data-over={over.value ? '' : undefined}
        onDragOver={(event) => {
          event.preventDefault();
          over.value = true;
        }}
        onDragLeave={() => {
          over.value = false;
        }}
        onDrop={(event) => {
          event.preventDefault();
          over.value = false;
          void read(event.dataTransfer?.files[0]);
        }}
      >
        <input
          ref={input}
          hidden
          type="file"
          accept=".csv,.tsv,.tab,.txt,.ndjson,.jsonl,.json"
          aria-label={words.file.choose}
          onChange={(event) => {
            void read(event.currentTarget.files?.[0]);
            event.currentTarget.value = '';
          }}
        />
        <Button onClick={() => input.current?.click()}>{words.file.choose}</Button>
        <span class="muted">{words.file.drop}</span>
      </section>
      <div class="field">
        <Wrong text={wrong.value} />
      </div>
      {table.value && (
        <FileColumns table={table.value} columns={columns} onRead={(chosen) => void read(table.value?.file, chosen)} />
      )}
    </div>
  );
};
