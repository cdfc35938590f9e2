import { request } from '../../api/request.ts';
import type { Item } from '../../api/rows.ts';
import { files } from '../../text/files.ts';
import { t } from '../../text/words.ts';
import { Act } from '../../ui/act.tsx';
import { Button } from '../../ui/button.tsx';
import { Bytes } from '../../ui/bytes.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Time } from '../../ui/time.tsx';
import { FileLinks } from './file-links.tsx';
import { FilePreview } from './file-preview.tsx';
import { Visibility } from './visibility.tsx';

/** One file: preview, address, visibility and deletion. */
export const FilePanel = ({
  projectId,
  file,
  shows,
  changes,
  onChange,
  onDelete,
  onClose,
}: {
  readonly projectId: string;
  readonly file: Item<'list-files'>;
  /** Whether the page's content security policy allows showing the file. */
  readonly shows: boolean;
  /** Whether the developer's role may change it. */
  readonly changes: boolean;
  readonly onChange: () => void;
  readonly onDelete: () => void;
  readonly onClose: () => void;
}) => {
  const isPrivate = file.visibility === 'private';
  const change = async () => {
    const body = { path: file.path, visibility: isPrivate ? ('public' as const) : ('private' as const) };
    await request('change-project-visibility', { projectId, body });
    onChange();
  };
  return (
    <Panel title={file.name} onClose={onClose}>
      {shows && <FilePreview key={file.visibility} projectId={projectId} file={file} />}
      <p>
        {file.contentType} · <Bytes of={file.size} /> · <Time at={file.createdAt} />
      </p>
      <div class="row">
        <span>
          <Visibility file={file} /> {files.visibilityWhy[file.visibility]}
        </span>
        {changes && <Act onAct={change}>{isPrivate ? files.makePublic : files.makePrivate}</Act>}
      </div>
      {file.owner && (
        <p class="muted small">
          {files.owner}{' '}
          <a class="mono" href={`/projects/${projectId}/users?open=${file.owner}`}>
            {file.owner}
          </a>
        </p>
      )}
      {file.document && (
        <p class="muted small">
          {files.document}{' '}
          <a
            class="mono"
            href={`/projects/${projectId}/documents/${file.document.collection}?open=${file.document.id}`}
          >
            {file.document.collection} / {file.document.id}
          </a>
        </p>
      )}
      <p class="mono whole">{file.path}</p>
      <div class="row">
        <FileLinks key={file.visibility} projectId={projectId} file={file} sizes={shows} />
        <Copy text={file.path} label={files.copyPath} />
        {changes && (
          <Button kind="danger" onClick={onDelete}>
            {t.acts.delete}
          </Button>
        )}
      </div>
    </Panel>
  );
};
