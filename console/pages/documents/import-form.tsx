import { useSignal } from '@preact/signals';
import { useQuery } from '../../api/query.ts';
import { request } from '../../api/request.ts';
import { putFile } from '../../api/upload.ts';
import { transfers as texts } from '../../text/transfers.ts';
import { t } from '../../text/words.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { Labelled } from '../../ui/labelled.tsx';
import { Select } from '../../ui/select.tsx';
import { Switch } from '../../ui/switch.tsx';
import { type FieldDraft, schemaOf } from '../schema/schema-draft.ts';

interface Props {
  readonly projectId: string;
  readonly collectionName: string;
  readonly onClose: () => void;
}

const formatOf = ({ name }: File): 'csv' | 'ndjson' => {
  if (/\.(csv|tsv|tab|txt)$/i.test(name)) return 'csv';
  if (/\.(json|ndjson|jsonl)$/i.test(name)) return 'ndjson';
  throw new Error(texts.unknownFile);
};

/** How an import treats the `_id`s of its lines. */
const idRules = {
  new: {},
  keep: { keepIds: true },
  skip: { keepIds: true, onConflict: 'skip' },
  replace: { keepIds: true, onConflict: 'replace' },
} as const;
type IdRule = keyof typeof idRules;

const isIdRule = (value: string): value is IdRule => Object.hasOwn(idRules, value);

/** Uploads a file and starts its import. `onSent` receives the number of bytes sent. */
export const importFile = async ({
  file,
  format,
  ids,
  onSent,
  ...place
}: Pick<Props, 'projectId' | 'collectionName'> & {
  readonly file: File;
  readonly format: 'csv' | 'ndjson';
  readonly ids: IdRule;
  readonly onSent: (bytes: number) => void;
}): Promise<void> => {
  const { data } = await request('start-import', {
    ...place,
    body: { format, fileName: file.name, upload: true, size: file.size, ...idRules[ids] },
  });
  if (data.signedUrl) await putFile(data.signedUrl, file, data.contentType, onSent);
  await request('start-uploaded-import', { ...place, id: data._id });
};

/** Fields for the columns of a CSV file that are not texts. None if it is unreadable. */
const typedFields = async (file: File): Promise<readonly FieldDraft[]> => {
  try {
    if (formatOf(file) !== 'csv') return [];
    const [{ readTable }, { columnsOf, fieldsFor }] = await Promise.all([
      import('../schema/table-file.ts'),
      import('../schema/guess-fields.ts'),
    ]);
    const table = await readTable(file, {});
    return fieldsFor(table, columnsOf(table)).filter(({ type }) => type !== 'String');
  } catch {
    // The import reports what it cannot read.
    return [];
  }
};

/** Uploads a file and imports its lines. */
export const ImportForm = ({ onClose, ...place }: Props) => {
  const file = useSignal<File | undefined>(undefined);
  const ids = useSignal<IdRule>('new');
  const sent = useSignal<number | undefined>(undefined);
  const { data: collection, problem } = useQuery('get-collection', place).value;
  const found = useSignal<readonly FieldDraft[]>([]);
  const adds = useSignal(true);
  /** The service would read these columns as texts. */
  const missing = collection
    ? found.value.filter(({ key }) => !(collection.schema ?? []).some((field) => field.key === key))
    : [];
  const choose = async (chosen: File | undefined) => {
    file.value = chosen;
    found.value = [];
    const fields = chosen ? await typedFields(chosen) : [];
    if (file.value === chosen) found.value = fields;
  };
  const submit = async () => {
    const chosen = file.value;
    if (!chosen) throw new Error(texts.choose);
    if (chosen.size === 0) throw new Error(texts.emptyFile);
    if (missing.length > 0 && adds.value) {
      const schema = [...(collection?.schema ?? []), ...(schemaOf(missing) ?? [])];
      await request('update-collection', { ...place, body: { schema } });
    }
    await importFile({
      ...{ ...place, file: chosen, format: formatOf(chosen), ids: ids.value },
      onSent: (bytes) => {
        sent.value = bytes;
      },
    });
    onClose();
  };
  return (
    <Dialog title={texts.import} onClose={onClose}>
      <Form
        act={texts.import}
        cancel={t.acts.cancel}
        onCancel={onClose}
        ready={collection !== undefined || problem !== undefined}
        onSubmit={submit}
      >
        {() => (
          <>
            <Labelled label={texts.file} hint={texts.fileWhy}>
              {(tied) => (
                <input
                  {...tied}
                  type="file"
                  accept=".csv,.tsv,.tab,.txt,.ndjson,.jsonl,.json"
                  required
                  onInput={({ currentTarget: { files } }) => void choose(files?.[0])}
                />
              )}
            </Labelled>
            {missing.length > 0 && (
              <Switch
                label={texts.addFields(missing.map(({ key, type }) => `${key} (${type})`))}
                hint={texts.addFieldsWhy}
                on={adds.value}
                onChange={(on) => {
                  adds.value = on;
                }}
              />
            )}
            <Select
              label={texts.ids}
              value={ids.value}
              options={Object.entries(texts.idRules)}
              onInput={({ currentTarget: { value } }) => {
                if (isIdRule(value)) ids.value = value;
              }}
            />
            {sent.value !== undefined && (
              <progress value={sent.value} max={file.value?.size ?? 0} aria-label={texts.uploading} />
            )}
          </>
        )}
      </Form>
    </Dialog>
  );
};
