import { useSignal } from '@preact/signals';
import { request } from '../../api/request.ts';
import { putFile } from '../../api/upload.ts';
import { t } from '../../text/words.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { Labelled } from '../../ui/labelled.tsx';
import { Select } from '../../ui/select.tsx';

interface Props {
  readonly projectId: string;
  readonly collectionName: string;
  readonly onClose: () => void;
}

const formatOf = ({ name }: File): 'csv' | 'ndjson' => {
  if (/\.(csv|tsv|tab|txt)$/i.test(name)) return 'csv';
  if (/\.(json|ndjson|jsonl)$/i.test(name)) return 'ndjson';
  throw new Error(t.transfers.unknownFile);
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

/** Uploads a file and imports its lines. */
export const ImportForm = ({ onClose, ...place }: Props) => {
  const file = useSignal<File | undefined>(undefined);
  const ids = useSignal<IdRule>('new');
  const sent = useSignal<number | undefined>(undefined);
  const submit = async () => {
    const chosen = file.value;
    if (!chosen) throw new Error(t.transfers.choose);
    if (chosen.size === 0) throw new Error(t.transfers.emptyFile);
    await importFile({
      ...{ ...place, file: chosen, format: formatOf(chosen), ids: ids.value },
      onSent: (bytes) => {
        sent.value = bytes;
      },
    });
    onClose();
  };
  return (
    <Dialog title={t.transfers.import} onClose={onClose}>
      <Form act={t.transfers.import} cancel={t.acts.cancel} onCancel={onClose} onSubmit={submit}>
        {() => (
          <>
            <Labelled label={t.transfers.file} hint={t.transfers.fileWhy}>
              {(tied) => (
                <input
                  {...tied}
                  type="file"
                  accept=".csv,.tsv,.tab,.txt,.ndjson,.jsonl,.json"
                  required
                  onInput={(event) => {
                    file.value = event.currentTarget.files?.[0];
                  }}
                />
              )}
            </Labelled>
            <Select
              label={t.transfers.ids}
              value={ids.value}
              options={Object.entries(t.transfers.idRules)}
              onInput={({ currentTarget: { value } }) => {
                if (isIdRule(value)) ids.value = value;
              }}
            />
            {sent.value !== undefined && (
              <progress value={sent.value} max={file.value?.size ?? 0} aria-label={t.transfers.uploading} />
            )}
          </>
        )}
      </Form>
    </Dialog>
  );
};
