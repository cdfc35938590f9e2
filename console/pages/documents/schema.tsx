import { useSignal } from '@preact/signals';
import { useLocation, useRoute } from 'preact-iso/router';
import { type Problem, problemOf } from '../../api/problem.ts';
import { useQuery } from '../../api/query.ts';
import { request } from '../../api/request.ts';
import type { Data } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Form } from '../../ui/form.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { say } from '../../ui/toast.tsx';
import { Waiting } from '../../ui/waiting.tsx';
import { ChangesForm } from './changes-form.tsx';
import { CollectionPage } from './collection-page.tsx';
import { EffectsForm } from './effects-form.tsx';
import { draftOf, type FieldDraft, schemaOf } from './schema-draft.ts';
import { ClosedSwitch, SchemaTable } from './schema-table.tsx';
import { UniqueListsForm } from './unique-lists-form.tsx';

type Collection = Data<'get-collection'>;

const SchemaForm = ({ projectId, collection }: { readonly projectId: string; readonly collection: Collection }) => {
  const { name: collectionName } = collection;
  const fields = useSignal<readonly FieldDraft[]>(draftOf(collection.schema));
  const closed = useSignal(collection.closed === true);
  const conflict = useSignal<Problem | undefined>(undefined);
  const save = async (force: boolean) => {
    conflict.value = undefined;
    try {
      const { hints = [] } = await request('update-collection', {
        projectId,
        collectionName,
        body: { schema: schemaOf(fields.value), closed: closed.value, ...(force ? { force } : {}) },
      });
      say([t.schema.saved, ...hints].join(' '));
    } catch (error) {
      const problem = problemOf(error);
      if (problem.code !== 'SCHEMA_CONFLICT') throw error;
      conflict.value = problem;
    }
  };
  return (
    <Form guarded act={t.acts.save} onSubmit={() => save(false)}>
      {() => (
        <>
          <SchemaTable projectId={projectId} self={collectionName} fields={fields} />
          {fields.value.length === 0 && <p class="muted">{t.schema.none}</p>}
          <ClosedSwitch closed={closed} />
          {conflict.value && (
            <>
              <ProblemNote problem={conflict.value} />
              <ul>
                {conflict.value.fields.map(({ field, message }) => (
                  <li key={field}>
                    <span class="mono">{field}</span>: {message}
                  </li>
                ))}
              </ul>
              <div class="row">
                <Button onClick={() => void save(true)}>{t.schema.force}</Button>
              </div>
            </>
          )}
        </>
      )}
    </Form>
  );
};

/** The schema of a collection, its changes feed, and its deletion. */
export const Schema = () => {
  const { projectId = '', collectionName = '' } = useRoute().params;
  const { route } = useLocation();
  const found = useQuery('get-collection', { projectId, collectionName });
  const { data: collection, problem } = found.value;
  const deleting = useSignal(false);
  return (
    <CollectionPage part="schema">
      {problem && <ProblemNote problem={problem} onRetry={found.reload} />}
      <Waiting of={found.value} />
      {collection && (
        <div class="stack">
          {/* Each begins anew where its own part was saved, so that saving one keeps what is typed in the others. */}
          <SchemaForm
            key={JSON.stringify([collection.schema, collection.closed])}
            projectId={projectId}
            collection={collection}
          />
          <UniqueListsForm key={JSON.stringify([collection.unique])} projectId={projectId} collection={collection} />
          {collectionName !== 'users' && (
            <>
              <EffectsForm key={JSON.stringify([collection.effects])} projectId={projectId} collection={collection} />
              <ChangesForm
                key={JSON.stringify([collection.changes, collection.partition, collection.schema])}
                projectId={projectId}
                collection={collection}
              />
            </>
          )}
          <div class="row">
            <Button
              kind="danger"
              onClick={() => {
                deleting.value = true;
              }}
            >
              {t.schema.deleteCollection}
            </Button>
          </div>
        </div>
      )}
      {deleting.value && (
        <Confirm
          title={t.schema.deleteCollection}
          text={t.schema.deleteText}
          name={collectionName}
          label={t.trash.typeName}
          act={t.acts.delete}
          onClose={() => {
            deleting.value = false;
          }}
          onConfirm={async () => {
            await request('delete-collection', { projectId, collectionName });
            route(`/projects/${projectId}`);
          }}
        />
      )}
    </CollectionPage>
  );
};
