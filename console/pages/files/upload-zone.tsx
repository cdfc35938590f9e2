import { useSignal } from '@preact/signals';
import type { TargetedDragEvent } from 'preact';
import { useRef } from 'preact/hooks';
import { files } from '../../text/files.ts';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { Bytes } from '../../ui/bytes.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Wrong } from '../../ui/wrong.tsx';
import type { Upload, UploadQueue } from './upload-queue.ts';

const reasonOf = ({ problem }: Upload): string => {
  if (!problem) return '';
  return problem.fields[0]?.message ?? (problem.message || (problem.status === 0 ? files.unreachable : files.refused));
};

const UploadLine = ({ upload, queue }: { readonly upload: Upload; readonly queue: UploadQueue }) => {
  const { id, file, state, sent } = upload;
  return (
    <li class="upload">
      <span class="upload-name">{file.name}</span>
      <Bytes of={file.size} />
      {state === 'failed' ? (
        <Wrong text={reasonOf(upload)} />
      ) : (
        <progress max={Math.max(1, file.size)} value={sent} aria-label={file.name} />
      )}
      <span class="small muted">{files.states[state]}</span>
      {state === 'failed' && (
        <>
          <Button kind="plain" onClick={() => queue.again(id)}>
            {t.acts.retry}
          </Button>
          <Button kind="plain" aria-label={t.acts.close} onClick={() => queue.remove(id)}>
            ✕
          </Button>
        </>
      )}
    </li>
  );
};

/** Accepts several dropped or chosen files and shows the progress of each. */
export const UploadZone = ({
  queue,
  invites,
}: {
  readonly queue: UploadQueue;
  /** Whether there are no files yet. */
  readonly invites: boolean;
}) => {
  const over = useSignal(false);
  const input = useRef<HTMLInputElement>(null);
  const onDrag = (event: TargetedDragEvent<HTMLElement>) => {
    event.preventDefault();
    over.value = true;
  };
  const onDrop = (event: TargetedDragEvent<HTMLElement>) => {
    event.preventDefault();
    over.value = false;
    queue.add(event.dataTransfer?.files ?? []);
  };
  return (
    <div class="stack">
      <section
        class={invites ? 'empty' : 'drop-zone'}
        aria-label={files.upload}
        data-over={over.value ? '' : undefined}
        onDragOver={onDrag}
        onDragLeave={() => {
          over.value = false;
        }}
        onDrop={onDrop}
      >
        <input
          ref={input}
          hidden
          type="file"
          multiple
          aria-label={files.choose}
          onChange={(event) => {
            queue.add(event.currentTarget.files ?? []);
            event.currentTarget.value = '';
          }}
        />
        {invites && (
          <>
            <span class="empty-icon">
              <Icon name="files" />
            </span>
            <p class="muted">{files.empty}</p>
          </>
        )}
        <Button kind="main-act" onClick={() => input.current?.click()}>
          {files.choose}
        </Button>
        {!invites && <span class="muted">{files.drop}</span>}
        <select
          class="input fit"
          aria-label={files.visibility}
          value={queue.visibility.value}
          onInput={({ currentTarget: { value } }) => {
            queue.visibility.value = value === 'private' ? 'private' : 'public';
          }}
        >
          {Object.entries(files.visibilities).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </section>
      {queue.uploads.value.length > 0 && (
        <ul class="uploads" aria-label={files.uploads}>
          {queue.uploads.value.map((upload) => (
            <UploadLine key={upload.id} upload={upload} queue={queue} />
          ))}
        </ul>
      )}
    </div>
  );
};
