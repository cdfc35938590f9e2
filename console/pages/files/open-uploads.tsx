import { useSignal } from '@preact/signals';
import { useQuery } from '../../api/query.ts';
import { request } from '../../api/request.ts';
import type { Data } from '../../api/rows.ts';
import { files } from '../../text/files.ts';
import { t } from '../../text/words.ts';
import { Act } from '../../ui/act.tsx';
import { Button } from '../../ui/button.tsx';
import { Bytes } from '../../ui/bytes.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { say } from '../../ui/toast.tsx';
import { Visibility } from './visibility.tsx';

type OpenUpload = Data<'list-reservations'>['items'][number];

/** Unconfirmed uploads and the space that they reserve; nothing if there are none. */
export const OpenUploads = ({
  projectId,
  changes,
}: {
  readonly projectId: string;
  /** Whether the developer's role may cancel one. */
  readonly changes: boolean;
}) => {
  const cursor = useSignal<string | undefined>(undefined);
  const found = useQuery('list-reservations', { projectId, query: { cursor: cursor.value } });
  const { data, problem } = found.value;
  if (problem && !data) return <ProblemNote problem={problem} onRetry={found.reload} />;
  if (!data || (data.items.length === 0 && cursor.value === undefined)) return null;
  const end = (path: string) => async () => {
    await request('end-reservation', { projectId, body: { path } });
    say(files.uploadEnded);
  };
  const columns: readonly Column<OpenUpload>[] = [
    {
      key: 'name',
      label: files.name,
      cell: (upload) => (
        <>
          {upload.name} <Visibility file={upload} />
        </>
      ),
    },
    { key: 'size', label: files.size, number: true, cell: ({ size }) => <Bytes of={size} /> },
    {
      key: 'owner',
      label: files.owner,
      cell: ({ owner }) => (owner === null ? files.server : <span class="mono">{owner}</span>),
    },
    { key: 'since', label: files.since, cell: ({ createdAt }) => <Time at={createdAt} /> },
    { key: 'ends', label: files.ends, cell: ({ endsAt }) => <Time at={endsAt} /> },
    { key: 'path', label: files.path, cell: ({ path }) => <span class="mono">{path}</span> },
    ...(changes
      ? [
          {
            key: 'end',
            label: '',
            cell: ({ path, name }: OpenUpload) => (
              <Act kind="danger" label={files.endUploadOf(name)} onAct={end(path)}>
                {files.endUpload}
              </Act>
            ),
          },
        ]
      : []),
  ];
  const show = (next: string | undefined) => () => {
    cursor.value = next;
  };
  return (
    <div class="stack">
      <h2>{files.openUploads}</h2>
      <p class="muted small">{files.openUploadsWhy}</p>
      <Table label={files.openUploads} columns={columns} items={data.items} keyOf={({ path }) => path} />
      <div class="row">
        {cursor.value !== undefined && <Button onClick={show(undefined)}>{files.newestUploads}</Button>}
        {data.nextCursor !== undefined && <Button onClick={show(data.nextCursor)}>{t.pager.after}</Button>}
      </div>
    </div>
  );
};
