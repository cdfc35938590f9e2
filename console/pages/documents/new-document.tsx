import { useSignal } from '@preact/signals';
import { useQuery } from '../../api/query.ts';
import { request } from '../../api/request.ts';
import type { Data } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Panel } from '../../ui/panel.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { say } from '../../ui/toast.tsx';
import { leaving } from '../../ui/unsaved.tsx';
import { requireFit } from './document-check.ts';
import { type Draft, draftFrom, notStored } from './document-draft.ts';
import { DocumentEditor } from './document-editor.tsx';
import { enforcedFields } from './shown-fields.ts';

interface Props {
  readonly projectId: string;
  readonly collection: Data<'get-collection'>;
  readonly onClose: () => void;
}

const nothing = draftFrom({});

const NewDraft = ({ projectId, collection, onClose, first }: Props & { readonly first: Draft }) => {
  const place = { projectId, collectionName: collection.name };
  const rules = enforcedFields(collection);
  const draft = useSignal(first);
  const save = async () => {
    const now = draft.peek();
    requireFit(rules, now, true);
    const { data } = await request('create-project-document', { ...place, body: { ...now.value } });
    const { _id: id } = data;
    onClose();
    say(
      t.documents.done(t.documents.inserted, notStored(now, now.value, data)),
      () => void request('delete-project-document', { ...place, id: String(id) }),
    );
  };
  return (
    <DocumentEditor
      draft={draft.value}
      onDraft={(change) => {
        draft.value = change(draft.peek());
      }}
      rules={rules}
      isNew
      act={t.documents.insert}
      onSave={save}
      onCancel={() => leaving(onClose)}
    />
  );
};

const Duplicate = ({ id, ...props }: Props & { readonly id: string }) => {
  const place = { projectId: props.projectId, collectionName: props.collection.name, id };
  const found = useQuery('get-project-document', place);
  const { data, problem } = found.value;
  if (problem && !data) return <ProblemNote problem={problem} onRetry={found.reload} />;
  // A duplicate is a new draft, so all of its fields are changes.
  return data ? <NewDraft {...props} first={{ ...nothing, value: draftFrom(data).value }} /> : null;
};

/** A new document, empty or as a duplicate of another. */
export const NewDocument = ({ copyOf, ...props }: Props & { readonly copyOf: string | undefined }) => {
  const { onClose } = props;
  return (
    <Panel
      title={copyOf === undefined ? t.documents.new : t.documents.duplicateOf(copyOf)}
      onClose={() => leaving(onClose)}
    >
      {copyOf === undefined ? <NewDraft {...props} first={nothing} /> : <Duplicate {...props} id={copyOf} />}
    </Panel>
  );
};
