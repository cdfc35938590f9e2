import { useSignal } from '@preact/signals';
import { useLocation, useRoute } from 'preact-iso/router';
import { useQuery } from '../../api/query.ts';
import { request } from '../../api/request.ts';
import { schema as words } from '../../text/schema.ts';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { Waiting } from '../../ui/waiting.tsx';
import { CollectionPage } from '../documents/collection-page.tsx';
import { SchemaForm } from './schema-form.tsx';

/** The schema of a collection with its changes feed, and its deletion. */
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
        <div class="stack schema">
          <SchemaForm key={collectionName} projectId={projectId} collection={collection} />
          <div class="row">
            <Button
              kind="danger"
              onClick={() => {
                deleting.value = true;
              }}
            >
              {words.deleteCollection}
            </Button>
          </div>
        </div>
      )}
      {deleting.value && (
        <Confirm
          title={words.deleteCollection}
          text={words.deleteText}
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
