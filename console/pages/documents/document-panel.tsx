import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useQuery } from '../../api/query.ts';
import type { Data } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { addressWith } from '../../ui/address.ts';
import { Button } from '../../ui/button.tsx';
import { Copy } from '../../ui/copy.tsx';
import { keyText } from '../../ui/keys.ts';
import { Menu } from '../../ui/menu.tsx';
import { Panel } from '../../ui/panel.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { type Shortcuts, useShortcuts } from '../../ui/shortcuts.ts';
import { leaving } from '../../ui/unsaved.tsx';
import { Waiting } from '../../ui/waiting.tsx';
import { ConflictForm } from './conflict-form.tsx';
import { DocumentEditor } from './document-editor.tsx';
import { DocumentView } from './document-view.tsx';
import { useEditedDocument } from './edited-document.ts';
import { moveToTrash } from './move-to-trash.ts';
import { nameOf } from './ref-address.ts';
import { titleField } from './ref-preview.tsx';
import { Referrers } from './referrers.tsx';
import { enforcedFields } from './shown-fields.ts';

interface Props {
  readonly projectId: string;
  readonly collection: Data<'get-collection'>;
  readonly id: string;
  /** Whose view is shown; nothing can be changed then. */
  readonly viewer: string | undefined;
  readonly onClose: () => void;
}

const MenuLabel = () => (
  <>
    <span class="spoken">{t.acts.menu}</span>
    <span aria-hidden="true">⋯</span>
  </>
);

/** One document beside its list: view, edit, move to the trash with undo. */
export const DocumentPanel = ({ projectId, collection, id, viewer, onClose }: Props) => {
  const place = { projectId, collectionName: collection.name, id };
  const { path, query, route } = useLocation();
  const found = useQuery('get-project-document', { ...place, query: { view_as: viewer } });
  const { data, problem } = found.value;
  const rules = enforcedFields(collection);
  const { edited, acts: editing } = useEditedDocument(place, rules);
  const { value: now } = edited;
  const acts = useMemo(() => {
    const edit = () => {
      const { data: shown } = found.peek();
      if (shown) editing.begin(shown);
    };
    const duplicate = () => leaving(() => route(addressWith(path, query, { open: undefined, copy: id })));
    const remove = () =>
      leaving(() => {
        onClose();
        void moveToTrash({ projectId, collectionName: collection.name }, [id]);
      });
    return { edit, duplicate, remove };
  }, [found, path, query, route, id, projectId, collection.name, onClose, editing]);
  const shortcuts = useMemo<Shortcuts>(
    () => (viewer === undefined ? { edit: acts.edit, duplicate: acts.duplicate, trash: acts.remove } : {}),
    [acts, viewer],
  );
  useShortcuts(shortcuts);
  const head = (
    <div class="row">
      <Copy text={id} />
      {data && !now && viewer === undefined && (
        <Button kind="main-act" onClick={acts.edit}>
          {t.acts.edit}
        </Button>
      )}
      {viewer === undefined && (
        <Menu title={t.acts.menu} label={<MenuLabel />}>
          <button type="button" onClick={acts.edit}>
            {t.acts.edit} <kbd>{keyText('edit')}</kbd>
          </button>
          <button type="button" onClick={acts.duplicate}>
            {t.documents.duplicate} <kbd>{keyText('duplicate')}</kbd>
          </button>
          <button type="button" class="danger" onClick={acts.remove}>
            {t.acts.delete} <kbd>{keyText('trash')}</kbd>
          </button>
        </Menu>
      )}
    </div>
  );
  const title = titleField(rules);
  const name = data && nameOf(title === undefined ? data : { [title]: data[title], ...data });
  return (
    <Panel title={name ?? id} head={head} onClose={() => leaving(onClose)}>
      {name !== undefined && name !== id && <p class="small muted mono">{id}</p>}
      {problem && <ProblemNote problem={problem} onRetry={found.reload} />}
      <Waiting of={found.value} />
      {now?.theirs ? (
        <ConflictForm
          conflicts={now.theirs.conflicts}
          onChoose={editing.settle}
          onCancel={() => leaving(editing.stop)}
        />
      ) : now ? (
        <DocumentEditor
          draft={now.draft}
          onDraft={editing.change}
          rules={rules}
          isNew={false}
          act={t.acts.save}
          onSave={editing.save}
          onCancel={() => leaving(editing.stop)}
        />
      ) : (
        data && (
          <>
            <DocumentView document={data} rules={rules} />
            {viewer === undefined && <Referrers collectionName={collection.name} id={id} />}
          </>
        )
      )}
    </Panel>
  );
};
