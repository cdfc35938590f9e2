import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso/router';
import { useQuery } from '../../api/query.ts';
import { useEvery } from '../../api/query-every.ts';
import { request } from '../../api/request.ts';
import { files } from '../../text/files.ts';
import { t } from '../../text/words.ts';
import { addressWith } from '../../ui/address.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';
import { pageOf } from '../../ui/page-size.ts';
import { Pager } from '../../ui/pager.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { say } from '../../ui/toast.tsx';
import { Waiting } from '../../ui/waiting.tsx';
import { FileGrid, FolderTiles } from './file-grid.tsx';
import { FilePanel } from './file-panel.tsx';
import { FileTable } from './file-table.tsx';
import { FilesBar, FolderHead, TickedFiles, useView } from './files-bar.tsx';
import { contentsOf, matching } from './folders.ts';
import { OpenUploads } from './open-uploads.tsx';
import { UploadQueue } from './upload-queue.ts';
import { UploadZone } from './upload-zone.tsx';

/** Pages of 100 files that are read at first, and again for older files. */
const pagesAtOnce = 10;

/** The dashboard API lists so many files. */
const maxPages = 100;

export const Files = () => {
  const { projectId = '' } = useRoute().params;
  const { path, query, route } = useLocation();
  const found = useQuery('get-project', { projectId });
  const { data: project, problem } = found.value;
  const queue = useMemo(() => new UploadQueue(projectId), [projectId]);
  const pages = useSignal(pagesAtOnce);
  const every = useEvery('list-files', { projectId }, pages.value);
  const { data: all, total = 0, problem: refusal, reload } = every;
  const arrived = queue.arrived.value;
  useEffect(() => {
    if (arrived > 0) reload();
  }, [arrived]);
  const [view] = useView();
  const ticked = useSignal<ReadonlySet<string>>(new Set());
  const deleting = useSignal(false);
  const isOwnBucket = project?.storage.external ?? false;
  const changes = project !== undefined && project.role !== 'viewer';
  const hrefOf = (change: Readonly<Record<string, string | undefined>>) => addressWith(path, query, change);
  const at = query.folder?.split('/') ?? [];
  const { below, own, folders } = contentsOf(all ?? [], at);
  const isFiltered = Boolean(query.name || query.kind);
  const listed = isFiltered ? matching(below, query.name ?? '', query.kind) : own;
  const { page, size } = pageOf(query);
  const items = listed.slice((page - 1) * size, page * size);
  const file = all?.find(({ path: key }) => key === query.open);
  const isEmpty = all?.length === 0;
  const Layout = view === 'grid' ? FileGrid : FileTable;
  const close = () => route(hrefOf({ open: undefined }));
  const tick = (keys: ReadonlySet<string>) => {
    ticked.value = keys;
  };
  const folderHref = (folder: string | undefined) => hrefOf({ folder, page: undefined, open: undefined });
  return (
    <Page
      title={t.nav.files}
      acts={
        changes && (
          <LinkButton kind="plain" href={`/projects/${projectId}/settings/sign-in`}>
            {files.userUploads(project.uploads.users)}
          </LinkButton>
        )
      }
    >
      <div class="stack">
        {problem && !project && !refusal && <ProblemNote problem={problem} onRetry={found.reload} />}
        {isOwnBucket && <p class="note">{files.ownBucket}</p>}
        {changes && !isOwnBucket && <UploadZone queue={queue} invites={isEmpty} />}
        {refusal && <ProblemNote problem={refusal} onRetry={reload} />}
        <Waiting of={every} />
        {isEmpty && (!changes || isOwnBucket) && <Empty text={files.empty} icon="files" />}
        {all && !isEmpty && (
          <>
            <FilesBar query={query} onChange={(change) => route(hrefOf({ ...change, page: undefined }))} />
            {at.length > 0 && <FolderHead projectId={projectId} at={at} hrefOf={folderHref} />}
            {ticked.value.size > 0 && <TickedFiles projectId={projectId} ticked={ticked.value} onTick={tick} />}
            <div class={file ? 'halves' : undefined}>
              <div class="stack">
                {!isFiltered && page === 1 && <FolderTiles folders={folders} hrefOf={folderHref} />}
                {items.length > 0 && (
                  <Layout
                    projectId={projectId}
                    items={items}
                    shows={!isOwnBucket}
                    hrefOf={(open) => hrefOf({ open })}
                    selected={query.open}
                    ticked={ticked.value}
                    onTick={changes ? tick : undefined}
                  />
                )}
                {items.length === 0 && (isFiltered || folders.length === 0) && (
                  <Empty text={isFiltered ? files.noneFit : t.pager.beyond} icon="files" />
                )}
                {listed.length > 0 && (
                  <div class="row small muted pager">
                    <Pager shown={items.length} total={listed.length} />
                  </div>
                )}
                {all.length < total && pages.value < maxPages && (
                  <div class="row small muted">
                    {files.newest(all.length, total)}
                    <Button
                      onClick={() => {
                        pages.value += pagesAtOnce;
                      }}
                    >
                      {files.older}
                    </Button>
                  </div>
                )}
              </div>
              {file && (
                <FilePanel
                  key={file.path}
                  projectId={projectId}
                  file={file}
                  shows={!isOwnBucket}
                  changes={changes}
                  onChange={reload}
                  onDelete={() => {
                    deleting.value = true;
                  }}
                  onClose={close}
                />
              )}
            </div>
          </>
        )}
        <OpenUploads projectId={projectId} changes={changes} />
      </div>
      {file && deleting.value && (
        <Confirm
          title={files.deleteTitle}
          text={files.deleteText}
          name={file.name}
          label={files.typeName}
          act={t.acts.delete}
          onClose={() => {
            deleting.value = false;
          }}
          onConfirm={async () => {
            await request('delete-files', { projectId, body: { paths: [file.path] } });
            deleting.value = false;
            close();
            say(files.deleted);
          }}
        />
      )}
    </Page>
  );
};
