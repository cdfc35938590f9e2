import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { request } from '../../api/request.ts';
import { t } from '../../text/words.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';

interface Props {
  readonly projectId: string;
  readonly collectionName: string;
  readonly onClose: () => void;
}

const formatOf = ({ name }: File): 'csv' | 'ndjson' => (/\.csv$/i.test(name) ? 'csv' : 'ndjson');

/** Uploads a file and has its lines inserted. */
export const ImportForm = ({ onClose, ...place }: Props) => {
  const id = useId();
  const file = useSignal<File | undefined>(undefined);
  const submit = async () => {
    const chosen = file.value;
    if (!chosen) throw new Error(t.transfers.choose);
    const { data } = await request('start-import', {
      ...place,
      body: { format: formatOf(chosen), upload: true, size: chosen.size },
    });
    if (data.signedUrl)
      await fetch(data.signedUrl, { method: 'PUT', body: chosen, headers: { 'content-type': data.contentType } });
    await request('start-uploaded-import', { ...place, id: data._id });
    onClose();
  };
  return (
    <Dialog title={t.transfers.import} onClose={onClose}>
      <Form act={t.transfers.import} cancel={t.acts.cancel} onCancel={onClose} onSubmit={submit}>
        {() => (
          <div class="field">
            <label for={id}>{t.transfers.file}</label>
            <input
              id={id}
              type="file"
              accept=".csv,.ndjson,.jsonl,.json"
              required
              onInput={(event) => {
                file.value = event.currentTarget.files?.[0];
              }}
            />
            <span class="hint small">{t.transfers.fileWhy}</span>
          </div>
        )}
      </Form>
    </Dialog>
  );
};
