import type { Item } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { Bytes } from '../../ui/bytes.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Panel } from '../../ui/panel.tsx';
import { SafeLink } from '../../ui/safe-link.tsx';
import { Time } from '../../ui/time.tsx';
import { FilePreview } from './file-preview.tsx';
import { Visibility } from './visibility.tsx';

/** One file: what is in it, where it is, and the act that ends it. */
export const FilePanel = ({
  file,
  shows,
  onDelete,
  onClose,
}: {
  readonly file: Item<'list-files'>;
  /** Whether the policy of the page lets it show the file. */
  readonly shows: boolean;
  readonly onDelete: () => void;
  readonly onClose: () => void;
}) => (
  <Panel title={file.name} onClose={onClose}>
    {shows && <FilePreview file={file} />}
    <p>
      {file.contentType} · <Bytes of={file.size} /> · <Time at={file.createdAt} /> <Visibility file={file} />
    </p>
    {file.owner && (
      <p class="muted small">
        {t.files.owner} <span class="mono">{file.owner}</span>
      </p>
    )}
    {file.visibility === 'private' && <p class="muted small">{t.files.privateWhy}</p>}
    <p class="mono whole">{file.path}</p>
    <div class="row">
      {file.url !== null && (
        <>
          <SafeLink href={file.url}>{t.acts.open}</SafeLink>
          <Copy text={file.url} label={t.files.copyAddress} />
        </>
      )}
      <Copy text={file.path} label={t.files.copyPath} />
      <Button kind="danger" onClick={onDelete}>
        {t.acts.delete}
      </Button>
    </div>
  </Panel>
);
