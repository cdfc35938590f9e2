import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { useRoute } from 'preact-iso/router';
import { useEvery } from '../../api/query-every.ts';
import { uploadFile } from '../../api/upload.ts';
import { rows } from '../../text/rows.ts';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { bytesText } from '../../ui/bytes.tsx';
import { Choose } from '../../ui/choose.tsx';
import { Combobox, useTyped } from '../../ui/combobox.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { problemText } from '../../ui/problem-text.ts';
import { say } from '../../ui/toast.tsx';
import { FileThumb, maxPages } from './file-value.tsx';

const mostShown = 10;

const Choosing = ({ onChoose }: { readonly onChoose: (path: string) => void }) => {
  const { projectId = '' } = useRoute().params;
  const { typed, settled } = useTyped();
  const { data, problem } = useEvery('list-files', { projectId }, maxPages);
  const words = settled.value.toLowerCase();
  const found = data
    ?.filter(({ path }) => path.toLowerCase().includes(words))
    .slice(0, mostShown)
    .map((file) => ({
      path: file.path,
      label: file.name,
      note: (
        <span class="row muted">
          <FileThumb file={file} /> {bytesText(file.size)}
        </span>
      ),
    }));
  return (
    <>
      <Combobox
        label={rows.fields.chooseFile}
        hint={rows.fields.fileHint}
        typed={typed}
        found={found}
        onChoose={({ path }) => onChoose(path)}
      />
      <UploadFile projectId={projectId} onUploaded={onChoose} />
      {problem && <ProblemNote problem={problem} />}
    </>
  );
};

/** Uploads a file, which is public as those of the page Files are at first. */
const UploadFile = ({
  projectId,
  onUploaded,
}: {
  readonly projectId: string;
  readonly onUploaded: (path: string) => void;
}) => {
  const input = useRef<HTMLInputElement>(null);
  const busy = useSignal(false);
  const upload = async (file: File) => {
    busy.value = true;
    try {
      onUploaded(await uploadFile(projectId, file, 'public', () => undefined));
    } catch (error) {
      say(problemText(error));
    } finally {
      busy.value = false;
    }
  };
  return (
    <div class="row">
      <input
        ref={input}
        hidden
        type="file"
        aria-label={rows.fields.uploadFile}
        onChange={({ currentTarget: { files } }) => {
          if (files?.[0]) void upload(files[0]);
        }}
      />
      <Button disabled={busy.value} aria-busy={busy.value} onClick={() => input.current?.click()}>
        {rows.fields.uploadFile}
      </Button>
      <span class="small muted">{rows.fields.uploadWhy}</span>
    </div>
  );
};

/** Chooses or uploads a file of the project, whose path becomes the value. */
export const FilePicker = ({ onChoose }: { readonly onChoose: (path: string) => void }) => (
  <Choose kind="plain" title={rows.fields.chooseFile} act={t.documents.choose} onChoose={onChoose}>
    {(choose) => <Choosing onChoose={choose} />}
  </Choose>
);
